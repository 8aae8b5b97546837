"""Tries, pauses, the place in the minute and the circuit, on a clock that a test turns by hand."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.evaluator.judges.faults import FREE, CallFailed, KeyFilter, TokenUsage, sum_usage
from acud.evaluator.judges.http import asked_pause_s
from acud.evaluator.judges.rate_limit import bucket_of
from acud.evaluator.judges.retry import MAX_HOLD_S, CallClock, CallLimits, Circuit, CircuitBreaker, RetriedCalls

BUSY = CallFailed("rate_limited", "busy", retry=True)
DOWN = CallFailed("judge_down", "down", retry=True)
BAD = CallFailed("rejected", "bad picture")


class Hand(CallClock):
    """A clock whose sleeps pass at once."""

    def __init__(self, part: float = 0.5) -> None:
        self.at = 100.0
        self.slept: list[float] = []
        self._part = part

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds

    def random_part(self) -> float:
        return self._part


class Server:
    """Gives each outcome in turn, the last one for ever; `times` are when it was asked."""

    def __init__(self, clock: Hand, *outcomes: CallFailed | str, takes_s: float = 0.0) -> None:
        self.clock, self.outcomes, self.takes_s = clock, list(outcomes), takes_s
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(self.clock.at)
        self.clock.at += self.takes_s
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, CallFailed):
            raise CallFailed(
                outcome.reply_code, outcome.message, retry=outcome.retry, after_s=outcome.after_s, usage=outcome.usage
            )
        return outcome


def calls(clock: Hand, **more: float) -> RetriedCalls:
    """Return the calls of a backend with a minute's limit and three tries."""
    return RetriedCalls("eye", CallLimits(**{"timeout_s": 60, "tries": 3, "concurrency": 8, **more}), clock)  # type: ignore[arg-type]


async def note_failure(making: RetriedCalls, server: Server) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await making.run(server)
    return caught.value


@pytest.mark.asyncio
async def test_a_fault_that_may_pass_is_tried_again_and_others_are_not() -> None:
    clock = Hand()
    assert (await calls(clock).run(Server(clock, DOWN, BUSY, "yes"))).value == "yes"
    assert clock.slept == [0.25, 0.5]
    server = Server(clock, BAD, "yes")
    assert (await note_failure(calls(clock), server)).message == "bad picture"
    assert len(server.times) == 1


@pytest.mark.asyncio
async def test_pauses_grow_to_a_bound_and_are_random_from_nothing_on() -> None:
    for part, slept in ((0.0, [0.0] * 6), (0.5, [0.25, 0.5, 1, 2, 4, 4])):
        clock = Hand(part)
        fault = await note_failure(calls(clock, tries=7), Server(clock, DOWN))
        assert clock.slept == slept
        assert fault.message == "down (after 7 tries)"


@pytest.mark.asyncio
async def test_no_try_begins_that_the_time_limit_would_cut_off() -> None:
    clock = Hand()
    server = Server(clock, DOWN, takes_s=1.0)
    await note_failure(calls(clock, tries=10, timeout_s=4.0), server)
    assert server.times == [100.0, 101.25, 102.75]


@pytest.mark.asyncio
async def test_what_the_server_asks_for_is_waited_out_or_the_call_is_given_up() -> None:
    clock = Hand()
    server = Server(clock, CallFailed("rate_limited", "busy", retry=True, after_s=7), "yes")
    await calls(clock).run(server)
    assert clock.slept == [7.25]
    clock, long = Hand(), CallFailed("rate_limited", "busy", retry=True, after_s=11)
    making, server = calls(clock), Server(clock, long, "yes")
    assert (await note_failure(making, server)).reply_code == "rate_limited"
    held = await note_failure(making, server)
    assert (held.reply_code, held.message) == ("rate_limited", "eye asked for 11 s of quiet")
    assert (clock.slept, len(server.times)) == ([], 1)
    clock.at += 2
    assert (await making.run(server)).value == "yes"
    assert clock.slept == [9]


@pytest.mark.asyncio
async def test_a_server_that_asks_for_a_day_is_asked_again_sooner() -> None:
    clock = Hand()
    making, server = calls(clock), Server(clock, CallFailed("judge_down", "x", retry=True, after_s=86_400), "yes")
    await note_failure(making, server)
    clock.at += MAX_HOLD_S
    assert (await making.run(server)).value == "yes"


@pytest.mark.asyncio
async def test_calls_a_minute_are_bounded_without_a_call_lost_that_could_wait() -> None:
    clock = Hand()
    making, server = calls(clock, per_minute=30), Server(clock, "yes")
    for _ in range(12):
        await making.run(server)
    assert server.times[3] == server.times[0]  # a burst of four, then one every 60/26 s
    assert all(later - earlier == pytest.approx(60 / 26) for earlier, later in pairwise(server.times[3:]))
    slow = calls(clock, per_minute=2)
    await slow.run(server)
    fault = await note_failure(slow, server)
    assert (fault.reply_code, "2 calls a minute" in fault.message) == ("rate_limited", True)
    clock.at += 60
    await slow.run(server)


@given(st.floats(0.1, 500), st.lists(st.floats(0, 20), min_size=1, max_size=200))
def test_no_minute_holds_more_than_allowed(per_minute: float, gaps: Sequence[float]) -> None:
    pace, now, times = bucket_of(per_minute, 0.0), 0.0, []
    for gap in gaps:
        now += gap
        times.append(now + pace.take(now))
    for index, begun in enumerate(times):
        assert sum(begun <= later < begun + 60 - 1e-6 for later in times[index:]) <= max(1, per_minute) + 1e-6


