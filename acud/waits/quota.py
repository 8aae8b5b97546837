"""How many in a minute: a sliding window for each of many, on a clock that is passed in."""

from __future__ import annotations

from collections import deque

WINDOW_S = 60.0


class Quota:
    """At most `limit` in any minute for each key; 0: as many as anybody likes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: dict[str, deque[float]] = {}

    def free_in_s(self, key: str, now: float) -> float:
        """Return how long `key` has to wait for its next one; 0 when it can be had now."""
        taken = self._kept(key, now)
        return taken[0] + WINDOW_S - now if self._limit and len(taken) >= self._limit else 0.0

    def take(self, key: str, now: float) -> None:
        """Count one; forget the keys whose minute is over."""
        if not self._limit:
            return
        self._taken.setdefault(key, deque()).append(now)
        for other in [one for one, times in self._taken.items() if times[-1] <= now - WINDOW_S]:
            del self._taken[other]

    def _kept(self, key: str, now: float) -> deque[float]:
        taken = self._taken.get(key, deque())
        while taken and taken[0] <= now - WINDOW_S:
            taken.popleft()
        return taken
