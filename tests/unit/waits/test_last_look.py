"""A wait that times out ends with a picture that was taken just before, and no picture delays a deadline."""

import pytest

from acud.types import Criteria, Evidence, Text, WindowTitle, unknown, yes
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.budget import BudgetStatus
from acud.waits.effects import JobKind
from acud.waits.planner import LAST_PICTURE_S
from tests.unit.waits.rig import NOT_THERE, Rig, spec


def near(rig: Rig) -> None:
    rig.tell(happened.DeadlineNear(rig.now))


def over(rig: Rig) -> Evidence | None:
    rig.tell(happened.DeadlinePassed(rig.now))
    assert isinstance(rig.ending, out.WaitTimedOut)
    return rig.ending.evidence


@pytest.fixture
def rig() -> Rig:
    watching = Rig(spec(Text("Done"))).start()
    watching.judge()
    return watching


def test_the_picture_is_of_the_last_second(rig: Rig) -> None:
    assert not rig.wants(JobKind.EVIDENCE)
    near(rig)
    job = rig.dispatch(JobKind.EVIDENCE)
    rig.answer(job, {}, picture=True)
    assert not rig.wants(JobKind.EVIDENCE), "one is enough"
    kept = over(rig)
    assert kept is not None
    assert (kept.name, kept.frame) == ("kept.jpg", rig.frame)


def test_a_timeout_names_the_windows_that_came_meanwhile(rig: Rig) -> None:
    rig.windows("Editor")
    rig.windows("Editor", "Update failed", "Mail")
    rig.windows("Editor", "Update failed: disk full")
    over(rig)
    words = '; meanwhile came window "Update failed: disk full", window "Mail" (gone again)'
    assert rig.wait.verdict.detail.endswith(words)


def test_answers_that_cannot_be_read_are_noted_at_the_second() -> None:
    unread = unknown("unparsable", "the judge did not begin with YES: or NO: 'resolved! Next: rm -rf'")
    rig = Rig(spec(Criteria("it is blue"))).start()
    rig.judge(unread)
    assert not rig.wait.note
    rig.later(5)
    rig.judge(unread)
    assert rig.wait.note == "the judge's last 2 answers could not be read: see its verdict, or name another"
    assert rig.asked(out.NoteChanged)
    rig.later(5)
    rig.judge(NOT_THERE)
    assert (rig.ending, rig.wait.note) == (None, "")


def test_the_deadline_waits_for_no_picture(rig: Rig) -> None:
    near(rig)
    rig.dispatch(JobKind.EVIDENCE)
    assert over(rig) is None


@pytest.mark.parametrize("lost", [True, False])
def test_a_picture_that_could_not_be_had_says_why(rig: Rig, lost: bool) -> None:
    near(rig)
    job = rig.dispatch(JobKind.EVIDENCE)
    if lost:
        rig.lose(job)
    else:
        rig.answer(job, {})
    assert not rig.wants(JobKind.EVIDENCE)
    kept = over(rig)
    assert kept is not None
    assert kept.reason


def test_where_the_target_cannot_be_seen_there_is_no_picture() -> None:
    rig = Rig(spec(Criteria("it is blue"))).start()
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no such window")))
    near(rig)
    assert not rig.wants(JobKind.EVIDENCE)
    kept = over(rig)
    assert kept is not None
    assert kept.reason == "no picture: no such window"


def test_a_yes_of_the_last_second_has_a_picture_of_its_own() -> None:
    rig = Rig(spec(WindowTitle("Done"))).start()
    rig.windows("Other")
    near(rig)
    early = rig.dispatch(JobKind.EVIDENCE)
    rig.windows("Done")
    rig.answer(early, {}, picture=True)
    assert rig.ending is None
    rig.change(None)
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.evidence.name


def test_more_time_takes_the_picture_anew(rig: Rig) -> None:
    near(rig)
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    rig.tell(happened.SpecUpdated(rig.now, spec(Text("Done"), timeout_s=900.0)))
    assert not rig.wants(JobKind.EVIDENCE)
    near(rig)
    assert rig.wants(JobKind.EVIDENCE)


# ---- a wait that fails -----------------------------------------------------------------------------------------------

FAILS = BudgetStatus("budget: gone", True, "told")


def test_a_wait_that_fails_does_not_wait_long_for_its_picture(rig: Rig) -> None:
    rig.tell(happened.BudgetChecked(rig.now, FAILS))
    rig.dispatch(JobKind.EVIDENCE)
    rig.later(LAST_PICTURE_S - 0.1)
    assert rig.ending is None
    rig.later(0.2)
    assert isinstance(rig.ending, out.WaitFailed)


def test_a_yes_in_the_air_comes_before_the_failure(rig: Rig) -> None:
    rig.change(1)
    rig.later(2.1)
    job = rig.dispatch()
    rig.tell(happened.BudgetChecked(rig.now, FAILS))
    rig.answer(job, yes("done"), picture=True)
    assert isinstance(rig.ending, out.WaitResolved)


def test_a_wait_that_fails_out_of_view_fails_at_once_and_says_what_was_seen(rig: Rig) -> None:
    rig.tell(happened.SourceLost(rig.now, "display_down", "it died"))
    kept = Evidence("last.png")
    rig.tell(happened.WaitBroken(rig.now, "it is gone", kept))
    assert isinstance(rig.ending, out.WaitFailed)
    assert rig.ending.evidence == kept
    assert rig.ending.verdict == unknown("display_down", "it died; before that: no: not there")


def test_a_timeout_says_what_was_seen_before_nobody_could_judge(rig: Rig) -> None:
    rig.change(1)
    rig.later(2.1)
    rig.judge(unknown("judge_down", "nobody answers"))
    rig.tell(happened.DeadlinePassed(rig.now))
    assert rig.wait.verdict == unknown("judge_down", "nobody answers; before that: no: not there")
