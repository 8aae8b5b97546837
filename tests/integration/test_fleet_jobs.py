"""Jobs over real NATS servers: workers that die, dawdle, drain, lie or are not there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from acud.base.errors import Unavailable
from acud.config import JobSettings
from acud.evaluator.judges.judge import JudgeQuestion, JudgeReply, first_answer
from acud.features.fleet import evaluator as fleet_evaluator
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.job_worker import JobWorker
from acud.features.fleet.worker.judge_chain import STARTING
from acud.features.fleet.worker.service import JobService
from acud.protocol import codec
from acud.protocol.jobs import VisionAnswer, VisionJob, digest_of
from acud.types import Answer, unknown, yes
from tests.fixtures.fleet_proxy import Proxy
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.patience import until_true
from tests.integration.jobs_rig import LONG_S, QUESTION, Worker, connected, emptied, host, noise, picture, queued

pytestmark = pytest.mark.asyncio

GREEN = {"default": "yes"}


async def test_questions_about_one_picture_share_a_job(tmp_path: Path) -> None:
    script = {"default": "no", "rules": [{"criteria": "green"}]}
    with FleetServers() as nats, Worker(tmp_path, nats.url, script) as worker:
        async with host(nats.url) as judge:
            await worker.ready()
            shown = picture()
            both = (judge.evaluate(QUESTION, shown), judge.evaluate(JudgeQuestion("it is red"), shown))
            answers = [reply.verdict.answer for reply in await asyncio.gather(*both)]
        assert answers == [Answer.YES, Answer.NO]
        worker.end()
        await worker.ended()
        assert (worker.figures()["jobs"], worker.figures()["answers"]) == (1, 2)


async def test_a_worker_killed_in_mid_job_is_followed_by_another_and_answered_once(tmp_path: Path) -> None:
    with FleetServers(jobs={"ack_wait_s": 1}) as nats, Worker(tmp_path / "a", nats.url, {"fault": "hang"}) as first:
        async with host(nats.url) as judge:
            asked = asyncio.create_task(judge.evaluate(QUESTION, picture()))
            await first.took()
            first.kill()
            with Worker(tmp_path / "b", nats.url, GREEN) as second:
                assert (await asked).verdict.answer is Answer.YES
                second.end()
                await second.ended()
                told = second.figures()
                assert (told["jobs"], told["redelivered"], told["answers"]) == (1, 1, 1)


async def test_a_slow_model_keeps_its_job(tmp_path: Path) -> None:
    slow = {"delay_ms": 17_000, "default": "yes"}
    with (
        FleetServers(jobs={"ack_wait_s": 8}) as nats,
        Worker(tmp_path / "a", nats.url, slow) as one,
        Worker(tmp_path / "b", nats.url, slow) as other,
    ):
        async with host(nats.url) as judge:
            await one.ready()
            await other.ready()
            assert (await judge.evaluate(QUESTION, picture())).verdict.answer is Answer.YES
        for worker in (one, other):
            worker.end()
            assert await worker.ended() == 0
        told = [one.figures(), other.figures()]
    assert sum(each["jobs"] for each in told) == 1
    assert sum(each["redelivered"] for each in told) == 0


async def test_without_a_worker_it_is_unknown_by_the_deadline_and_who_comes_later_drops_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_evaluator, "_SLACK_S", LONG_S)  # what it asks of the servers after it
    with FleetServers() as nats:
        async with host(nats.url, timeout_s=10.0) as judge, connected(nats.url) as connection:
            async with asyncio.timeout(LONG_S):  # it connects, too: the job alone has to be taken in time
                while "no worker" not in (health := await judge.check_health()).reason:
                    pass
            assert health.state == "down"
            reply = await judge.evaluate(QUESTION, picture())
            assert (reply.verdict.answer, reply.verdict.code) == (Answer.UNKNOWN, "unavailable")
            assert "no worker answered within 10 s; no worker of kind 'vision'" in reply.verdict.detail
            assert (await judge.check_health()).state == "down"
            with Worker(tmp_path, nats.url, GREEN) as worker:
                await emptied(connection)
                worker.end()
                await worker.ended()
                assert (worker.figures()["jobs"], worker.figures()["answers"]) == (0, 0)


async def test_a_job_that_ends_worker_after_worker_is_given_up(tmp_path: Path) -> None:
    with FleetServers(jobs={"ack_wait_s": 1}) as nats:
        async with host(nats.url, max_deliver=2) as judge:
            asked = asyncio.create_task(judge.evaluate(QUESTION, picture()))
            for name in ("a", "b"):
                with Worker(tmp_path / name, nats.url, {"fault": "hang"}) as worker:
                    await worker.took()
                    worker.kill()
            with Worker(tmp_path / "c", nats.url, GREEN) as third:
                verdict = (await asked).verdict
                assert (verdict.answer, verdict.code) == (Answer.UNKNOWN, "unavailable")
                assert "workers in a row" in verdict.detail
                third.end()
                await third.ended()
                assert third.figures()["jobs"] == 0


async def test_a_judge_that_starts_again_is_waited_for_and_no_job_is_given_up_for_it() -> None:
    with FleetServers() as nats:
        async with connected(nats.url) as connection, host(nats.url, max_deliver=1) as judge:
            async with _working(connection, _Restarting(2)) as service:
                assert (await judge.evaluate(QUESTION, picture())).verdict.answer is Answer.YES
            assert (service.tally.given_back, service.tally.answers, service.tally.redelivered) == (2, 1, 0)


async def test_a_job_whose_acknowledgement_was_lost_is_heard_twice_by_one_id_and_done_once() -> None:
    with FleetServers() as nats, Proxy(nats.servers[0].port) as wire:
        async with connected(nats.url) as near, host(wire.url) as judge:
            await judge.check_health()  # has it connect
            heard = await near.nats.subscribe("acud.job.>")
            wire.mute()
            asked = asyncio.create_task(judge.evaluate(QUESTION, picture()))
            ids = {((await heard.next_msg(LONG_S)).headers or {})["Nats-Msg-Id"] for _ in range(2)}
            assert len(ids) == 1
            wire.heal()
            async with _working(near, _Restarting(0)) as service:
                assert (await asked).verdict.answer is Answer.YES
                await emptied(near)
            assert (service.tally.jobs, service.tally.answers) == (1, 1)


class _Restarting:
    """A judge that is being started `times`, each time it is asked, and then answers."""

    def __init__(self, times: int) -> None:
        self._left = times

    async def answer(self, job: VisionJob, number: int) -> JudgeReply:
        if self._left:
            self._left -= 1
            raise Unavailable("it is being started", reason=STARTING)
        return JudgeReply(yes("sure"), cost_usd=0.0)

    async def close(self) -> None:
        pass


@asynccontextmanager
async def _working(connection: NatsConnection, judge: _Restarting) -> AsyncIterator[JobService]:
    settings, stopping = JobSettings(), asyncio.Event()
    service = JobService("alpha/1", JobWorker(connection, settings), judge, settings)
    working = asyncio.create_task(service.run(stopping))
    yield service
    stopping.set()
    await working


async def test_answers_that_are_none_are_refused() -> None:
    with FleetServers() as nats:
        async with host(nats.url) as judge, connected(nats.url) as connection:
            asked = asyncio.create_task(judge.evaluate(QUESTION, picture()))
            job, data = await _stolen(connection)
            digest = digest_of(data)
            wrong = [
                VisionAnswer(job.job_id, 0, "0" * 32, yes("another picture")),
                VisionAnswer(job.job_id, 7, digest, yes("no such question")),
                VisionAnswer("job-elsewhere", 0, digest, yes("another job")),
                VisionAnswer(job.job_id, 0, digest, yes("another version"), version=99),
                VisionAnswer(job.job_id, 0, digest, unknown("", "unknown without a reason")),
            ]
            for answer in wrong:
                await connection.nats.request(job.answer_to, codec.encode(answer), timeout=LONG_S)
            assert not asked.done()
            true = VisionAnswer(job.job_id, 0, digest, yes("it is green"))
            for answer in (true, VisionAnswer(job.job_id, 0, digest, yes("said again"))):
                await connection.nats.request(job.answer_to, codec.encode(answer), timeout=LONG_S)
            assert (await asked).verdict == yes("it is green")


async def test_a_job_in_anothers_name_or_whose_answers_would_go_elsewhere_is_refused(tmp_path: Path) -> None:
    with FleetServers() as nats, Worker(tmp_path, nats.url, GREEN) as worker:
        async with connected(nats.url) as connection:
            await worker.ready()
            heard = await connection.nats.subscribe("acud.>")
            shown = picture()
            sides = (shown.width, shown.height, shown.view_width, shown.view_height)
            sent = "acud.job.vision.mallory"
            job = VisionJob("job-1", "mallory", shown.jpeg, *sides, (), 9e9, "acud.req.alpha")  # type: ignore[arg-type]
            others = replace(job, host="alpha", answer_to="acud.answer.alpha.a.job-1")
            for body in (codec.encode(job), codec.encode(others), b"nothing of the kind"):
                await connection.streams.publish(sent, body)
            await until_true(lambda: len(worker.events("job.refused")) == 3, "three refusals")
            subjects = {heard._pending_queue.get_nowait().subject for _ in range(heard.pending_msgs)}
            assert subjects <= {sent}


async def test_servers_that_are_down_are_unknown_then_the_circuit_opens_and_the_chain_goes_on() -> None:
    with FleetServers() as nats:
        nats.servers[0].kill()
        settings = {"connect_timeout_s": 0.2, "breaker_failures": 2, "breaker_open_s": 60}
        async with host(nats.url, **settings) as judge:
            codes = [(await judge.evaluate(QUESTION, picture())).verdict for _ in range(3)]
            assert {one.code for one in codes[:2]} == {"unavailable"}
            assert "circuit open" in codes[2].detail
            assert (await judge.check_health()).state == "down"
            other = _Sure()
            reply = await first_answer((judge, other), lambda one: one.evaluate(QUESTION, picture()))  # type: ignore[arg-type]
            assert (reply.verdict.answer, reply.judge) == (Answer.YES, "sure")


class _Sure:
    name = "sure"
    local = True

    async def evaluate(self, *_: object) -> JudgeReply:
        return JudgeReply(yes("sure"), cost_usd=0.0)


async def _stolen(connection: NatsConnection) -> tuple[VisionJob, bytes]:
    """Look at the job in the queue as a worker would."""
    await queued(connection)
    found = await connection.streams.get_last_msg("ACUD_JOBS", "acud.job.vision.alpha")
    assert found.data is not None
    return codec.decode(found.data, VisionJob), found.data


async def test_a_worker_that_is_told_to_end_finishes_what_it_has(tmp_path: Path) -> None:
    with FleetServers() as nats, Worker(tmp_path, nats.url, {"delay_ms": 8000, "default": "yes"}) as worker:
        async with host(nats.url) as judge:
            asked = asyncio.create_task(judge.evaluate(QUESTION, picture()))
            await worker.took()
            worker.end()
            assert (await asked).verdict.answer is Answer.YES
            assert await worker.ended() == 0
            assert worker.events("worker.draining")


async def test_a_worker_that_ends_before_its_model_answers_gives_the_job_back(tmp_path: Path) -> None:
    with FleetServers() as nats, Worker(tmp_path / "a", nats.url, {"fault": "hang"}, drain_s=0) as first:
        async with host(nats.url, max_deliver=1) as judge:
            asked = asyncio.create_task(judge.evaluate(QUESTION, picture()))
            await first.took()
            first.end()
            assert await first.ended() == 0
            assert first.figures()["given_back"] == 1
            with Worker(tmp_path / "b", nats.url, GREEN):  # ack_wait is 30 s: it comes sooner because it was given back
                assert (await asked).verdict.answer is Answer.YES


async def test_a_job_larger_than_the_servers_take_is_refused_by_name() -> None:
    with FleetServers(extra="max_payload: 65536\n") as nats:
        async with host(nats.url) as judge:
            reply = await judge.evaluate(QUESTION, noise(400))
    assert (reply.verdict.code, "max_payload" in reply.verdict.detail) == ("rejected", True)
    assert "65536" in reply.verdict.detail
    assert reply.cost_usd == 0.0
