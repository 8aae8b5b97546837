"""Jobs judged by actors of a real Ray, where it is installed."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path

import pytest

from acud.evaluator.judges.judge import JudgeQuestion
from acud.types import Answer
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.patience import until_true
from tests.integration.jobs_rig import QUESTION, Worker, host, picture

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.long,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: acud[ray]"),
]

_ACTORS = {"judge": "tests.fixtures.ray_judges:make", "actors": 2, "calls_per_actor": 2, "cpus_per_actor": 0.5}


async def test_two_actors_answer_one_dies_and_is_made_again(tmp_path: Path) -> None:
    with FleetServers() as nats, Worker(tmp_path, nats.url, backends=(), ray=_ACTORS) as worker:
        async with host(nats.url, timeout_s=120) as judge:
            await until_true(lambda: worker.events("worker.ready"), "the actors", 150)
            pids = set(worker.events("ray.ready")[0]["pids"])
            assert len(pids) == 2
            assert str(worker.process.pid) not in pids
            asked = [judge.evaluate(JudgeQuestion(f"wait {one}"), picture(one)) for one in range(4)]
            said = {reply.verdict.detail.split()[1].strip(",") for reply in await asyncio.gather(*asked)}
            assert said == pids
            died = await judge.evaluate(JudgeQuestion("die"), picture(1))
            assert (died.verdict.answer, died.verdict.code) == (Answer.UNKNOWN, "unavailable")
            assert "3 workers in a row" in died.verdict.detail
            assert (await judge.evaluate(QUESTION, picture(2))).verdict.answer is Answer.YES
        worker.end()
        assert await worker.ended() == 0, (tmp_path / "log").read_text()
        assert worker.figures()["given_back"] >= 3  # by each that died over it, and by any that was being made again
        assert not _living(pids)


def _living(pids: set[str]) -> set[str]:
    return {pid for pid in pids if Path("/proc", pid).exists()}


async def test_a_judge_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        FleetServers() as nats,
        Worker(tmp_path, nats.url, backends=(), ray=_ACTORS | {"judge": "no.where:make"}) as worker,
    ):
        assert await asyncio.to_thread(worker.process.wait, 150) == 1
        assert "no.where:make" in (tmp_path / "log").read_text()
