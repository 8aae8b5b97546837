"""How many calls to one backend run at once: more while its answers stay as quick, fewer when it is full (AIMD).

As in TCP, the limit doubles in each round of answers at first, then grows a little in each. It is halved when the
backend reports that it is full (429, 503, 529), and cut by a quarter when even the quickest answer of a round takes
twice as long as in the best recent round. If fewer calls are not answered sooner, the model is slow and not full: the
cut is undone.

A round of a slow model takes seconds, and quick answers must not wait for it: while calls wait, and nothing has shown
lately that there are too many, the limit grows without any answer.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from acud.evaluator.judges.faults import CallFailed

START = 32
_FULL = frozenset({429, 503, 529})
_SLOW = 2.0
_ROUND = 4  # the fewest answers that make a round: one slow answer proves nothing
_ROUNDS = 20  # rounds that are remembered: a backend that became slower for good is judged by what it can do now
_HELPED = 0.8  # fewer calls have helped when the quickest answer takes no more than this of what it took before
_GROW_S = 0.02
_GROWTH = 1.25
_WARY_S = 30.0
"""So long after it had to make fewer calls, it makes more only after rounds of answers, and little by little."""


class Concurrency:
    """The calls of one backend in one process; `most` at once. `now` returns monotonic seconds.

    `grow_s`: how long a call waits at most for more to be made at once, while nothing speaks against that.
    """

    def __init__(self, most: int, now: Callable[[], float], grow_s: float = _GROW_S) -> None:
        self._grow_s = grow_s
        self._growing: asyncio.TimerHandle | None = None
        self._most, self._now = most, now
        self._limit = float(min(START, most))
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._seated = 0
        self._standing: deque[asyncio.Future[None]] = deque()  # those that wait for a seat
        self._short = False  # whether a call had to wait in this round
        self._took_s: list[float] = []
        self._full_at = -math.inf
        self._best_s: deque[float] = deque(maxlen=_ROUNDS)
        self._wary_until = -math.inf
        self._before: tuple[float, float] | None = None
        """The limit and the quickest answer before slow answers made it less, until it is known whether that helped."""

    @property
    def _wary(self) -> bool:
        return self._now() < self._wary_until

    @property
    def limit(self) -> int:
        """How many calls run at once now."""
        return int(self._limit)

    @asynccontextmanager
    async def hold_place(self) -> AsyncIterator[None]:
        """Hold a place during the block, in the order of coming; learn from how it ends and what it took."""
        await self._wait_for_turn()
        began = self._now()
        try:
            yield
        except CallFailed as fault:
            # A call that began before the last cut brings no news.
            if fault.status in _FULL and began > self._full_at:
                self._full_at, self._before = self._now(), None
                self._lower_limit(self._limit / 2)
            raise
        else:
            self._note_answer(self._now() - began)
        finally:
            self._end_turn()

    @asynccontextmanager
    async def seat(self, patience_s: float) -> AsyncIterator[None]:
        """Hold one of as many seats as calls run at once during the block, in the order of coming, so that what its
        calls are about is taken when they can be made; without one after `patience_s`.
        """
        is_seated = self._seated < self.limit and not self._standing
        if is_seated:
            self._seated += 1
        else:
            is_seated = await self._wait_for_seat(patience_s)
        try:
            yield
        finally:
            self._seated -= is_seated
            self._admit_next()

    async def _wait_for_seat(self, patience_s: float) -> bool:
        self._short = True
        turn = asyncio.get_running_loop().create_future()
        self._standing.append(turn)
        self._grow_soon()
        try:
            await asyncio.wait([turn], timeout=patience_s)
        except asyncio.CancelledError:
            if turn.done():
                self._seated -= 1
                self._admit_next()
            raise
        finally:
            turn.cancel()
        return not turn.cancelled()

    async def _wait_for_turn(self) -> None:
        if self._running < self.limit and not self._waiting:
            self._running += 1
            return
        self._short = True
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._grow_soon()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._end_turn()
            raise

    def _grow_soon(self) -> None:
        if self._growing is None and self.limit < self._most and not self._wary:
            self._growing = asyncio.get_running_loop().call_later(self._grow_s, self._raise_limit)

    def _raise_limit(self) -> None:
        self._growing = None
        if not (self._waiting or self._standing) or self._wary:
            return
        self._limit = min(self._most, self._limit * _GROWTH)
        self._admit_next()
        if self._waiting or self._standing:
            self._grow_soon()

    def _end_turn(self) -> None:
        self._running -= 1
        self._admit_next()

    def _admit_next(self) -> None:
        while self._waiting and self._running < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)
        while self._standing and self._seated < self.limit:
            turn = self._standing.popleft()
            if not turn.done():
                self._seated += 1
                turn.set_result(None)

    def _note_answer(self, took_s: float) -> None:
        self._took_s.append(took_s)
        if len(self._took_s) < max(_ROUND, self.limit):
            return
        quick_s = min(self._took_s)
        self._best_s.append(quick_s)
        if self._before is not None:
            self._undo_vain_cut(*self._before, quick_s)
        elif not (self._short or self._waiting or self._standing):
            self._took_s = []  # the limit did not matter: slow answers may be to other questions
        elif quick_s > _SLOW * min(self._best_s):
            self._before = self._limit, quick_s
            self._lower_limit(self._limit * 3 / 4)
        else:
            self._limit = min(self._most, self._limit + max(1.0, self._limit / 8) if self._wary else self._limit * 2)
            self._took_s, self._short = [], False

    def _undo_vain_cut(self, limit: float, before_s: float, quick_s: float) -> None:
        """Raise the limit again that slow answers lowered, if the lower limit made no answer quicker."""
        self._before = None
        self._took_s, self._short = [], False
        if quick_s > _HELPED * before_s:
            self._limit, self._wary_until = max(self._limit, limit), -math.inf
            self._best_s = deque([quick_s], maxlen=_ROUNDS)

    def _lower_limit(self, fewer: float) -> None:
        self._limit, self._wary_until = max(1.0, fewer), self._now() + _WARY_S
        self._took_s, self._short = [], False
