"""The soak's judge on a real daemon: it finds nothing in a good run, and each promise that is broken here by hand."""

from __future__ import annotations

import json
import sqlite3
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.soak.plan import Step
from tests.soak.rounds import Soak
from tests.soak.sampling import Sampling
from tests.soak.work import do
from tests.soak.world import World

pytestmark = pytest.mark.timeout(400)  # its bounds are those of a machine under load


class _Run(NamedTuple):
    world: World
    soak: Soak

    def work(self, number: int, *kinds: str) -> None:
        """Do these steps, let everything end, and judge it."""
        for at, kind in enumerate(kinds):
            do(self.world, Step(number + at, "work", kind, 0.0, 0.0, f"{number + at}"))
        self.soak.settle()

    def found(self) -> list[str]:
        """Return what the oracle finds now and did not find before."""
        before = len(self.world.ledger.violations)
        self.soak.judge()
        return [violation.what for violation in self.world.ledger.violations[before:]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Run]:
    """A world at rest after some work in which nothing was broken."""
    folder = tmp_path_factory.mktemp("soak")
    (folder / "home").mkdir()
    with World(folder, namespaced=False) as world, Sampling(world) as sampling:
        soak = Soak(world, sampling, 1, frozenset())
        soak.settle_first()
        running = _Run(world, soak)
        running.work(1, "arm_holds", "arm_lamp", "arm_change", "arm_timeout", "look", "task", "lists")
        assert running.found() == []
        assert len(world.ledger.waits()) == 5
        yield running


def test_a_doubled_wake_is_found(run: _Run) -> None:
    wake = run.world.taken()[0]
    request = urllib.request.Request(
        f"http://127.0.0.1:{run.world.receiver.port}/",
        data=json.dumps({"text": "once more"}).encode(),
        headers={"webhook-id": wake.wake_id},
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200
    assert run.found() == ["doubled wake"]


def test_a_leaked_segment_is_found(run: _Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run.found() == []  # what the test before left is gone
    monkeypatch.setattr("tests.soak.rounds._SETTLED_S", 1.0)
    segment: Path = run.world.daemon.paths.shm / "left-behind"
    segment.touch()
    assert run.found() == ["leaked segment"]
    segment.unlink()
    assert run.found() == []


def test_a_lost_wait_is_found(run: _Run) -> None:
    run.work(20, "arm_holds")
    assert run.found() == []
    lost = run.world.ledger.waits()[-1].wait_id
    with closing(sqlite3.connect(run.world.daemon.paths.database, timeout=20)) as database, database:
        database.execute("DELETE FROM wait_jobs WHERE wait_id = ?", [lost])
    assert "lost wait" in run.found()


def test_an_old_picture_is_found(run: _Run, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = run.world.client.look(display=run.world.adopted.display)
    monkeypatch.setattr(run.world.client, "look", lambda **_: picture)
    before = len(run.world.ledger.violations)
    run.work(30, "look")
    assert [v.what for v in run.world.ledger.violations[before:]] == ["stale answer"]


def test_what_did_not_come_is_told_with_what_the_daemon_knows(run: _Run, monkeypatch: pytest.MonkeyPatch) -> None:
    do(run.world, Step(40, "work", "arm_lamp", 0.0, 0.0, "40"))
    stuck = run.world.ledger.waits("lamp")[-1]
    assert stuck.wait_id not in run.world.ledger.ended()
    stuck.lit_s = 1.0  # so that the settling leaves it dark
    monkeypatch.setattr("tests.soak.rounds._SETTLED_S", 1.0)
    run.soak.settle()
    unsettled = [v for v in run.world.ledger.violations if v.what == "did not settle"]
    violation = next(v for v in unsettled if "every wait ended" in v.words)
    for words in (f"wait {stuck.wait_id} (lamp)", "verdict ", "note: ", "acud_pool_queued_jobs", "child evaluator 0"):
        assert words in violation.known
    assert "the log" in violation.known
    monkeypatch.undo()
    stuck.cancelled = True
    run.world.client.wait_cancel(stuck.wait_id)
    run.soak.settle()
