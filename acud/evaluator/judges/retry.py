"""How calls to one backend are made: so many at once, so many a minute, tried again while it can help, in bounded time.

    circuit breaker -> turn in the minute -> place among those at once -> try -> pause with jitter -> try …

All within the backend's time limit. A pause is never shorter than the server asked for. When that is too long to
sit through, the call is given up at once: the next judge in the chain, or the next evaluation, is the better wait.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

from acud.evaluator.judges.concurrency import Concurrency
from acud.evaluator.judges.faults import CONTINUES, FREE, CallFailed, TokenUsage, sum_usage
from acud.evaluator.judges.rate_limit import Claim, RateLimitQueue, TurnRefused, bucket_of

PATIENCE_S = 10.0
"""The longest single pause inside a call."""
MAX_HOLD_S = 900.0
"""The longest pause: a server that demands more is asked again anyway."""
_FIRST_PAUSE_S = 0.5
_MAX_PAUSE_S = 8.0
T = TypeVar("T")
NOBODY = Claim()
"""A call that a person or an agent waits for, not a wait."""


class Circuit(StrEnum):
    """`closed`: calls pass. `open`: none does. `half_open`: one call is probing the backend."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Counts failures in a row; `failures` of them open it for `open_s` seconds. Times are handed in."""

    def __init__(self, failures: int, open_s: float) -> None:
        self._limit = failures
        self._open_s = open_s
        self._failed = 0
        self._until = 0.0
        self._why = ""
        self.state = Circuit.CLOSED

    def admit(self, now: float) -> str:
        """Return "" to let a call pass, else the reason. Each call that passes must end with exactly one `note_…`."""
        if self.state is Circuit.CLOSED:
            return ""
        if self.state is Circuit.OPEN and now >= self._until:
            self.state = Circuit.HALF_OPEN
            return ""
        return self.reason(now)

    def reason(self, now: float) -> str:
        """Return why calls are refused now, "" when calls go through."""
        if self.state is Circuit.CLOSED or (self.state is Circuit.OPEN and now >= self._until):
            return ""
        when = f"next try in {self._until - now:.0f} s" if self.state is Circuit.OPEN else "being tried now"
        return f"circuit open after {self._failed} failures in a row, {when}: {self._why}"

    def note_success(self) -> None:
        self.state, self._failed = Circuit.CLOSED, 0

    def note_failure(self, now: float, why: str) -> None:
        self._failed += 1
        self._why = why
        if self.state is Circuit.HALF_OPEN or self._failed >= self._limit:
            self.state, self._until = Circuit.OPEN, now + self._open_s

    def note_abandoned(self, now: float) -> None:
        """Note that the caller gave a call up, which proves nothing; a probe is due again."""
        if self.state is Circuit.HALF_OPEN:
            self.state, self._until = Circuit.OPEN, now


class CallLimits(Struct, frozen=True):
    """Of one backend, in one process."""

    timeout_s: float
    tries: int
    concurrency: int
    per_minute: float = 0.0
    breaker_failures: int = 5
    breaker_open_s: float = 10.0


