"""Who is connected: bounded in all and by address; at a limit the one that has been idle longest makes room."""

from __future__ import annotations

from typing import Protocol


class Guest(Protocol):
    """A connection. `is_idle`: no request of it is under way."""

    @property
    def is_idle(self) -> bool:
        """Whether it can be ended without loss."""

    def make_room(self) -> None:
        """End; `Crowd.leave` follows."""


class Crowd:
    """At most `most` connections, and `most_each` from one address. Rules only."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self._guests: dict[Guest, str] = {}
        """With their addresses, in the order they came."""
        self.refused = 0

    def __len__(self) -> int:
        return len(self._guests)

    def enter(self, guest: Guest, address: str) -> bool:
        """Take `guest` in, at an idle one's cost where need be; False when every other is busy."""
        ok = self._room_among(self._of(address), self._most_each) and self._room_among(list(self._guests), self._most)
        if ok:
            self._guests[guest] = address
        else:
            self.refused += 1
        return ok

    def leave(self, guest: Guest) -> None:
        """Forget `guest`; harmless when it is not here."""
        self._guests.pop(guest, None)

    def hand_over(self, before: Guest, after: Guest) -> None:
        """Give the place of `before` to `after`."""
        if before in self._guests:
            self._guests[after] = self._guests.pop(before)

    def _of(self, address: str) -> list[Guest]:
        return [guest for guest, its in self._guests.items() if its == address]

    def _room_among(self, guests: list[Guest], most: int) -> bool:
        if len(guests) < most:
            return True
        idle = next((guest for guest in guests if guest.is_idle), None)
        if idle is None:
            return False
        self.leave(idle)
        idle.make_room()
        return True
