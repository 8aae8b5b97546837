"""The evaluator process, end to end over a real ROUTER socket and real rings, spawned as the supervisor does."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from acud.base.ids import is_id
from acud.evaluator.evidence import pixels_of
from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.protocol.children import Heartbeat
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import PictureAsk
from acud.types import AllOf, Answer, AnyOf, Change, Criteria, Rect, Stable, WindowTitle, no, unknown, yes
from tests.integration.evaluator_rig import SOURCE, EvaluatorRig, PaintedRing, ask

LAMP = Rect(200, 100, 16, 16)
GREEN = (0, 200, 0)
LAMP_IS_GREEN = {"pixel": [208, 108, "#00c800"], "answer": "yes", "detail": "the lamp is green"}


class Script:
    """The file that drives the scripted judge."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write(rules=[LAMP_IS_GREEN])

    def write(self, **script: Any) -> None:
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps(script))
        temporary.rename(self.path)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "script.json")


@pytest.fixture
def rig(tmp_path: Path, script: Script) -> Iterator[EvaluatorRig]:
    with EvaluatorRig(tmp_path, backend="scripted", scripted=str(script.path)) as rig:
        yield rig.ready()


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[PaintedRing]:
    with PaintedRing(Path("/dev/shm") / f"acud-test-{os.getpid()}-{tmp_path.name}") as ring:
        ring.publish()
        yield ring


GREEN_LAMP = Criteria("the lamp is green")


def light(ring: PaintedRing) -> None:
    ring.fill(LAMP, GREEN)
    ring.publish()


def test_a_memo_answers_no_without_a_call_unless_forced(rig: EvaluatorRig, ring: PaintedRing) -> None:
    identity = rig.run(ring.job()).identity
    known = ask(GREEN_LAMP, memo=("0" * 16, identity))
    recalled = rig.run(ring.job(known))
    assert recalled.answered[0].answers[0].source == "memo"
    assert recalled.answered[0].whole.answer is Answer.NO
    assert recalled.encode_ms == 0
    forced = rig.run(ring.job(ask(GREEN_LAMP, memo=(identity,), force=True)))
    assert forced.answered[0].answers[0].source == "judge"


def test_the_same_question_in_one_job_is_asked_once(rig: EvaluatorRig, ring: PaintedRing) -> None:
    asks = [ask(GREEN_LAMP, wait_id=f"w{n}", elapsed_s=n) for n in range(4)]
    result = rig.run(ring.job(*asks, ask(Criteria("something else"), wait_id="w9")))
    sources = [answered.answers[0].source for answered in result.answered]
    assert sorted(sources) == ["cache", "cache", "cache", "judge", "judge"]
    assert [answered.wait_id for answered in result.answered] == ["w0", "w1", "w2", "w3", "w9"]


def test_evidence_is_the_judged_view_and_gives_the_judges_jpeg_again(rig: EvaluatorRig, ring: PaintedRing) -> None:
    ring.pixels[:] = np.random.default_rng(3).integers(0, 256, ring.pixels.shape, np.uint8)
    light(ring)
    crop, clock = Rect(180, 90, 100, 60), Rect(60, 2, 30, 10)
    answered = rig.run(
        ring.job(ask(Criteria("x"), wait_id="w1"), ask(Criteria("any"), wait_id="w2"), crop=crop, ignore=(clock,))
    )
    assert all(one.evidence is None for one in answered.answered)
    view = {"area": [28, 18, 1, 1, "#00c800"]}
    asked = ask(GREEN_LAMP, keep_evidence=True)
    (rig.evidence.parent / "script.json").write_text(json.dumps({"rules": [view]}))
    result = rig.run(ring.job(asked, crop=crop, ignore=(clock,)))
    evidence = result.answered[0].evidence
    assert evidence is not None
    assert (evidence.reason, evidence.identity, evidence.display, evidence.frame) == ("", result.identity, SOURCE, 2)
    assert (evidence.crop, evidence.width, evidence.height, evidence.epoch) == (crop, 100, 60, 7)
    assert is_id(evidence.name.removesuffix(".png"), "evidence")
    kept = pixels_of((rig.evidence / evidence.name).read_bytes())
    expected = ring.pixels[90:150, 180:280].copy()
    expected[2:12, 60:90] = 0
    assert (kept[:, :, :3] == expected[:, :, :3]).all()
    assert encode_for_judge(kept, 960, 72) == encode_for_judge(expected, 960, 72)


def test_a_wait_without_open_leaves_keeps_its_evidence_too(rig: EvaluatorRig, ring: PaintedRing) -> None:
    still = ask(Stable(5), known={0: yes("unchanged for 5 s")}, keep_evidence=True)
    answered = rig.run(ring.job(still)).answered[0]
    assert answered.whole == yes("unchanged for 5 s")
    assert answered.evidence is not None
    assert (rig.evidence / answered.evidence.name).exists()


def test_waits_of_one_job_share_the_pictures_of_before_and_after(rig: EvaluatorRig, ring: PaintedRing) -> None:
    asks = [ask(Criteria(f"lamp number {n} is green"), wait_id=f"w{n}", keep_evidence=True) for n in range(5)]
    assert [one.evidence for one in rig.run(ring.job(*asks)).answered] == [None] * 5
    dark = ring.pixels.copy()
    light(ring)
    kept = [one.evidence for one in rig.run(ring.job(*asks)).answered]
    after, before = ({getattr(one, name) for one in kept} for name in ("name", "before"))
    assert (len(after), len(before)) == (1, 1)
    assert {path.name for path in rig.evidence.iterdir()} == after | before
    found = pixels_of((rig.evidence / before.pop()).read_bytes())
    assert (found[:, :, :3] == dark[:, :, :3]).all()
    assert {(one.before_frame, one.before_reason) for one in kept if one is not None} == {(1, "")}


