"""Judged waits: cadences, memo, gates, confirmation, unknowns, order of results."""

import pytest

from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Cadence,
    Criteria,
    GateKind,
    NotOf,
    Policy,
    Rect,
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
from tests.unit.waits.rig import Rig, spec

JUDGE = JobKind.JUDGE
QUICK = Policy(min_interval_s=0.5)


def test_arming_demands_a_frame_and_judges_it_at_once() -> None:
    rig = Rig(spec())
    assert not rig.asked(out.JobRequest)
    rig.aim()
    assert rig.asked(out.GrabRequest)
    assert not rig.asked(out.JobRequest)
    rig.change(None)
    [due] = rig.asked(out.JobRequest)
    assert (due.kind, due.source, due.min_frame, due.gate) == (JUDGE, ":1", 1, "exact")
    assert [want.index for want in due.asks] == [0]


def test_a_frame_from_before_the_arming_is_not_judged() -> None:
    rig = Rig(spec())
    rig.aim()
    rig.tell(happened.FrameSeen(rig.now, 1, 7, None, rig.now - 1))
    assert not rig.wants(JUDGE)
    rig.tell(happened.FrameSeen(rig.now, 1, 7, 0, rig.now))
    assert rig.wants(JUDGE)


def test_yes_resolves_with_the_picture_of_its_frame() -> None:
    rig = Rig(spec()).start()
    rig.judge(yes("it is there"), picture=True)
    assert rig.wait.state is WaitState.RESOLVED
    assert isinstance(rig.ending, out.WaitResolved)
    assert (rig.ending.verdict.detail, rig.ending.evidence.name, rig.ending.frame) == ("it is there", "kept.jpg", 1)
    assert rig.ending.changed_at == 100.0


def test_no_waits_for_a_change_and_idle_asks_for_nothing_but_the_floor() -> None:
    rig = Rig(spec()).start()
    rig.judge()
    before = len(rig.all)
    rig.later(29)
    assert not [e for e in rig.all[before:] if isinstance(e, out.JobRequest | out.GrabRequest)]
    rig.later(1)
    assert rig.asked(out.GrabRequest)
    rig.same()
    assert rig.wait.requests.jobs[JUDGE].force


def test_change_outside_the_target_is_not_judged_and_inside_is_at_once() -> None:
    rig = Rig(spec()).start(Rect(0, 0, 16, 16))
    rig.judge()
    rig.later(3)
    rig.change(0b10)
    assert not rig.wants(JUDGE)
    rig.change(0b01)
    assert rig.wants(JUDGE)


def test_event_waits_for_the_tick_and_grabs_there() -> None:
    rig = Rig(spec()).start()
    rig.judge()
    rig.later(0.3)
    rig.change(1)
    assert not rig.wants(JUDGE)
    rig.later(0.69)
    assert not rig.wants(JUDGE)
    rig.later(0.01)
    assert rig.asked(out.GrabRequest)
    rig.same()
    assert rig.wants(JUDGE)


def test_event_goes_on_when_the_grab_at_a_tick_is_slow() -> None:
    rig = Rig(spec()).start()
    rig.judge()
    rig.later(0.3)
    rig.change(1)
    rig.later(0.7 + 0.25)
    assert rig.wants(JUDGE)


def test_a_rate_cap_hides_nothing_from_a_tick() -> None:
    rig = Rig(spec(policy=QUICK)).start()
    rig.judge()
    rig.later(0.9)
    rig.change(1)
    rig.judge()
    before = len(rig.all)
    rig.later(0.1)
    assert [e for e in rig.all[before:] if isinstance(e, out.GrabRequest)]
    rig.same()
    assert not rig.wants(JUDGE)


def test_at_most_two_calls_in_the_air() -> None:
    rig = Rig(spec(policy=QUICK)).start()
    first = rig.dispatch()
    rig.later(0.6)
    rig.change(1)
    rig.dispatch()
    rig.later(0.6)
    rig.change(1)
    rig.later(2)
    assert not rig.wants(JUDGE)
    rig.answer(first, frame=1)
    rig.same()
    assert rig.wants(JUDGE)


