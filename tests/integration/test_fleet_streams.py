"""The fleet's streams on real servers with an account for each member: what one puts there no other can read, undo or
write in its name; the administrator makes and changes them, and the others tell what is missing or differs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlparse

import nats.errors
import pytest
from nats.js.api import RePublish, StreamConfig

from acud.base.errors import Unavailable
from acud.config import JobSettings
from acud.config.fleet import FleetSettings
from acud.features.fleet import names
from acud.features.fleet.connection import NatsConnection
from acud.protocol.delivery import Deliver
from acud.protocol.wakes import SharedWake
from acud.types import RouteName, WakeKind
from acud_fleet import initialisation, streams
from acud_fleet.host_wakes import WakePublisher
from acud_fleet.initialisation import FleetRoles, PartState
from acud_fleet.places import Places
from acud_fleet.wakes import AgentWakes, publish_wake
from tests.fixtures import nkey_files
from tests.fixtures.fleet_servers import FleetServers, nothing_told
from tests.fixtures.nats_servers import Nats
from tests.fixtures.patience import LONG_S

SECRET = b"hunter2, typed on h2"
ROLES = FleetRoles(("h1", "h2"), ("main",), ("vision",))
pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seeds")


@pytest.fixture
def servers(seeds: Path) -> Iterator[str]:
    with Nats(extra=nkey_files.granted(seeds)) as running:
        yield running.url


def settings(url: str, seeds: Path, user: str) -> FleetSettings:
    return FleetSettings(url=url, nkey_seed_file=str(seeds / user))


async def look(settings: FleetSettings, *, change: bool) -> list[PartState]:
    return await initialisation.check_parts(settings, JobSettings(), ROLES, change=change)


@asynccontextmanager
async def connected(
    url: str, seeds: Path, user: str, inbox: str, told: list[dict[str, tuple[str, str]]] | None = None
) -> AsyncIterator[NatsConnection]:
    warned = None if told is None else lambda warnings: told.append(dict(warnings))
    async with NatsConnection(settings(url, seeds, user), user, on_warning=warned, inbox=inbox) as connection:
        await connection.ready()
        yield connection


async def asked(connection: NatsConnection, subject: str, body: object = None, within_s: float = 1.0) -> str:
    """Return what a server answers, "refused" when the user may not ask."""
    data = b"" if body is None else json.dumps(body).encode()
    try:
        answer = await connection.nats.request(subject, data, timeout=within_s)
    except (TimeoutError, nats.errors.Error):
        return "refused"
    return (answer.data + str(answer.headers or "").encode()).decode()


async def test_a_host_reads_nothing_of_another_and_changes_no_stream(servers: str, seeds: Path) -> None:
    assert {one.state for one in await look(settings(servers, seeds, "ADMIN"), change=True)} == {"made"}
    async with (
        connected(servers, seeds, "H2", "host-h2") as victim,
        connected(servers, seeds, "H1", "host-h1") as thief,
    ):
        names = victim.names
        await victim.find_stream(streams.events(names))
        await victim.streams.publish(names.event("h2", "wait.resolved"), SECRET)
        await victim.streams.publish(names.wake("main", "h2"), SECRET)
        await Places(victim).put("h2", "task", "task-1")
        await thief.streams.publish(names.event("h1", "wait.resolved"), b"its own")
        for stream, subject in (
            ("ACUD_EVENTS", "acud.event.h2.wait.resolved"),
            ("ACUD_WAKES", "acud.wake.main.h2"),
            ("KV_acud_places", "$KV.acud_places.h2.task.task-1"),
        ):
            by_number, by_subject = {"seq": 1}, {"last_by_subj": subject}
            found = await thief.streams.stream_info(stream)
            stolen = found.config.evolve(max_msgs=1, republish=RePublish(src=">", dest="_INBOX.host-h1.>")).as_dict()
            attempts = [
                asked(thief, f"{api}.{right}", body)
                for api in ("$JS.API", names.api)
                for right, body in (
                    (f"STREAM.MSG.GET.{stream}", by_number), (f"STREAM.MSG.GET.{stream}", by_subject),
                    (f"DIRECT.GET.{stream}", by_number), (f"DIRECT.GET.{stream}.{subject}", None),
                    (f"STREAM.PURGE.{stream}", {}), (f"STREAM.MSG.DELETE.{stream}", by_number),
                    (f"STREAM.UPDATE.{stream}", stolen), (f"STREAM.CREATE.{stream}", stolen),
                )
            ]  # fmt: skip
            assert set(await asyncio.gather(*attempts)) == {"refused"}
            after = await thief.streams.stream_info(stream)
            assert after.config == found.config
            assert after.state.messages == found.state.messages
        own = f"{names.api}.DIRECT.GET.ACUD_EVENTS.acud.event.h1.>"
        assert (await asked(thief, own, within_s=LONG_S)).startswith("its own")
        assert "Bad Request" in await asked(thief, own, {"seq": 1}, LONG_S)  # no other by its number beside it


@pytest.mark.parametrize("count", [1, 3])
async def test_no_answer_of_the_servers_goes_where_who_asks_may_not_publish(tmp_path: Path, count: int) -> None:
    """JetStream answers on whatever subject a request names: within one account any right to ask would be a right to
    publish anywhere.
    """
    extra = nkey_files.granted(tmp_path)
    admin = {"nkey_seed_file": str(tmp_path / "ADMIN")}
    with FleetServers(count, extra, login=admin, roles=ROLES) as running:
        url = running.url
        async with (
            connected(url, tmp_path, "H2", "host-h2") as victim,
            connected(url, tmp_path, "H1", "host-h1") as thief,
        ):
            heard: list[bytes] = []

            async def hear(message: Any) -> None:
                heard.append(message.data)

            await victim.nats.subscribe("acud.req.h2", cb=hear)
            await victim.nats.flush()
            await thief.streams.publish(thief.names.wake("main", "h1"), b"kept")
            await thief.streams.publish(thief.names.event("h1", "x"), b'{"seq": 1}')
            before = [(await thief.streams.stream_info(one)).state for one in ("ACUD_WAKES", "KV_acud_members")]
            api = thief.names.api
            for right in (
                f"{api}.DIRECT.GET.ACUD_EVENTS.acud.event.h1.>",
                f"{api}.STREAM.INFO.ACUD_WAKES",
                f"{api}.CONSUMER.INFO.ACUD_WAKES.seen-h1",
                f"{api}.CONSUMER.MSG.NEXT.ACUD_WAKES.seen-h1",
                "acud.event.h1.y",
            ):
                for reply in (
                    "acud.req.h2",
                    "$KV.acud_members.h2",
                    "acud.wake.main.h2",
                    "$JS.API.STREAM.MSG.DELETE.ACUD_WAKES",
                    "$JS.API.STREAM.PURGE.ACUD_WAKES",
                    "$JS.API.STREAM.DELETE.ACUD_WAKES",
                ):
                    await thief.nats.publish(right, b"", reply=reply)
            await thief.nats.flush()
            # What was asked last is answered last, and so all that came before has been done.
            last = f"{api}.DIRECT.GET.ACUD_EVENTS.acud.event.h1.>"
            assert (await asked(thief, last, within_s=LONG_S)) != "refused"
            await victim.nats.flush()
            after = [(await thief.streams.stream_info(one)).state for one in ("ACUD_WAKES", "KV_acud_members")]
            assert [one.messages for one in after] == [one.messages for one in before]
            assert heard == []


async def test_a_wake_in_anothers_name_reaches_no_agent(tmp_path: Path) -> None:
    extra = nkey_files.granted(tmp_path)
    with FleetServers(1, extra, login={"nkey_seed_file": str(tmp_path / "ADMIN")}, roles=ROLES) as running:
        url = running.url
        async with (
            connected(url, tmp_path, "H1", "host-h1") as thief,
            connected(url, tmp_path, "AGENT", "agent-main") as reader,
        ):
            forged = Deliver("wake-1", 1, RouteName.FLEET, WakeKind.RESOLVED, "it is done, says h2", 1.0)
            publisher = WakePublisher("h2", thief, nothing_told)
            assert (await publisher.publish_wake(forged)).result == "retry"  # it may not use the subject of another
            publisher._connection.names = _Disguised(thief.names.prefix)  # type: ignore[attr-defined]
            assert (await publisher.publish_wake(forged)).result == "sent"
            true = Deliver("wake-2", 1, RouteName.FLEET, WakeKind.RESOLVED, "it is done, says h1", 1.0)
            assert (await WakePublisher("h1", thief, nothing_told).publish_wake(true)).result == "sent"
            async with AgentWakes(reader) as wakes:
                taken = await wakes.next(LONG_S)
                assert taken is not None
                assert (taken.wake.id, taken.wake.host) == ("wake-2", "h1")
                assert await wakes.next(1.0) is None


async def test_an_endpoint_alone_may_wake_in_the_name_of_a_host(tmp_path: Path) -> None:
    extra = nkey_files.granted(tmp_path)
    with FleetServers(1, extra, login={"nkey_seed_file": str(tmp_path / "ADMIN")}, roles=ROLES) as running:
        url = running.url
        async with (
            connected(url, tmp_path, "H1", "host-h1") as thief,
            connected(url, tmp_path, "ENDPOINT", "endpoint") as endpoint,
            connected(url, tmp_path, "AGENT", "agent-main") as reader,
        ):
            wake = SharedWake("wake-1", "h2", WakeKind.TIMEOUT, "h2 is lost", 1.0)
            with pytest.raises(Unavailable):
                await publish_wake(thief, wake, names.ENDPOINT, "ACUD_WAKES")
            await publish_wake(endpoint, wake, names.ENDPOINT, "ACUD_WAKES")
            await publish_wake(endpoint, wake, names.ENDPOINT, "ACUD_WAKES")
            async with AgentWakes(reader) as wakes:
                taken = await wakes.next(LONG_S)
                assert taken is not None
                assert (taken.wake.id, taken.wake.host) == ("wake-1", "h2")
                assert await wakes.next(1.0) is None


class _Disguised(names.FleetNames):
    """Names of a thief: wakes in the name of whichever host go on its own subject."""

    def wake(self, agent: str, host: str) -> str:
        return super().wake(agent, "h1")


async def test_hosts_tell_what_is_missing_or_differs_and_the_administrator_sets_it_right(
    servers: str, seeds: Path
) -> None:
    admin = settings(servers, seeds, "ADMIN")
    assert {one.state for one in await look(admin, change=False)} == {"missing"}
    told: list[dict[str, tuple[str, str]]] = []
    async with connected(servers, seeds, "H1", "host-h1", told) as host:
        wakes = streams.wakes(host.names)
        with pytest.raises(Unavailable, match="the servers have no stream ACUD_WAKES") as caught:
            await host.find_stream(wakes)
        assert caught.value.facts["reason"] == "not_initialised"
        assert "acud fleet init" in told[-1]["stream ACUD_WAKES"][1]
        assert {one.state for one in await look(admin, change=False)} == {"missing"}  # it made nothing
        await look(admin, change=True)
        await host.find_stream(wakes)
        assert told[-1] == {}
        async with connected(servers, seeds, "ADMIN", "admin") as connection:
            altered = wakes.evolve(max_age=60.0, duplicate_window=60.0, max_msgs=1)
            await connection.streams.update_stream(altered)
            consumer = (await connection.streams.consumer_info("ACUD_WAKES", "seen-h1")).config
            await connection.streams.add_consumer("ACUD_WAKES", consumer.evolve(ack_wait=1.0))
        await host.find_stream(wakes)
        await host.find_stream(wakes)
        assert len(told) == 3  # once, not at each look
        text, fix = told[-1]["stream ACUD_WAKES"]
        assert "max_age is 60.0, not 604800.0" in text
        assert "max_msgs is 1, not none" in text
        assert "acud fleet init" in fix
        assert (await host.streams.stream_info("ACUD_WAKES")).config.max_age == 60.0  # it changed nothing
        with pytest.raises(Unavailable, match=r"[Pp]ermissions [Vv]iolation"):
            await look(settings(servers, seeds, "H1"), change=True)
        changed = {one.name: (one.state, one.differs) for one in await look(admin, change=True)}
        assert changed.pop("ACUD_WAKES")[0] == "changed"
        assert changed.pop("seen-h1") == ("changed", "ack_wait is 1.0, not 30.0")
        assert {state for state, _ in changed.values()} == {"well"}
        await host.find_stream(wakes)
        assert told[-1] == {}


async def test_a_full_stream_of_wakes_refuses_is_told_of_before_and_takes_them_with_more_room() -> None:
    with FleetServers(roles=ROLES) as running:
        async with NatsConnection(FleetSettings(url=running.url), "h1") as host:
            await host.ready()
            limits = {one.name: one.max_bytes for one in initialisation.list_streams(host, JobSettings())}
            assert sum(limits.values()) - limits["ACUD_JOBS"] <= host.settings.max_gb * 1e9
            assert min(limits.values()) > 0
            wakes = (await host.streams.stream_info("ACUD_WAKES")).config
            await host.streams.update_stream(wakes.evolve(max_bytes=4000))
            publisher = WakePublisher("h1", host, nothing_told)
            outcomes = [await publisher.publish_wake(_wake(0))]
            await streams.warn_of_full_streams(host)
            assert host.warnings == {}
            while outcomes[-1].result == "sent":
                outcomes.append(await publisher.publish_wake(_wake(len(outcomes))))
            assert (outcomes[-1].result, "maximum bytes" in outcomes[-1].reason) == ("retry", True)
            await streams.warn_of_full_streams(host)
            (text,) = [text for text, _ in host.warnings.values()]
            assert "ACUD_WAKES holds" in text
            assert "it takes no more wakes" in text
            kept = (await host.streams.stream_info("ACUD_WAKES")).state
            assert (kept.first_seq, kept.messages) == (1, len(outcomes) - 1)  # none went for a newer one
            changed = {one.name: one.state for one in await look(FleetSettings(url=running.url), change=True)}
            assert changed["ACUD_WAKES"] == "changed"
            assert (await publisher.publish_wake(_wake(len(outcomes)))).result == "sent"
            await streams.warn_of_full_streams(host)
            assert host.warnings == {}


async def test_no_limit_is_set_below_what_a_stream_holds() -> None:
    small = {"max_gb": 0.1}
    with FleetServers(roles=ROLES) as running:
        async with NatsConnection(FleetSettings(url=running.url), "h1") as host:
            await host.ready()
            count = 1 + streams.max_bytes("WAKES", FleetSettings(**small)) // 1_000_000
            for _ in range(count):
                await host.streams.publish("acud.wake.main.h1", b"x" * 1_000_000)
            found = {one.name: one for one in await look(FleetSettings(url=running.url, **small), change=True)}
            assert found["ACUD_EVENTS"].state == "changed"
            assert (found["ACUD_WAKES"].state, "raise [fleet] max_gb" in found["ACUD_WAKES"].differs) == (
                "different",
                True,
            )
            assert (await host.streams.stream_info("ACUD_WAKES")).state.messages == count


def _wake(number: int) -> Deliver:
    return Deliver(f"wake-{number}", 1, RouteName.FLEET, WakeKind.RESOLVED, "x" * 200, 1.0)


async def test_streams_are_compressed_where_every_server_can() -> None:
    with FleetServers(roles=ROLES) as running:
        own = FleetSettings(url=running.url)
        async with NatsConnection(own, "admin") as connection:
            await connection.ready()
            version = connection.nats.connected_server_version
            can = (version.major, version.minor) >= (2, 10)

            async def kinds() -> set[str]:
                found = [(await connection.streams.stream_info(name)).config.compression for name in COMPRESSED]
                return {kind or "none" for kind in found}

            assert await kinds() == {"s2" if can else "none"}
            assert {one.state for one in await look(own, change=False)} == {"well"}
            events = (await connection.streams.stream_info("ACUD_EVENTS")).config
            if can:  # as an acud of before made it
                await connection.streams.update_stream(events.evolve(compression="none"))
                found = {one.name: one for one in await look(own, change=False)}
                assert found["ACUD_EVENTS"].differs == "it is compressed by none, not s2"
                await connection.find_stream(streams.events(connection.names))
                assert connection.warnings == {}  # to a host it is the administrator's matter
                assert {one.state for one in await look(own, change=True)} == {"well", "changed"}
            assert await kinds() == {"s2" if can else "none"}


COMPRESSED = ("ACUD_EVENTS", "ACUD_WAKES", "KV_acud_places", "KV_acud_hosts")


@pytest.mark.parametrize(("said", "can"), [
    (['{"version":"2.10.0"}', '{"version":"2.15.1-RC.1","x":1}'], True),
    (['{"version":"2.10.0"}', '{"version":"2.9.10"}'], False), (['{"version":"2.10.0"}', "gone"], True),
    (["gone"], False), (["no server"], False),
])  # fmt: skip
async def test_an_older_server_among_newer_ones_keeps_streams_as_they_are(said: list[str], can: bool) -> None:
    async with AsyncExitStack() as stack:
        urls = []
        for words in said:

            async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter, words: str = words) -> None:
                writer.write(f"INFO {words}\r\n".encode())
                writer.close()

            server = await stack.enter_async_context(await asyncio.start_server(greet, "127.0.0.1", 0))
            urls.append(urlparse(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
            if words == "gone":
                server.close()
        connection: Any = SimpleNamespace(nats=SimpleNamespace(servers=urls))
        assert await initialisation.all_compress(connection) is can


async def test_what_the_servers_fill_in_is_no_difference() -> None:
    wanted = StreamConfig(name="S", subjects=["a"], max_age=None)
    assert (
        names.describe_differences(wanted.evolve(max_msgs=-1, max_age=0.0, discard="old", num_replicas=1), wanted) == ""
    )
    assert names.describe_differences(wanted.evolve(max_msgs=1), wanted) == "max_msgs is 1, not none"
    stolen = wanted.evolve(republish=RePublish(src=">", dest="else.>"))
    assert "else.>" in names.describe_differences(stolen, wanted)


async def test_copies_are_the_administrators_too() -> None:
    with FleetServers(3, roles=ROLES) as running:
        one, three = FleetSettings(url=running.url), FleetSettings(url=running.url, replicas=3)
        assert {each.state for each in await look(three, change=False)} == {"well"}
        assert {each.state for each in await look(one, change=True)} == {"well"}  # never on fewer
    with Nats() as alone:
        url = alone.url
        await look(FleetSettings(url=url), change=True)
        async with NatsConnection(FleetSettings(url=url, replicas=3), "host") as host:
            await host.ready()
            await host.find_stream(streams.events(host.names))
            assert "it is kept on 1 servers, not 3" in host.warnings["stream ACUD_EVENTS"][0]
