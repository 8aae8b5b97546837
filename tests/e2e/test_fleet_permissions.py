"""What `acud fleet grant` writes is enough for a fleet's work, from a wait to its wake seen, and no more."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest

from acud.protocol import codec
from acud.protocol.events import Event
from acud.protocol.requests.tasks import TaskDelete
from acud.types import Criteria, WaitState
from acud_fleet import access, envelopes
from acud_fleet.access import Grants
from tests.e2e import faults
from tests.e2e.cli_support import CommandLine
from tests.e2e.fleet_waits import heard
from tests.fixtures import nkey_files
from tests.fixtures.fleet_rig import CALM_S, LONG_S, Fleet, until
from tests.integration.jobs_rig import Worker

MORE = '[vision]\nbackends = ["fleet"]\n[wake]\nroutes = ["fleet"]\n'


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a seed for each user."""
    return tmp_path_factory.mktemp("seeds")


@pytest.fixture(scope="module")
def grants(seeds: Path) -> Grants:
    """What the administrator grants, who signs everybody's keys."""
    return nkey_files.grants(seeds)


@pytest.fixture(scope="module")
def fleet(seeds: Path, grants: Grants) -> Iterator[Fleet]:
    """Two hosts and an endpoint on a server with accounts for each, in which its operator has users too. Every message
    has to be signed.
    """
    extra = nkey_files.with_operators(access.permissions(grants))
    labels = {"h1": 'is = "h1"', "h2": 'is = "h2"'}
    admin = {"nkey_seed_file": str(seeds / "ADMIN")}
    with Fleet(
        labels,
        extra=extra,
        more=MORE,
        login_of=lambda name: _login(seeds, name, grants),
        lease_s=CALM_S,
        admin=admin,
        grants=grants,
    ) as running:
        yield running


def _login(seeds: Path, name: str, grants: Grants) -> str:
    return f'nkey_seed_file = {json.dumps(str(seeds / name.upper()))}\nadmin_key = "{grants.admin_key()}"\n'


def _logs(fleet: Fleet) -> list[str]:
    return [fleet.endpoint.log(), *(daemon.log() for daemon in fleet.daemons.values())]


def test_a_wait_goes_from_its_agent_to_a_worker_and_back(
    fleet: Fleet, seeds: Path, grants: Grants, tmp_path: Path
) -> None:
    client, url = fleet.client, fleet.nats.url
    before = [len(log) for log in _logs(fleet)]
    with Worker(tmp_path / "worker", url, {"default": "yes"}, login=_login(seeds, "worker", grants)) as worker:
        asyncio.run(_ready(worker))
        task = client.task_register("permitted", labels={"is": "h2"}).view.task
        with client.events(topic="wait.resolved") as stream:
            stream.next(timeout_s=0.1)
            wait = client.wait_create(Criteria("a lamp is lit"), task_id=task.task_id, timeout_s=120).wait
            heard(stream, "wait.resolved", wait.wait_id)
        home = tmp_path / "agent"
        home.mkdir()
        (home / "acud.toml").write_text(f'[fleet]\nurl = "{url}"\n{_login(seeds, "agent", grants)}')
        taken = json.loads(CommandLine(home).run("fleet", "wakes", "--follow", "--limit", "1", "--json"))
        assert (taken["wake"]["wait_id"], taken["wake"]["host"]) == (wait.wait_id, "h2")
        faults.event(fleet.daemons["h2"], "wake.seen", taken["wake"]["id"])
        assert client.wait_end(wait.wait_id, timeout_s=LONG_S).wait.state is WaitState.RESOLVED
        assert len(client.look(task_id=task.task_id).image) > 100
        client.fleet_drain("h1")
        client.fleet_drain("h1", "resume")
        client.task_delete(task.task_id)
        said = [one["event"] for one in worker.events()]
    logs = _logs(fleet)
    assert all("fleet.connected" in log for log in logs)
    # Another test of this fleet may have forged something before.
    lines = [line for log, known in zip(logs, before, strict=True) for line in log[known:].splitlines()]
    assert not [line for line in lines if "fleet.denied" in line or "fleet.unproven" in line]
    assert "worker.ready" in said
    assert not {"fleet.denied", "fleet.unproven"} & set(said)
    assert fleet.daemons["h1"].client.status().fleet["signatures"] == "checked"


