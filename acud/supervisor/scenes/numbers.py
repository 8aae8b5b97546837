"""Numbers that are never given twice, over restarts too: reserved in the store a block at a time."""

from __future__ import annotations

from acud.supervisor.journal import Journal
from acud.supervisor.screens import Screen

ELEMENTS = ("t", "a", "v")
"""The letters of a display's elements: texts, widgets, what a vision model said."""
_BLOCK = 1000
"""Numbers lost at most with each restart; a write for each thousand scenes or elements."""


class Numbers:
    """What of each name was given. A block is kept in the turn that gives its first number, before any reply leaves."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._reserved: dict[str, int] = {}

    def first(self, name: str) -> int:
        """Return the first number of `name` that was certainly never given."""
        return self._journal.store.scene_numbers.first_free(name)

    def given(self, name: str, next_number: int) -> None:
        """Take down that numbers below `next_number` are given."""
        if next_number <= self._reserved.get(name, 0):
            return
        upto = self._reserved[name] = next_number + _BLOCK
        self._journal.keep(lambda: self._journal.store.scene_numbers.reserve(name, upto))

    def forget(self, screen: Screen) -> None:
        """Drop the numbers of a display's elements: its own number is given to no other display."""
        names = [f"{letter}{screen.number}" for letter in ELEMENTS]
        for name in names:
            self._reserved.pop(name, None)
        if screen.number:
            self._journal.keep(lambda: self._journal.store.scene_numbers.forget(names), droppable=True)
