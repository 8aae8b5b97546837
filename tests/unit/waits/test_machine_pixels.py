"""Local waits: change, stability, windows; baselines, partial tiles, pictures, restarts."""

import pytest

from acud.types import (
    AllOf,
    Answer,
    Change,
    Criteria,
    Policy,
    Rect,
    Stable,
    Target,
    WaitState,
    WindowTitle,
    no,
    unknown,
)
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.effects import JobKind
from acud.waits.frame_coalescing import is_relevant
from acud.waits.machine import StoredBaseline
from tests.unit.waits.rig import GRID, Rig, spec

EVIDENCE, IDENTITY = JobKind.EVIDENCE, JobKind.IDENTITY
CORNER = Rect(0, 0, 16, 16)
"""One whole tile."""
ODD = Rect(4, 4, 16, 16)
"""Four tiles, all of them partial."""


def picture_of(rig: Rig) -> out.WaitResolved:
    rig.answer(rig.dispatch(EVIDENCE), {}, picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    return rig.ending


# ---- change --------------------------------------------------------------------------------------------------------


def test_change_since_arming_resolves_with_a_picture() -> None:
    rig = Rig(spec(Change())).start()
    assert rig.wait.requests.fps == 20
    assert rig.wait.verdict.answer is Answer.NO
    rig.identify("a")
    rig.later(5)
    rig.change(0b1)
    due = rig.asked(out.JobRequest)[0]
    assert (due.kind, due.changed_from) == (EVIDENCE, 2)
    ending = picture_of(rig)
    assert ending.verdict.detail == "changed tiles cover 8.3% of the target"
    assert ending.verdict.boxes == (Rect(0, 0, 16, 16),)
    assert (ending.frame, ending.changed_at) == (2, 105.0)


def test_frames_are_demanded_of_every_view_anew() -> None:
    rig = Rig(spec(Change(), target=Target(window="w")))
    assert not rig.asked(out.FrameRateDemand)
    rig.aim(CORNER)
    assert rig.asked(out.FrameRateDemand) == [out.FrameRateDemand(20.0)]
    rig.aim(source=":1.w7", size=(32, 32))
    assert rig.asked(out.FrameRateDemand) == [out.FrameRateDemand(20.0)]
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "gone")))
    assert rig.asked(out.FrameRateDemand) == [out.FrameRateDemand(0.0)]


def test_what_the_first_grab_brought_is_not_a_change() -> None:
    rig = Rig(spec(Change()))
    rig.aim()
    rig.change(0b1)
    assert not rig.wants(EVIDENCE)


def test_change_elsewhere_is_none() -> None:
    rig = Rig(spec(Change())).start(CORNER)
    rig.change(0b10)
    assert rig.wait.verdict.answer is Answer.NO


def test_share_adds_up() -> None:
    rig = Rig(spec(Change(share=0.25))).start()
    rig.change(0b1)
    rig.change(0b11)
    assert rig.wait.verdict.answer is Answer.NO
    assert "16.7% of the target, 25.0% is asked" in rig.wait.verdict.detail
    rig.change(0b100)
    assert rig.wants(EVIDENCE)


def test_settle_needs_a_compared_grab_after_the_quiet() -> None:
    rig = Rig(spec(Change(settle_s=1.0))).start()
    rig.change(1)
    rig.later(0.6)
    rig.change(1)
    rig.later(0.9)
    assert not rig.asked(out.GrabRequest)
    rig.later(0.1)
    assert rig.asked(out.GrabRequest)
    assert not rig.wants(EVIDENCE)
    rig.same()
    assert rig.wants(EVIDENCE)


def test_a_tile_partly_in_the_target_is_decided_by_identity() -> None:
    rig = Rig(spec(Change())).start(ODD)
    rig.identify("a")
    rig.change(0b1)
    assert rig.wait.verdict.answer is Answer.NO
    rig.identify("a")
    assert rig.wait.verdict.answer is Answer.NO
    assert not rig.wants(IDENTITY)
    rig.change(0b1)
    rig.identify("b")
    assert rig.wants(EVIDENCE)


