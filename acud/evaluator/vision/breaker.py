"""A circuit breaker: after some failures in a row a backend is left alone for a while, then tried by one call."""

from __future__ import annotations

from enum import StrEnum


class Circuit(StrEnum):
    """`closed`: calls pass. `open`: none does. `half_open`: one is out to see whether it is well again."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """Counts failures in a row; `failures` of them open it for `open_s` seconds. Times are handed in."""

    def __init__(self, failures: int, open_s: float) -> None:
        self._limit = failures
        self._open_s = open_s
        self._failed = 0
        self._until = 0.0
        self._why = ""
        self.state = Circuit.CLOSED

    def admit(self, now: float) -> str:
        """Let a call pass ("") or say why none may; one that passes must be followed by exactly one of the below."""
        if self.state is Circuit.CLOSED:
            return ""
        if self.state is Circuit.OPEN and now >= self._until:
            self.state = Circuit.HALF_OPEN
            return ""
        return self.reason(now)

    def reason(self, now: float) -> str:
        """Return why calls are refused now, "" when they are not."""
        if self.state is Circuit.CLOSED or (self.state is Circuit.OPEN and now >= self._until):
            return ""
        when = f"next try in {self._until - now:.0f} s" if self.state is Circuit.OPEN else "being tried now"
        return f"circuit open after {self._failed} failures in a row, {when}: {self._why}"

    def succeeded(self) -> None:
        """A call was answered."""
        self.state, self._failed = Circuit.CLOSED, 0

    def failed(self, now: float, why: str) -> None:
        """A call was not answered."""
        self._failed += 1
        self._why = why
        if self.state is Circuit.HALF_OPEN or self._failed >= self._limit:
            self.state, self._until = Circuit.OPEN, now + self._open_s

    def abandoned(self, now: float) -> None:
        """A call was given up by its caller and tells nothing; a probe is due again."""
        if self.state is Circuit.HALF_OPEN:
            self.state, self._until = Circuit.OPEN, now
