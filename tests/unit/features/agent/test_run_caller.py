"""An instruction of a run that has ended takes no further step."""

from typing import Any

from acud.base.errors import Refused
from acud.features.agent.supervisor.driver import RunCaller
from acud.supervisor.control import FaultGuard


def caller() -> tuple[RunCaller, list[Any]]:
    ends: list[Any] = []
    return RunCaller(FaultGuard(), ends.append), ends


def test_a_dropped_errand_takes_no_step_and_tells_nobody() -> None:
    one, ends = caller()
    steps: list[int] = []
    dropped: list[str] = []
    step = one.later(steps.append)
    step(1)
    one.give_up(dropped.append)
    step(2)
    one.fail(Refused("too late"))
    one.give_up(dropped.append)
    assert (steps, ends, len(dropped)) == ([1], [], 1)


def test_a_step_that_fails_ends_the_errand_once() -> None:
    one, ends = caller()

    def failing(outcome: int) -> None:
        raise Refused(f"step {outcome}")

    step = one.later(failing)
    step(1)
    step(2)
    assert [str(end) for end in ends] == ["step 1"]
