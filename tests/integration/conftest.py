"""Fixtures for tests against real X servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.longest_first import begin_with
from tests.fixtures.x_servers import desktop, painter, store, xserver

__all__ = ["desktop", "painter", "store", "xserver"]

LONGEST = (
    "accessibility_mirror", "fleet_jobs", "fleet_streams", "input_typing", "ocr", "fleet_wakes", "fleet_access",
    "fleet_entries", "accessibility_reader", "input_clipboard", "fleet_lost_waits", "accessibility_mirror_faults",
    "evaluator", "input_guard", "capture_display", "redaction",
)  # fmt: skip
"""Files that take over 20 s, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    begin_with(items, Path(__file__).parent, LONGEST)
