"""Stages of a sequence: each watched in turn, with its own evidence, and none missed that comes and goes."""

import pytest

from acud.base.errors import InvalidRequest
from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Change,
    Criteria,
    NotOf,
    Policy,
    Stable,
    Target,
    Text,
    Then,
    Until,
    WaitSpec,
    WaitState,
    WindowTitle,
    appears_then_goes,
    in_sequence,
    no,
    yes,
)
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.anew import WAS_THERE
from acud.waits.budget import BudgetStatus
from acud.waits.effects import JobKind
from acud.waits.machine import StoredBaseline
from acud.waits.presence import NEVER_THERE, NOT_IN_STAGE
from acud.waits.validation import validate
from tests.unit.waits.rig import Rig, spec

SPINNER = appears_then_goes(Text("Loading"))
SEEN, GONE = yes("Loading is visible"), no("Loading is visible")


def list_reached(rig: Rig) -> list[out.StageReached]:
    return [effect for effect in rig.all if isinstance(effect, out.StageReached)]


def begin(until: Until, policy: Policy | None = None) -> Rig:
    return Rig(spec(until, policy)).start()


def answer_first_grab(rig: Rig) -> Rig:
    assert rig.wait.requests.grab_asked is not None
    rig.same()
    return rig


# ---- what may be asked ---------------------------------------------------------------------------------------------


def check(until: Until, timeout_s: float = 10.0) -> WaitSpec:
    return validate(until, Target(), timeout_s=timeout_s, default_timeout_s=10, max_timeout_s=100)


def test_sugar_is_a_sequence() -> None:
    assert Then((Text("Loading"), Text("Loading", gone=True))) == SPINNER
    assert appears_then_goes(Criteria("a spinner turns")) == Then(
        (Criteria("a spinner turns"), NotOf(Criteria("a spinner turns")))
    )
    assert in_sequence(SPINNER, Text("Done")) == Then((*SPINNER.parts, Text("Done")))
    assert in_sequence(Text("Done")) == Text("Done")


@pytest.mark.parametrize(
    "until", [AllOf((SPINNER, Text("x"))), AnyOf((SPINNER,)), NotOf(SPINNER), Then((SPINNER, Text("x")))]
)
def test_a_sequence_is_the_whole_condition(until: Until) -> None:
    with pytest.raises(InvalidRequest, match="cannot be a part of another condition"):
        check(until)


def test_a_later_change_counts_from_its_stage_alone() -> None:
    with pytest.raises(InvalidRequest, match="leave its baseline out"):
        check(Then((Text("a"), Change(baseline=":1@x1.r/64x48#3"))))


def test_a_sequence_is_no_single_look() -> None:
    with pytest.raises(InvalidRequest, match="more than one look"):
        check(SPINNER, timeout_s=0)


# ---- stage by stage ------------------------------------------------------------------------------------------------


