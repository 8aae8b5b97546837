"""Pictures that no evaluator makes in time; the evaluators and the clock are fakes, no process runs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from acud.base.errors import AcudError, Unavailable
from acud.config import RedactionSettings
from acud.features.redaction.supervisor import RedactionPolicy
from acud.protocol.evaluation import JobResult
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.looks import Picture
from acud.supervisor.coroutines import run_steps
from acud.supervisor.frame_sources import Source
from acud.supervisor.screenshots import Screenshots, ScreenshotTarget
from acud.types import Rect
from tests.unit.supervisor.test_evaluator_pool import Rig

JPEG = PictureAsk("jpeg", 0, 80)


class Table:
    """A pool whose evaluators answer when a test says so, and a source with a frame."""

    def __init__(self, spool: Path) -> None:
        self.rig = Rig()
        self.spool = spool
        self.source = Source(":7", ":7", 0, lambda message: True)
        self.source.path, self.source.up, self.source.frame, self.source.epoch = spool / "ring", True, 5, 1
        self.source.width, self.source.height = 64, 48
        redaction = RedactionPolicy(RedactionSettings(), cast(Any, None), cast(Any, None))
        self.screenshots = Screenshots(
            self.rig.pool,
            spool,
            cast(Any, SimpleNamespace(make_token=lambda source, frame, look: f"{frame}/{look}")),
            cast(Any, SimpleNamespace(age_s=lambda source: 0.0)),
            redaction,
            self.rig.loop,
        )
        self.found: list[Picture | AcudError] = []

    def silence(self, *names: str) -> None:
        """Let those evaluators die, and not come again."""
        for worker in self.rig.pool.workers:
            if worker.child.name in names:
                worker.child.reason = "killed by signal 9"
                self.rig.pool.child_ended(worker.child, worker.child.reason)

    def take(self, crop: Rect | None = None) -> None:
        run_steps(self.screenshots.take(ScreenshotTarget(self.source, crop), JPEG), self.found.append)
        self.rig.pool.dispatch()


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def test_a_picture_for_which_no_evaluator_is_ready_is_an_error_that_says_so(table: Table) -> None:
    table.silence("0", "1")
    table.take()
    table.rig.later(19)
    assert table.found == []
    table.rig.later(2)
    (fault,) = table.found
    assert isinstance(fault, Unavailable)
    assert fault.message == (
        "no picture of :7 in 20 s: 0 of 2 evaluators are ready (the last end: killed by signal 9), 1 jobs wait"
    )
    for worker in table.rig.pool.workers:
        table.rig.hello(worker.child)
    table.rig.pool.dispatch()
    assert table.rig.keeper.sent == []  # nobody wants it any more


def test_a_picture_that_comes_too_late_is_no_second_answer_and_leaves_no_file(table: Table) -> None:
    table.take()
    ((child, job),) = table.rig.keeper.sent
    table.rig.later(21)
    assert [type(outcome) for outcome in table.found] == [Unavailable]
    name = job.job_id + ".jpg"
    (table.spool / name).write_bytes(b"pixels")
    table.rig.pool.handle_message(
        child, JobResult(job.job_id, "done", picture=name, width=64, height=48, epoch=1, frame=5)
    )
    assert len(table.found) == 1
    assert not (table.spool / name).exists()


def test_a_picture_in_time_is_the_only_answer(table: Table) -> None:
    table.take()
    ((child, job),) = table.rig.keeper.sent
    name = job.job_id + ".jpg"
    (table.spool / name).write_bytes(b"pixels")
    table.rig.pool.handle_message(
        child, JobResult(job.job_id, "done", picture=name, width=64, height=48, epoch=1, frame=5)
    )
    table.rig.later(25)
    (picture,) = table.found
    assert isinstance(picture, Picture)
    assert picture.image == b"pixels"


def test_a_baseline_that_nobody_makes_in_time_is_one_without_its_look(table: Table) -> None:
    table.silence("0", "1")
    tokens: list[str | AcudError] = []
    target = ScreenshotTarget(table.source, Rect(0, 0, 16, 16))
    run_steps(table.screenshots.take_baseline(target), tokens.append)
    table.source.frame = 9  # what came since is a change
    table.rig.later(21)
    assert tokens == ["5/"]
