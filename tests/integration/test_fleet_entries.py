"""Entries of a fleet's buckets that who runs its servers forges, alters, puts back or removes: with every right there,
and nobody's seed. None is acted on, and none makes a host look lost that answers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from nats.aio.client import Client as NatsClient
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from acud.base import ids
from acud.base.errors import Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import SIGNATURE, Signed
from acud.protocol import VERSION, codec
from acud.protocol.fleet import HostState
from acud.protocol.requests.fleet import DisplayRecipe
from acud.types import DisplayInfo, DisplayState, WaitInfo, WaitState
from acud.types.actions import Launch
from acud_fleet import host_client
from acud_fleet.display_copies import DisplayCopies
from acud_fleet.host_client import HostClient
from acud_fleet.lost_waits import LostWaits
from acud_fleet.places import Places, read_info
from acud_fleet.registry import Life, Member, Registry, Roster
from acud_fleet.state_mirror import StateMirror
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.patience import LONG_S
from tests.integration.client_replies import wait_info
from tests.integration.signed_fleet import LEASE_S, Daemon, Members, running, serving, signed_servers

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


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has a host that answers be heard, however late its answer comes."""
    monkeypatch.setattr(host_client, "_LIVES_S", LONG_S)


def state(host: str = "h1", **changes: Any) -> HostState:
    own = HostState(host, "1-1", {"gpu": "yes"}, 1, 9, 0.5, "1", VERSION, time.time(), place="here")
    return replace(own, **changes)


class Operator:
    """Who runs the servers, on their streams."""

    def __init__(self, client: NatsClient) -> None:
        self._streams = client.jetstream()

    async def put(self, bucket: str, key: str, value: bytes, headers: dict[str, str] | None = None) -> None:
        await self._streams.publish(f"$KV.acud_{bucket}.{key}", value, headers=headers)

    async def entry(self, bucket: str, key: str) -> RawStreamMsg:
        return await self._streams.get_last_msg(f"KV_acud_{bucket}", f"$KV.acud_{bucket}.{key}")

    async def put_back(self, bucket: str, key: str, old: RawStreamMsg) -> None:
        """Write an entry of before as it was, signature and all."""
        await self.put(bucket, key, old.data or b"", {SIGNATURE: (old.headers or {})[SIGNATURE]})

    async def remove(self, bucket: str, key: str) -> None:
        await self._streams.purge_stream(f"KV_acud_{bucket}", subject=f"$KV.acud_{bucket}.{key}")


@asynccontextmanager
async def operating(members: Members) -> AsyncIterator[Operator]:
    async with members.operator("fleet") as client:
        yield Operator(client)


@asynccontextmanager
async def watching(endpoint: NatsConnection) -> AsyncIterator[Roster]:
    """A roster that asks hosts as the endpoint's does; reading it is the test's matter."""
    roster = Roster(endpoint, lambda word, member: None, lambda host: client.answers(host))
    client = HostClient(endpoint, roster)
    await client.open()
    await endpoint.nats.flush()
    yield roster


@asynccontextmanager
async def living(members: Members) -> AsyncIterator[None]:
    """Have h1 answer, until it is gone at once."""
    async with members("H1", "host-h1") as host, serving(host, Daemon()):
        yield


async def seen(roster: Roster, host: str = "h1") -> Member:
    await roster.read_members()
    return roster.all()[host]


async def leased(own: Registry, operator: Operator, said: HostState) -> RawStreamMsg:
    """Have a host renew its lease, and return that."""
    while True:
        await own.renew(said)
        with suppress(NotFoundError):  # it ran out before it was read
            return await operator.entry("hosts", said.host)


async def met(own: Registry, roster: Roster) -> Member:
    """Have h1 say how it is until that is read while its lease lasts."""
    while True:
        await own.renew(state())
        found = await seen(roster)
        if found.life is Life.UP and found.revision:
            return found


async def after_a_lease(roster: Roster, host: str = "h1") -> Member:
    """Read on for longer than a lease lasts, and return the host as it is seen then."""
    end_s = time.monotonic() + LEASE_S * 1.5
    while time.monotonic() < end_s:
        await roster.read_members()
        await asyncio.sleep(0.1)
    return await seen(roster, host)


