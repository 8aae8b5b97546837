"""Messages that who runs a fleet's servers puts there: with every right on real servers, and without anybody's seed.

None is acted on: not a request, a reply, a wake, the word that one was seen, a job or an answer. True ones are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from nats.aio.client import Client as NatsClient
from nats.aio.msg import Msg

from acud.base.errors import Unavailable
from acud.base.ids import new_id
from acud.config import JobSettings
from acud.features.fleet.job_client import JobClient
from acud.features.fleet.job_worker import JobWorker
from acud.features.fleet.signatures import Identity, Signed
from acud.protocol import codec
from acud.protocol.delivery import Deliver
from acud.protocol.jobs import JobQuestion, VisionAnswer, VisionJob
from acud.protocol.requests.daemon import Doctor, DoctorReply, Finding
from acud.protocol.wakes import SeenWake
from acud.types import Answer, RouteName, Verdict, WakeKind
from acud_fleet import envelopes
from acud_fleet.access import Role
from acud_fleet.host_wakes import WakeAcks, WakePublisher, make_shared_wake
from acud_fleet.wakes import AgentWakes
from tests.fixtures import nkey_files
from tests.fixtures.fleet_servers import FleetServers, nothing_told
from tests.fixtures.nats_servers import settled
from tests.fixtures.patience import LONG_S, until_true
from tests.integration.signed_fleet import Daemon, Members, asking, running, serving, signed_servers

pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seeds")


@pytest.fixture(scope="module")
def servers(seeds: Path) -> Iterator[FleetServers]:
    with signed_servers(seeds) as running:
        yield running


@pytest.fixture
def members(servers: FleetServers, seeds: Path) -> Members:
    return Members(servers, seeds)


async def heard_as_operator(client: NatsClient, subject: str) -> list[Msg]:
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    await client.subscribe(subject, cb=hear)
    await settled(client)
    return heard


async def test_a_host_does_nothing_for_a_request_that_no_endpoint_signed(members: Members) -> None:
    daemon = Daemon()
    async with (
        members("H1", "host-h1") as host,
        members("H2", "host-h2") as other,
        members("ENDPOINT", "endpoint") as endpoint,
        members.operator("host-h1") as operator,
        serving(host, daemon),
        asking(endpoint) as client,
    ):
        subject, copies = "acud.req.h1", await heard_as_operator(operator, "acud.req.h1")
        data = envelopes.write("req-forged", Doctor())
        by_h2 = other.signatures.header(Signed.REQUEST, subject, data)
        for headers, why in ((None, "carries no signature"), (by_h2, "signed by host h2, not by an endpoint")):
            answer = await operator.request(subject, data, timeout=LONG_S, headers=headers)
            assert why.encode() in answer.data
            assert why in host.warnings["signatures"][0]
        assert daemon.asked == 0
        reply = await client.ask("h1", Doctor(), new_id("req"), LONG_S)
        assert (daemon.asked, len(reply.findings)) == (1, 1)
        await until_true(lambda: len(copies) >= 3)
        true = copies[2]
        again = await operator.request(subject, true.data, timeout=LONG_S, headers=true.headers)
        assert b"came a second time" in again.data
        assert daemon.asked == 1


async def test_an_endpoint_takes_no_reply_that_its_host_did_not_sign(members: Members) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        members.operator("host-h1") as operator,
        asking(endpoint) as client,
    ):
        old: dict[str, str] = {}

        async def lie(message: Msg) -> None:
            request_id = envelopes.id_in(message.data)
            forged = envelopes.answer(request_id, DoctorReply((Finding("home", "ok", "forged"),)))
            await operator.publish(message.reply, forged, headers=old or None)

        async def refused(words: str) -> None:
            async with running(client.ask("h1", Doctor(), new_id("req"), LONG_S)):
                await until_true(lambda: words in endpoint.warnings.get("signatures", ("", ""))[0])

        lying = await operator.subscribe("acud.req.h1", cb=lie)
        await settled(operator)
        await refused("carries no signature")
        # The answer to another question, signed by the host itself, is no answer to this one.
        elsewhere = envelopes.answer("req-other", DoctorReply(()))
        about = envelopes.reply_about("req-other", "")
        old |= host.signatures.header(Signed.REPLY, "acud.req.h1", elsewhere, about)
        await refused("the signature of the reply on acud.req.h1 is false")
        daemon = Daemon()
        async with serving(host, daemon):  # both answer: the true one is taken
            assert (await client.ask("h1", Doctor(), new_id("req"), LONG_S)).findings[0].text == "x" * 1000
        await lying.unsubscribe()


def delivery(wake_id: str) -> Deliver:
    return Deliver(wake_id, 1, RouteName.FLEET, WakeKind.RESOLVED, "it is done", time.time())


async def test_an_agent_gets_no_wake_that_its_host_did_not_sign_and_its_host_no_word_that_the_agent_did_not(
    members: Members,
) -> None:
    daemon: Any = Daemon()
    async with (
        members("H1", "host-h1") as host,
        members("AGENT", "agent-main") as agent,
        members.operator("fleet") as operator,
    ):
        body = msgspec.json.encode(make_shared_wake(delivery("wake-forged"), "h1"))
        by_agent = agent.signatures.header(Signed.WAKE, "acud.wake.main.h1", body)
        stream = operator.jetstream()
        await stream.publish("acud.wake.main.h1", body)
        await stream.publish("acud.wake.main.h1", body, headers=by_agent)
        assert (await WakePublisher("h1", host, nothing_told).publish_wake(delivery("wake-true"))).result == "sent"
        async with AgentWakes(agent) as wakes:
            taken = await wakes.next(LONG_S)
            assert taken is not None
            assert taken.wake.id == "wake-true"
            assert "signed by agent main, not by host h1" in agent.warnings["signatures"][0]
            seen = msgspec.json.encode(SeenWake("wake-unseen"))
            await stream.publish("acud.seen.h1.main", seen)
            by_host = host.signatures.header(Signed.SEEN, "acud.seen.h1.main", seen)
            await stream.publish("acud.seen.h1.main", seen, headers=by_host)
            await taken.ack()
            async with running(WakeAcks("h1", host, daemon).run()):
                await until_true(lambda: daemon.seen)
            assert daemon.seen == ["wake-true"]
            assert "the seen on acud.seen.h1.main" in host.warnings["signatures"][0]
            assert await wakes.next(1.0) is None
        # What may be true, as it carries no signature, stays in the stream: nothing is lost to a grant that comes late.
        state = await stream.consumer_info("ACUD_WAKES", "wakes-main")
        assert state.num_ack_pending == 1


QUESTION = VisionJob("", "", b"jpeg", 1, 1, 1, 1, (JobQuestion("a lamp is lit"),), time.time() + 600, "")


async def test_a_worker_does_no_job_that_no_host_signed_and_a_host_takes_no_answer_that_no_worker_did(
    members: Members,
) -> None:
    jobs = JobSettings()
    asker = JobClient(members.settings("H1", host="h1"), jobs)
    await asker.open()
    try:
        await asker.prepare(LONG_S)
        async with (
            members("WORKER", "worker") as worker,
            members.operator("fleet") as operator,
            members.operator("host-h1") as beside,
        ):
            forged = codec.encode(replace(QUESTION, job_id="job-1", host="h1", answer_to="acud.answer.h1.asker.job-1"))
            by_worker = worker.signatures.header(Signed.JOB, "acud.job.vision.h1", forged)
            for headers in (None, by_worker):
                await operator.jetstream().publish("acud.job.vision.h1", forged, headers=headers)
            queue = JobWorker(worker, jobs)
            assert [await queue.next() for _ in range(2)] == [None, None]
            asked = await asker.ask(QUESTION)
            async with asyncio.timeout(LONG_S):
                while (taken := await queue.next()) is None:
                    pass
            assert taken.job.job_id == asked.job_id
            lie = VisionAnswer(asked.job_id, 0, asked.digest, Verdict(Answer.YES, "says the operator"))
            await beside.publish(taken.job.answer_to, codec.encode(lie))
            await until_true(lambda: asker.refused)
            assert not asked.answers[0].done()
            # Nor does the worker believe who says in the host's stead that nobody waits.
            found = await taken.announce_begin("w1")
            assert found is not None
            assert found.questions == (0,)
            true = replace(lie, verdict=Verdict(Answer.NO, "says the worker"))
            assert await taken.send_answer(true, asyncio.get_running_loop().time() + LONG_S)
            assert (await asked.answers[0]).verdict.detail == "says the worker"
            await taken.take_off_queue()
            await queue.let_go()
    finally:
        await asker.close()


async def test_a_key_counts_from_its_grant_to_its_revocation(servers: FleetServers, seeds: Path) -> None:
    members, held = Members(servers, seeds), servers.grants
    assert held is not None
    host = held.must_find(Role.HOST, "h2")
    new = nkey_files.user(seeds / "H2-new")

    def listed(keys: tuple[str, ...]) -> None:
        servers.grants = held.with_grant(replace(host, keys=keys)) if keys else held.without(host)
        assert servers.initialise()[-1].state == "changed"

    try:
        async with members("H2", "host-h2") as sender, members("ENDPOINT", "endpoint") as endpoint:

            async def fault() -> str:
                """Return why the endpoint refuses what h2 signs now, "" when it does not."""
                value = sender.signatures.header(Signed.EVENT, "acud.event.h2.x", b"")
                try:
                    await endpoint.signatures.check(Signed.EVENT, "acud.event.h2.x", b"", value, Identity("host", "h2"))
                except Unavailable as refused:
                    return refused.message
                return ""

            async def becomes(good: bool) -> None:
                async with asyncio.timeout(LONG_S):
                    while (await fault() == "") != good:  # noqa: ASYNC110 - time passes
                        await asyncio.sleep(0.1)

            assert await fault() == ""
            listed((new, *host.keys))
            sender.signatures.use((seeds / "H2-new").read_bytes())
            await becomes(True)
            sender.signatures.use((seeds / "H2").read_bytes())
            assert await fault() == ""  # both are good while it changes
            listed((new,))
            await becomes(False)
            sender.signatures.use((seeds / "H2-new").read_bytes())
            assert await fault() == ""
            listed(())
            await becomes(False)
    finally:
        servers.grants = held
        servers.initialise()
