"""Waits whose host is lost, on a real server: ended once however many endpoints keep their deadlines, woken once under
one id also when an endpoint dies over it, and told by nobody in another way after.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest
from msgspec.structs import replace

from acud.base import ids
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol import VERSION, codec
from acud.protocol.delivery import Deliver
from acud.protocol.fleet import HostState, ObjectPlace
from acud.protocol.fleet_ends import end_rearmed
from acud.types import RouteName, WaitInfo, WaitState, WakeAddress, WakeKind, unknown
from acud_fleet import lost_waits
from acud_fleet.envelopes import outward
from acud_fleet.host_client import HostClient
from acud_fleet.host_wakes import WakePublisher
from acud_fleet.initialisation import FleetRoles
from acud_fleet.lost_waits import LostWaits
from acud_fleet.places import Places, read_info
from acud_fleet.registry import Life, Registry, Roster
from acud_fleet.wakes import AgentWakes
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.patience import LONG_S
from tests.integration.client_replies import wait_info

LEASE_S = 2.0
HOSTS = ("h1", "h2", "h3", "h4", "h5", "h6")
"""One for each test, whose agent has its name."""
pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with FleetServers(lease_s=LEASE_S, roles=FleetRoles((), HOSTS)) as nats:
        yield nats.url


async def _is_silent(_: str) -> bool:
    return False


class Side:
    """One process of the fleet: a connection, what it reads of the places, and what it was told of ends."""

    def __init__(self, connection: NatsConnection) -> None:
        self.connection = connection
        self.places = Places(connection)
        self.roster = Roster(connection, lambda word, member: None, _is_silent)
        self.told: list[str] = []
        self.host_client = HostClient(connection, self.roster)
        self.lost_waits = LostWaits(
            connection,
            self.roster,
            self.places,
            self.host_client,
            lambda info, host: self.told.append(f"{host} {info.wait_id}"),
        )

    async def ended(self, wait: WaitInfo) -> WaitInfo:
        async with asyncio.timeout(LONG_S):
            return (await self.lost_waits.until_ended(wait.wait_id)).wait


@asynccontextmanager
async def side(url: str, name: str) -> AsyncIterator[Side]:
    async with NatsConnection(FleetSettings(url=url, lease_s=LEASE_S), name) as connection:
        await connection.ready()
        yield Side(connection)


@asynccontextmanager
async def endpoint(url: str) -> AsyncIterator[Side]:
    """An endpoint that keeps deadlines until it is killed, as cancelling it does: it stops where it is."""
    async with side(url, "endpoint") as one:
        tasks = [asyncio.create_task(work) for work in (one.roster.read_until_cancelled(), one.lost_waits.run())]
        try:
            yield one
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def armed(one: Side, host: str, ends_in_s: float = 0.0, wake: WakeAddress = WakeAddress()) -> WaitInfo:  # noqa: B008
    """Tell the fleet of a wait of `host`, and of the host for the last time."""
    wait = await placed(one, host, ends_in_s, wake)
    await Registry(one.connection).renew(HostState(host, "x", {}, 0, 9, 0.0, "1", VERSION, time.time()))
    return wait


async def placed(one: Side, host: str, ends_in_s: float = 0.0, wake: WakeAddress = WakeAddress()) -> WaitInfo:  # noqa: B008
    made = wait_info()
    wait = replace(
        made,
        wait_id=ids.new_id("wait"),
        deadline_utc_s=time.time() + ends_in_s,
        spec=replace(made.spec, wake=replace(wake, agent_id=host)),
    )
    await one.places.put(host, "wait", wait.wait_id, wait)
    return wait


async def standing(one: Side, host: str, wait: WaitInfo) -> ObjectPlace:
    place = await one.places.one(host, "wait", wait.wait_id)
    assert place is not None
    return place


async def sent(one: Side, host: str, wait: WaitInfo) -> ObjectPlace:
    """Return what is told of a wait once its wake is in the stream."""
    async with asyncio.timeout(LONG_S):
        while not (place := await standing(one, host, wait)).sent:  # noqa: ASYNC110 - another process's doing
            await asyncio.sleep(0.02)
    return place


async def woken(one: Side, agent: str) -> list[tuple[str, str]]:
    """Take all wakes that the stream has for the agent, one at least: ids and texts."""
    found = []
    async with AgentWakes(one.connection, agent) as wakes:
        while (taken := await wakes.next(1.0 if found else LONG_S)) is not None:
            found.append((taken.wake.id, taken.wake.text))
            await taken.ack()
    return found


async def test_two_endpoints_end_a_wait_of_a_lost_host_once_and_both_tell_it(url: str) -> None:
    async with endpoint(url) as first, endpoint(url) as second:
        wait = await armed(first, "h1")
        later = await armed(first, "h1", ends_in_s=600.0)
        told = await first.ended(wait)
        assert await second.ended(wait) == told
        assert (told.state, told.verdict.code, told.display) == (WaitState.TIMEOUT, "host_lost", "h1/:100")
        assert told.message.startswith(f"[smart_wait timeout] Job {wait.wait_id}: not seen in 300 s: ")
        assert " — host h1 is lost: it last said something" in told.message
        await sent(first, "h1", wait)
        assert [[words for words in one.told if words.startswith("h1 ")] for one in (first, second)] == [
            [f"h1 {wait.wait_id}"]
        ] * 2
        ((wake_id, text),) = await woken(first, "h1")
        assert wake_id == wait.wait_id.replace("wait-", "wake-")
        assert text == f"{told.message.replace('h1/:100', ':100')} Next: wait_result wait_id={wait.wait_id}"
        assert not (await standing(first, "h1", later)).by_fleet


async def test_what_an_endpoint_that_died_between_end_and_wake_left_is_sent_by_the_next(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()

    async def hang(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as before:
        before.setattr(lost_waits, "publish_wake", hang)
        async with endpoint(url) as first:
            wait = await armed(first, "h2")
            async with asyncio.timeout(LONG_S):
                await reached.wait()
    async with endpoint(url) as second:
        place = await standing(second, "h2", wait)
        assert (place.by_fleet, place.sent) == (True, False)
        told = await second.ended(wait)
        await sent(second, "h2", wait)
        assert told.state is WaitState.TIMEOUT
        assert [wake_id for wake_id, _ in await woken(second, "h2")] == [wait.wait_id.replace("wait-", "wake-")]


async def test_a_host_that_is_late_changes_nothing_that_the_fleet_told(url: str) -> None:
    async with endpoint(url) as one:
        wait = await armed(one, "h3")
        told = await one.ended(wait)
        await sent(one, "h3", wait)
        resolved = replace(wait, state=WaitState.RESOLVED, verdict=unknown("x", "it is done"), ended_utc_s=5.0)
        stands = await one.places.put("h3", "wait", wait.wait_id, resolved)
        assert stands.by_fleet
        assert outward(read_info(stands, WaitInfo), "h3") == told
        assert [place.name for place in await one.places.read_lost_ends("h3")] == [wait.wait_id]
        (confirmed,) = await one.places.confirmed_ends("h3")
        assert replace(confirmed, utc_s=stands.utc_s) == stands

        # Its wake is the fleet's, and has its id.
        async def write_end(_: str) -> ObjectPlace:
            return replace(stands, sent=False)

        late = Deliver(
            wait.wait_id.replace("wait-", "wake-"),
            1,
            RouteName.FLEET,
            WakeKind.RESOLVED,
            "done",
            1.0,
            wait.wait_id,
            agent_id="h3",
        )
        assert (await WakePublisher("h3", one.connection, write_end).publish_wake(late)).result == "sent"
        await one.places.unmark_lost("h3", wait.wait_id)  # it has ended it in the same way
        assert await one.places.read_lost_ends("h3") == []
        assert [text for _, text in await woken(one, "h3")] == [
            f"{told.message.replace('h3/:100', ':100')} Next: wait_result wait_id={wait.wait_id}"
        ]


async def test_an_end_that_the_host_told_in_time_stands_and_wakes_nobody_again(url: str) -> None:
    async with endpoint(url) as one:
        wait = await placed(one, "h4")
        resolved = replace(wait, state=WaitState.RESOLVED, ended_utc_s=time.time())
        await one.places.put("h4", "wait", wait.wait_id, resolved)
        other = await armed(one, "h4")
        await one.ended(other)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await one.lost_waits.until_ended(wait.wait_id)
                raise AssertionError("it was ended twice")
        place = await standing(one, "h4", wait)
        assert not place.by_fleet
        await sent(one, "h4", other)
        assert len(await woken(one, "h4")) == 1


async def test_a_wait_whose_new_host_died_over_it_is_ended_at_its_deadline_in_that_ones_place(url: str) -> None:
    async with endpoint(url) as one:
        wait = await armed(one, "h6", ends_in_s=600.0)
        await Registry(one.connection).renew(HostState("h7", "x", {}, 0, 9, 0.0, "1", VERSION, time.time()))

        def moved(stands: ObjectPlace | None) -> ObjectPlace:
            """What an endpoint wrote that died before the new host answered; the deadline came meanwhile."""
            assert stands is not None
            ended = replace(end_rearmed(wait, "h6", "h7/:101", 1.0), deadline_utc_s=time.time())
            return replace(stands, info=codec.encode(ended), by_fleet=True, moved_to="h7/:101")

        await one.places.mark_lost("h6", wait.wait_id)
        await one.places.change_wait("h6", wait.wait_id, moved)
        told = await one.ended(wait)
        assert (told.state, told.verdict.code, told.display) == (WaitState.TIMEOUT, "host_lost", "h7/:101")
        await sent(one, "h7", wait)
        assert await one.places.host_of("wait", wait.wait_id, again=True) == "h7"
        assert [wake_id for wake_id, _ in await woken(one, "h6")] == [wait.wait_id.replace("wait-", "wake-")]
        assert [words for words in one.told if wait.wait_id in words] == [f"h6 {wait.wait_id}", f"h7 {wait.wait_id}"]


async def test_a_host_that_answers_is_not_lost_without_its_lease(url: str) -> None:
    """Its writes may hang at a server that led before a quorum was lost, long after the endpoint's own are taken."""
    asked: list[str] = []
    told: list[str] = []
    lives = True

    async def answers(host: str) -> bool:
        asked.append(host)
        return lives and host == "h9"  # those of other tests are lost

    async with side(url, "endpoint") as one:
        roster = Roster(one.connection, lambda word, member: told.append(f"{member.host} {word}"), answers)
        await roster.registry.renew(HostState("h9", "x", {}, 0, 9, 0.0, "1", VERSION, time.time()))
        async with asyncio.timeout(LONG_S):
            while "h9" not in asked:
                await roster.read_members()
                await asyncio.sleep(0.05)
        assert roster.all()["h9"].life is Life.UP
        lives = False
        async with asyncio.timeout(LONG_S):
            while roster.all()["h9"].life is not Life.LOST:
                await roster.read_members()
                await asyncio.sleep(0.05)
    assert told == ["h9 lost"]
