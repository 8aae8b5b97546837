"""When two texts say the same."""

from __future__ import annotations

import pytest

from acud.analysis.fresh import alike


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("", "", True),
        ("Inbox (3)", "Inbox (14)", True),
        ("⠋ building", "⠙ building", True),
        ("modul not found", "module not found", True),
        ("Inbox", "Terminal", False),
        ("a", "", False),
    ],
)
def test_alike(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same