def test_a_caret_costs_two_calls() -> None:
    rig = Rig(spec()).start()
    rig.judge(identity="on")
    for blink in range(40):
        rig.later(0.53)
        rig.change(1)
        rig.later(1.0)
        if rig.wait.requests.grab_asked:
            rig.same()
        identity = "off" if blink % 2 == 0 else "on"
        memo = rig.wait.requests.jobs[JUDGE].asks[0].memo
        known = identity in memo
        assert known == (blink > 0) or rig.wait.requests.jobs[JUDGE].force
        rig.judge(identity=identity, memoed=frozenset({0}) if known else frozenset())
    forced = 40 * 1.53 // 30
    assert rig.wait.judge_calls <= 2 + forced


def test_memo_forgets_what_is_no_more_a_no_and_fixed_has_none() -> None:
    rig = Rig(spec(policy=QUICK)).start()
    rig.judge(identity="a")
    rig.later(0.5)
    rig.change(1)
    rig.judge(unknown("unparsable", "?"), identity="a")
    assert rig.wait.verdict_cache.noes_of(0) == ()
    fixed = Rig(spec(policy=Policy(cadence=Cadence.FIXED))).start()
    fixed.judge(identity="a")
    fixed.later(1)
    fixed.same()
    assert fixed.wait.requests.jobs[JUDGE].asks[0].memo == ()


def test_fixed_grabs_and_judges_every_interval() -> None:
    rig = Rig(spec(policy=Policy(cadence=Cadence.FIXED))).start()
    assert rig.wait.requests.fps == 0
    for _ in range(5):
        rig.judge()
        assert not rig.wants(JUDGE)
        rig.later(1.0)
        assert rig.asked(out.GrabRequest)
        assert not rig.wants(JUDGE)
        rig.same()
        assert rig.wait.requests.jobs[JUDGE].gate == "none"
    assert rig.wait.judged == 5


def test_fixed_behind_an_exact_gate_judges_only_what_changed() -> None:
    rig = Rig(spec(policy=Policy(cadence=Cadence.FIXED, gate=GateKind.EXACT))).start()
    rig.judge()
    rig.later(1)
    rig.same()
    assert not rig.wants(JUDGE)
    rig.later(1)
    rig.change(1)
    assert rig.wants(JUDGE)


def test_adaptive_looks_often_while_it_changes_and_seldom_else() -> None:
    rig = Rig(spec(policy=Policy(cadence=Cadence.ADAPTIVE))).start()
    gaps = []
    for moved in (True, True, True, True, True, True, False, False, False, False, False, False):
        if rig.wants(JUDGE):
            rig.judge()
        before = rig.now
        while not rig.wait.requests.grab_asked:
            rig.later(0.05)
        gaps.append(rig.now - before)
        rig.change(1) if moved else rig.same()
    assert gaps[0] == pytest.approx(1, abs=0.1)
    assert gaps[5] == pytest.approx(2, abs=0.1)
    assert gaps[7] == pytest.approx(5, abs=0.1)
    assert gaps[-1] == pytest.approx(10, abs=0.1)


def test_gated_frames_count_as_seen_but_not_as_judged() -> None:
    rig = Rig(spec(policy=Policy(gate=GateKind.DHASH, gate_threshold=3))).start()
    assert (rig.wait.requests.jobs[JUDGE].gate, rig.wait.requests.jobs[JUDGE].gate_threshold) == ("dhash", 3)
    rig.judge(gated=True)
    assert rig.wait.judged == 0
    assert not rig.wants(JUDGE)
    [record] = rig.asked(out.EvaluationRecord)
    assert record.gated


def test_gate_none_judges_any_change_of_the_source() -> None:
    rig = Rig(spec(policy=Policy(gate=GateKind.NONE, min_interval_s=0.5))).start(Rect(0, 0, 16, 16))
    rig.judge()
    rig.later(0.6)
    rig.change(0b100)
    assert rig.wants(JUDGE)


# ---- unknown -------------------------------------------------------------------------------------------------------


def test_unknown_backs_off_on_a_static_screen() -> None:
    rig = Rig(spec()).start()
    gaps = []
    for _ in range(7):
        rig.judge(unknown("judge_down", "refused"))
        before = rig.now
        while not rig.wants(JUDGE):
            rig.later(0.5)
            if rig.wait.requests.grab_asked:
                rig.same()
        gaps.append(rig.now - before)
    assert gaps == [1, 2, 4, 8, 16, 30, 30]
    assert rig.wait.state is WaitState.WATCHING
    assert rig.wait.verdict.code == "judge_down"


