"""How often a person is notified: a storm of events is told once, with their number."""

from __future__ import annotations

from collections import deque

_WINDOW_S = 60.0


class Rate:
    """Lets at most `per_minute` through in any 60 s. Times are monotonic seconds, passed in."""

    def __init__(self, per_minute: int) -> None:
        self._times: deque[float] = deque(maxlen=per_minute)
        self._held = 0

    def take(self, now_s: float) -> int | None:
        """Return how many were held back since the last that went through; None: this one is held back too."""
        if len(self._times) == self._times.maxlen and now_s - self._times[0] < _WINDOW_S:
            self._held += 1
            return None
        self._times.append(now_s)
        held, self._held = self._held, 0
        return held

    def hold(self) -> None:
        """Count one that went through and then was not sent."""
        self._held += 1
