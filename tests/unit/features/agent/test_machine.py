"""A run as a machine: what follows from what, its limits, and that only a check makes it done."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.base.errors import InvalidRequest
from acud.features.agent import prompt
from acud.features.agent.machine import (
    MAX_CHECKS,
    MAX_FUTILE,
    MAX_SILENT,
    Await,
    Check,
    Checked,
    Did,
    End,
    Event,
    ModelAnswer,
    Run,
    RunInstruction,
    Stopped,
    Think,
)
from acud.features.agent.prompt import KEPT_STEPS
from acud.types.agent_runs import RunLimits, RunSpec, RunState
from acud.types.chat import ChatCall


def run_of(**limits: Any) -> Run:
    run = Run(RunSpec("export the report", backend="vllm", limits=RunLimits(**limits)), 100.0)
    assert isinstance(run.begin(), Think)
    return run


def call(name: str, **arguments: Any) -> ModelAnswer:
    return ModelAnswer(101.0, calls=(ChatCall("c1", name, json.dumps(arguments)),), cost_usd=0.001)


def did(*, effective: bool = True, at: float = 102.0) -> Did:
    return Did(at, "verified" if effective else "unverified", "", effective)


def test_a_step_is_thought_done_and_thought_about_again() -> None:
    run = run_of()
    assert run.take_event(call("do", instruction="click the Export button")) == RunInstruction(
        "click the Export button", ""
    )
    think = run.take_event(did())
    assert isinstance(think, Think)
    assert [m.role for m in think.messages] == ["user", "assistant", "tool", "user"]
    assert think.messages[1].calls[0].call_id == think.messages[2].call_id
    assert run.steps[0].outcome == "verified"
    assert run.spent.calls == 1


def test_done_only_after_a_check_said_yes() -> None:
    run = run_of()
    assert run.take_event(call("done", shows="the file list has report.pdf")) == Check("the file list has report.pdf")
    assert isinstance(run.take_event(Checked(103.0, "no", "no such file")), Think)
    assert run.ended is None
    run.take_event(call("done", shows="the file list has report.pdf"))
    end = run.take_event(Checked(104.0, "yes", "report.pdf is in the list"))
    assert end == End(RunState.DONE, "", "report.pdf is in the list")


def test_an_unknown_check_is_no_done() -> None:
    run = run_of()
    run.take_event(call("done", shows="it is green"))
    assert isinstance(run.take_event(Checked(103.0, "unknown", "the judge is down")), Think)


def test_actions_without_effect_end_it() -> None:
    run, effect = run_of(), None
    for _ in range(MAX_FUTILE):
        run.take_event(call("do", instruction="click OK"))
        effect = run.take_event(did(effective=False))
    assert isinstance(effect, End)
    assert effect.state is RunState.ESCALATED


@pytest.mark.parametrize("thought", [
    ModelAnswer(101.0, text="I think I should click"),
    ModelAnswer(101.0, calls=(ChatCall("c", "rm", "{}"),)),
    ModelAnswer(101.0, calls=(ChatCall("c", "do", "{"),)),
    ModelAnswer(101.0, calls=(ChatCall("c", "do", '{"instruction": 3}'),)),
    ModelAnswer(101.0, calls=(ChatCall("c", "do", '{"instruction": "x", "shell": "rm"}'),)),
])  # fmt: skip
def test_answers_without_a_usable_call_are_told_and_bounded(thought: ModelAnswer) -> None:
    run, effect = run_of(), None
    for _ in range(MAX_SILENT):
        effect = run.take_event(thought)
    assert isinstance(effect, End)
    assert effect.state is RunState.ESCALATED
    assert [step.outcome for step in run.steps] == ["unusable"] * MAX_SILENT


def test_of_several_calls_the_first_is_done_and_each_is_answered() -> None:
    run = run_of()
    calls = (ChatCall("a", "do", '{"instruction": "click A"}'), ChatCall("b", "do", '{"instruction": "click B"}'))
    assert run.take_event(ModelAnswer(101.0, calls=calls)) == RunInstruction("click A", "")
    think = run.take_event(did())
    assert isinstance(think, Think)
    assert [m.call_id for m in think.messages if m.role == "tool"] == ["a", "b"]


def test_a_model_that_fails_is_asked_once_more() -> None:
    run = run_of()
    assert isinstance(run.take_event(ModelAnswer(101.0, code="judge_down", reason="refused")), Think)
    end = run.take_event(ModelAnswer(101.0, code="judge_down", reason="refused"))
    assert isinstance(end, End)
    assert "refused" in end.reason


@pytest.mark.parametrize(("limits", "says"), [
    ({"max_steps": 1}, "1 steps"), ({"max_calls": 1}, "1 questions"), ({"max_cost_usd": 0.0005}, "0.0005 USD"),
    ({"max_time_s": 1.5}, "1.5 s"),
])  # fmt: skip
def test_every_limit_ends_it(limits: dict[str, Any], says: str) -> None:
    run = run_of(**limits)
    effect = run.take_event(call("do", instruction="click OK"))
    if not isinstance(effect, End):
        effect = run.take_event(did())
    assert isinstance(effect, End)
    assert effect.state is RunState.ESCALATED
    assert says in effect.reason


def test_a_cost_that_is_not_known_ends_a_run_with_a_cost_limit() -> None:
    run = run_of(max_cost_usd=1.0)
    end = run.take_event(ModelAnswer(101.0, calls=(ChatCall("c", "do", '{"instruction": "x"}'),), cost_usd=None))
    assert isinstance(end, End)
    assert "not known" in end.reason


def test_a_wait_never_outlasts_the_run() -> None:
    run = run_of(max_time_s=10)
    assert run.take_event(call("wait", until="it is ready", timeout_s=300)) == Await("it is ready", 9.0)


def test_late_news_change_nothing() -> None:
    run = run_of()
    run.take_event(call("do", instruction="x"))
    run.take_event(Stopped(102.0, RunState.CANCELLED, "enough"))
    steps = list(run.steps)
    assert run.take_event(did()) is None
    assert run.steps == steps
    assert run.ended == End(RunState.CANCELLED, "enough")


def test_the_conversation_stays_bounded() -> None:
    run, think = run_of(max_steps=60, max_calls=None), None
    for number in range(40):
        run.take_event(call("do", instruction=f"click {number}"))
        think = run.take_event(did())
    assert isinstance(think, Think)
    assert len(think.messages) == 3 + 2 * KEPT_STEPS
    assert "click 0" in think.messages[1].text
    assert think.messages[1].quotes


EVENTS = st.one_of(
    st.builds(
        ModelAnswer,
        st.just(101.0),
        st.text(max_size=20),
        st.lists(
            st.builds(ChatCall, st.just("c"), st.sampled_from(["do", "wait", "done", "escalate", "?"]), st.text()),
            max_size=2,
        ).map(tuple),
    ),
    st.just(call("do", instruction="click OK")),
    st.just(call("done", shows="x")),
)


@given(st.lists(EVENTS, max_size=30), st.data())
def test_whatever_a_model_says_ends_and_is_done_only_by_a_check(thoughts: list[Event], data: st.DataObject) -> None:
    run = run_of(max_steps=10, max_calls=50)
    yes = False
    for thought in thoughts:
        effect = run.take_event(thought)
        if isinstance(effect, RunInstruction | Await):
            run.take_event(did(effective=data.draw(st.booleans())))
        elif isinstance(effect, Check):
            answer = data.draw(st.sampled_from(["yes", "no", "unknown"]))
            yes = yes or answer == "yes"
            run.take_event(Checked(103.0, answer, ""))
    assert len(run.steps) <= 10
    assert (run.ended is not None and run.ended.state is RunState.DONE) == yes


def test_the_tools_offered_are_those_understood() -> None:
    for tool in prompt.agent_tools():
        schema = json.loads(tool.schema)
        assert schema["additionalProperties"] is False
        with pytest.raises(InvalidRequest):
            prompt.parse_decision(ChatCall("c", tool.name, "{}"))


def test_claims_that_never_hold_end_as_escalated() -> None:
    run = run_of()
    effect: Any = None
    for _ in range(MAX_CHECKS):
        run.take_event(call("done", shows="x"))
        effect = run.take_event(Checked(103.0, "no", "nothing to see"))
    assert isinstance(effect, End)
    assert effect.state is RunState.ESCALATED
    assert "nothing to see" in effect.reason
