"""The fleet's streams on a real server with the shipped permissions: a host can neither read nor undo what others put
there; the administrator sets them up, and hosts tell where they differ.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import nats.errors
import nats.js.errors
import pytest
from nats.js.api import RePublish, StreamConfig

from acud.errors import Unavailable
from acud.features.fleet import names
from acud.features.fleet.connection import NatsConnection
from acud.fleet import FleetSettings
from acud_fleet import streams
from acud_fleet.places import Places
from tests import nkey_files
from tests.nats_servers import Nats

SECRET = b"hunter2, typed on h2"


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seeds")


@pytest.fixture
def servers(seeds: Path) -> Iterator[str]:
    with Nats(extra=nkey_files.shipped_permissions(seeds)) as running:
        yield running.url


def settings(url: str, seeds: Path, user: str) -> FleetSettings:
    return FleetSettings(url=url, nkey_seed_file=str(seeds / user))


@asynccontextmanager
async def connected(
    url: str, seeds: Path, user: str, inbox: str, told: list[dict[str, tuple[str, str]]] | None = None
) -> AsyncIterator[NatsConnection]:
    warned = None if told is None else lambda warnings: told.append(dict(warnings))
    async with NatsConnection(settings(url, seeds, user), user, warned=warned, inbox=inbox) as connection:
        await connection.ready()
        yield connection


async def asked(connection: NatsConnection, subject: str, body: object = None) -> str:
    """Return what a server answers, "refused" when the user may not ask."""
    try:
        answer = await connection.nats.request(subject, b"" if body is None else json.dumps(body).encode(), timeout=1.0)
    except (TimeoutError, nats.errors.Error):
        return "refused"
    return (answer.data + str(answer.headers or "").encode()).decode()


@pytest.mark.asyncio
async def test_a_host_reads_nothing_of_another_and_changes_no_stream(servers: str, seeds: Path) -> None:
    assert {one.state for one in await streams.look(settings(servers, seeds, "ADMIN"), change=True)} == {"made"}
    async with (
        connected(servers, seeds, "H2", "host-h2") as victim,
        connected(servers, seeds, "H1", "host-h1") as thief,
    ):
        names = victim.names
        await streams.ensure(victim, streams.events(names))
        await victim.streams.publish(names.event("h2", "wait.resolved"), SECRET)
        await victim.streams.publish(names.wake("main"), SECRET)
        await Places(victim).put("h2", "task", "task-1")
        await thief.streams.publish(names.event("h1", "wait.resolved"), b"its own")
        for stream, subject in (
            ("ACUD_EVENTS", "acud.event.h2.wait.resolved"),
            ("ACUD_WAKES", "acud.wake.main"),
            ("KV_acud_places", "$KV.acud_places.h2.task.task-1"),
        ):
            by_number, by_subject = {"seq": 1}, {"last_by_subj": subject}
            told = [
                await asked(thief, f"$JS.API.STREAM.MSG.GET.{stream}", by_number),
                await asked(thief, f"$JS.API.STREAM.MSG.GET.{stream}", by_subject),
                await asked(thief, f"$JS.API.DIRECT.GET.{stream}", by_number),
                await asked(thief, f"$JS.API.DIRECT.GET.{stream}.{subject}"),
                await asked(thief, f"$JS.API.STREAM.PURGE.{stream}", {}),
                await asked(thief, f"$JS.API.STREAM.MSG.DELETE.{stream}", by_number),
            ]
            found = await thief.streams.stream_info(stream)
            stolen = found.config.evolve(max_msgs=1, republish=RePublish(src=">", dest="_INBOX.host-h1.>"))
            told.append(await asked(thief, f"$JS.API.STREAM.UPDATE.{stream}", stolen.as_dict()))
            assert set(told) == {"refused"}
            again = await asked(thief, f"$JS.API.STREAM.CREATE.{stream}", stolen.as_dict())
            assert "already in use" in again
            after = await thief.streams.stream_info(stream)
            assert after.config == found.config
            assert after.state.messages == found.state.messages
        own = "$JS.API.DIRECT.GET.ACUD_EVENTS.acud.event.h1.>"
        assert (await asked(thief, own)).startswith("its own")
        assert "Bad Request" in await asked(thief, own, {"seq": 1})  # no other by its number beside it


@pytest.mark.asyncio
async def test_hosts_tell_where_streams_differ_and_the_administrator_sets_them_right(servers: str, seeds: Path) -> None:
    admin = settings(servers, seeds, "ADMIN")
    assert {one.state for one in await streams.look(admin, change=False)} == {"missing"}
    await streams.look(admin, change=True)
    async with connected(servers, seeds, "ADMIN", "admin") as connection:
        before = streams.wakes(connection.names)
        await connection.streams.update_stream(before.evolve(max_age=60.0, duplicate_window=60.0, max_msgs=1))
    told: list[dict[str, tuple[str, str]]] = []
    async with connected(servers, seeds, "H1", "host-h1", told) as host:
        wakes = streams.wakes(host.names)
        await streams.ensure(host, wakes)
        await streams.ensure(host, wakes)
        assert len(told) == 1  # once, not at each look
        text, fix = told[0]["ACUD_WAKES"]
        assert "max_age is 60.0, not 604800.0" in text
        assert "max_msgs is 1, not none" in text
        assert "acud fleet streams --set" in fix
        assert (await host.streams.stream_info("ACUD_WAKES")).config.max_age == 60.0  # it changed nothing
        with pytest.raises(Unavailable, match=r"[Pp]ermissions [Vv]iolation"):
            await streams.look(settings(servers, seeds, "H1"), change=True)
        changed = {one.name: one.state for one in await streams.look(admin, change=True)}
        assert changed.pop("ACUD_WAKES") == "changed"
        assert set(changed.values()) == {"well"}
        await streams.ensure(host, wakes)
        assert told[-1] == {}


async def formed(settings: FleetSettings) -> None:
    """Return once the servers have found each other and a leader."""
    async with asyncio.timeout(60):
        while True:
            try:
                await streams.look(settings, change=False)
            except Unavailable:
                continue
            return


@pytest.mark.asyncio
async def test_copies_are_the_administrators_too() -> None:
    with Nats(3) as running:
        one, three = FleetSettings(url=running.url), FleetSettings(url=running.url, replicas=3)
        await formed(one)
        await streams.look(one, change=True)
        async with NatsConnection(three, "host") as host:
            await host.ready()
            await streams.ensure(host, streams.events(host.names))
            assert "it is kept on 1 servers, not 3" in host.warnings["ACUD_EVENTS"][0]
        changed = await streams.look(three, change=True)
        assert {one.state for one in changed} == {"changed"}
        assert {one.state for one in await streams.look(one, change=True)} == {"well"}  # never on fewer


def test_what_the_servers_fill_in_is_no_difference() -> None:
    wanted = StreamConfig(name="S", subjects=["a"], max_age=None)
    assert names.differences(wanted.evolve(max_msgs=-1, max_age=0.0, discard="old", num_replicas=1), wanted) == ""
    assert names.differences(wanted.evolve(max_msgs=1), wanted) == "max_msgs is 1, not none"
    stolen = wanted.evolve(republish=RePublish(src=">", dest="else.>"))
    assert "else.>" in names.differences(stolen, wanted)