def test_a_partly_ignored_tile_is_decided_by_identity_and_an_ignored_one_is_nothing() -> None:
    rig = Rig(spec(Change())).start(None, (Rect(0, 0, 16, 20),))
    rig.identify("a")
    rig.change(0b1)
    assert not rig.wants(IDENTITY)
    rig.change(0b10000)
    rig.identify("a")
    assert rig.wait.verdict.answer is Answer.NO


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_what_cannot_be_compared_is_unknown_until_tiles_tell(share: float) -> None:
    """Partial tiles change, or the target is hidden and back, before anybody had read how it looked."""
    beside, back = Rig(spec(Change(share=share))).start(ODD), Rig(spec(Change(share=share))).start(ODD)
    beside.change(0b1)
    back.tell(happened.TargetLost(back.now, unknown("not_viewable", "minimised")))
    back.aim(ODD)
    back.later(0.6)
    back.same()
    for rig in (beside, back):
        assert (rig.wait.verdict.answer, rig.wait.verdict.code) == (Answer.UNKNOWN, "not_compared")
        rig.identify("b")
        assert rig.wait.verdict.code == "not_compared"
        rig.change(GRID.find_touching(ODD))
        rig.identify("c")
        assert rig.wants(EVIDENCE)


def test_a_share_is_measured_wherever_the_target_is_shown_now() -> None:
    """A window is covered, so that its pixels come from elsewhere, and one of its four tiles looks different."""
    four = Rect(16, 16, 32, 32)
    before, after = bytes(range(32)), bytes(range(8)) + bytes(range(1, 25))
    rig = Rig(spec(Change(share=0.5), target=Target(window="Report")))
    rig.aim(four)
    assert rig.asked(out.GrabRequest) == [out.GrabRequest(look=True, tiles=True)]
    rig.change(None, look=happened.TargetLook("a", before))
    rig.change(GRID.find_touching(Rect(16, 16, 16, 16)))
    assert rig.wait.verdict.detail.startswith("changed tiles cover 25.0%")
    rig.tell(happened.TargetLost(rig.now, unknown("not_viewable", "covered"), coming=True))
    rig.aim(None, size=(32, 32), source=":1.w7")
    rig.later(0.6)
    rig.change(None, look=happened.TargetLook("b", before[:24] + b"another1"))
    assert rig.wait.verdict.detail.startswith("changed tiles cover 25.0%")
    rig.aim(four)
    rig.change(0, look=happened.TargetLook("c", after))
    assert rig.wants(EVIDENCE)


def test_an_identity_of_a_frame_not_announced_yet_says_nothing() -> None:
    rig = Rig(spec(Change())).start(ODD)
    rig.answer(rig.dispatch(IDENTITY), {}, identity="b", frame=rig.frame + 1)
    assert not rig.wants(IDENTITY)
    rig.change(0b1)
    assert rig.wait.verdict.code == "not_compared"


def test_an_identity_that_overtook_its_notice_is_taken_when_that_comes() -> None:
    rig = Rig(spec(Change())).start(ODD)
    rig.identify("a")
    rig.change(0b1)
    rig.answer(rig.dispatch(IDENTITY), {}, identity="b", frame=rig.frame + 1)
    assert not rig.wants(IDENTITY)
    assert is_relevant(rig.wait, happened.FrameSeen(rig.now, 1, 9, 0b1000, rig.now))
    rig.change(0b1000)
    assert rig.wants(EVIDENCE)


def test_an_identity_of_a_frame_that_was_withheld_counts() -> None:
    """A neighbour painted where no tile of the target is: the wait was not told, the job took that frame."""
    rig = Rig(spec(Change())).start(ODD)
    rig.identify("a")
    rig.change(0b1)
    job = rig.dispatch(IDENTITY)
    assert not is_relevant(rig.wait, happened.FrameSeen(rig.now, 1, 9, 0b1000, rig.now))
    rig.tell(happened.JobDone(rig.now, job, 1, rig.frame + 3, "b", heard=rig.frame + 3))
    assert rig.wants(EVIDENCE)