def test_each_stage_has_its_own_evidence_and_look() -> None:
    rig = begin(SPINNER)
    rig.judge(SEEN, picture=True)
    told = yes(f"{SEEN.detail}; {WAS_THERE}")
    assert [(one.stage, one.verdict, one.evidence.name) for one in list_reached(rig)] == [(0, told, "kept.jpg")]
    assert rig.wait.state is WaitState.WATCHING
    answer_first_grab(rig).later(2.1)
    rig.judge(GONE)
    rig.change(1)
    rig.later(2.1)
    rig.judge(yes("Loading is not visible"), picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.verdict.detail == "Loading is not visible"  # it was seen, so not "never there"
    assert rig.ending.frame == rig.frame


def test_what_a_later_stage_never_saw_is_said() -> None:
    rig = begin(Then((Text("a"), Text("b", gone=True))))
    rig.judge(yes("a"), picture=True)
    answer_first_grab(rig).later(2.1)
    rig.judge(yes("b is not visible"), picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.verdict.detail == f"b is not visible; {NOT_IN_STAGE}"
    assert NEVER_THERE != NOT_IN_STAGE


def test_a_deadline_ends_in_the_stage_that_it_finds() -> None:
    rig = begin(SPINNER)
    rig.judge(SEEN, picture=True)
    answer_first_grab(rig).later(2.1)
    rig.judge(GONE)
    rig.tell(happened.DeadlinePassed(rig.now))
    assert isinstance(rig.ending, out.WaitTimedOut)
    assert (rig.wait.stage, rig.ending.verdict) == (1, GONE)


def test_a_yes_without_its_picture_still_counts_for_its_stage_at_the_deadline() -> None:
    rig = begin(Then((WindowTitle("Save"), WindowTitle("Save", gone=True))))
    rig.windows("Save")
    rig.tell(happened.DeadlinePassed(rig.now))
    assert [one.stage for one in list_reached(rig)] == [0]
    assert isinstance(rig.ending, out.WaitTimedOut)


def test_windows_are_a_sequence_too() -> None:
    rig = begin(appears_then_goes(WindowTitle("Progress")))
    rig.windows("Progress")
    rig.change(1)
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert [one.verdict.detail for one in list_reached(rig)] == [f'the window "Progress" is there; {WAS_THERE}']
    answer_first_grab(rig)
    rig.windows("Editor")
    rig.change(1)
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert rig.wait.verdict.detail == 'no window titled "Progress" is there'
    assert rig.wait.state is WaitState.RESOLVED


def test_an_update_of_the_condition_begins_at_the_first_stage() -> None:
    rig = begin(SPINNER)
    rig.judge(SEEN, picture=True)
    rig.tell(happened.SpecUpdated(rig.now, spec(Then((Text("c"), Text("d"))))))
    assert (rig.wait.stage, rig.wait.leaves) == (0, (Text("c"),))


def test_confirmation_holds_for_each_stage() -> None:
    rig = begin(SPINNER, Policy(confirm=2, min_interval_s=0.5))
    rig.judge(SEEN)
    assert not list_reached(rig)
    rig.later(0.6)
    rig.same()
    rig.judge(SEEN, picture=True)
    assert len(list_reached(rig)) == 1
    answer_first_grab(rig).later(1.1)
    rig.same()
    rig.judge(yes("gone"))
    assert rig.wait.state is WaitState.WATCHING


def test_a_spent_budget_names_the_sentences_of_the_stage() -> None:
    rig = begin(Then((Text("a"), Criteria("the dog barks"))))
    rig.tell(happened.BudgetChecked(rig.now, BudgetStatus(spent="the budget is spent")))
    rig.judge(yes("a"), picture=True)
    answer_first_grab(rig)
    assert rig.wait.verdict.code == "budget"


# ---- what is counted from a stage's start --------------------------------------------------------------------------


def test_a_change_counts_from_the_frame_that_the_stage_before_held_on() -> None:
    rig = begin(Then((Text("a"), Change())))
    job = rig.dispatch()
    rig.change(1 << 3)  # while the text is still being read
    rig.answer(job, yes("a"), frame=1, picture=True)
    assert len(list_reached(rig)) == 1
    answer_first_grab(rig)
    assert rig.wait.pending is not None
    assert rig.wait.pending.verdict.answer is Answer.YES


def test_no_change_is_one_from_before_its_stage() -> None:
    rig = begin(Then((Text("a"), Change())))
    rig.change(1 << 3)
    rig.judge(yes("a"), picture=True)
    answer_first_grab(rig)
    assert rig.wait.verdict == no("the target has not changed since the baseline")
    rig.change(1)
    assert rig.wait.pending is not None


def test_quiet_counts_from_the_start_of_its_stage() -> None:
    rig = begin(Then((Text("a"), Stable(3.0))))
    rig.later(10.0)  # quiet, but before the stage
    rig.judge(yes("a"), picture=True)
    began = rig.now
    answer_first_grab(rig)
    assert rig.wait.verdict.answer is Answer.NO
    rig.later(3.1)
    rig.same()
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.at >= began + 3.0


def test_a_stage_is_taken_up_after_a_restart_with_its_baseline() -> None:
    rig = begin(Then((Text("a"), Change())))
    rig.judge(yes("a"), picture=True)
    taken = next(effect for effect in rig.all if isinstance(effect, out.BaselineTaken))
    again = Rig(rig.wait.spec, {taken.index: StoredBaseline(taken.token, taken.identity)}, stage=1)
    again.aim(touched={taken.token: 1 << 2})
    again.frame = 7
    again.change(0)
    assert (again.wait.stage, again.wait.leaves) == (1, (Change(),))
    assert again.wait.pending is not None


# ---- what comes and goes while older frames are read ---------------------------------------------------------------


def behind(until: Until) -> tuple[Rig, str, str]:
    """Return a wait with two readings under way, the older one of a frame before."""
    rig = begin(until)
    first = rig.dispatch()
    rig.change(1)
    rig.later(2.1)
    return rig, first, rig.dispatch()


FLASH = Then((Text("a"), Text("b"), Text("c")))


def test_a_stage_that_comes_and_goes_behind_the_reading_of_another_is_seen() -> None:
    rig, first, second = behind(FLASH)
    assert rig.wait.flights[0].request.ahead == {}
    assert rig.wait.flights[1].request.ahead == {1: True, 2: True}
    rig.change(1)  # both are gone
    rig.answer(second, no("a"), frame=2, picture=True, later={1: {0: yes("b")}, 2: {0: no("c")}})
    assert not list_reached(rig)
    rig.answer(first, yes("a"), frame=1, picture=True)
    assert [(one.stage, one.verdict.detail, one.evidence.frame) for one in list_reached(rig)] == [
        (0, "a", 1),
        (1, "b", 2),
    ]


def test_a_reading_that_ends_after_its_stage_tells_of_the_next_one() -> None:
    rig, first, second = behind(FLASH)
    rig.answer(first, yes("a"), frame=1, picture=True)
    assert len(list_reached(rig)) == 1
    rig.answer(second, no("a"), frame=2, picture=True, later={1: {0: yes("b")}, 2: {0: no("c")}})
    assert [(one.stage, one.evidence.frame) for one in list_reached(rig)] == [(0, 1), (1, 2)]


def test_what_was_seen_before_a_stage_is_not_later() -> None:
    rig, first, second = behind(FLASH)
    rig.answer(first, no("a"), frame=1, picture=True, later={1: {0: yes("b")}})
    rig.answer(second, yes("a"), frame=2, picture=True, later={1: {0: yes("b")}})
    assert [one.stage for one in list_reached(rig)] == [0]


def test_absence_is_not_read_ahead() -> None:
    rig, _, _ = behind(SPINNER)
    assert rig.wait.flights[1].request.ahead == {}


def test_a_later_text_that_stays_keeps_one_picture() -> None:
    rig, first, second = behind(FLASH)
    rig.answer(second, no("a"), frame=2, picture=True, later={1: {0: yes("b")}, 2: {0: no("c")}})
    rig.change(1)
    rig.later(2.1)
    rig.dispatch()
    assert rig.wait.flights[-1].request.ahead == {1: False, 2: True}
    assert rig.wait.flights[0].job_id == first