@pytest.mark.parametrize(("changed_from", "before_frame"), [(2, 1), (1, 0)])
def test_a_first_view_that_shows_the_change_is_no_view_of_before(
    rig: EvaluatorRig, ring: PaintedRing, changed_from: int, before_frame: int
) -> None:
    assert rig.run(replace(ring.job(), remember=("w1",))).status == "done"
    light(ring)
    changed = replace(
        ask(Change(), known={0: yes("changed")}, wait_id="w1", keep_evidence=True), changed_from=changed_from
    )
    kept = rig.run(ring.job(changed)).answered[0].evidence
    assert kept is not None
    assert (kept.frame, kept.before_frame, bool(kept.before)) == (2, before_frame, before_frame > 0)
    assert kept.before_reason == ("" if before_frame else "nobody saw the view before it held")


def test_a_disk_that_refuses_is_said_and_the_verdict_stands(rig: EvaluatorRig, ring: PaintedRing) -> None:
    rig.evidence.rmdir()
    rig.evidence.write_text("not a directory")
    light(ring)
    answered = rig.run(ring.job(ask(GREEN_LAMP, keep_evidence=True))).answered[0]
    assert answered.whole.answer is Answer.YES
    assert answered.evidence is not None
    assert answered.evidence.name == ""
    assert "Not a directory" in answered.evidence.reason


def test_what_cannot_be_done_fails_with_its_reason(rig: EvaluatorRig, ring: PaintedRing, tmp_path: Path) -> None:
    outside = rig.run(ring.job(crop=Rect(5000, 0, 10, 10)))
    assert (outside.status, "outside" in outside.reason) == ("failed", True)
    (tmp_path / "x").write_bytes(b"no ring" * 1000)
    job = ring.job()
    assert rig.run(Job("job-x", job.view, str(tmp_path / "x"), 1, 0)).status == "failed"
    assert rig.run(Job("../job", job.view, job.path, job.epoch, 0, picture=PictureAsk())).status == "failed"


def test_a_hung_judge_stops_neither_heartbeats_nor_other_jobs(
    rig: EvaluatorRig, ring: PaintedRing, script: Script
) -> None:
    script.write(fault="hang")
    hung = ring.job(ask(GREEN_LAMP))
    rig.send(hung)
    for _ in range(2):
        rig.next(Heartbeat, lambda beat: beat.jobs == (hung.job_id,))
    script.write(rules=[LAMP_IS_GREEN])
    assert rig.run(ring.job(ask(GREEN_LAMP))).status == "done"


@pytest.mark.parametrize("way", ["stop", "sigterm"])
def test_it_ends_in_good_order_with_jobs_under_way(
    rig: EvaluatorRig, ring: PaintedRing, script: Script, way: str
) -> None:
    script.write(fault="hang")
    job = ring.job(ask(GREEN_LAMP))
    rig.send(job)
    rig.next(Heartbeat, lambda beat: job.job_id in beat.jobs)
    if way == "sigterm":
        rig.child.send_signal(signal.SIGTERM)
        assert rig.child.wait(60) == 0
    else:
        assert rig.stop() == 0


def test_a_slow_answer_holds_no_other_wait_of_the_job_up(rig: EvaluatorRig, ring: PaintedRing, script: Script) -> None:
    script.write(fault="hang")
    job = ring.job(ask(GREEN_LAMP, wait_id="slow"), ask(GREEN_LAMP, wait_id="quick", judge="passthrough"))
    rig.send(job)
    part = rig.next(JobResult, lambda result: result.job_id == job.job_id)
    assert (part.status, [answered.wait_id for answered in part.answered]) == ("part", ["quick"])


def test_a_leaf_that_cannot_matter_any_more_is_not_asked(rig: EvaluatorRig, ring: PaintedRing) -> None:
    window, still = WindowTitle("x"), Stable(5)
    settled = rig.run(ring.job(ask(AllOf((window, GREEN_LAMP)), known={0: no("no such window")})))
    assert settled.answered[0].answers == ()
    assert settled.answered[0].whole == no("no such window")
    light(ring)
    either = rig.run(ring.job(ask(AnyOf((GREEN_LAMP, Criteria("other"))), wait_id="w2")))
    assert [answer.index for answer in either.answered[0].answers] == [0]
    part = rig.run(ring.job(ask(AllOf((still, GREEN_LAMP)), known={0: unknown("display_down", "no frame")})))
    assert part.answered[0].whole == unknown("display_down", "no frame")
    assert [answer.verdict.answer for answer in part.answered[0].answers] == [Answer.YES]


def test_more_jobs_than_allowed_are_refused_not_queued(tmp_path: Path, ring: PaintedRing) -> None:
    with EvaluatorRig(tmp_path, max_jobs=2, backend="scripted", scripted='{"fault": "hang"}') as rig:
        rig.ready()
        jobs = [ring.job(ask(GREEN_LAMP)) for _ in range(3)]
        for job in jobs:
            rig.send(job)
        refused = rig.next(JobResult)
        assert (refused.job_id, refused.status) == (jobs[2].job_id, "failed")
