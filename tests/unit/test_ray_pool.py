"""Actors of Ray behind a worker, with a stand-in for Ray: those that are being made again are asked nothing."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from acud.base.errors import ConfigError, Unavailable
from acud.evaluator.judges.judge import JudgeReply
from acud.features.fleet.settings import RaySettings
from acud.features.fleet.worker import ray_pool
from acud.features.fleet.worker.judge_chain import STARTING
from acud.features.fleet.worker.ray_pool import RayPool
from acud.protocol import codec
from acud.protocol.jobs import JobQuestion, VisionJob
from acud.types import yes

pytestmark = pytest.mark.asyncio
JOB = VisionJob("job-1", "alpha", b"\xff\xd8", 960, 540, 1280, 720, (JobQuestion("it is green"),), 1.5e9, "a.b")


class _RayError(Exception):
    pass


class _Actor:
    """Dies over the first question; is made again once `made` is set."""

    def __init__(self, *, dies: bool) -> None:
        self.made = asyncio.Event()
        self.asked = 0
        self._dies = dies
        self.answer = SimpleNamespace(remote=self._answer)
        self.ready = SimpleNamespace(remote=self._ready)

    async def _answer(self, job: bytes, number: int) -> bytes:
        self.asked += 1
        if self._dies and self.asked == 1:
            raise _RayError("the actor died")
        return codec.encode(JudgeReply(yes("green")))

    async def _ready(self) -> str:
        await self.made.wait()
        return "17"


def _pool(*actors: _Actor) -> RayPool:
    ray: Any = SimpleNamespace(exceptions=SimpleNamespace(RayError=_RayError), cancel=lambda reply: None)
    return RayPool(ray, actors)


async def test_an_actor_that_died_is_asked_nothing_until_it_is_made_again() -> None:
    actor = _Actor(dies=True)
    pool = _pool(actor)
    with pytest.raises(Unavailable) as died:
        await pool.answer(JOB, 0)
    assert "reason" not in died.value.facts
    with pytest.raises(Unavailable) as starting:
        await pool.answer(JOB, 0)
    assert (starting.value.facts["reason"], actor.asked) == (STARTING, 1)
    actor.made.set()
    for _ in range(10):
        await asyncio.sleep(0)  # its being ready gets as far as the pool
    assert (await pool.answer(JOB, 0)).verdict == yes("green")


async def test_others_are_asked_meanwhile() -> None:
    dying, other = _Actor(dies=True), _Actor(dies=False)
    pool = _pool(dying, other)
    with pytest.raises(Unavailable):
        await pool.answer(JOB, 0)
    for _ in range(3):
        await pool.answer(JOB, 0)
    assert (dying.asked, other.asked) == (1, 3)
    dying.made.set()


async def test_a_ray_that_does_not_answer_is_named_once_and_asked_until_it_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = [Unavailable("Ray does not answer (here): no"), Unavailable("Ray does not answer (here): no")]
    there = _pool(_Actor(dies=False))

    async def start(settings: RaySettings, backends: Sequence[str]) -> RayPool:
        if faults:
            raise faults.pop()
        return there

    monkeypatch.setattr(RayPool, "start", start)
    monkeypatch.setattr(ray_pool, "_FIRST_PAUSE_S", 0)
    assert await RayPool.start_patiently(RaySettings(), ["own"]) is there
    assert capsys.readouterr().err == "acud: Ray does not answer (here): no; trying again until Ray is there\n"


async def test_a_worker_without_ray_installed_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_pool, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="Ray is not installed"):
        await RayPool.start_patiently(RaySettings(), ["own"])
