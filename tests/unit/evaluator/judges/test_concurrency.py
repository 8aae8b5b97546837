"""How many calls at once: more for a backend that stays quick, fewer for one that is full or slow."""

import asyncio

import pytest

from acud.evaluator.judges.concurrency import START, Concurrency
from acud.evaluator.judges.faults import CallFailed

pytestmark = pytest.mark.asyncio


class Backend:
    """Holds calls until `answers`; `now` is its clock, `most` how many it ever held at once."""

    def __init__(self, most: int = 256, grow_s: float = 3600.0) -> None:
        self.at = 100.0
        self.places = Concurrency(most, lambda: self.at, grow_s)
        self._held: list[asyncio.Future[None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.most = 0

    async def asks(self, calls: int) -> None:
        self._tasks += [asyncio.create_task(self._call()) for _ in range(calls)]
        await self._settle()

    async def answers(self, seconds: float, status: int = 0) -> int:
        """Let time pass, then end the calls that are held; return how many those were."""
        self.at += seconds
        held, self._held = self._held, []
        for one in held:
            if status:
                one.set_exception(CallFailed("rate_limited", "full", status=status))
            else:
                one.set_result(None)
        await self._settle()
        return len(held)

    async def _call(self) -> None:
        try:
            async with self.places.hold_place():
                answer = asyncio.get_running_loop().create_future()
                self._held.append(answer)
                self.most = max(self.most, len(self._held))
                await answer
        except CallFailed:
            pass

    async def _settle(self) -> None:
        for _ in range(8):
            await asyncio.sleep(0)

    def cancel_newest(self) -> None:
        self._tasks[-1].cancel()


async def test_a_backend_that_stays_quick_gets_twice_as_many_each_round() -> None:
    backend = Backend()
    await backend.asks(300)
    assert [await backend.answers(0.2) for _ in range(4)] == [START, 2 * START, 4 * START, 300 - 7 * START]


async def test_never_more_than_the_setting() -> None:
    backend = Backend(most=8)
    await backend.asks(30)
    assert [await backend.answers(0.2) for _ in range(4)] == [8, 8, 8, 6]
    assert backend.most == 8


async def test_who_is_not_short_of_places_gets_no_more() -> None:
    backend = Backend()
    for _ in range(10):
        await backend.asks(START)
        await backend.answers(0.2)
    assert backend.places.limit == START


@pytest.mark.parametrize("status", [429, 503, 529])
async def test_a_full_backend_gets_half_as_many_and_then_slowly_more(status: int) -> None:
    backend = Backend()
    await backend.asks(START)
    await backend.answers(0.2, status)
    assert backend.places.limit == START // 2, "all of these calls say the same"
    await backend.asks(START)
    assert await backend.answers(0.2) == START // 2
    assert backend.places.limit == START // 2 + START // 16
    await backend.answers(0.2, status)
    assert backend.places.limit == (START // 2 + START // 16) // 2


async def test_a_backend_whose_answers_take_twice_as_long_gets_fewer_where_calls_wait() -> None:
    backend = Backend()
    await backend.asks(START)
    await backend.answers(0.2)
    await backend.asks(START)
    await backend.answers(0.5)
    assert backend.places.limit == START, "slow answers to other questions: nobody waited"
    await backend.asks(START + 1)
    await backend.answers(0.5)
    assert backend.places.limit == START * 3 // 4


async def test_a_backend_that_became_slow_for_good_is_not_starved() -> None:
    backend = Backend()
    for _ in range(200):
        await backend.asks(2 * START)
        while await backend.answers(0.2):
            pass
        backend.at += 1
    for _ in range(400):
        await backend.asks(2 * START)
        while await backend.answers(1.0):
            pass
    assert backend.places.limit > START


async def test_one_that_is_given_up_takes_no_place() -> None:
    backend = Backend(most=1)
    await backend.asks(3)
    backend.cancel_newest()
    assert [await backend.answers(0.1) for _ in range(3)] == [1, 1, 0]
    await backend.asks(1)
    assert await backend.answers(0.1) == 1


async def test_calls_do_not_wait_for_the_answers_of_slow_ones() -> None:
    backend = Backend(grow_s=0.0)
    await backend.asks(4 * START)
    while backend.most < 4 * START:
        await backend.asks(0)
    assert await backend.answers(6.0) == 4 * START


async def test_after_a_full_backend_calls_wait_for_answers_again() -> None:
    backend = Backend(grow_s=0.0)
    await backend.asks(START)
    await backend.answers(0.2, 429)
    await backend.asks(START)
    await asyncio.sleep(0.01)
    assert await backend.answers(0.2) == START // 2
    backend.at += 60.0
    await backend.asks(4 * START)
    while await backend.answers(0.2):
        pass
    assert backend.most > START, "for a while"


async def test_a_model_that_is_slow_and_not_full_is_asked_as_much_as_before() -> None:
    backend = Backend()
    await backend.asks(START)
    await backend.answers(0.2)
    await backend.asks(8 * START)
    await backend.answers(6.0)
    assert backend.places.limit == START * 3 // 4
    await backend.answers(6.0)
    assert backend.places.limit == START


async def test_seats_are_as_many_as_calls_in_the_order_of_coming_and_make_more_calls_possible() -> None:
    backend, held, seated = Backend(2), asyncio.Event(), list[int]()

    async def sit(number: int, patience_s: float = 3600.0) -> None:
        async with backend.places.seat(patience_s):
            seated.append(number)
            await held.wait()

    tasks = [asyncio.create_task(sit(number)) for number in range(4)]
    await backend._settle()
    assert seated == [0, 1]
    tasks[0].cancel()
    await backend._settle()
    assert seated == [0, 1, 2]
    tasks.append(asyncio.create_task(sit(9, 0.0)))  # it goes on without a seat
    await backend._settle()
    held.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert seated == [0, 1, 2, 9, 3]
    grown = Backend(64, 0.0)
    sitting = [asyncio.create_task(asyncio.wait_for(_hold(grown), 30)) for _ in range(START + 8)]
    await grown._settle()
    assert grown.places.limit >= START + 8
    for one in sitting:
        one.cancel()


async def _hold(backend: Backend) -> None:
    async with backend.places.seat(3600.0):
        await asyncio.Event().wait()