def forged(host: NatsConnection, other: NatsConnection, bucket: str, true: HostState) -> list[tuple[bytes, Any]]:
    """Return what an operator may write of a host: signed by nobody, by another host, and altered after its host."""
    lie, words = codec.encode(replace(true, displays=9, labels={"gpu": "no"})), codec.encode(true)
    subject = f"$KV.acud_{bucket}.{true.host}"
    return [
        (lie, None),
        (lie, other.signatures.header(Signed.ENTRY, subject, lie)),
        (lie, host.signatures.header(Signed.ENTRY, subject, words)),
        (words, host.signatures.header(Signed.ENTRY, f"$KV.acud_{bucket}.h9", words)),
        (words, host.signatures.header(Signed.EVENT, subject, words)),
        (b"\x93", None),
    ]


@pytest.mark.usefixtures("patient")
async def test_a_host_is_what_it_says_and_not_what_the_servers_say_of_it(members: Members) -> None:
    daemon = Daemon()
    async with (
        members("H1", "host-h1") as host,
        members("H2", "host-h2") as other,
        members("ENDPOINT", "endpoint") as endpoint,
        members("ENDPOINT", "endpoint") as second,
        operating(members) as operator,
        watching(endpoint) as roster,
        serving(host, daemon),
    ):
        own = Registry(host)
        await own.renew(state())
        assert (await seen(roster)).state.labels == {"gpu": "yes"}
        for bucket in ("hosts", "members"):
            for value, headers in forged(host, other, bucket, state()):
                await own.renew(state())
                await operator.put(bucket, "h1", value, headers)
                found = await seen(roster)
                assert (found.life, found.free, found.state.labels) == (Life.UP, 8, {"gpu": "yes"})
                assert await own.holder("h1") is None or bucket == "members"
        assert "the entry on $KV.acud_hosts.h1" in endpoint.warnings["signatures"][0]
        # Both at once, and for longer than a lease: it answers, and is what it said last.
        for bucket in ("hosts", "members"):
            await operator.put(bucket, "h1", codec.encode(state(labels={"gpu": "no"})))
        found = await after_a_lease(roster)
        assert (found.life, found.state.labels) == (Life.UP, {"gpu": "yes"})
        async with watching(
            second
        ) as fresh:  # an endpoint that was just started: it answers, and nothing else is known
            found = await seen(fresh)
            assert (found.life, found.free, found.state.labels) == (Life.UP, 0, {})
        await own.renew(state())
        assert (await seen(roster)).life is Life.UP


async def test_a_host_that_does_not_answer_is_not_lost_by_what_nobody_signed(members: Members) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        operating(members) as operator,
        watching(endpoint) as roster,
    ):
        await met(Registry(host), roster)
        await operator.put("hosts", "h1", codec.encode(state()))
        await operator.put("members", "h1", codec.encode(state()))
        found = await after_a_lease(roster)
        assert found.life is Life.UNPROVEN
        assert "signed by nobody" in found.describe_absence()
        with pytest.raises(Unavailable) as caught:
            roster.find_checked("h1")
        assert caught.value.facts["reason"] == "unproven"


async def test_a_lease_that_is_removed_loses_no_host_that_answers(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        members("ENDPOINT", "endpoint") as second,
        operating(members) as operator,
        watching(endpoint) as roster,
    ):
        own = Registry(host)
        with monkeypatch.context() as patient:
            patient.setattr(host_client, "_LIVES_S", LONG_S)
            async with living(members):
                await own.give_up_lease(state(left=True))
                left = await operator.entry("members", "h1")
                await own.renew(state())
                assert (await seen(roster)).life is Life.UP
                await operator.remove("hosts", "h1")
                assert (await after_a_lease(roster)).life is Life.UP
                # Nor is it one that was stopped, by its words of an earlier day.
                await operator.put_back("members", "h1", left)
                assert (await after_a_lease(roster)).life is Life.UP
                async with watching(second) as fresh:
                    assert (await seen(fresh)).life is Life.UP
        assert (await after_a_lease(roster)).life is Life.LOST
        await own.give_up_lease(state(left=True))
        assert (await seen(roster)).life is Life.LEFT