def test_an_identity_that_tells_nothing_is_not_asked_again_at_once() -> None:
    rig = Rig(spec(Change())).start(ODD)
    rig.answer(rig.dispatch(IDENTITY), {}, identity="a", frame=rig.frame + 1)
    rig.later(0.4)
    assert not rig.wants(IDENTITY)
    rig.later(0.2)
    assert rig.wants(IDENTITY)


def test_frames_that_are_gone_are_not_asked_for_without_pause() -> None:
    rig = Rig(spec(Change())).start(ODD)
    asked = 0
    while rig.wants(IDENTITY):
        rig.lose(rig.dispatch(IDENTITY), "frame_gone")
        asked += 1
        assert asked < 9
    assert asked == 4
    rig.later(1)
    rig.lose(rig.dispatch(IDENTITY), "frame_gone")
    assert not rig.wants(IDENTITY)


def test_a_lost_identity_job_is_asked_again_not_at_once() -> None:
    rig = Rig(spec(Change())).start(ODD)
    rig.lose(rig.dispatch(IDENTITY))
    assert not rig.wants(IDENTITY)
    rig.later(1)
    assert rig.wants(IDENTITY)


def test_damage_that_was_swallowed_shows_by_identity() -> None:
    rig = Rig(spec(AllOf((Change(), Criteria("x"))))).start()
    rig.identify("a")
    rig.same()
    assert rig.wait.verdict.answer is Answer.NO
    rig.change(None)
    rig.identify("b")
    assert rig.wants(JobKind.JUDGE)


# ---- baselines -----------------------------------------------------------------------------------------------------


def token(frame: int, *, server: str = "x1", size: str = "64x48") -> str:
    return f":1@{server}/{size}#{frame}"


@pytest.mark.parametrize(("base", "touched", "changed"), [
    (token(1), 0, False), (token(1), 0b1, True), (token(1), 0b1000, False), (token(1), None, True),
    (token(1, server="x0"), 0, True), (token(1, size="32x48"), 0, True),
])  # fmt: skip
def test_a_token_counts_what_changed_since(base: str, touched: int | None, changed: bool) -> None:
    rig = Rig(spec(Change(baseline=base)))
    rig.aim(Rect(0, 0, 32, 32), touched={base: touched})
    rig.change(0)
    assert rig.wants(EVIDENCE) is changed


def test_a_baseline_is_stored_with_its_identity() -> None:
    rig = Rig(spec(Change())).start()
    assert rig.asked(out.BaselineTaken) == [out.BaselineTaken(0, token(1), "")]
    rig.identify("a")
    assert rig.asked(out.BaselineTaken) == [out.BaselineTaken(0, token(1), "a")]


@pytest.mark.parametrize(("now", "changed"), [("a", False), ("b", True)])
def test_after_a_restart_the_identity_of_the_baseline_decides(now: str, changed: bool) -> None:
    rig = Rig(spec(Change()), stored={0: StoredBaseline(token(77, server="before"), "a")}).start()
    rig.identify(now)
    assert rig.wants(EVIDENCE) is changed


LOOK, OTHER = "0123456789abcdef", "fedcba9876543210"


@pytest.mark.parametrize(("now", "changed"), [(LOOK, False), (OTHER, True)])
def test_a_token_of_another_source_is_decided_by_its_look(now: str, changed: bool) -> None:
    """A window was covered when the token was taken, and is seen on the display now."""
    base = f":1.w5@x1/16x16#9~{LOOK}"
    rig = Rig(spec(Change(baseline=base), target=Target(window="5")))
    rig.aim(CORNER, touched={base: None})
    rig.change(None)
    assert rig.wait.verdict.answer is Answer.NO
    rig.identify(now)
    assert (rig.wait.pending is not None) is changed


@pytest.mark.parametrize(
    ("base", "ignore"),
    [(":1.w5@x1/16x16#9", ()), (f":1.w5@x0/16x16#9~{LOOK}", ()), (f":1.w5@x1/16x16#9~{LOOK}", (Rect(0, 0, 2, 2),))],
)
def test_without_a_look_of_the_same_view_another_source_is_a_change(base: str, ignore: tuple[Rect, ...]) -> None:
    rig = Rig(spec(Change(baseline=base), target=Target(window="5", ignore=ignore)))
    rig.aim(CORNER, ignore, touched={base: None})
    rig.change(None)
    assert rig.wait.pending is not None


