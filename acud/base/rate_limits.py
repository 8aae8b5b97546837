"""Limits on how often something may be done: the two ways in which acud counts. Pure; times are monotonic seconds,
passed in.

`TokenBucket` refills steadily and predicts when the n-th caller gets a place: calls to a model's backend, wrong logins
of an address. `RollingWindow` limits any stretch of time, whenever that begins: new waits of a task, notifications.

Other limits are neither: how often a child is started again (every end counts, allowed or not:
`acud.supervisor.children`), which frame rate a source gets (a share: `acud.supervisor.frame_rate_limits`), when a
source is grabbed next (`acud.capture.frame_rate`), how many connections there are at once (`acud_http.server`).
"""

from __future__ import annotations

from collections import deque


class TokenBucket:
    """Gives `burst` places at once and `rate_per_s` more; full at `now`. `rate_per_s` 0: no bound."""

    def __init__(self, rate_per_s: float, burst: float, now: float) -> None:
        self._rate = rate_per_s
        self._burst = burst
        self._tokens = burst
        self._at = now

    @property
    def bounded(self) -> bool:
        return self._rate > 0

    def due_s(self, now: float, ahead: int = 0) -> float:
        """Return in how many seconds a place is free for a caller with `ahead` others before it; none is taken."""
        # A billionth of a place missing is rounding: at the returned time there must be one.
        lacking = ahead + 1 - self._tokens_left(now)
        return lacking / self._rate if self._rate > 0 and lacking > 1e-9 else 0.0

    def take(self, now: float) -> float:
        """Take a place; return in how many seconds its call is due. `give_back` an unused place."""
        if self._rate == 0:
            return 0.0
        self._tokens = self._tokens_left(now) - 1
        self._at = now
        return max(0.0, -self._tokens / self._rate)

    def give_back(self) -> None:
        """Return a place that was taken and not used."""
        self._tokens = min(self._burst, self._tokens + 1)

    def _tokens_left(self, now: float) -> float:
        return min(self._burst, self._tokens + (now - self._at) * self._rate)


class RollingWindow:
    """At most `limit` in any `window_s` seconds; `limit` 0: no bound."""

    def __init__(self, limit: int, window_s: float = 60.0) -> None:
        self._limit, self._window_s = limit, window_s
        self._taken: deque[float] = deque()

    def free_in_s(self, now: float) -> float:
        """Return how long the next one has to wait; 0 when it is free now."""
        while self._taken and self._taken[0] + self._window_s <= now:
            self._taken.popleft()
        return self._taken[0] + self._window_s - now if self._limit and len(self._taken) >= self._limit else 0.0

    def take(self, now: float) -> None:
        if self._limit:
            self._taken.append(now)

    def is_over(self, now: float) -> bool:
        """Return whether every counted event is older than the window."""
        return not self._taken or self._taken[-1] + self._window_s <= now
