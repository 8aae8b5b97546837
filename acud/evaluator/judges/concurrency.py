"""How many calls to one backend run at once: more while its answers stay as quick, fewer when it is full (AIMD).

The way of TCP: doubled in each round of answers at first, then a little more in each; halved when the backend says that
it is full (429, 503, 529), a quarter less when its answers take twice as long as in its best round of late.
"""

from __future__ import annotations

import asyncio
import statistics
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from acud.evaluator.judges.faults import CallFailed

START = 32
_FULL = frozenset({429, 503, 529})
_SLOW = 2.0
_ROUND = 4
"""Answers that make a round at least: one slow answer says nothing."""
_ROUNDS = 20
"""Rounds that are remembered: a backend that became slower for good is judged by what it can do now."""


class Concurrency:
    """The calls of one backend in one process; `most` at once. `now` returns monotonic seconds."""

    def __init__(self, most: int, now: Callable[[], float]) -> None:
        self._most = most
        self._now = now
        self._limit = float(min(START, most))
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._short = False
        """Whether a call had to wait in this round."""
        self._doubles = True
        self._took_s: list[float] = []
        self._best_s: deque[float] = deque(maxlen=_ROUNDS)
        self._cut_at = -1.0

    @property
    def limit(self) -> int:
        """How many calls run at once now."""
        return int(self._limit)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place during the block, in the order of coming; learn from how it ends and what it took."""
        await self._enter()
        began = self._now()
        try:
            yield
        except CallFailed as fault:
            # A call that began before the last cut tells what is known.
            if fault.status in _FULL and began > self._cut_at:
                self._set(self._limit / 2)
                self._cut_at = self._now()
            raise
        else:
            self._answered(self._now() - began)
        finally:
            self._leave()

    async def _enter(self) -> None:
        if self._running < self.limit and not self._waiting:
            self._running += 1
            return
        self._short = True
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        self._running -= 1
        while self._waiting and self._running < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def _answered(self, took_s: float) -> None:
        self._took_s.append(took_s)
        if len(self._took_s) < max(_ROUND, self.limit):
            return
        usual_s = statistics.median(self._took_s)
        self._best_s.append(usual_s)
        if not self._short and not self._waiting:
            self._took_s = []  # the limit did not matter: slow answers may be to other questions
        elif usual_s > _SLOW * min(self._best_s):
            self._set(self._limit * 3 / 4)
        else:
            self._limit = min(self._most, self._limit * 2 if self._doubles else self._limit + max(1.0, self._limit / 8))
            self._took_s, self._short = [], False

    def _set(self, fewer: float) -> None:
        self._limit, self._doubles = max(1.0, fewer), False
        self._took_s, self._short = [], False