def test_after_a_restart_without_an_identity_it_counts_as_changed() -> None:
    rig = Rig(spec(Change()), stored={0: StoredBaseline(token(77), "")}).start()
    assert rig.wants(EVIDENCE)


OWN = ":1@run.x/64x48#5+4,4,16,16"


def over_a_kill(touched: dict[str, int | None], *, looking: bool = False, crop: Rect = ODD) -> Rig:
    """Return a wait taken up with a baseline of frame 5 without a look, after its first frame."""
    rig = Rig(spec(Change(baseline=OWN)), stored={0: StoredBaseline(OWN, "")})
    rig.tell(
        happened.TargetLocated(
            rig.now, ":1", 2, "run.x", 64, 48, crop, (), touched, frozenset({OWN} if looking else ())
        )
    )
    rig.change(0, epoch=2)
    return rig


def test_after_a_kill_tiles_tell_what_changed_since() -> None:
    rig = over_a_kill({OWN: 0b1000})
    assert rig.wait.verdict.answer is Answer.NO
    assert rig.wants(IDENTITY)


@pytest.mark.parametrize(("now", "changed"), [("a", False), ("b", True)])
def test_after_a_kill_partial_tiles_wait_for_the_look_of_before(now: str, changed: bool) -> None:
    rig = over_a_kill({OWN: 0b1}, looking=True)
    rig.change(0b1, epoch=2)
    assert rig.wait.verdict.code == "not_compared"
    assert not rig.wants(IDENTITY)
    rig.tell(happened.BaselineIdentified(rig.now, OWN, "a"))
    assert rig.asked(out.BaselineTaken) == [out.BaselineTaken(0, OWN, "a")]
    rig.identify(now)
    assert (rig.wait.pending is not None) is changed


def test_a_neighbour_painting_before_the_look_of_before_is_known_is_no_change() -> None:
    rig = over_a_kill({OWN: 0}, looking=True)
    rig.change(0b1, epoch=2)
    rig.tell(happened.BaselineIdentified(rig.now, OWN, "a"))
    rig.identify("a")
    assert rig.wait.pending is None
    rig.change(0b1, epoch=2)
    rig.identify("b")
    assert rig.wait.pending is not None


def test_a_look_that_comes_late_does_not_stand_for_another_baseline() -> None:
    """Two baselines, one with its look: the target may look as one of them, not as both."""
    other = ":1@run.x/64x48#3+4,4,16,16"
    rig = Rig(
        spec(AllOf((Change(baseline=OWN), Change(baseline=other)))),
        stored={0: StoredBaseline(OWN, ""), 1: StoredBaseline(other, "b")},
    )
    touched: dict[str, int | None] = {OWN: 0b1, other: 0b1}
    rig.tell(happened.TargetLocated(rig.now, ":1", 2, "run.x", 64, 48, ODD, (), touched, frozenset({OWN})))
    rig.change(0, epoch=2)
    rig.tell(happened.BaselineIdentified(rig.now, OWN, "a"))
    assert rig.wait.pending is not None


@pytest.mark.parametrize("looking", [False, True])
def test_a_look_that_is_lost_counts_as_changed_and_says_so(looking: bool) -> None:
    rig = over_a_kill({OWN: 0b1}, looking=looking)
    if looking:
        rig.tell(happened.BaselineIdentified(rig.now, OWN, ""))
    assert rig.wait.pending is not None
    assert "could not be compared with its baseline: only tiles that lie partly" in rig.wait.pending.verdict.detail


@pytest.mark.parametrize(("base", "why"), [
    (":1@gone.x/64x48#5", "acud was restarted since"), (":1@run.y/64x48#5", "another X server"),
    (":1@run.x/32x48#5", "was 32x48 then"), (":1.w5@run.x/64x48#5", "another window or screen"),
    (":1@run.x/64x48#5+8,8,20,20", "at another place"),
])  # fmt: skip
def test_what_cannot_be_compared_says_why(base: str, why: str) -> None:
    rig = Rig(spec(Change(baseline=base)))
    rig.aim(ODD, touched={base: None}, server="run.x")
    rig.change(0)
    assert rig.wait.pending is not None
    assert why in rig.wait.pending.verdict.detail