def test_what_the_servers_operator_says_in_anothers_name_is_refused_and_told(fleet: Fleet) -> None:
    client, h1 = fleet.client, fleet.daemons["h1"].client
    task = client.task_register("forged", labels={"is": "h1"}).view.task
    request = envelopes.write("req-forged", TaskDelete(task.task_id))
    event = codec.encode(Event(10**9, 0, "task.forged", time.time(), task.task_id, {}))

    async def forge() -> bytes:
        accounts = ("host-h1", "endpoint-endpoint")
        beside_host, beside_endpoint = [
            await nats.connect(fleet.nats.url, user=account, password="operator") for account in accounts
        ]
        await beside_endpoint.publish("acud.event.h1.task.forged", event)
        await beside_endpoint.flush()
        answer = await beside_host.request("acud.req.h1", request, timeout=LONG_S)
        for one in (beside_host, beside_endpoint):
            await one.close()
        return answer.data

    assert b"carries no signature" in asyncio.run(forge())
    assert [view.task.task_id for view in client.task_list(tasks=[task.task_id]).tasks] == [task.task_id]
    until(lambda: "acud.req.h1 carries no signature" in str(h1.doctor().findings), "the warning of the host")
    until(lambda: "acud.event.h1.task.forged carries no signature" in str(client.doctor().findings), "the warning")
    assert not client.events_since(topic="task.forged").events
    client.task_delete(task.task_id)


def test_the_administrator_sees_how_the_servers_are_set_up(
    fleet: Fleet, seeds: Path, grants: Grants, tmp_path: Path
) -> None:
    lease = f"host = 'h1'\nlease_s = {CALM_S}\n"
    (tmp_path / "acud.toml").write_text(f'[fleet]\nurl = "{fleet.nats.url}"\n{lease}{_login(seeds, "h1", grants)}')
    command = CommandLine(tmp_path)
    admin = ("--nkey-seed-file", str(seeds / "ADMIN"))
    told = command.run("fleet", "init", "--check", *admin).splitlines()
    buckets = [f"KV_acud_{name}: well" for name in ("hosts", "members", "drains", "places", "keys")]
    consumers = ["wakes-main: well", "seen-h1: well", "workers-vision: well"]
    assert told == ["ACUD_EVENTS: well", "ACUD_WAKES: well", "ACUD_JOBS: well", *buckets, *consumers]
    made = command.run("fleet", "init", "--host", "h9", *admin).splitlines()
    assert "seen-h9: made" in made


async def _ready(worker: Worker) -> None:
    await worker.ready()


