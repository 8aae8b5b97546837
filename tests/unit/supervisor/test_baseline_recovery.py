"""Which looks of before are read, and how often: the rings are real, the evaluators answer when the test says so."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from acud.protocol.evaluation import JobResult
from acud.supervisor.orphaned_rings import OrphanedRings
from acud.supervisor.waits.baseline_recovery import BaselineRecovery
from acud.types import Change, Rect
from acud.waits import events as happened
from acud.waits.targets import TargetLocation
from tests.fixtures.manual_clock import ManualClock
from tests.unit.supervisor.test_orphaned_rings import list_left, ring

TOKEN = ":1@run.x/64x48#6+4,4,20,20"
AIM = TargetLocation(":1", Rect(4, 4, 20, 20))
SOURCE: Any = SimpleNamespace(name=":1", server="run.x", width=64, height=48)


class Rig:
    """A wait on a part of `:1` whose baseline nobody had looked at; `works` is what evaluators were asked."""

    def __init__(self, folder: Path) -> None:
        self.works: list[Any] = []
        self.told: list[happened.WaitEvent] = []
        self.orphaned_rings = OrphanedRings(folder)
        pool: Any = SimpleNamespace(submit=self.works.append)
        self.baseline_recovery = BaselineRecovery(
            pool, self.orphaned_rings, ManualClock(1.0), lambda live, event: self.told.append(event)
        )
        self.live: Any = SimpleNamespace(wait_id="w", baselines={}, spec=SimpleNamespace(until=Change(baseline=TOKEN)))

    def begin(self, aim: TargetLocation = AIM) -> frozenset[str]:
        return self.baseline_recovery.begin_recovery(self.live, aim, SOURCE)


def test_a_wait_that_is_aimed_again_asks_for_a_look_once(tmp_path: Path) -> None:
    ring(tmp_path, "1.4", 6)
    rig = Rig(tmp_path)
    assert [rig.begin() for _ in range(3)] == [frozenset({TOKEN})] * 3
    (work,) = rig.works
    job = work.build("job")
    assert (job.path, job.epoch, job.min_frame, job.max_frame) == (str(tmp_path / "1.4"), 4, 6, 6)
    rig.orphaned_rings.mark_compared(":1")
    assert list_left(tmp_path) == {"1.4"}
    work.on_result(JobResult("job", "done", identity="a"))
    assert rig.told == [happened.BaselineIdentified(1.0, TOKEN, "a")]
    assert not list_left(tmp_path)


def test_a_target_that_no_frame_shows_as_it_was_is_not_looked_for(tmp_path: Path) -> None:
    ring(tmp_path, "1.4", 7)  # it changed the first tile, which the target has a part of
    rig = Rig(tmp_path)
    assert (rig.begin(), rig.works) == (frozenset(), [])