def test_a_lost_job_is_unknown_and_an_overwritten_frame_is_asked_again_at_once() -> None:
    rig = Rig(spec()).start()
    rig.lose(rig.dispatch(), "frame_gone")
    assert rig.wants(JUDGE)
    rig.lose(rig.dispatch())
    assert not rig.wants(JUDGE)
    assert rig.wait.verdict.answer is Answer.UNKNOWN
    rig.later(1)
    assert rig.wants(JUDGE)


def test_frames_gone_again_and_again_back_off() -> None:
    rig = Rig(spec()).start()
    for _ in range(4):
        rig.lose(rig.dispatch(), "frame_gone")
    assert not rig.wants(JUDGE)
    rig.later(1)
    assert rig.wants(JUDGE)


# ---- confirmation and order ----------------------------------------------------------------------------------------


def test_confirm_takes_n_yeses_on_n_grabs() -> None:
    rig = Rig(spec(policy=Policy(confirm=3, min_interval_s=0.5))).start()
    for count in range(3):
        due = rig.wait.requests.jobs[JUDGE]
        assert due.force == (count > 0)
        assert due.keep_evidence == (count == 2)
        rig.judge(yes("there"), picture=count == 2)
        if count < 2:
            assert not rig.wants(JUDGE)
            rig.later(0.5)
            assert rig.asked(out.GrabRequest)
            rig.same()
    assert rig.wait.state is WaitState.RESOLVED


def test_a_no_starts_confirmation_anew() -> None:
    rig = Rig(spec(policy=Policy(confirm=2, min_interval_s=0.5))).start()
    rig.judge(yes("there"))
    rig.later(0.5)
    rig.same()
    rig.judge(no("gone again"))
    assert rig.wait.judge_state.yeses == 0
    rig.later(0.5)
    rig.change(1)
    rig.judge(yes("there"))
    assert rig.wait.state is WaitState.WATCHING


