"""Numbers of scenes and elements that were given: they are never given twice, over restarts too.

A block at a time is reserved in the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from acud.store.connection import Table
from acud.store.rows import load
from acud.supervisor.journal import Journal
from acud.supervisor.watched_displays import WatchedDisplay

_SQL = load("tables", Path(__file__).parent)
_ELEMENTS = ("t", "a", "v")
"""The letters of a display's elements: texts, widgets, what a vision model said."""
_BLOCK = 1000
"""Numbers lost at most with each restart; a write for each thousand scenes or elements."""


class SceneNumbers(Table):
    """The table `scene_numbers`."""

    def reserve(self, name: str, upto: int) -> None:
        """Keep that numbers of `name` below `upto` may have been given; a lower one than kept changes nothing."""
        self._database.write(_SQL["reserve"], {"name": name, "reserved": upto})

    def forget(self, names: Iterable[str]) -> None:
        """Drop what is known of `names`, for what will never be numbered again."""
        for name in names:
            self._database.write(_SQL["forget"], {"name": name})

    def first_free(self, name: str) -> int:
        """Return the first number of `name` that was certainly not given yet: 1 for a new name."""
        rows = self._database.read(_SQL["reserved"], {"name": name})
        return int(rows[0]["reserved"] or 1) if rows else 1


class ReservedNumbers:
    """What of each name was given. A block is kept in the turn that gives its first number, before any reply leaves."""

    def __init__(self, journal: Journal, numbers: SceneNumbers) -> None:
        self._journal = journal
        self._numbers = numbers
        self._reserved: dict[str, int] = {}

    @classmethod
    def stored(cls, journal: Journal) -> ReservedNumbers:
        """Return those that the store of `journal` keeps."""
        return cls(journal, SceneNumbers(journal.store))

    def first(self, name: str) -> int:
        """Return the first number of `name` that was certainly never given."""
        return self._numbers.first_free(name)

    def given(self, name: str, next_number: int) -> None:
        """Take down that numbers below `next_number` are given."""
        if next_number <= self._reserved.get(name, 0):
            return
        upto = self._reserved[name] = next_number + _BLOCK
        self._journal.keep(lambda: self._numbers.reserve(name, upto))

    def forget(self, screen: WatchedDisplay) -> None:
        """Drop the numbers of a display's elements: its own number is given to no other display."""
        names = [f"{letter}{screen.number}" for letter in _ELEMENTS]
        for name in names:
            self._reserved.pop(name, None)
        if screen.number:
            self._journal.keep(lambda: self._numbers.forget(names), droppable=True)