async def test_a_lease_that_is_put_back_keeps_no_host_alive(members: Members) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        members("ENDPOINT", "endpoint") as second,
        operating(members) as operator,
        watching(endpoint) as roster,
    ):
        own = Registry(host)
        old = await leased(own, operator, state(utc_s=time.time() - 100, place="elsewhere", instance="2-2"))
        new = await leased(own, operator, state())
        while (await seen(roster)).life is not Life.UP:
            new = await leased(own, operator, state())
        async with running(_again(operator, new)):
            assert (await after_a_lease(roster)).life is Life.LOST
        await operator.put_back("hosts", "h1", old)
        async with watching(second) as fresh:
            assert (await seen(fresh)).life is Life.LOST
        assert await own.holder("h1") is None  # it keeps the host itself out no more than others


async def _again(operator: Operator, lease: RawStreamMsg) -> None:
    while True:
        await operator.put_back("hosts", "h1", lease)
        await asyncio.sleep(LEASE_S / 4)


@pytest.mark.usefixtures("patient")
async def test_only_an_endpoint_has_a_host_take_nothing_new(members: Members) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        operating(members) as operator,
        watching(endpoint) as roster,
        serving(host, Daemon()),
    ):
        own = Registry(host)
        await own.renew(state())
        by_host = host.signatures.header(Signed.ENTRY, "$KV.acud_drains.h1", b"1")
        for headers in (None, by_host):
            await operator.put("drains", "h1", b"1", headers)
            assert not await own.is_draining("h1")
            assert not (await seen(roster)).draining
        assert "signed by host h1, not by an endpoint" in host.warnings["signatures"][0]
        await roster.registry.drain("h1", on=True)
        assert await own.is_draining("h1")
        assert (await seen(roster)).draining
        await roster.registry.drain("h1", on=False)
        assert not (await seen(roster)).draining

        # A place is claimed in a host's lease by an endpoint, and by no other host.
        async def counted() -> bool:
            is_claimed = await roster.registry.claim(await met(own, roster))
            return is_claimed and (await seen(roster)).state.displays == 2

        await becomes(counted)


def wait(**changes: Any) -> WaitInfo:
    made = wait_info()
    routes = replace(made.spec, wake=replace(made.spec.wake, routes=()))
    return replace(made, wait_id=ids.new_id("wait"), deadline_utc_s=time.time() - 1, spec=routes, **changes)


async def test_a_wait_is_ended_by_what_its_host_or_an_endpoint_told_alone(members: Members) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("H2", "host-h2") as other,
        members("ENDPOINT", "endpoint") as endpoint,
        operating(members) as operator,
        watching(endpoint) as roster,
    ):
        true, altered, stolen, gone = (wait() for _ in range(4))
        own, places = Places(host), Places(endpoint)
        for one in (true, altered, stolen, gone):
            await own.put("h1", "wait", one.wait_id, one)
        entry = await operator.entry("places", f"h1.wait.{altered.wait_id}")
        value, signature = entry.data or b"", {SIGNATURE: (entry.headers or {})[SIGNATURE]}
        subject = f"$KV.acud_places.h1.wait.{stolen.wait_id}"
        await operator.put("places", f"h1.wait.{altered.wait_id}", value.replace(b"done", b"dont"), signature)
        await operator.put(
            "places", f"h1.wait.{stolen.wait_id}", value, other.signatures.header(Signed.ENTRY, subject, value)
        )
        await operator.remove("places", f"h1.wait.{gone.wait_id}")
        for one in (altered, stolen):
            with pytest.raises(Unavailable) as caught:
                await places.one("h1", "wait", one.wait_id)
            assert caught.value.facts["reason"] == "unproven"
            assert await places.host_of("wait", one.wait_id) == ""  # hosts are asked then
        assert await places.host_of("wait", true.wait_id) == "h1"
        ours = {one.wait_id for one in (true, altered, stolen, gone)}  # other tests have some of h1 too
        assert {one.name for one in await places.of("h1", "wait")} & ours == {true.wait_id}
        await Registry(host).renew(state())
        assert (await after_a_lease(roster)).life is Life.LOST
        told: list[str] = []
        lost_waits = LostWaits(
            endpoint, roster, places, HostClient(endpoint, roster), lambda info, _: told.append(info.wait_id)
        )
        async with running(roster.read_until_cancelled(), lost_waits.run()):
            async with asyncio.timeout(LONG_S):
                await lost_waits.until_ended(true.wait_id)
            await asyncio.sleep(1.5)  # the others are looked at each second
        # A place that was removed can't be told from one that never was: it is neither ended nor found.
        assert set(told) & ours == {true.wait_id}
        assert await places.one("h1", "wait", gone.wait_id) is None
        await lost_waits.end_all(roster.all()["h1"])  # `acud fleet forget` of it passes over what nobody signed
        with pytest.raises(Unavailable):
            await places.one("h1", "wait", altered.wait_id)
        # The host tells all of it anew.
        for one in (altered, stolen, gone):
            await own.put("h1", "wait", one.wait_id, one)
            place = await places.one("h1", "wait", one.wait_id)
            assert place is not None
            assert read_info(place, WaitInfo) == one


