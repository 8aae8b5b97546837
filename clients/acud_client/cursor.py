"""Where a reader of events stands: which it has had, which it must have missed. Rules only, no sockets."""

from __future__ import annotations

from enum import Enum

import msgspec

from acud.protocol.events import Beat, Event, Told


class Trimmed(msgspec.Struct, frozen=True, tag="trimmed"):
    """Events after `after` and before `first` are no longer kept by the daemon: they cannot be had any more."""

    after: int
    first: int


class Heard(Enum):
    """What a message means to the reader."""

    FRESH = "fresh"
    KNOWN = "known"
    GAP = "gap"
    """Something before it was missed: ask `events_since(floor)`."""


class EventCursor:
    """`floor`: every event up to it was handed out, or is known not to be for this reader.

    Events come in the order of their numbers. An event names the number before it on its topic; a beat names the newest
    of all. Either can show that something is missing between the floor and it.
    """

    def __init__(self, floor: int) -> None:
        self.floor = floor
        self._handed: set[int] = set()
        self._by_topic: dict[str, int] = {}

    @property
    def seen(self) -> int:
        """The highest number handed out or passed."""
        return max(self._handed, default=self.floor)

    def hear(self, told: Told) -> Heard:
        """Judge one message from the events socket; a fresh event counts as handed out."""
        return self._hear_beat(told) if isinstance(told, Beat) else self._hear_event(told)

    def _hear_beat(self, beat: Beat) -> Heard:
        # Numbers between the floor and the beat that were not handed out: lost, or of topics that are not ours.
        if sum(n <= beat.n for n in self._handed) < beat.n - self.floor:
            return Heard.GAP
        self.reach(beat.n)
        return Heard.KNOWN

    def _hear_event(self, event: Event) -> Heard:
        if event.n == 0:
            return Heard.FRESH  # never stored, so nothing is missing before it
        if event.n <= self.floor or event.n in self._handed:
            return Heard.KNOWN
        if event.prev > max(self.floor, self._by_topic.get(event.topic, 0)):
            return Heard.GAP
        self._hand(event)
        return Heard.FRESH

    def recover(self, event: Event) -> bool:
        """Take an event from `events_since`; False when it was handed out before."""
        if event.n <= self.floor or event.n in self._handed:
            return False
        self._hand(event)
        return True

    def _hand(self, event: Event) -> None:
        self._handed.add(event.n)
        self._by_topic[event.topic] = event.n

    def reach(self, n: int) -> None:
        """Move the floor up to `n`: nothing at or below it is missing any more."""
        self.floor = max(self.floor, n)
        self._handed = {number for number in self._handed if number > self.floor}
