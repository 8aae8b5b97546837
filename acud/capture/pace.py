"""When a source is grabbed next; pure. Times are seconds of CLOCK_MONOTONIC."""

from __future__ import annotations

import math

from acud.capture.quiet import PROBE_S


class Pace:
    """Damage under a rate cap with a trailing grab, demanded grabs at once, and a floor.

    `max_fps` caps what is demanded. `floor_s`: a grab at least so often while frames are wanted, since a compositor can
    swallow damage. Without damage events (`polled`) every interval is due. `fps` 0: only demanded grabs are due.
    """

    def __init__(self, max_fps: float, floor_s: float, *, polled: bool = False) -> None:
        self.fps = 0.0
        self.asked = 0
        self.answered = 0
        self.damaged = True  # what was there before us has never been seen
        self.hurried = False
        """Whether paint is to be looked into at once (`acud.capture.quiet`), rate cap or not."""
        self._max_fps = max_fps
        self._floor_s = floor_s
        self._polled = polled
        self._last_s = -math.inf
        self._answered_before = 0

    def demand(self, fps: float, grab: int) -> None:
        """Take what consumers want now; a `grab` number not seen before asks for one frame at once."""
        self.fps = min(fps, self._max_fps)
        self.asked = max(self.asked, grab)

    @property
    def is_asked(self) -> bool:
        """Whether a demanded grab is still owed."""
        return self.asked > self.answered

    def due_s(self) -> float | None:
        """Return when to grab next: -inf means now, None means not before something changes."""
        if self.is_asked:
            return -math.inf
        if self.fps <= 0:
            return None
        wait_s = 1 / self.fps if self.damaged or self._polled else self._floor_s
        return self._last_s + (min(wait_s, PROBE_S) if self.hurried else wait_s)

    def begin(self, now_s: float) -> int:
        """Note that a grab begins now, and return the demanded number it satisfies (0: none was owed).

        Damage that is reported from here on counts for the next grab.
        """
        number = self.asked if self.is_asked else 0
        self._answered_before, self.answered = self.answered, self.asked
        self.damaged = self.hurried = False
        self._last_s = now_s
        return number

    def fail(self) -> None:
        """Note that the grab just begun gave no pixels: what it owed is owed still."""
        self.answered = self._answered_before
        self.damaged = True