async def test_a_display_is_made_again_by_what_its_host_told_alone(members: Members) -> None:
    """What makes it again is commands, which are started on another host."""
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        operating(members) as operator,
        watching(endpoint) as roster,
    ):
        own, places = Places(host), Places(endpoint)
        recipe = DisplayRecipe(64, 64, "", {}, (Launch(("true",)),))
        await own.put("h1", "display", ":7", DisplayInfo(":7", 7, True, DisplayState.UP), recipe)
        told = await places.one("h1", "display", ":7")
        assert told is not None
        assert told.recipe == recipe
        key = "h1.display.=3a37"
        entry = await operator.entry("places", key)
        lie = codec.encode(replace(told, recipe=replace(recipe, programs=(Launch(("false",)),))))
        for headers in (None, {SIGNATURE: (entry.headers or {})[SIGNATURE]}):
            await operator.put("places", key, lie, headers)
            copies = DisplayCopies(HostClient(endpoint, roster), roster, places)
            with pytest.raises(Unavailable) as caught:
                await copies.make(Member(state(), Life.LOST), ":7")
            assert caught.value.facts["reason"] == "unproven"


async def test_a_host_ends_no_wait_by_words_that_no_endpoint_signed(members: Members) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        operating(members) as operator,
    ):
        own, places = Places(host), Places(endpoint)
        true, lie = wait(), wait()
        for one in (true, lie):
            await own.put("h1", "wait", one.wait_id, one)
            await places.mark_lost("h1", one.wait_id)
        await places.change_wait("h1", true.wait_id, lambda stands: stands and replace(stands, by_fleet=True))
        stands = await own.one("h1", "wait", lie.wait_id)
        assert stands is not None
        await operator.put("places", f"h1.wait.{lie.wait_id}", codec.encode(replace(stands, by_fleet=True)))
        both = {true.wait_id, lie.wait_id}
        assert {one.name for one in await own.confirmed_ends("h1")} & both == {true.wait_id}
        assert {one.name for one in await places.read_lost_ends("h1")} & both == {true.wait_id}
        assert "carries no signature" in host.warnings["signatures"][0]


async def test_a_request_goes_where_an_endpoint_sent_it(members: Members) -> None:
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        operating(members) as operator,
    ):
        places = Places(endpoint)
        key, name = "_.request.req-1", "req-1"
        for headers in (None, host.signatures.header(Signed.ENTRY, f"$KV.acud_places.{key}", b"h1")):
            await operator.put("places", key, b"h1", headers)
            with pytest.raises(Unavailable) as caught:
                await places.find_assigned(name)
            assert caught.value.facts["reason"] == "unproven"
        at = await places.find_assigned("req-2")
        assert (await places.assign("req-2", "h2", at)).host == "h2"
        assert (await places.find_assigned("req-2")).host == "h2"


