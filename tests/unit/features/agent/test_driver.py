"""A run in the supervisor: effect after effect, and its end from outside."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from acud.base.errors import AcudError, DisplayDown
from acud.config import Settings
from acud.features.agent.supervisor.driver import Driver
from acud.process.event_loop import EventLoop
from acud.protocol.evaluation import JobResult, Thought
from acud.protocol.requests.gui import DoReply
from acud.supervisor.coroutines import Callback
from acud.types.agent_runs import RunInfo, RunSpec, RunState
from acud.types.chat import ChatCall
from tests.fixtures.manual_clock import ManualClock


class Rig:
    """A run whose model and instructions answer when the test says so."""

    def __init__(self, blind: AcudError | None = None) -> None:
        clock = ManualClock()
        source = SimpleNamespace(name=":7", display=":7", width=640, height=480, window_id=0)
        picture = SimpleNamespace(source=source, crop=None, ignore=(), screen=(640, 480), place=None)
        fresh = blind or SimpleNamespace(picture=picture)
        find = Callback[Any](lambda resume: resume(fresh))
        self.thoughts: list[Any] = []
        self.instructions: list[Any] = []
        self.given_up: list[str] = []
        self.usage, self.stepped = MagicMock(), list[RunInfo]()
        core: Any = MagicMock(
            loop=EventLoop(clock.monotonic_s),
            clock=clock,
            settings=Settings(),
            fresh_frames=SimpleNamespace(find=lambda target: find),
            pool=SimpleNamespace(look=lambda *_: Callback[JobResult](self.thoughts.append)),
            usage_log=self.usage,
            ports=SimpleNamespace(instructions=SimpleNamespace(begin=self._begin)),
        )
        run = RunInfo("run-1", RunState.RUNNING, RunSpec("export it", backend="ollama"), ":7", 1.0)
        self.driver = Driver(run, SimpleNamespace(name=":7"), core, lambda driver: self.stepped.append(driver.info))
        self.driver.begin()

    def _begin(self, request: Any, caller: Any) -> Any:
        self.instructions.append(caller)
        return self.given_up.append

    def think(self) -> None:
        calls = (ChatCall("c1", "do", '{"instruction": "click Export"}'),)
        self.thoughts.pop()(JobResult("job", "done", width=640, height=480, thought=Thought(calls=calls, cost_usd=0.1)))


def test_it_thinks_acts_and_thinks_again() -> None:
    rig = Rig()
    rig.think()
    rig.instructions.pop().reply(DoReply("verified", ":7", "clicked", "click"), stored_body=None)
    assert [one.outcome for one in rig.driver.info.steps] == ["verified"]
    assert (len(rig.thoughts), rig.driver.info.state) == (1, RunState.RUNNING)


def test_a_run_that_is_stopped_gives_up_its_instruction_and_goes_no_further() -> None:
    rig = Rig()
    rig.think()
    rig.driver.stop(RunState.CANCELLED, "enough")
    rig.instructions.pop().reply(DoReply("verified", ":7", "clicked", "click"), stored_body=None)
    assert (rig.given_up, rig.thoughts) == (["the run of the agent ended before this did"], [])
    assert (rig.stepped[-1].state, rig.stepped[-1].reason) == (RunState.CANCELLED, "enough")


def test_a_thought_that_comes_after_the_end_is_paid_for_all_the_same() -> None:
    rig = Rig()
    rig.driver.stop(RunState.CANCELLED, "enough")
    rig.think()
    assert rig.usage.enter.call_args.args[2] == 0.1
    assert rig.instructions == []


def test_a_screen_that_cannot_be_seen_ends_it() -> None:
    info = Rig(DisplayDown("Xvfb died")).driver.info
    assert (info.state, info.reason) == (RunState.ESCALATED, "the screen cannot be seen: Xvfb died")
