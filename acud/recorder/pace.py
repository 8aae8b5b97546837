"""When the next frame is taken; pure. Times are seconds of CLOCK_MONOTONIC."""

from __future__ import annotations

import math


class Pace:
    """At most `fps` frames a second; whatever was last noticed is taken once its time has come (trailing)."""

    def __init__(self, fps: float) -> None:
        self._interval_s = 1 / fps
        self._due_s = -math.inf
        self.noticed = False

    def due_s(self) -> float | None:
        """Return when to take a frame; None while nothing was noticed."""
        return self._due_s if self.noticed else None

    def took(self, frame_s: float) -> None:
        """Note that the newest frame was taken, which was grabbed at `frame_s`."""
        # A frame taken late was grabbed before it was due: counting from its grab would exceed the rate.
        self._due_s = max(frame_s, self._due_s) + self._interval_s
        self.noticed = False

    def began_anew(self) -> None:
        """The next frame is the first of a segment, due at once."""
        self._due_s = -math.inf
        self.noticed = True
