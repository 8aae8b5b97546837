"""The view of each wait as it was when its condition was last seen not to hold: what a yes is compared with.

What is forgotten (a restart, too many waits) is only missing beside the evidence, and said there.
"""

from __future__ import annotations

from collections import OrderedDict

from acud.evaluator.shot import Shot

MAX_BYTES = 96 << 20
"""Pixels kept: 27 waits on 1280x720; waits that share a view share its pixels."""


class Befores:
    """Shots by wait, oldest use first out."""

    def __init__(self) -> None:
        self._shots: OrderedDict[str, Shot] = OrderedDict()

    def began(self, wait_id: str, shot: Shot) -> None:
        """Remember what a wait began with, unless something is known of it."""
        if wait_id not in self._shots:
            self.held_not(wait_id, shot)

    def held_not(self, wait_id: str, shot: Shot) -> None:
        """Remember a view on which the wait's condition did not hold."""
        self._shots[wait_id] = shot
        self._shots.move_to_end(wait_id)
        while len(self._shots) > 1 and self._bytes() > MAX_BYTES:
            self._shots.popitem(last=False)

    def take(self, wait_id: str) -> Shot | None:
        """Return what was remembered of the wait, and forget it."""
        return self._shots.pop(wait_id, None)

    def forget(self, wait_id: str) -> None:
        """Forget what was remembered of a wait that ended."""
        self._shots.pop(wait_id, None)

    def _bytes(self) -> int:
        return sum({id(shot.pixels): shot.pixels.nbytes for shot in self._shots.values()}.values())