class CallClock:
    """Time, sleep and chance of calls: the running loop's, and a test's own where it wants no waiting."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def random_part(self) -> float:
        """Return a random number in [0, 1)."""
        return random.random()  # noqa: S311 - jitter is no secret


class RetryOutcome(Struct, Generic[T], frozen=True):
    """An answer, and what the tries before it took."""

    value: T
    lost: TokenUsage


class RetriedCalls:
    """Makes the calls of one backend. Reports of health may read the state of its parts (`breaker`)."""

    def __init__(self, who: str, limits: CallLimits, clock: CallClock | None = None) -> None:
        self._who, self._limits = who, limits
        self._clock = clock or CallClock()
        self._places = Concurrency(limits.concurrency, self._clock.now)
        self._turns: RateLimitQueue | None = None
        self._held_until = 0.0
        self.breaker = CircuitBreaker(limits.breaker_failures, limits.breaker_open_s)

    def closed_reason(self) -> str:
        """Return why the breaker lets no call pass now, "" when it does."""
        return self.breaker.reason(self._clock.now())

    def seat(self) -> AbstractAsyncContextManager[None]:
        """Return a seat to hold while taking a picture and asking about it: see `Concurrency.seat`."""
        return self._places.seat(self._limits.timeout_s)

    async def run(
        self, once: Callable[[], Awaitable[T]], claim: Claim = NOBODY, *, recurring: bool = False
    ) -> RetryOutcome[T]:
        """Return what `once` returns, tried as often as allowed. Raises: CallFailed, with what all tries took.

        `claim` orders calls when the rate limit is reached. `recurring`: the caller calls again by itself, later after
        a rate limit, so a rate limit ends the call: more tries would only add to the load.
        """
        refused = self.breaker.admit(self._clock.now())
        if refused:
            raise CallFailed("judge_down", f"{self._who}: {refused}")
        try:
            done = await self._run_in_time(once, claim, recurring=recurring)
        except CallFailed as fault:
            self._note_fault(fault)
            raise
        except asyncio.CancelledError:
            self.breaker.note_abandoned(self._clock.now())
            raise
        self.breaker.note_success()
        return done

    def _note_fault(self, fault: CallFailed) -> None:
        # A refusal, nonsense or a request that is at fault itself is an answer: the backend is there. A rate limit
        # has its own hold.
        if fault.reply_code in CONTINUES - {"rejected", "rate_limited"}:
            self.breaker.note_failure(self._clock.now(), fault.message)
        elif fault.reply_code == "rate_limited":
            self.breaker.note_abandoned(self._clock.now())
        else:
            self.breaker.note_success()

    async def _run_in_time(self, once: Callable[[], Awaitable[T]], claim: Claim, *, recurring: bool) -> RetryOutcome[T]:
        begun: list[TokenUsage] = []
        deadline = self._clock.now() + self._limits.timeout_s
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                return await self._try_repeatedly(once, claim, deadline, begun, recurring=recurring)
        except TimeoutError:
            # After the first byte sent, a server may charge for an answer that is no longer awaited.
            usage = TokenUsage() if begun else FREE
            reason = f"{self._who} gave no answer within {self._limits.timeout_s:g} s"
            raise CallFailed("judge_down", reason, usage=usage) from None

    async def _try_repeatedly(
        self,
        once: Callable[[], Awaitable[T]],
        claim: Claim,
        deadline: float,
        usages: list[TokenUsage],
        *,
        recurring: bool,
    ) -> RetryOutcome[T]:
        lost = FREE
        for number in range(1, self._limits.tries + 1):
            await self._wait_for_turn(claim, deadline, lost)
            try:
                async with self._places.hold_place():
                    usages.append(lost)
                    return RetryOutcome(await once(), lost)
            except CallFailed as fault:
                lost = sum_usage(lost, fault.usage)
                pause_s = self._pause_s(fault, number)
                ends = recurring and fault.reply_code == "rate_limited"
                if ends or number == self._limits.tries or not self._is_worth_retry(fault, pause_s, deadline):
                    raise _with_tries(fault, number, lost) from None
            await self._clock.sleep(pause_s)
        raise AssertionError("unreachable: the last try returns or raises")

    def _pause_s(self, fault: CallFailed, number: int) -> float:
        """Return a pause with full jitter (0 to a bound that doubles), on top of what the server asked for."""
        asked_s = min(fault.after_s or 0.0, MAX_HOLD_S)
        self._held_until = max(self._held_until, self._clock.now() + asked_s)
        return asked_s + self._clock.random_part() * min(_MAX_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (number - 1))

    def _is_worth_retry(self, fault: CallFailed, pause_s: float, deadline: float) -> bool:
        patient = (fault.after_s or 0.0) <= PATIENCE_S
        return fault.retry and patient and self._clock.now() + pause_s < deadline

    async def _wait_for_turn(self, claim: Claim, deadline: float, lost_usage: TokenUsage) -> None:
        now = self._clock.now()
        asked_s = self._held_until - now
        if asked_s > PATIENCE_S or (asked_s > 0 and self._held_until >= deadline):
            reason = f"{self._who} asked for {asked_s:.0f} s of quiet"
            raise CallFailed("rate_limited", reason, after_s=asked_s, usage=lost_usage)
        if asked_s > 0:
            await self._clock.sleep(asked_s)
        try:
            await self._get_queue(now).wait_for_turn(claim, deadline)
        except TurnRefused as fault:
            reason = f"{self._who}: the limit of {self._limits.per_minute:g} calls a minute is reached, {fault}"
            raise CallFailed("rate_limited", reason, after_s=fault.after_s, usage=lost_usage) from None

    def _get_queue(self, now: float) -> RateLimitQueue:
        if self._turns is None:
            self._turns = RateLimitQueue(bucket_of(self._limits.per_minute, now), self._clock, PATIENCE_S)
        return self._turns


def _with_tries(fault: CallFailed, tries: int, usage: TokenUsage) -> CallFailed:
    reason = fault.message if tries == 1 else f"{fault.message} (after {tries} tries)"
    return CallFailed(fault.reply_code, reason, after_s=fault.after_s, usage=usage)
