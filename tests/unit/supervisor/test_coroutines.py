"""Coroutines on callbacks: order, resuming at once, faults at the await, `finally` at a cancel, races."""

from collections.abc import Callable
from typing import Any

import pytest

from acud.base.errors import AcudError, NotFound
from acud.supervisor.coroutines import Callback, Steps, StepTask, first

Outcome = Any


class Desk:
    """What was begun and is to be called back, by name."""

    def __init__(self) -> None:
        self.open: dict[str, Callable[[Outcome], None]] = {}
        self.given_up: list[str] = []
        self.outcomes: list[Outcome] = []

    def ask(self, name: str) -> Callback[Outcome]:
        def begin(resume: Callable[[Outcome], None]) -> Callable[[], None]:
            self.open[name] = resume
            return lambda: self.given_up.append(name)

        return Callback(begin)

    def start(self, steps: Steps[Outcome]) -> StepTask[Outcome]:
        task = StepTask(steps, later, self.outcomes.append)
        task.begin()
        return task


def later(step: Callable[[Outcome], None]) -> Callable[[Outcome], None]:
    return step


def test_a_callback_resumes_at_once_and_the_result_is_handed_over() -> None:
    desk = Desk()

    async def work() -> int:
        return await desk.ask("one") + await desk.ask("two")

    desk.start(work())
    desk.open.pop("one")(1)
    assert desk.outcomes == []
    desk.open.pop("two")(2)
    assert desk.outcomes == [3]


def test_a_callback_that_comes_at_once_takes_no_stack() -> None:
    desk = Desk()

    async def work() -> int:
        count = 0
        for _ in range(20_000):
            count += await Callback[int](lambda resume: resume(1))
        return count

    desk.start(work())
    assert desk.outcomes == [20_000]


def test_a_fault_is_raised_at_the_await_whether_given_or_raised() -> None:
    desk = Desk()
    seen = []

    def refuse(_: object) -> None:
        raise NotFound("raised")

    async def work() -> None:
        for callback in (desk.ask("one"), Callback[None](refuse)):
            try:
                await callback
            except AcudError as fault:
                seen.append(fault.message)
        await desk.ask("two")

    desk.start(work())
    desk.open.pop("one")(NotFound("given"))
    desk.open.pop("two")(NotFound("the end"))
    assert seen == ["given", "raised"]
    assert [str(one) for one in desk.outcomes] == ["the end"]


def test_a_second_call_resumes_nothing() -> None:
    desk = Desk()

    async def work() -> list[int]:
        return [await desk.ask("one"), await desk.ask("two")]

    desk.start(work())
    desk.open["one"](1)
    desk.open["one"](7)
    desk.open["two"](2)
    desk.open["two"](8)
    assert desk.outcomes == [[1, 2]]


def test_cancel_runs_finally_and_gives_up_what_is_awaited() -> None:
    desk = Desk()
    closed = []

    async def work() -> None:
        try:
            await desk.ask("one")
        finally:
            closed.append(True)

    task = desk.start(work())
    task.cancel()
    task.cancel()
    desk.open["one"](1)
    assert (closed, desk.given_up, desk.outcomes) == ([True], ["one"], [])


def test_cancel_while_a_callback_is_begun_gives_it_up() -> None:
    desk = Desk()
    tasks: list[StepTask[Outcome]] = []

    def begin(_: object) -> Callable[[], None]:
        tasks[0].cancel()
        return lambda: desk.given_up.append("one")

    async def work() -> None:
        await Callback[None](begin)

    tasks.append(StepTask(work(), later, desk.outcomes.append))
    tasks[0].begin()
    assert (desk.given_up, desk.outcomes) == (["one"], [])


def test_another_fault_goes_to_the_step_that_resumed_it_and_ends_the_work() -> None:
    desk = Desk()

    async def work() -> None:
        await desk.ask("one")
        raise ZeroDivisionError

    desk.start(work())
    with pytest.raises(ZeroDivisionError):
        desk.open["one"](None)
    desk.open["one"](None)
    assert desk.outcomes == []


def test_a_second_call_within_the_resumption_is_no_outcome_of_the_next_await() -> None:
    desk = Desk()

    async def work() -> list[int]:
        one = await desk.ask("one")
        desk.open["one"](7)
        return [one, await desk.ask("two")]

    desk.start(work())
    desk.open["one"](1)
    desk.open["two"](2)
    assert desk.outcomes == [[1, 2]]


def test_a_begin_that_fails_after_it_passed_its_resume_on_ends_the_work() -> None:
    desk = Desk()
    closed = []

    def begin(resume: Callable[[Outcome], None]) -> None:
        desk.open["one"] = resume
        raise ZeroDivisionError

    async def work() -> None:
        try:
            await Callback[None](begin)
        finally:
            closed.append(True)

    with pytest.raises(ZeroDivisionError):
        desk.start(work())
    desk.open["one"](None)
    assert (closed, desk.outcomes) == ([True], [])


@pytest.mark.parametrize("winner", ["one", "two"])
def test_the_first_result_wins_and_the_others_are_given_up(winner: str) -> None:
    desk = Desk()

    async def racer(name: str) -> Outcome:
        return await desk.ask(name)

    async def work() -> Outcome:
        return await first(later, racer("one"), racer("two"), racer("three"))

    desk.start(work())
    desk.open["three"](None)
    assert desk.outcomes == []
    desk.open[winner](winner)
    assert desk.outcomes == [winner]
    assert desk.given_up == [({"one", "two"} - {winner}).pop()]


def test_a_fault_of_one_ends_the_race_and_none_of_all_is_none() -> None:
    desk = Desk()

    async def racer(name: str) -> Outcome:
        return await desk.ask(name)

    async def work(*names: str) -> Outcome:
        return await first(later, *(racer(name) for name in names))

    desk.start(work("one", "two"))
    desk.open["two"](NotFound("gone"))
    desk.start(work("three"))
    desk.open["three"](None)
    assert [str(one) for one in desk.outcomes] == ["gone", "None"]


def test_what_wins_at_once_begins_no_other() -> None:
    desk = Desk()

    async def at_once() -> int:
        return 1

    async def racer() -> Outcome:
        return await desk.ask("late")

    async def work() -> Outcome:
        return await first(later, at_once(), racer())

    desk.start(work())
    assert (desk.outcomes, desk.open) == ([1], {})
