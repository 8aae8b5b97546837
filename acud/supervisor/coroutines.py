"""Work of several steps as one coroutine on the supervisor's own loop: no asyncio, no thread.

    moved = await Callback(lambda resume: waits.run_transient(spec, watched, resume))

A callback resumes the coroutine at once, in the same turn and savepoint (docs/adr/0011-steps-as-coroutines.md).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, Protocol, TypeVar, cast

from acud.base.errors import AcudError
from acud.process.event_loop import EventLoop

Thing = TypeVar("Thing")
Resume = Callable[[Thing | AcudError], None]
Steps = Coroutine["Callback[Any]", Any, Thing]
_NOTHING = object()


class Later(Protocol):
    """Makes a callback a part of the call that a coroutine works for (`Call.later`)."""

    def __call__(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` as a part of the call: its faults answer that call only."""


def directly(step: Callable[[Thing], None]) -> Callable[[Thing], None]:
    """Return `step` itself, for a coroutine that no call works for: its faults go to the code that resumes it."""
    return step


class Callback(Generic[Thing]):
    """Awaits one callback: `begin` starts something and passes it `resume`, which is called once, at once or later.

    An AcudError that `begin` raises, or `resume` is called with, is raised at the await. `begin` may return a function
    that gives up what it began, to be called if the coroutine is cancelled meanwhile.
    """

    def __init__(self, begin: Callable[[Resume[Thing]], object]) -> None:
        self.begin = begin

    def __await__(self) -> Generator[Callback[Thing], Thing, Thing]:
        return (yield self)


class StepTask(Generic[Thing]):
    """Drives the coroutine `steps`; `on_done` gets its result, or the AcudError that ended it. Any other exception goes
    to the step that resumed it.
    """

    def __init__(self, steps: Steps[Thing], later: Later, on_done: Callable[[Thing | AcudError], None]) -> None:
        self._steps, self._later, self._done = steps, later, on_done
        self._give_up: object = None
        self._outcome: object = None
        self._awaited = 0  # counts the callbacks, so that one that comes twice, or too late, resumes nothing
        self._is_running = False
        self._is_over = False

    def begin(self) -> None:
        """Run the coroutine to the first callback that does not come at once."""
        self._run_steps()

    def cancel(self) -> None:
        """Give up what is awaited, and run what `finally` holds; `on_done` is not called. Harmless once it is over."""
        if self._is_over:
            return
        self._is_over = True
        if callable(self._give_up):
            self._give_up()
        if not self._is_running:
            self._steps.close()

    def _run_steps(self) -> None:
        self._is_running = True
        try:
            while self._outcome is not _NOTHING:
                awaited = self._resume_coroutine()
                if awaited is None:
                    return
                self._begin_callback(awaited)
        finally:
            self._is_running = False
            if self._is_over:
                self._steps.close()

    def _resume_coroutine(self) -> Callback[Any] | None:
        """Resume the coroutine; return the callback it awaits next, or None once it has ended."""
        outcome, self._outcome, self._give_up = self._outcome, _NOTHING, None
        try:
            awaited = self._steps.throw(outcome) if isinstance(outcome, AcudError) else self._steps.send(outcome)
        except StopIteration as end:
            self._end_task(cast("Thing", end.value))
        except AcudError as fault:
            self._end_task(fault)
        except BaseException:
            self._is_over = True
            raise
        else:
            return None if self._is_over else awaited
        return None

    def _begin_callback(self, callback: Callback[Any]) -> None:
        self._awaited += 1
        number = self._awaited

        def resume(outcome: object) -> None:
            if number != self._awaited or self._outcome is not _NOTHING or self._is_over:
                return
            self._awaited += 1
            self._outcome = outcome
            if not self._is_running:
                self._run_steps()

        try:
            self._give_up = callback.begin(self._later(resume))
        except AcudError as fault:
            self._outcome = fault
        except BaseException:
            self._is_over = True
            raise
        if self._is_over and callable(self._give_up):
            self._give_up()  # cancelled while it was begun

    def _end_task(self, outcome: Thing | AcudError) -> None:
        if not self._is_over:
            self._is_over = True
            self._done(outcome)


def raise_fault(outcome: object) -> None:
    """Raise the outcome of steps that no caller waits for, if it is a fault."""
    if isinstance(outcome, AcudError):
        raise outcome


def run_steps(steps: Steps[Thing], on_done: Callable[[Thing | AcudError], None] = raise_fault) -> None:
    """Drive `steps` for no call: any fault but an AcudError goes to the code that resumes them."""
    StepTask(steps, directly, on_done).begin()


class Within(Callback[Thing | None]):
    """Awaits one callback for at most `limit_s`: the outcome is None then, and one that comes later goes to `late`."""

    def __init__(
        self,
        loop: EventLoop,
        limit_s: float,
        begin: Callable[[Resume[Thing]], object],
        late: Resume[Thing] | None = None,
    ) -> None:
        super().__init__(self._begin_within)
        self._loop, self._limit_s = loop, limit_s
        self._begin_awaited = begin
        self._late = late
        self.is_over = False

    def _begin_within(self, resume: Resume[Thing | None]) -> Callable[[], None]:
        self._resume = resume
        self._timer = self._loop.call_later(self._limit_s, lambda: self._end_once(None))
        try:
            self._begin_awaited(self._end_or_drop)
        except BaseException:
            self._cancel_timer()
            raise
        return self._cancel_timer

    def _cancel_timer(self) -> None:
        self.is_over = True
        self._timer.cancel()

    def _end_or_drop(self, outcome: Thing | AcudError) -> None:
        if self.is_over and self._late is not None:
            self._late(outcome)
        self._end_once(outcome)

    def _end_once(self, outcome: Thing | AcudError | None) -> None:
        if not self.is_over:
            self._cancel_timer()
            self._resume(outcome)


def sleep(loop: EventLoop, delay_s: float) -> Callback[None]:

    def begin(resume: Resume[None]) -> Callable[[], None]:
        return loop.call_later(delay_s, lambda: resume(None)).cancel

    return Callback(begin)


def first(later: Later, *racers: Steps[Thing | None]) -> Callback[Thing | None]:
    """Return a callback that runs coroutines in parallel until one returns a result (not None) or all have ended. The
    others are cancelled. A fault of one is the outcome.
    """

    def begin(resume: Resume[Thing | None]) -> Callable[[], None]:
        tasks: list[StepTask[Thing | None]] = []
        left = len(racers)
        is_over = False

        def cancel() -> None:
            nonlocal is_over
            is_over = True
            for task in tasks:
                task.cancel()

        def on_end(outcome: Thing | AcudError | None) -> None:
            nonlocal left
            left -= 1
            if not is_over and (outcome is not None or left == 0):
                cancel()
                resume(outcome)

        tasks += [StepTask(racer, later, on_end) for racer in racers]
        for task in tasks:
            if not is_over:
                task.begin()
        return cancel

    return Callback(begin)
