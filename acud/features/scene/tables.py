"""The numbers given to scenes and elements, and the present elements: no number is given twice, and an element that is
still present after a restart keeps its own.

Numbers are reserved in the store a block at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec

from acud.base.typed_values import msgpack_decoder
from acud.features.scene.element_ids import ElementIds, StoredElements
from acud.process.event_loop import EventLoop
from acud.store.connection import Table
from acud.store.rows import load
from acud.supervisor.journal import Journal
from acud.supervisor.watched_displays import WatchedDisplay

_SQL = load("tables", folder=Path(__file__).parent)
_ELEMENTS = ("t", "a", "v")
"""The letters of a display's elements: texts, widgets, annotations of a vision model."""
_BLOCK = 1000
"""Numbers lost at most with each restart; a write for each thousand scenes or elements."""
_KEEP_S = 5.0
"""Write interval of a display that keeps changing; a kill loses elements that came and went since."""


class SceneNumbers(Table):
    """The table `scene_numbers`."""

    def reserve(self, name: str, upto: int) -> None:
        """Store that numbers of `name` below `upto` may have been given; a lower `upto` than stored changes nothing."""
        self._database.write(_SQL["reserve"], {"name": name, "reserved": upto})

    def forget(self, names: Iterable[str]) -> None:
        """Delete the rows of `names` that will never be numbered again."""
        for name in names:
            self._database.write(_SQL["forget"], {"name": name})
            self._database.write(_SQL["forget_elements"], {"name": name})

    def first_free(self, name: str) -> int:
        """Return the first number of `name` that was certainly never given: 1 for a new name."""
        rows = self._database.read(_SQL["reserved"], {"name": name})
        return int(rows[0]["reserved"] or 1) if rows else 1

    def keep_elements(self, name: str, elements: StoredElements) -> None:
        self._database.write(_SQL["keep_elements"], {"name": name, "elements": msgspec.msgpack.encode(elements)})

    def elements(self, name: str) -> StoredElements | None:
        """Return the elements stored last, or None. Raises: StoreUnavailable."""
        rows = self._database.read(_SQL["elements"], {"name": name})
        stored = rows[0]["elements"] if rows else None
        if not isinstance(stored, bytes):
            return None
        try:
            found: StoredElements = msgpack_decoder(StoredElements).decode(stored)
            return found
        except msgspec.MsgspecError:
            return None  # of another version: every element gets a new id, as before


class StandingElements:
    """The ids of each display's present elements, stored in the turn that changed them, at most every 5 s."""

    def __init__(self, journal: Journal, numbers: SceneNumbers, loop: EventLoop) -> None:
        self._journal = journal
        self._numbers = numbers
        self._loop = loop
        self._resting: dict[str, ElementIds | None] = {}
        """Names written less than 5 s ago, with the ids to write after the pause."""

    def ids(self, letter: str, display: int, first: int) -> ElementIds:
        """Return the ids of a display's elements, with those stored before a restart."""
        return ElementIds(letter, display, first, self._numbers.elements(f"{letter}{display}"))

    def keep(self, ids: ElementIds) -> None:
        """Store the present elements, now or after the pause."""
        if ids.name in self._resting:
            self._resting[ids.name] = ids
            return
        self._resting[ids.name] = None
        self._loop.call_later(_KEEP_S, partial(self._end_pause, ids.name))
        stored = ids.to_stored(os.urandom(16))
        self._journal.keep(lambda: self._numbers.keep_elements(ids.name, stored), droppable=True)

    def _end_pause(self, name: str) -> None:
        ids = self._resting.pop(name, None)
        if ids is not None:
            self.keep(ids)

    def forget(self, screen: WatchedDisplay) -> None:
        """Stop writing for a removed display; `ReservedNumbers` deletes its rows."""
        for letter in _ELEMENTS:
            if f"{letter}{screen.number}" in self._resting:
                self._resting[f"{letter}{screen.number}"] = None


class ReservedNumbers:
    """The numbers given for each name. A block is stored in the turn of its first number, before any reply leaves."""

    def __init__(self, journal: Journal, numbers: SceneNumbers) -> None:
        self._journal = journal
        self._numbers = numbers
        self._reserved: dict[str, int] = {}

    @classmethod
    def from_journal(cls, journal: Journal) -> ReservedNumbers:
        return cls(journal, SceneNumbers(journal.store))

    def first(self, name: str) -> int:
        """Return the first number of `name` that was certainly given to nothing yet."""
        return self._numbers.first_free(name)

    def record_given(self, name: str, next_number: int) -> None:
        if next_number <= self._reserved.get(name, 0):
            return
        upto = self._reserved[name] = next_number + _BLOCK
        self._journal.keep(lambda: self._numbers.reserve(name, upto))

    def forget(self, screen: WatchedDisplay) -> None:
        """Drop the numbers of a removed display's elements: no other display gets its number."""
        names = [f"{letter}{screen.number}" for letter in _ELEMENTS]
        for name in names:
            self._reserved.pop(name, None)
        if screen.number:
            self._journal.keep(lambda: self._numbers.forget(names), droppable=True)
