"""A wait without time looks once; and what is to be gone and was never there says so."""

import pytest

from acud.types import (
    AllOf,
    Answer,
    Cadence,
    Change,
    Criteria,
    NotOf,
    Policy,
    Stable,
    Target,
    Text,
    Until,
    WaitState,
    Widget,
    WindowTitle,
    no,
    unknown,
    yes,
)
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.effects import JobKind
from acud.waits.machine import arm, step
from acud.waits.presence import NEVER_THERE
from tests.unit.waits.rig import Rig, spec


def once(until: Until, policy: Policy | None = None, target: Target | None = None) -> Rig:
    return Rig(spec(until, policy, target, 0.0))


def over(rig: Rig) -> out.WaitTimedOut:
    assert isinstance(rig.ending, out.WaitTimedOut)
    return rig.ending


@pytest.mark.parametrize("cadence", list(Cadence))
def test_one_judgement_ends_it(cadence: Cadence) -> None:
    for answer in (no("not there"), unknown("judge_down", "nobody answers")):
        rig = once(Criteria("x"), Policy(cadence=cadence)).start()
        rig.later(0.1)
        assert rig.wait.state is WaitState.WATCHING
        rig.judge(answer)
        assert over(rig).verdict == answer
    rig = once(Criteria("x"), Policy(cadence=cadence)).start()
    rig.judge(yes("there"), picture=True)
    assert isinstance(rig.ending, out.WaitResolved)


def test_a_lost_frame_is_asked_again_and_a_lost_judge_is_the_answer() -> None:
    rig = once(Criteria("x")).start()
    rig.lose(rig.dispatch(), "frame_gone")
    assert rig.wait.state is WaitState.WATCHING
    rig.lose(rig.dispatch())
    assert over(rig).verdict.code == "engine"


def test_nothing_is_said_before_the_first_frame_and_the_first_list() -> None:
    rig = once(WindowTitle("save")).start()
    assert rig.wait.state is WaitState.WATCHING
    rig.windows("Editor")
    assert over(rig).verdict.answer is Answer.NO
    rig = once(Change())
    rig.aim()
    assert rig.wait.state is WaitState.WATCHING
    rig.change(None)
    rig.identify("a")
    assert over(rig).verdict.detail == "the target has not changed since the baseline"


def test_nothing_is_said_before_the_widgets_were_read() -> None:
    rig = once(Widget("button", "Save")).start()
    assert rig.wait.state is WaitState.WATCHING
    rig.tell(happened.WidgetsRead(rig.now, {0: no('no button "Save" is there')}, rig.now))
    assert over(rig).verdict.detail == 'no button "Save" is there'
    rig = once(Widget("button", "Save"), target=Target(window="Editor"))
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no window matches"), coming=False))
    assert over(rig).verdict.code == "window_missing"


def test_a_baseline_tells_at_once_whether_it_changed() -> None:
    base = ":1@x1/64x48#1"
    rig = once(Change(baseline=base))
    rig.aim(touched={base: 0b1})
    rig.change(0)
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)


def test_quiet_takes_time_that_one_look_has_not() -> None:
    assert over(once(Stable(1.0)).start()).verdict.answer is Answer.NO


def test_a_missing_target_is_the_answer_once_it_is_known_to_be_missing() -> None:
    rig = once(Criteria("x"), target=Target(window="Editor"))
    lost = unknown("not_viewable", "its pixels are being fetched")
    rig.tell(happened.TargetLost(rig.now, lost, coming=True))
    assert rig.wait.state is WaitState.WATCHING
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no window matches"), coming=False))
    assert over(rig).verdict.code == "window_missing"


def test_yeses_are_confirmed_before_it_ends() -> None:
    rig = once(Criteria("x"), Policy(confirm=2, min_interval_s=0.5)).start()
    rig.judge(yes("there"))
    assert rig.wait.state is WaitState.WATCHING
    rig.later(0.5)
    rig.same()
    rig.judge(no("gone again"))
    over(rig)


# ---- never there ---------------------------------------------------------------------------------------------------


def gone(rig: Rig, *titles: str) -> str:
    rig.windows(*titles)
    rig.same()
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    return rig.ending.verdict.detail


@pytest.mark.parametrize("until", [WindowTitle("Export", gone=True), NotOf(WindowTitle("Export"))])
def test_a_window_that_never_was_is_said_to_be_gone_in_these_words(until: Until) -> None:
    assert gone(Rig(spec(until)).start(), "Editor") == f'no window titled "Export" is there; {NEVER_THERE}'
    rig = Rig(spec(until)).start()
    rig.windows("Export")
    assert gone(rig, "Editor") == 'no window titled "Export" is there'


def test_a_wait_that_goes_on_after_a_restart_does_not_know() -> None:
    rig = Rig(spec(WindowTitle("Export", gone=True)))
    rig.wait = arm(rig.wait.spec, rig.now, is_new=False).wait
    rig.start()
    assert gone(rig, "Editor") == 'no window titled "Export" is there'


def test_a_text_that_never_was_is_said_to_be_gone_in_these_words() -> None:
    until = Text("Loading", gone=True)
    rig = Rig(spec(until)).start()
    rig.judge(yes("not visible"), picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.verdict.detail == f"not visible; {NEVER_THERE}"
    rig = Rig(spec(until)).start()
    rig.judge(no("still visible"))
    rig.later(2)
    rig.change(1)
    rig.judge(yes("not visible"), picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.verdict.detail == "not visible"


def test_what_is_not_awaited_to_be_gone_says_nothing_of_it() -> None:
    rig = Rig(spec(AllOf((WindowTitle("Export"), Criteria("x"))))).start()
    rig.windows("Editor")
    assert rig.wait.verdict.detail == 'no window titled "Export" is there'


def test_a_new_condition_begins_anew() -> None:
    rig = Rig(spec(WindowTitle("Export", gone=True))).start()
    rig.windows("Export")
    until = WindowTitle("Import", gone=True)
    rig.wait = step(rig.wait, happened.SpecUpdated(rig.now, spec(until))).wait
    rig.start()
    assert gone(rig, "Editor").endswith(NEVER_THERE)
