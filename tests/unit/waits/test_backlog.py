"""Frames that nobody could judge in time are counted, and told with the verdict."""

from acud.types import Criteria, Text, no
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.lifecycle import describe_asking, measure_backlog_s
from acud.waits.look_turns import has_unjudged
from tests.unit.waits.rig import Rig, spec


def busy(frames: int) -> Rig:
    """Return a wait whose judge works while so many frames come."""
    rig = Rig(spec(Criteria("x"))).start()
    rig.dispatch()
    for _ in range(frames):
        rig.later(1)
        rig.change(1)
    return rig


def end(rig: Rig) -> str:
    rig.tell(happened.DeadlinePassed(rig.now))
    assert isinstance(rig.ending, out.WaitTimedOut)
    return rig.ending.verdict.detail


def test_a_judge_in_the_air_is_told_with_its_time() -> None:
    rig = Rig(spec(Criteria("x"))).start()
    assert describe_asking(rig.wait, rig.now) == "new pixels wait for a free judge; 1 frame unjudged"
    job = rig.dispatch()
    assert rig.wait.verdict.detail == "not judged yet"
    assert describe_asking(rig.wait, rig.now + 13) == "a judge is being asked, since 13 s"
    rig.answer(job)
    assert describe_asking(rig.wait, rig.now) == ""
    assert measure_backlog_s(rig.wait, rig.now + 13) == 0


def test_pixels_that_wait_for_their_turn_are_unjudged_until_a_judge_has_them() -> None:
    rig = Rig(spec(Criteria("x"))).start()
    rig.judge(no("not there"))
    rig.later(0.1)
    before = rig.now
    assert not has_unjudged(rig.wait, rig.now, before)
    rig.later(0.1)
    rig.same()
    rig.later(0.1)
    rig.change(1)
    assert describe_asking(rig.wait, rig.now) == ""  # their turn is later
    assert (has_unjudged(rig.wait, rig.now, rig.now), has_unjudged(rig.wait, rig.now, before)) == (True, False)
    rig.later(3)
    rig.dispatch()
    assert not has_unjudged(rig.wait, rig.now, rig.now)


def test_frames_that_came_while_the_judge_was_busy_are_counted_at_the_end() -> None:
    rig = busy(13)
    assert measure_backlog_s(rig.wait, rig.now) == 12
    assert end(rig).endswith("nobody has judged it; 13 frames unjudged, judge busy 13 s")


def test_what_nobody_judged_ends_with_its_place_in_the_queue() -> None:
    rig = Rig(spec(Criteria("x"))).start()
    rig.tell(happened.DeadlinePassed(rig.now, "138 before it in the queue, 80 s a picture"))
    assert isinstance(rig.ending, out.WaitTimedOut)
    assert rig.ending.verdict.detail.startswith("nobody has judged it; 138 before it in the queue, 80 s a picture")


def test_only_the_newest_of_them_is_judged_afterwards() -> None:
    rig = busy(14)
    rig.answer("j1", no("not there"), frame=1)
    rig.judge(no("still not"))
    assert end(rig) == "still not; 13 frames unjudged, judge busy 14 s"


def test_a_judge_that_keeps_up_leaves_none() -> None:
    rig = Rig(spec(Criteria("x"))).start()
    for _ in range(3):
        rig.judge(no("not there"))
        rig.later(2)
        rig.change(1)
    rig.judge(no("not there"))
    assert end(rig) == "not there"


def test_frames_that_ocr_has_in_hand_are_none_that_passed() -> None:
    rig = Rig(spec(Text("Done"))).start()
    jobs = [rig.dispatch()]
    for _ in range(2):
        rig.later(1)
        rig.change(1)
        jobs.append(rig.dispatch())
    rig.answer(jobs[0], no("not there"), frame=1)
    assert end(rig) == "not there"
