"""A listener hears a repeated event once."""

from __future__ import annotations

from acud_fleet.events import EventDedupe, is_gap


def test_a_repeat_is_no_news() -> None:
    hearing = EventDedupe()
    assert [hearing.is_news("h1", f"h1:a:{n}") for n in (5, 6, 6, 5, 7)] == [True, True, False, False, True]
    assert hearing.is_news("h2", "h2:x:5")
    assert hearing.is_news("h1", "h1:b:1")  # another store counts anew
    assert not hearing.is_news("h1", "h1:b:1")


def test_what_is_not_stored_is_always_news() -> None:
    hearing = EventDedupe()
    assert hearing.is_news("h1", "")
    assert hearing.is_news("h1", "")


def test_a_gap_is_told_by_its_subject() -> None:
    assert is_gap("acud.event.h1.trimmed")
    assert not is_gap("acud.event.h1.wait.resolved")
