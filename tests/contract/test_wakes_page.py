"""docs/wakes.md says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from acud.config import COMMAND_PLACEHOLDERS, WakeSettings
from acud.types import RouteName, WakeKind
from acud.waits import wake_text, wakes
from tests.fixtures.state_diagrams import labelled, state_diagram

PAGE = (Path(__file__).parents[2] / "docs" / "wakes.md").read_text(encoding="utf-8")


def test_the_diagram_is_the_table() -> None:
    assert f"```mermaid\n{state_diagram('pending', labelled(wakes.TRANSITIONS))}\n```" in PAGE


def test_every_route_kind_and_placeholder_is_named() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == [route.value for route in RouteName]
    assert f'"kind": "{"|".join(kind.value for kind in WakeKind)}"' in PAGE
    assert all(f"`{word}`" in PAGE for word in COMMAND_PLACEHOLDERS)


def test_the_defaults_it_tells() -> None:
    default = WakeSettings()
    assert (default.retry_first_s, default.retry_max_s, default.retry_for_s) == (1, 300, 86_400)
    assert (default.remind_after_s, default.max_reminders) == (300, 2)
    assert (default.http_concurrency, default.command_concurrency) == (8, 2)
    assert f"{wake_text.MAX_TEXT:,} characters" in PAGE