def test_while_ocr_reads_the_frames_of_the_next_turns_go_to_it_too() -> None:
    rig = Rig(spec(Text("Done"))).start()
    jobs = [rig.dispatch()]
    for _ in range(3):
        rig.later(1)
        rig.change(1)
        jobs.append(rig.dispatch())
    rig.later(1)
    rig.change(1)
    assert not rig.wants(JUDGE)
    rig.answer(jobs[0], no("not there"), frame=1)
    assert rig.wants(JUDGE)
    rig.answer(jobs[3], no("not there"), frame=4)
    rig.answer(jobs[2], yes("it was there"), frame=3, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.frame == 3


@pytest.mark.parametrize("until", [AllOf((Text("Done"), Criteria("x"))), AnyOf((Text("Done"), Criteria("x")))])
def test_a_model_that_is_asked_beside_ocr_has_two_calls_at_most(until: AllOf | AnyOf) -> None:
    rig = Rig(spec(until)).start()
    for _ in range(2):
        rig.dispatch()
        rig.later(1)
        rig.change(1)
    assert not rig.wants(JUDGE)


def test_an_older_no_after_a_newer_yes_does_not_undo_it() -> None:
    rig = Rig(spec(policy=Policy(confirm=2, min_interval_s=0.5))).start()
    old = rig.dispatch()
    rig.later(0.5)
    rig.change(1)
    rig.judge(yes("there"))
    rig.answer(old, no("not yet"), frame=1)
    assert rig.wait.judge_state.yeses == 1
    assert rig.wait.verdict.answer is Answer.YES
    rig.later(0.5)
    rig.same()
    rig.judge(yes("still"), picture=True)
    assert rig.wait.state is WaitState.RESOLVED


def test_an_older_yes_is_a_yes() -> None:
    rig = Rig(spec(policy=QUICK)).start()
    old = rig.dispatch()
    rig.later(0.5)
    rig.change(1)
    rig.judge(no("gone"))
    rig.answer(old, yes("was there"), frame=1, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.frame == 1


def test_a_result_on_a_view_that_moved_is_stale() -> None:
    rig = Rig(spec()).start(Rect(0, 0, 16, 16))
    job = rig.dispatch()
    rig.aim(Rect(16, 0, 16, 16))
    rig.answer(job, yes("there"), picture=True)
    assert rig.wait.state is WaitState.WATCHING
    [record] = rig.asked(out.EvaluationRecord)
    assert record.stale
    rig.change(1)
    assert rig.wait.requests.jobs[JUDGE].crop == Rect(16, 0, 16, 16)


def test_yes_without_a_picture_asks_for_one() -> None:
    rig = Rig(spec()).start()
    rig.judge(yes("there"))
    assert rig.wait.state is WaitState.WATCHING
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.verdict.detail == "there"


# ---- composites ----------------------------------------------------------------------------------------------------


def test_local_parts_first_no_judge_while_they_say_no() -> None:
    rig = Rig(spec(AllOf((WindowTitle("Save"), Criteria("x"))))).start()
    rig.windows("Editor")
    assert not rig.wants(JUDGE)
    assert rig.wait.verdict.answer is Answer.NO
    rig.later(1)
    rig.windows("Save as")
    assert not rig.wants(JUDGE)  # the newest frame may be older than this list
    rig.same()
    due = rig.wait.requests.jobs[JUDGE]
    assert [want.index for want in due.asks] == [1]
    assert due.known[0].answer is Answer.YES


def test_a_local_answer_that_turns_asks_anew_about_the_same_pixels() -> None:
    rig = Rig(spec(AnyOf((AllOf((WindowTitle("Save"), Criteria("a"))), Criteria("b"))))).start()
    rig.windows("Editor")
    rig.judge({2: no("b is not")})
    rig.later(2)
    rig.windows("Save")
    rig.same()
    assert [want.index for want in rig.wait.requests.jobs[JUDGE].asks] == [1, 2]


def test_unknown_is_no_yes_by_negation() -> None:
    rig = Rig(spec(NotOf(Criteria("busy")))).start()
    rig.judge(unknown("unparsable", "?"))
    assert rig.wait.verdict.answer is Answer.UNKNOWN
    rig.later(1)
    rig.judge(no("nothing is busy"), picture=True)
    assert rig.wait.state is WaitState.RESOLVED


def test_short_circuited_leaves_need_no_answer() -> None:
    rig = Rig(spec(AllOf((Text("a"), Criteria("b"))))).start()
    rig.judge({0: no("no a")})
    assert rig.wait.verdict.answer is Answer.NO
    assert not rig.wants(JUDGE)


# ---- losses and ends -----------------------------------------------------------------------------------------------


def test_a_lost_target_is_unknown_and_is_found_again() -> None:
    rig = Rig(spec()).start()
    rig.judge()
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no such window")))
    assert rig.asked(out.NoteChanged)[0].text == "no such window"
    assert rig.wait.verdict.code == "window_missing"
    rig.change(1)
    assert not rig.wants(JUDGE)
    rig.aim()
    assert rig.asked(out.NoteChanged)[0].text == ""
    rig.change(1)
    assert rig.wants(JUDGE)


def test_a_dead_display_is_unknown_for_pixels_and_windows() -> None:
    rig = Rig(spec(WindowTitle("Save", gone=True)))
    rig.aim()
    rig.tell(happened.SourceLost(rig.now, "display_down", "the X server died"))
    assert rig.wait.verdict == unknown("display_down", "the X server died")
    assert rig.wait.state is WaitState.WATCHING


def test_the_deadline_does_not_wait_for_a_judge() -> None:
    rig = Rig(spec()).start()
    job = rig.dispatch()
    rig.tell(happened.DeadlinePassed(rig.now))
    assert isinstance(rig.ending, out.WaitTimedOut)
    assert rig.wait.state is WaitState.TIMEOUT
    ended = rig.wait
    rig.answer(job, yes("too late"), picture=True)
    assert rig.wait == ended
    assert rig.last == ()


def test_an_update_of_the_condition_starts_anew() -> None:
    rig = Rig(spec()).start()
    job = rig.dispatch()
    rig.tell(happened.SpecUpdated(rig.now, spec(Criteria("y"))))
    rig.aim()
    rig.change(0)
    assert rig.wants(JUDGE)
    rig.answer(job, yes("x is there"), picture=True)
    assert rig.wait.state is WaitState.WATCHING


def test_an_update_of_the_policy_keeps_what_is_known() -> None:
    rig = Rig(spec()).start()
    rig.judge(identity="a")
    rig.tell(happened.SpecUpdated(rig.now, spec(policy=Policy(cadence=Cadence.FIXED))))
    assert rig.wait.verdict_cache.noes_of(0) == ("a",)
    assert rig.asked(out.FrameRateDemand)[0].fps == 0


def test_a_broken_wait_fails() -> None:
    rig = Rig(spec()).start()
    rig.tell(happened.WaitBroken(rig.now, "the display was removed"))
    assert rig.wait.state is WaitState.FAILED


def test_a_due_that_waits_is_replaced_only_when_it_asks_something_else() -> None:
    rig = Rig(spec(policy=QUICK)).start()
    rig.later(1)
    rig.change(1)
    assert not rig.asked(out.JobRequest)
    rig.tell(happened.CancelRequested(rig.now))
    assert rig.wait.state is WaitState.CANCELLED


# ---- what is gone is held --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "until", [Text("Uploading", gone=True), NotOf(Text("Uploading")), Criteria("the note is gone")]
)
def test_what_is_gone_is_held_while_the_target_stands_still_without_a_second_call(until: Until) -> None:
    answer = no("not there") if isinstance(until, NotOf) else yes("gone")
    rig = Rig(spec(until, Policy())).start()
    rig.judge(answer, picture=True)
    assert rig.wait.state is WaitState.WATCHING
    rig.later(0.69)
    assert rig.wait.state is WaitState.WATCHING
    rig.later(0.02)
    rig.same()
    assert (rig.wait.state, rig.wait.judge_calls) == (WaitState.RESOLVED, 1)


def test_what_flickers_is_not_gone_and_a_deadline_does_not_make_it_so() -> None:
    rig = Rig(spec(Text("Uploading", gone=True), QUICK)).start()
    rig.judge(yes("gone"), picture=True)
    rig.later(0.6)
    rig.change(0b1)
    assert rig.wait.pending is None
    rig.later(1.0)
    rig.same()
    rig.judge(no("it is there"))
    assert (rig.wait.state, rig.wait.pending) == (WaitState.WATCHING, None)
    rig.change(0b1)
    rig.later(1.0)
    rig.same()
    rig.judge(yes("gone"), picture=True)
    rig.tell(happened.DeadlinePassed(rig.now + 0.1))
    assert (rig.wait.state, rig.wait.verdict.answer) == (WaitState.TIMEOUT, Answer.NO)
    assert "for less than 0.7 s" in rig.wait.verdict.detail


def test_a_target_that_never_stands_still_takes_three_answers_and_nothing_is_held_without_hold_s() -> None:
    busy = Rig(spec(Text("Uploading", gone=True), QUICK)).start()
    for calls in (1, 2, 3):
        assert busy.wait.state is WaitState.WATCHING
        busy.judge(yes("gone"), picture=True)
        busy.change(0b1)
        busy.later(1.0)
        busy.same()
        assert busy.wait.judge_calls == calls
    assert busy.wait.state is WaitState.RESOLVED
    free = Rig(spec(Text("Uploading", gone=True), Policy(hold_s=0.0))).start()
    free.judge(yes("gone"), picture=True)
    assert free.wait.state is WaitState.RESOLVED


def test_a_widget_that_comes_back_within_hold_s_is_not_gone() -> None:
    rig = Rig(spec(Widget("dialog", "Saving", gone=True), Policy())).start()
    told = [no("it is there"), yes("gone"), no("it is there")]
    for verdict in told:
        rig.tell(happened.WidgetsRead(rig.now, {0: verdict}, rig.now))
        rig.later(0.5)
    assert (rig.wait.state, rig.wait.pending) == (WaitState.WATCHING, None)
    rig.tell(happened.WidgetsRead(rig.now, {0: yes("gone")}, rig.now))
    rig.later(0.71)
    assert rig.wait.state is WaitState.WATCHING
    rig.same()
    rig.tell(happened.WidgetsRead(rig.now, {0: yes("gone")}, rig.now))
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    rig.same()
    rig.tell(happened.WidgetsRead(rig.now, {0: yes("gone")}, rig.now))
    assert rig.wait.state is WaitState.RESOLVED


def test_what_judges_lack_is_the_verdict_at_once_until_one_may_answer() -> None:
    rig = Rig(spec()).start()
    held = rig.dispatch()
    rig.tell(happened.JudgesChecked(rig.now, "fleet is down: no worker"))
    assert (rig.wait.verdict.code, rig.wait.verdict.detail) == ("judge_down", "not judged: fleet is down: no worker")
    rig.lose(held, "judge_down")
    rig.tell(happened.JudgesChecked(rig.now, ""))
    assert rig.wants(JUDGE)
    rig.judge()
    assert rig.wait.verdict.answer is Answer.NO
    beside = Rig(spec(AnyOf((Criteria("x"), Text("y"))))).start()
    beside.tell(happened.JudgesChecked(beside.now, "fleet is down: no worker"))
    assert beside.wait.verdict.code == "not_judged"
