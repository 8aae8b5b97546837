"""The order of calls to a backend that allows only so many a minute: a token bucket, and the queue for its tokens.

    held for a minute -> lower priority number -> display with fewer calls of late -> nearest deadline -> first come

A caller whose turn is too far off is refused at once with the time to come again. Its place is held until a little
after that, so that a display that asks every second never takes the turn of one that comes at its time.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from acud.base.rate_limits import TokenBucket

_MINUTE_S = 60.0
HELD_S = 60.0
"""A caller that was refused for this long goes before all others, however near their deadlines."""
GRACE_S = 5.0
"""A place is held this much longer than its time: a job needs its frame and its encoding."""
_LATE_S = 600.0  # calls of a display count against it for about this long


def bucket_of(per_minute: float, now: float) -> TokenBucket:
    """Return a bucket for `per_minute` calls (0: no bound). A tenth of a minute's calls may come at once."""
    burst = 1.0 + per_minute // 10
    # Full bucket and refill together make `per_minute` over any minute; one call a minute has no burst to give.
    return TokenBucket(max(per_minute - burst, min(per_minute, 1.0)) / _MINUTE_S, burst, now)


class Claim(Struct, frozen=True):
    """The caller of a call. `who` "": one that does not come again by itself; no place is held for it.

    `priority`: lower goes first. `left_s`: until the caller's deadline.
    """

    who: str = ""
    display: str = ""
    priority: int = 1
    left_s: float = math.inf


class TurnRefused(Exception):
    """No turn in time: `after_s` until there may be one, `ahead` claims go first."""

    def __init__(self, after_s: float, ahead: int) -> None:
        super().__init__(f"{ahead} go first, next in about {after_s:.0f} s")
        self.after_s = after_s


class Times(Protocol):
    """What of a clock is needed."""

    def now(self) -> float:
        """Return monotonic seconds."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class _Entry:
    """A claim in line or expected back. `since`: when it was first made. `limit`: when it would rather be refused.

    A caller that comes again keeps its first rank: else it would always be behind all those that are expected.
    """

    def __init__(self, claim: Claim, now: float, number: int, limit: float, before: _Entry | None) -> None:
        self.claim = claim
        self.since: float = before.since if before is not None else now
        self.number: int = before.number if before is not None else number
        self.limit = limit
        self.ends: float = min(now + claim.left_s, before.ends if before is not None else math.inf)
        self.back_at = 0.0
        self.granted: asyncio.Future[None] | None = None


class RateLimitQueue:
    """The queue of one backend in one process; `patience_s` is the longest stay in it."""

    def __init__(self, pace: TokenBucket, clock: Times, patience_s: float) -> None:
        self._pace, self._clock, self._patience_s = pace, clock, patience_s
        self._order = itertools.count()
        self._line: list[_Entry] = []
        self._expected: dict[str, _Entry] = {}
        self._served: Counter[str] = Counter()
        self._faded_at = clock.now()
        self._serving: asyncio.Task[None] | None = None

    async def wait_for_turn(self, claim: Claim, deadline: float) -> None:
        """Return when it is this claim's turn. Raises: TurnRefused when that will not be before `deadline`, nor within
        the patience of a line."""
        if not self._pace.bounded:
            return
        now = self._clock.now()
        self._forget_absent(now)
        limit = min(now + self._patience_s, deadline)
        entry = _Entry(claim, now, next(self._order), limit, self._expected.pop(claim.who, None))
        due_s = self._due_s(entry, now)
        if due_s > self._patience_s or now + due_s >= deadline:
            raise self._build_refusal(entry, now)
        if due_s == 0:
            self._count_turn(entry, now)
        else:
            await self._wait_in_line(entry, now)

    async def _wait_in_line(self, entry: _Entry, now: float) -> None:
        granted = entry.granted = asyncio.get_running_loop().create_future()
        self._line.append(entry)
        for other in [one for one in self._line if now + self._due_s(one, now) > one.limit + 1e-6]:
            self._line.remove(other)
            if other.granted is not None and not other.granted.done():
                other.granted.set_exception(self._build_refusal(other, now))
        if self._serving is not None:
            self._serving.cancel()
        self._serving = asyncio.get_running_loop().create_task(self._grant_turns())
        try:
            await granted
        finally:
            if entry in self._line:
                self._line.remove(entry)

    async def _grant_turns(self) -> None:
        """Give each turn, when it is due, to the first in the queue at that time."""
        now = self._clock.now()
        while self._line:
            now = max(now, self._clock.now())
            self._forget_absent(now)
            first = min(self._line, key=self._make_rank(now))
            due_s = self._due_s(first, now)
            if due_s > 0:
                await self._clock.sleep(due_s)
                now += due_s  # a timer may be early by its resolution
                continue
            self._line.remove(first)
            self._count_turn(first, now)
            if first.granted is not None and not first.granted.done():
                first.granted.set_result(None)

    def _count_turn(self, entry: _Entry, now: float) -> None:
        self._pace.take(now)
        self._served[entry.claim.display] += 1

    def _build_refusal(self, entry: _Entry, now: float) -> TurnRefused:
        due_s = max(1.0, self._due_s(entry, now))
        if entry.claim.who:
            entry.back_at = now + due_s
            self._expected[entry.claim.who] = entry
        return TurnRefused(due_s, self._count_ahead(entry, now))

    def _due_s(self, entry: _Entry, now: float) -> float:
        return self._pace.due_s(now, self._count_ahead(entry, now))

    def _count_ahead(self, entry: _Entry, now: float) -> int:
        rank = self._make_rank(now)
        mine = rank(entry)
        return sum(rank(one) < mine for one in (*self._line, *self._expected.values()) if one is not entry)

    def _make_rank(self, now: float) -> Callable[[_Entry], tuple[float, ...]]:
        def rank(one: _Entry) -> tuple[float, ...]:
            if now - one.since >= HELD_S:
                return (0.0, one.since, one.number)
            return (1.0, one.claim.priority, self._served[one.claim.display], one.ends, one.number)

        return rank

    def _forget_absent(self, now: float) -> None:
        """Forget callers that did not come again; halve the displays' counts twice in `_LATE_S`."""
        self._expected = {who: one for who, one in self._expected.items() if now <= one.back_at + GRACE_S}
        if now - self._faded_at >= _LATE_S / 2:
            self._faded_at = now
            self._served = Counter({name: count // 2 for name, count in self._served.items() if count > 1})