@pytest.mark.parametrize(
    ("user", "published", "subscribed"),
    [
        (
            "H1",
            [
                "$KV.acud_keys.grants", "acud.req.h2", "acud.event.h2.wait.resolved", "acud.seen.h1.main",
                "acud.wake.main.h2", "acud.wake.main._", "acud.job.vision.h2", "acud.answer.h1.asker.job",
                "$KV.acud_hosts.h2", "$KV.acud_drains.h1", "$KV.acud_places.h2.task.x", "$KV.acud_places._.request.x",
                "_INBOX.endpoint.x.1", "$JS.API.STREAM.CREATE.ACUD_MORE", "$JS.API.STREAM.DELETE.ACUD_EVENTS",
                "$JS.API.STREAM.PURGE.ACUD_WAKES", "acud.api.STREAM.PURGE.ACUD_WAKES",
                "acud.api.STREAM.MSG.DELETE.ACUD_JOBS", "acud.api.CONSUMER.MSG.NEXT.ACUD_WAKES.wakes-main",
                "acud.api.CONSUMER.MSG.NEXT.ACUD_JOBS.workers-vision", "$JS.API.STREAM.UPDATE.ACUD_WAKES",
                "$JS.API.STREAM.UPDATE.ACUD_EVENTS", "$JS.API.STREAM.UPDATE.KV_acud_places",
                "$JS.API.STREAM.MSG.GET.ACUD_EVENTS", "$JS.API.STREAM.MSG.GET.ACUD_WAKES",
                "$JS.API.STREAM.MSG.GET.KV_acud_places", "$JS.API.STREAM.MSG.GET.KV_acud_hosts",
                "$JS.API.DIRECT.GET.ACUD_EVENTS", "$JS.API.DIRECT.GET.ACUD_EVENTS.acud.event.h2.>",
                "$JS.API.DIRECT.GET.KV_acud_places.$KV.acud_places.h2.>", "$JS.API.STREAM.MSG.DELETE.ACUD_WAKES",
                "$JS.API.CONSUMER.CREATE.ACUD_WAKES.seen-h1.acud.seen.h1.*",
                "$JS.API.CONSUMER.DURABLE.CREATE.ACUD_WAKES.seen-h1",
            ],
            [
                "acud.req.h2", "acud.req.*", "acud.answer.h2.*.*", "acud.wake.>", "acud.event.>", "_INBOX.>",
                "_INBOX.host-h2.>",
            ],
        ),
        (
            "ENDPOINT",
            [
                "acud.event.h1.wait.resolved", "acud.wake.main.h1", "acud.job.vision.h1",
                "$JS.API.STREAM.DELETE.KV_acud_hosts", "$KV.acud_keys.grants",
            ],
            ["acud.req.h1", "acud.job.>", "acud.wake.>", "_INBOX.>"],
        ),
        (
            "WORKER",
            [
                "acud.req.h1", "acud.job.vision.h1", "acud.wake.main.h1", "acud.wake.main._", "$KV.acud_hosts.h1",
                "$KV.acud_keys.grants", "$JS.API.STREAM.MSG.GET.ACUD_JOBS",
            ],
            ["acud.req.>", "acud.event.>", "acud.job.>", "acud.answer.>", "_INBOX.>"],
        ),
        (
            "AGENT",
            [
                "acud.req.h1", "acud.wake.main.h1", "acud.wake.main._", "acud.seen.h1.other", "$KV.acud_hosts.h1",
                "$KV.acud_keys.grants", "acud.api.CONSUMER.MSG.NEXT.ACUD_WAKES.seen-h1",
                "$JS.API.CONSUMER.CREATE.ACUD_WAKES.wakes-main.acud.wake.other.*", "$JS.API.STREAM.MSG.GET.ACUD_EVENTS",
            ],
            ["acud.>", "acud.wake.main.*", "_INBOX.>", "_INBOX.host-h1.>"],
        ),
    ],
)  # fmt: skip
def test_who_tries_more_is_refused(
    fleet: Fleet, seeds: Path, user: str, published: list[str], subscribed: list[str]
) -> None:
    said = asyncio.run(_tried(fleet.nats.url, seeds / user, published, subscribed))
    for subject in published:
        assert any("publish" in words and f'"{subject.lower()}"' in words for words in said), (subject, said)
    for subject in subscribed:
        assert any("subscription" in words and f'"{subject.lower()}"' in words for words in said), (subject, said)
    assert len(said) == len(published) + len(subscribed)


async def _tried(url: str, seed: Path, published: list[str], subscribed: list[str]) -> list[str]:
    """Return what the server says to a user who publishes and subscribes, in small letters."""
    said: list[str] = []

    async def heard(fault: Exception) -> None:
        said.append(str(fault).lower())

    client = await nats.connect(url, nkeys_seed=str(seed), error_cb=heard, connect_timeout=LONG_S)
    for subject in published:
        await client.publish(subject, b"more")
    for subject in subscribed:
        await client.subscribe(subject)
    async with asyncio.timeout(LONG_S):
        while len(said) < len(published) + len(subscribed):  # noqa: ASYNC110 - the server's doing
            await asyncio.sleep(0.02)
    await client.close()
    return said