async def test_what_is_put_back_under_its_own_key_counts_until_it_is_told_anew(members: Members) -> None:
    """What docs/fleet-access.md lists that signatures do not stop; under another key it is nobody's."""
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        operating(members) as operator,
    ):
        own, places, registry = Places(host), Places(endpoint), Registry(endpoint)
        live, other = wait(), wait()
        ended, key = replace(live, state=WaitState.RESOLVED), f"h1.wait.{live.wait_id}"
        await own.put("h1", "wait", live.wait_id, live)
        old = await operator.entry("places", key)
        for _ in range(2):
            await own.put("h1", "wait", live.wait_id, ended)
            place = await places.one("h1", "wait", live.wait_id)
            assert place is not None
            assert read_info(place, WaitInfo) == ended
            await operator.put_back("places", key, old)
            place = await places.one("h1", "wait", live.wait_id)
            assert place is not None
            assert read_info(place, WaitInfo) == live
        await operator.put_back("places", f"h1.wait.{other.wait_id}", old)
        with pytest.raises(Unavailable, match="is false"):
            await places.one("h1", "wait", other.wait_id)
        at = await places.assign("req-3", "h1", await places.find_assigned("req-3"))
        old = await operator.entry("places", "_.request.req-3")
        assert (await places.assign("req-3", "h2", at)).host == "h2"
        await operator.put_back("places", "_.request.req-3", old)
        assert (await places.find_assigned("req-3")).host == "h1"
        await Registry(host).renew(state())
        await registry.drain("h1", on=True)
        old = await operator.entry("drains", "h1")
        for _ in range(2):
            await registry.drain("h1", on=False)
            assert not await registry.is_draining("h1")
            await operator.put_back("drains", "h1", old)
            assert await registry.is_draining("h1")
        await registry.drain("h1", on=False)


class Told:
    """Stands for a host's daemon, which has one wait and one display and says nothing new of them."""

    def __init__(self, wait: WaitInfo) -> None:
        self._wait = wait

    @asynccontextmanager
    async def events(self) -> AsyncIterator[Any]:
        async def silent() -> AsyncIterator[Any]:
            await asyncio.Event().wait()
            yield

        yield silent()

    async def wait_list(self, **_: Any) -> Any:
        return SimpleNamespace(waits=[self._wait])

    async def task_list(self, **_: Any) -> Any:
        return SimpleNamespace(tasks=[])

    async def display_list(self) -> Any:
        return SimpleNamespace(displays=[DisplayInfo(":1", 1, True, DisplayState.UP)])

    async def wait_result(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(wait=self._wait)

    async def fleet_recipe(self, _: str) -> Any:
        return SimpleNamespace(recipe=None)


async def becomes(check: Callable[[], Any]) -> None:
    async with asyncio.timeout(LONG_S):
        while not await check():  # noqa: ASYNC110 - another's doing
            await asyncio.sleep(0.05)


@pytest.mark.usefixtures("patient")
async def test_a_fleet_that_begins_with_signatures_goes_on(members: Members) -> None:
    mine = wait()
    client: Any = Told(mine)
    async with (
        members("H1", "host-h1", admin_key="") as host,
        members("ENDPOINT", "endpoint", admin_key="") as endpoint,
    ):
        for one in (host, endpoint):
            one.signatures.use(None)  # as an acud of before, which signs no entries
        await Registry(host).renew(state())
        await Places(host).put("h1", "wait", mine.wait_id, mine)
        await Places(host).put("h1", "display", ":1", DisplayInfo(":1", 1, True, DisplayState.UP))
        await Registry(endpoint).drain("h1", on=True)
        assert (await Registry(endpoint).members())["h1"].draining
    async with (
        members("H1", "host-h1") as host,
        members("ENDPOINT", "endpoint") as endpoint,
        watching(endpoint) as roster,
        serving(host, Daemon()),
    ):
        found = await seen(roster)
        assert (found.life, found.free, found.draining) == (Life.UP, 0, False)
        places = Places(endpoint)
        with pytest.raises(Unavailable, match="carries no signature"):
            await places.one("h1", "wait", mine.wait_id)
        assert mine.wait_id not in [place.name for place in await places.of("h1", "wait")]
        await Registry(host).renew(state())
        async with running(StateMirror("h1", host, client).run()):

            async def told() -> bool:
                waits = [place.name for place in await places.of("h1", "wait")]
                return mine.wait_id in waits and bool(await places.of("h1", "display"))

            await becomes(told)
        await roster.registry.drain("h1", on=True)
        found = await seen(roster)
        assert (found.life, found.draining, found.state.labels) == (Life.UP, True, {"gpu": "yes"})
        await roster.registry.drain("h1", on=False)