def test_a_place_given_back_is_there_for_the_next() -> None:
    pace = bucket_of(1, 0.0)
    assert pace.take(0) == 0
    assert pace.take(0) > 50
    pace.give_back()
    assert pace.take(60) == 0


@pytest.mark.asyncio
async def test_the_circuit_opens_after_failures_in_a_row_and_one_call_tries_it() -> None:
    clock = Hand()
    making = calls(clock, tries=1, breaker_failures=3, breaker_open_s=10)
    bad = Server(clock, DOWN)
    for _ in range(3):
        await note_failure(making, bad)
    fault = await note_failure(making, bad)
    assert (len(bad.times), making.breaker.state) == (3, Circuit.OPEN)
    assert fault.message == "eye: circuit open after 3 failures in a row, next try in 10 s: down"
    clock.at += 10
    await note_failure(making, bad)
    assert (len(bad.times), making.breaker.state) == (4, Circuit.OPEN)
    clock.at += 10
    assert making.closed_reason() == ""
    assert (await making.run(Server(clock, "yes"))).value == "yes"
    assert making.breaker.state is Circuit.CLOSED


@pytest.mark.asyncio
async def test_what_is_an_answer_of_a_kind_or_a_limit_opens_nothing() -> None:
    clock = Hand()
    making = calls(clock, tries=1, breaker_failures=2)
    for fault in (BAD, CallFailed("unparsable", "x"), BUSY) * 3:
        await note_failure(making, Server(clock, DOWN))
        await note_failure(making, Server(clock, fault))
        if fault.reply_code == "rate_limited":
            making.breaker.note_success()
    assert making.breaker.state is Circuit.CLOSED


@pytest.mark.asyncio
async def test_only_one_call_probes_and_a_probe_that_was_given_up_is_due_again() -> None:
    clock = Hand()
    making = calls(clock, tries=1, breaker_failures=1, breaker_open_s=10)
    await note_failure(making, Server(clock, DOWN))
    clock.at += 10
    begun, never = asyncio.Event(), asyncio.Event()

    async def hang() -> str:
        begun.set()
        await never.wait()
        return ""

    probe = asyncio.create_task(making.run(hang))
    await begun.wait()
    assert "being tried now" in (await note_failure(making, Server(clock, "yes"))).message
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert (await making.run(Server(clock, "yes"))).value == "yes"


def test_a_breaker_that_fails_its_probe_stays_open_as_long_again() -> None:
    breaker = CircuitBreaker(1, 5)
    breaker.note_failure(0, "x")
    assert breaker.admit(4.9) != ""
    assert breaker.admit(5) == ""
    breaker.note_failure(5, "y")
    assert breaker.admit(9.9).endswith("y")


@pytest.mark.asyncio
async def test_no_more_calls_are_under_way_than_allowed() -> None:
    clock, running, most, release, full = Hand(), 0, 0, asyncio.Event(), asyncio.Event()
    making = calls(clock, concurrency=3)

    async def once() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            full.set()
        await release.wait()
        running -= 1
        return "yes"

    tasks = [asyncio.create_task(making.run(once)) for _ in range(8)]
    await full.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    release.set()
    assert [done.value for done in await asyncio.gather(*tasks)] == ["yes"] * 8
    assert most == 3


@pytest.mark.asyncio
async def test_what_tries_took_is_added_up() -> None:
    clock = Hand()
    paid = CallFailed("judge_down", "x", retry=True, usage=TokenUsage(10, 1, 0.5))
    done = await calls(clock).run(Server(clock, paid, DOWN, "yes"))
    assert done.lost == TokenUsage(10, 1, 0.5)
    assert (await note_failure(calls(clock), Server(clock, paid))).usage == TokenUsage(30, 3, 1.5)


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    assert sum_usage(TokenUsage(1, 2, 0.5), TokenUsage(3, None, None)) == TokenUsage(4, 2, None)
    assert sum_usage(FREE, FREE) == FREE


@pytest.mark.parametrize(("headers", "seconds"), [
    ({"retry-after": "2.5"}, 2.5), ({"retry-after-ms": "20", "retry-after": "9"}, 0.02),
    ({"retry-after": "-1"}, None), ({"retry-after": "nan"}, None),
    ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0), ({"retry-after": "tomorrow"}, None),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000000000000"}, 0.0),
    ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "9000000000000"}, None),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "6m0s"}, None), ({}, None),
])  # fmt: skip
def test_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_pause_s(headers) == seconds


def test_words_hide_keys_and_parts_of_them() -> None:
    words = KeyFilter(("key+with/signs-0123456789",))
    for text in (
        "key+with/signs-0123456789",
        "key%2Bwith%2Fsigns-0123456789",
        "…with/signs-0123456…",
        "Bearer abcdefghijk",
        "sk-other-0123456789",
    ):
        told = words.line(f"before {text} after")
        assert told.startswith("before ")
        assert told.endswith(" after")
        assert not any(part in told for part in ("signs-01", "abcdefgh", "other-0"))
    assert words.line("a\nb\x1b[31m\u202ec") == "a b [31m c"
    assert KeyFilter(()).line("nothing to hide") == "nothing to hide"
