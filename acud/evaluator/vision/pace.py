"""A bound on calls a minute: a token bucket, sized so that no minute sees more calls than allowed."""

from __future__ import annotations

_MINUTE_S = 60.0


class Pace:
    """Gives places in time. `per_minute` 0: no bound. A tenth of a minute's calls may come at once."""

    def __init__(self, per_minute: float, now: float) -> None:
        burst = 1.0 + per_minute // 10
        # Full bucket and refill together make `per_minute` over any minute; one call a minute has no burst to give.
        self._rate = max(per_minute - burst, min(per_minute, 1.0)) / _MINUTE_S
        self._burst = burst
        self._tokens = burst
        self._at = now

    @property
    def bounded(self) -> bool:
        """Whether there is a bound at all."""
        return self._rate > 0

    def due_s(self, now: float, ahead: int) -> float:
        """Return in how many seconds a place is there for whoever has `ahead` before it; none is taken."""
        tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        # A billionth of a place missing is rounding: asked again at the time told, there must be one.
        lacking = ahead + 1 - tokens
        return lacking / self._rate if self._rate > 0 and lacking > 1e-9 else 0.0

    def take(self, now: float) -> float:
        """Take a place; return in how many seconds it is due. `give_back` it when it is not used."""
        if self._rate == 0:
            return 0.0
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate) - 1
        self._at = now
        return max(0.0, -self._tokens / self._rate)

    def give_back(self) -> None:
        """Return a place that was taken and not used."""
        self._tokens = min(self._burst, self._tokens + 1)