def test_a_new_size_or_server_is_a_change_by_itself() -> None:
    for again in ({"size": (80, 48)}, {"server": "x2"}):
        rig = Rig(spec(Change())).start()
        rig.identify("a")
        rig.aim(epoch=2, **again)  # type: ignore[arg-type]
        rig.change(0, epoch=2)
        assert rig.wants(EVIDENCE)


def test_a_new_epoch_of_the_same_view_is_none() -> None:
    rig = Rig(spec(Change())).start()
    rig.identify("a")
    rig.aim(epoch=2)
    assert rig.asked(out.GrabRequest)
    rig.change(0, epoch=2)
    assert rig.wait.verdict.answer is Answer.NO
    rig.change(1, epoch=2)
    assert rig.wants(EVIDENCE)


def test_a_moved_window_is_compared_by_identity() -> None:
    for identity, changed in (("a", False), ("b", True)):
        rig = Rig(spec(Change(), target=Target(window="w"))).start(CORNER)
        rig.identify("a")
        rig.aim(Rect(16, 16, 16, 16))
        rig.change(0b100001)
        assert not rig.wants(EVIDENCE)
        rig.identify(identity)
        assert rig.wants(EVIDENCE) is changed


# ---- stable --------------------------------------------------------------------------------------------------------


def test_stable_needs_a_fresh_compared_grab() -> None:
    rig = Rig(spec(Stable(3.0))).start()
    assert rig.wait.requests.fps == 10
    rig.later(2)
    rig.change(1)
    rig.later(2.9)
    assert not rig.asked(out.GrabRequest)
    rig.later(0.1)
    assert rig.asked(out.GrabRequest)
    rig.later(1)
    assert rig.wait.state is WaitState.WATCHING
    assert not rig.wants(EVIDENCE)
    rig.same()
    assert picture_of(rig).verdict.detail == "nothing in the target changed for 3 s"


def test_a_target_that_is_not_stable_names_what_keeps_changing() -> None:
    rig = Rig(spec(Stable(3.0))).start()
    for _ in range(4):
        rig.later(1)
        rig.change(0b11 << 4)
    assert rig.wait.verdict.detail.endswith("for 3 s yet: 32x16 pixels at 0,16 keep changing")
    assert rig.wait.verdict.boxes == (Rect(0, 16, 32, 16),)
    rig.later(1)
    rig.change(GRID.all)
    assert rig.wait.verdict.detail.endswith("for 3 s yet")


def test_a_change_in_the_last_grab_restarts_it() -> None:
    rig = Rig(spec(Stable(3.0))).start()
    rig.later(3)
    rig.change(1)
    assert not rig.wants(EVIDENCE)
    rig.later(3)
    rig.same()
    assert rig.wants(EVIDENCE)


def test_paint_that_may_have_looked_different_in_between_starts_quiet_anew() -> None:
    rig = Rig(spec(Stable(3.0))).start(CORNER)
    rig.later(3)
    rig.tell(happened.FrameSeen(rig.now, 1, rig.frame, 0, rig.now, unsure=0b1))
    assert not rig.wants(EVIDENCE)
    rig.later(2.9)
    assert not rig.asked(out.GrabRequest)
    rig.later(0.1)
    rig.tell(happened.FrameSeen(rig.now, 1, rig.frame, 0, rig.now, unsure=0b10))
    assert rig.wants(EVIDENCE)


@pytest.mark.parametrize("tiles", [0b1, None])
@pytest.mark.parametrize("ignore_blinking", [False, True])
def test_quiet_begins_when_the_pixels_of_a_grab_are_there(tiles: int | None, ignore_blinking: bool) -> None:
    """The X server may stand still in a grab, and paint before it answers."""
    rig = Rig(spec(Stable(3.0, ignore_blinking=ignore_blinking))).start(CORNER)
    rig.later(3)
    rig.frame += 1
    rig.tell(happened.FrameSeen(rig.now + 2, 1, rig.frame, tiles, rig.now, took_s=2.0))
    rig.later(4.9)
    rig.same()
    assert not rig.wants(EVIDENCE)
    rig.later(0.1)
    rig.same()
    assert rig.wants(EVIDENCE)


def test_a_dead_capture_is_not_quiet() -> None:
    rig = Rig(spec(Stable(3.0))).start()
    rig.later(2)
    rig.tell(happened.SourceLost(rig.now, "display_down", "it died"))
    rig.later(60)
    rig.aim(epoch=2)
    rig.change(0, epoch=2)
    assert not rig.wants(EVIDENCE)
    assert rig.wait.verdict.answer is Answer.NO


def test_a_caret_in_an_ignored_corner_of_a_tile_does_not_disturb() -> None:
    rig = Rig(spec(Stable(3.0))).start(None, (Rect(4, 4, 2, 8),))
    rig.change(0b1)
    rig.identify("a")
    for _ in range(5):
        rig.later(0.5)
        rig.change(0b1)
        rig.identify("a")
    rig.later(0.5)
    rig.same()
    assert rig.wants(EVIDENCE)


def test_quiet_and_words_hold_over_one_frame() -> None:
    rig = Rig(spec(AllOf((Stable(1.0), Criteria("x"))))).start()
    assert not rig.wants(JobKind.JUDGE)
    rig.later(1)
    rig.same()
    job = rig.dispatch()
    rig.change(1)
    rig.answer(job, {1: no("never asked")}, frame=rig.frame)
    assert "changed again" in rig.wait.verdict.detail or rig.wait.verdict.answer is Answer.NO
    assert rig.wait.state is WaitState.WATCHING


# ---- windows and pictures ------------------------------------------------------------------------------------------


def test_window_appears_and_goes() -> None:
    rig = Rig(spec(WindowTitle("save"))).start()
    assert rig.wait.requests.fps == 0
    assert rig.wait.verdict.answer is Answer.UNKNOWN
    rig.windows("Editor")
    assert rig.wait.verdict.answer is Answer.NO
    rig.windows("Editor", "Save as…")
    rig.same()
    assert picture_of(rig).verdict.detail == 'the window "Save as…" is there'


def test_a_target_that_is_gone_resolves_without_a_picture() -> None:
    rig = Rig(spec(WindowTitle("save", gone=True), target=Target(window="save")))
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no window matches 'save' now")))
    rig.windows("Editor")
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.evidence.reason == "no picture: no window matches 'save' now"


def test_confirmed_windows_need_n_grabs() -> None:
    rig = Rig(spec(WindowTitle("save"), Policy(confirm=2, min_interval_s=0.5))).start()
    rig.windows("save")
    assert not rig.wants(EVIDENCE)
    rig.later(0.5)
    assert rig.asked(out.GrabRequest)
    rig.same()
    assert rig.wants(EVIDENCE)


def test_a_window_that_goes_before_it_is_confirmed_does_not_count() -> None:
    rig = Rig(spec(WindowTitle("save"), Policy(confirm=2, min_interval_s=0.5))).start()
    rig.windows("save")
    rig.windows("other")
    rig.later(0.5)
    rig.windows("save")
    rig.same()
    assert not rig.wants(EVIDENCE)


def test_a_picture_lost_twice_is_done_without() -> None:
    rig = Rig(spec(Change())).start()
    rig.change(1)
    rig.lose(rig.dispatch(EVIDENCE))
    assert rig.wait.state is WaitState.WATCHING
    rig.lose(rig.dispatch(EVIDENCE))
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.evidence.reason == "the picture was lost twice: it died"


def test_a_picture_nobody_takes_is_done_without() -> None:
    rig = Rig(spec(Change())).start()
    rig.change(1)
    rig.later(10)
    assert isinstance(rig.ending, out.WaitResolved)
    assert "10 s" in rig.ending.evidence.reason


@pytest.mark.parametrize("deadline", [True, False])
def test_a_pending_yes_survives_deadline_and_loss(deadline: bool) -> None:
    rig = Rig(spec(Change())).start()
    rig.change(1)
    late = happened.DeadlinePassed(rig.now) if deadline else happened.SourceLost(rig.now, "display_down", "it died")
    rig.tell(late)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.evidence.reason
