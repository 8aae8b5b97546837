"""Waits with `on_host_lost` = `rearm`: armed on another host under their id, with the programs that acud had launched;
one wake and one end, whatever dies over it and whoever comes back.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from acud.base.errors import InvalidRequest, Refused
from acud.base.ids import new_id
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol import codec
from acud.protocol.fleet import ObjectPlace
from acud.protocol.fleet_ends import end_rearmed
from acud.protocol.requests.fleet import DisplayRecipe, FleetRearm
from acud.types import (
    AnyOf,
    Change,
    Criteria,
    FileState,
    OnHostLost,
    Policy,
    Until,
    WaitInfo,
    WaitState,
    WakeAddress,
    WakeState,
    WindowTitle,
)
from acud.types.actions import Launch
from acud_client import Client
from acud_fleet.access import permissions
from acud_fleet.display_copies import DisplayCopies
from acud_fleet.host_client import HostClient
from acud_fleet.lost_waits import LostWaits
from acud_fleet.places import Places
from acud_fleet.registry import Member, Roster
from acud_fleet.streams import PLACES_KEPT_S, Bucket
from acud_fleet.wakes import AgentWakes
from tests.e2e import faults
from tests.e2e.fleet_support import over, taken
from tests.e2e.fleet_waits import kill
from tests.fixtures import nkey_files
from tests.fixtures.daemon import Daemon
from tests.fixtures.fleet_proxy import Proxy
from tests.fixtures.fleet_rig import BARE, LEASE_S, LONG_S, EndpointProcess, Fleet, until
from tests.fixtures.fleet_servers import FleetServers
from tests.integration.client_replies import wait_info
from tests.integration.xserver import XServer

MORE = '[wake]\nroutes = ["fleet"]\nretry_first_s = 0.1\nretry_max_s = 1.0\n'
REARM = Policy(on_host_lost=OnHostLost.REARM)
_JUDGE = '[backends.office]\nkind = "ollama"\nurl = "http://127.0.0.1:1"\nmodel = "seer"\n'
"""Of some hosts: one that is configured, and down."""
_PROGRAM = """
import os, sys, time
from pathlib import Path
from Xlib import X, display
folder, opened = Path(sys.argv[1]), display.Display()
with (folder / "starts").open("a") as starts:
    starts.write(os.environ["DISPLAY"] + "\\n")
while not ((folder / "done").exists() or (folder / ("done" + os.environ["DISPLAY"])).exists()):
    time.sleep(0.05)
window = opened.screen().root.create_window(0, 0, 99, 99, 0, X.CopyFromParent, X.InputOutput, X.CopyFromParent)
window.set_wm_name("Done")
window.map()
opened.sync()
time.sleep(600)
"""
"""Notes that it was started, and shows a window once it is told to."""


class Rig(Fleet):
    """Three hosts, of which h1 can be cut off by its `proxy`."""

    def __init__(self, stack: ExitStack) -> None:
        def url_of(host: str, nats: FleetServers) -> str:
            if host != "h1":
                return nats.url
            self.proxy = stack.enter_context(Proxy(nats.servers[0].port))
            return self.proxy.url

        hosts = {f"h{number}": f'is = "h{number}", pool = "a"' for number in (1, 2, 3)}
        super().__init__(hosts, more=MORE, url_of=url_of, login_of=_login)


def _login(host: str) -> str:
    return "rearm = true\n" + (_JUDGE if host in ("h1", "h3") else "")


@pytest.fixture(scope="module")
def fleet() -> Iterator[Rig]:
    with ExitStack() as stack:
        yield stack.enter_context(Rig(stack))


@pytest.fixture
def other(fleet: Fleet) -> Iterator[EndpointProcess]:
    one = EndpointProcess(fleet.nats.url, lease_s=LEASE_S)
    with ExitStack() as stack:
        stack.callback(one.close)
        one.start()
        yield one


@pytest.fixture(autouse=True)
def all_up(fleet: Fleet) -> Iterator[None]:
    """Every host is there before and after, without waits and displays."""
    yield
    for host, daemon in fleet.daemons.items():
        if daemon.process is None or daemon.process.poll() is not None:
            daemon.start()
        up(fleet.client, host)
        for wait in daemon.client.wait_list().waits:
            daemon.client.wait_cancel(wait.wait_id)
        for shown in daemon.client.display_list().displays:
            daemon.client.display_remove(shown.name, force=True)
    until(lambda: not any(one.displays for one in fleet.client.fleet_hosts().hosts), "hosts without displays")


def up(client: Client, host: str) -> None:
    until(lambda: {one.host: one.life for one in client.fleet_hosts().hosts}.get(host) == "up", host)


class Shown(Struct):
    """A display on a host, with the program of the test."""

    host: str
    name: str
    folder: Path

    @property
    def starts(self) -> list[str]:
        return (self.folder / "starts").read_text(encoding="utf-8").split()

    def started(self, count: int) -> None:
        """Return once the program was started that often; it notes a start when it has begun."""
        until(lambda: len(self.starts) >= count, f"start {count} of the program")
        assert len(self.starts) == count

    def finish(self, display: str = "") -> None:
        """Have the program show its window, wherever it runs or on one display."""
        (self.folder / f"done{display}").touch()


def shown(fleet: Fleet, host: str, folder: Path, labels: dict[str, str] | None = None) -> Shown:
    client = fleet.daemons[host].client
    display = client.display_create(320, 240, labels=labels or {"pool": "a"}).display.name
    client.desktop_action([Launch((sys.executable, "-c", _PROGRAM, str(folder)), str(folder))], display=display)
    until((folder / "starts").exists, "the program")
    return Shown(host, display, folder)


def armed(
    fleet: Fleet,
    there: Shown,
    timeout_s: float = 600.0,
    policy: Policy = REARM,
    wake: WakeAddress = WakeAddress(),  # noqa: B008
    until_: Until = WindowTitle("Done"),  # noqa: B008
    judge: str = "auto",
) -> WaitInfo:
    """Arm a wait for the program's window; return it once the fleet's servers have all that arms it again."""
    name = f"{there.host}/{there.name}"
    wait = fleet.client.wait_create(
        until_, display=name, timeout_s=timeout_s, policy=policy, wake=wake, judge=judge
    ).wait
    if policy is REARM:
        until(lambda: (found := place_of(fleet, there.host, "display", there.name)) and found.recipe, "the recipe")
    return wait


def recipe(fleet: Fleet, there: Shown) -> DisplayRecipe:
    place = place_of(fleet, there.host, "display", there.name)
    assert place.recipe is not None
    return place.recipe


def place_of(fleet: Fleet, host: str, kind: str, name: str) -> ObjectPlace | None:
    return over(fleet.nats.url, lambda connection: Places(connection).one(host, kind, name))  # type: ignore[arg-type]


def now_on(client: Client, wait: WaitInfo, *before: str) -> WaitInfo:
    """Return the wait once it is on a host that is none of those `before`."""
    until(lambda: client.fleet_place(wait.wait_id).host not in before, "another host")
    return client.wait_result(wait.wait_id, peek=True).wait


def own(fleet: Fleet, host: str, wait: WaitInfo) -> WaitInfo:
    return fleet.daemons[host].client.wait_show(wait.wait_id).wait


def wake_id(wait: WaitInfo) -> str:
    return wait.wait_id.replace("wait-", "wake-")


def rows(client: Client, wait: WaitInfo) -> list[tuple[str, WaitState]]:
    found = client.wait_list(ended=True, limit=1000).waits
    return [(one.display, one.state) for one in found if one.wait_id == wait.wait_id]


def test_a_wait_of_a_host_that_dies_goes_on_on_another_and_ends_and_wakes_once(
    fleet: Fleet, other: EndpointProcess, tmp_path: Path
) -> None:
    there = shown(fleet, "h1", tmp_path)
    wait = armed(fleet, there)
    fetched = armed(fleet, there, wake=WakeAddress(routes=()))
    later = Launch(("sh", "-c", 'echo "$DISPLAY" >> later'), str(tmp_path))
    fleet.daemons["h1"].client.desktop_action([later], display=there.name)
    until(lambda: later in recipe(fleet, there).programs, "the recipe with what was launched after")
    ends: list[WaitInfo] = []
    blocked = threading.Thread(
        target=lambda: ends.append(other.client.wait_end(fetched.wait_id, timeout_s=2 * LONG_S).wait)
    )
    blocked.start()
    kill(fleet, "h1")
    moved, sibling = now_on(fleet.client, wait, "h1"), now_on(other.client, fetched, "h1")
    assert (moved.state, moved.rearmed.lost) == (WaitState.WATCHING, ("h1",))
    assert moved.display.startswith(f"{moved.rearmed.host}/:")
    assert sibling.display == moved.display  # one display for both, and one more start of the program
    there.started(2)
    until(lambda: len((tmp_path / "later").read_text(encoding="utf-8").split()) == 2, "the second program")
    assert moved.deadline_utc_s == pytest.approx(wait.deadline_utc_s, abs=0.05)
    assert f"armed again on host {moved.rearmed.host}" in moved.note
    for client in (fleet.client, other.client):
        assert rows(client, wait) == [(moved.display, WaitState.WATCHING)]

    there.finish()  # also on h1's own display, which is there when h1 returns
    assert taken(fleet.nats.url, 1) == [wake_id(wait)]
    told = fleet.client.wait_result(wait.wait_id).wait
    assert told.state is WaitState.RESOLVED
    assert "programs were started anew" in told.message
    blocked.join(2 * LONG_S)
    assert [(one.wait_id, one.state) for one in ends] == [(fetched.wait_id, WaitState.RESOLVED)]

    fleet.daemons["h1"].start()
    for client in (fleet.client, other.client):
        up(client, "h1")
    ended = own(fleet, "h1", wait)
    assert (ended.state, ended.verdict.code) == (WaitState.CANCELLED, "rearmed")
    assert fleet.daemons["h1"].client.wake_list(seen=True, wait_id=wait.wait_id).wakes == ()
    assert [one.name for one in fleet.daemons["h1"].client.display_list().displays] == [there.name]
    for client in (fleet.client, other.client):
        assert client.wait_result(wait.wait_id).wait == told
        assert client.wait_show(wait.wait_id).wait == told
        assert client.wait_show(wait.wait_id[-8:]).wait == told
        assert rows(client, wait) == [(told.display, WaitState.RESOLVED)]
    assert taken(fleet.nats.url, 0) == []


def test_a_wait_whose_new_host_dies_too_moves_on_and_is_cancelled_there(fleet: Fleet, tmp_path: Path) -> None:
    there = shown(fleet, "h1", tmp_path)
    wait, kept = armed(fleet, there), armed(fleet, there)
    kill(fleet, "h1")
    second = now_on(fleet.client, wait, "h1")
    now_on(fleet.client, kept, "h1")
    host, _, display = second.display.partition("/")
    until(lambda: (found := place_of(fleet, host, "display", display)) and found.recipe, "the recipe")
    kill(fleet, host)
    third = now_on(fleet.client, wait, "h1", host)
    assert third.rearmed.lost == ("h1", host)
    now_on(fleet.client, kept, "h1", host)
    for one in ("h1", host):
        fleet.daemons[one].start()
        up(fleet.client, one)
    assert fleet.client.wait_cancel(kept.wait_id).wait.state is WaitState.CANCELLED
    assert own(fleet, third.rearmed.host, kept).verdict.code != "rearmed"
    there.finish()
    assert taken(fleet.nats.url, 1) == [wake_id(wait)]
    assert fleet.client.wait_result(wait.wait_id).wait.state is WaitState.RESOLVED
    assert rows(fleet.client, wait) == [(third.display, WaitState.RESOLVED)]
    assert len(there.starts) == 3


def test_a_host_behind_a_cut_wire_changes_nothing_of_a_wait_that_went_elsewhere(fleet: Rig, tmp_path: Path) -> None:
    there = shown(fleet, "h1", tmp_path)
    wait = armed(fleet, there)
    fleet.proxy.cut()
    moved = now_on(fleet.client, wait, "h1")
    there.finish(there.name)  # behind the cut it resolves, and so is told there
    faults.event(fleet.daemons["h1"], "wait.resolved", wait.wait_id)
    fleet.proxy.heal()
    up(fleet.client, "h1")
    until(lambda: own(fleet, "h1", wait).state is WaitState.RESOLVED, "the end that the host keeps")
    faults.event(fleet.daemons["h1"], "wake.sent", wake_id(wait))  # it says so: the stream needs none of it
    assert fleet.client.wait_result(wait.wait_id, peek=True).wait.state is WaitState.WATCHING
    assert rows(fleet.client, wait) == [(moved.display, WaitState.WATCHING)]
    assert fleet.client.wake_list(seen=True, wait_id=wait.wait_id).wakes == ()
    assert taken(fleet.nats.url, 0) == []
    there.finish()
    assert taken(fleet.nats.url, 1) == [wake_id(wait)]
    assert fleet.client.wait_result(wait.wait_id).wait.display == moved.display


def test_a_wait_goes_to_the_next_host_where_one_refuses_it_and_times_out_as_lost_where_none_takes_it(
    fleet: Fleet, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("only", "any", "here", "judged")]
    for folder in folders:
        folder.mkdir()
    only, there = shown(fleet, "h1", folders[0], {"is": "h1"}), shown(fleet, "h1", folders[1])
    client, second = fleet.daemons["h1"].client, fleet.daemons["h2"].client
    client.desktop_action([Launch(("sleep", "600"), str(folders[2]))], display=there.name)
    judged = shown(fleet, "h1", folders[3])
    either = AnyOf((WindowTitle("Done"), Criteria("the export has ended")))
    moves = armed(fleet, judged, until_=either, judge="office")
    busy = fleet.daemons["h3"].client.display_create(64, 64).display.name  # h2, which has no such judge, has more room
    wait, other = armed(fleet, only, timeout_s=30.0), armed(fleet, there, timeout_s=30.0)
    folders[2].rmdir()  # as on a host that has no such folder
    before = second.events_since().newest
    kill(fleet, "h1")
    moved = now_on(fleet.client, moves, "h1")
    assert moved.display.startswith("h3/")
    judged.finish()
    assert sorted(taken(fleet.nats.url, 3)) == sorted(map(wake_id, (wait, other, moves)))
    faults.event(fleet.daemons["h2"], "display.ended", after=before)
    assert fleet.client.wait_result(moves.wait_id).wait.state is WaitState.RESOLVED
    told, unmade = (fleet.client.wait_result(one.wait_id).wait for one in (wait, other))
    assert {(one.state, one.verdict.code) for one in (told, unmade)} == {(WaitState.TIMEOUT, "host_lost")}
    assert "could not be armed again: no host of the fleet takes it" in told.message
    assert "not labelled is=h1" in told.message
    assert "h2: the display could not be made again there" in unmade.message
    kept = {one.name for one in fleet.daemons["h3"].client.display_list().displays}
    assert kept == {busy, moved.display.partition("/")[2]}
    assert second.display_list().displays == ()
    fleet.daemons["h1"].start()
    up(fleet.client, "h1")
    assert own(fleet, "h1", wait).message == told.message


def test_a_host_that_is_forgotten_leaves_its_waits_to_others(fleet: Fleet, tmp_path: Path) -> None:
    there = shown(fleet, "h1", tmp_path)
    wait, plain = armed(fleet, there), armed(fleet, there, policy=Policy())
    fleet.daemons["h1"].stop()
    until(lambda: fleet.lives()["h1"] == "left", "the end of h1")
    left = now_on(fleet.client, wait)
    assert (left.rearmed, left.note[:13]) == (None, "left(host h1)")  # it waits for the next start of its host
    assert "the daemon was stopped" in fleet.client.wait_result(plain.wait_id, peek=True).wait.message
    fleet.client.fleet_drain("h1", "forget")
    moved = now_on(fleet.client, wait, "h1")
    assert moved.rearmed.lost == ("h1",)
    there.finish()
    assert sorted(taken(fleet.nats.url, 2)) == sorted(map(wake_id, (wait, plain)))
    fleet.daemons["h1"].start()
    up(fleet.client, "h1")
    assert own(fleet, "h1", wait).verdict.code == "rearmed"
    assert fleet.client.wait_result(wait.wait_id).wait.state is WaitState.RESOLVED


@contextmanager
def unarmed(fleet: Fleet, wait: WaitInfo, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectPlace]:
    """Kill h1, and the endpoint when it has moved the wait and not armed it; the next endpoint starts at the end."""
    fleet.endpoint.stop()
    try:
        kill(fleet, "h1")
        with monkeypatch.context() as dying:
            asyncio.run(_until_it_arms(fleet.nats.url, dying))
        place = place_of(fleet, "h1", "wait", wait.wait_id)
        assert place is not None
        yield place
    finally:
        fleet.endpoint.start()


def test_what_an_endpoint_that_died_before_it_armed_the_wait_left_is_armed_by_the_next(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = shown(fleet, "h1", tmp_path)
    wait = armed(fleet, there)
    with unarmed(fleet, wait, monkeypatch) as place:
        assert (place.by_fleet, place.sent, place.moved_to[:1]) == (True, False, "h")
        fleet.daemons["h1"].start()  # it is back before anybody goes on
        faults.event(fleet.daemons["h1"], "wait.cancelled", wait.wait_id)
    moved = now_on(fleet.client, wait, "h1")
    assert moved.display == place.moved_to
    there.finish()
    assert taken(fleet.nats.url, 1) == [wake_id(wait)]
    assert fleet.client.wait_result(wait.wait_id).wait.state is WaitState.RESOLVED
    assert len(there.starts) == 2
    (wake,) = fleet.client.wake_list(seen=True, wait_id=wait.wait_id).wakes
    assert (wake.wake_id, wake.state) == (wake_id(wait), WakeState.SEEN)


def test_a_wait_whose_new_host_dies_before_it_is_armed_there_moves_on(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = shown(fleet, "h1", tmp_path)
    wait = armed(fleet, there)
    with unarmed(fleet, wait, monkeypatch) as place:
        second = place.moved_to.partition("/")[0]
        kill(fleet, second)
    third = now_on(fleet.client, wait, "h1", second)
    assert third.rearmed.lost == ("h1", second)
    assert third.deadline_utc_s == pytest.approx(wait.deadline_utc_s, abs=0.05)
    there.started(3)
    for host in ("h1", second):
        fleet.daemons[host].start()
        up(fleet.client, host)
    assert own(fleet, "h1", wait).verdict.code == "rearmed"
    assert rows(fleet.client, wait) == [(third.display, WaitState.WATCHING)]
    there.finish()
    assert taken(fleet.nats.url, 1) == [wake_id(wait)]
    assert fleet.client.wait_result(wait.wait_id).wait.state is WaitState.RESOLVED
    assert taken(fleet.nats.url, 0) == []


async def _until_it_arms(url: str, dying: pytest.MonkeyPatch) -> None:
    """Be an endpoint that dies when it is about to arm a wait again."""
    reached, ask = asyncio.Event(), HostClient.ask

    async def asked(self: HostClient, host: str, request: Struct, *rest: object, **more: object) -> object:
        if isinstance(request, FleetRearm):
            reached.set()
            await asyncio.Event().wait()
        return await ask(self, host, request, *rest, **more)  # type: ignore[arg-type]

    dying.setattr(HostClient, "ask", asked)
    async with _endpoint(url), asyncio.timeout(2 * LONG_S):
        await reached.wait()


@asynccontextmanager
async def _endpoint(url: str) -> AsyncIterator[None]:
    """Look after lost waits as an endpoint, until it dies."""
    async with NatsConnection(FleetSettings(url=url, lease_s=LEASE_S), "endpoint") as connection:
        await connection.ready()
        roster = Roster(connection, lambda word, member: None, lambda host: host_client.answers(host))
        host_client = HostClient(connection, roster)
        await host_client.open()
        lost_waits = LostWaits(connection, roster, Places(connection), host_client, lambda info, host: None)
        async with asyncio.TaskGroup() as group:  # what goes wrong there ends the test
            tasks = [group.create_task(work) for work in (roster.read_until_cancelled(), lost_waits.run())]
            yield
            for task in tasks:
                task.cancel()


def test_a_host_that_is_back_in_time_keeps_its_wait_and_the_new_display_goes(
    fleet: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = shown(fleet, "h1", tmp_path)
    wait = armed(fleet, there)
    for host in ("h2", "h3"):  # an earlier loss led to a display of the name that the new one will get
        over(fleet.nats.url, lambda connection, host=host: _moved_before(connection, host))  # type: ignore[misc]
    fleet.endpoint.stop()
    try:
        kill(fleet, "h1")
        with monkeypatch.context() as slow:
            copy = asyncio.run(_until_it_removes(fleet, slow))
    finally:
        fleet.endpoint.start()
    assert copy.startswith(("h2/", "h3/"))
    for host in ("h2", "h3"):
        assert fleet.daemons[host].client.display_list().displays == ()
    assert rows(fleet.client, wait) == [(wait.display, WaitState.WATCHING)]
    there.finish(there.name)
    assert taken(fleet.nats.url, 1) == [wake_id(wait)]
    assert fleet.client.wait_result(wait.wait_id).wait.rearmed is None


async def _moved_before(connection: NatsConnection, host: str) -> None:
    """Note in the place of h1 that waits went to the first displays of `host`, in a loss of long ago."""
    for number in range(100, 104):
        wait = msgspec.structs.replace(wait_info(), wait_id=new_id("wait"))
        ended = end_rearmed(wait, "h1", f"{host}/:{number}", 1.0)
        info = codec.encode(ended)
        place = ObjectPlace(
            "h1", "wait", wait.wait_id, 1.0, info, by_fleet=True, sent=True, moved_to=f"{host}/:{number}"
        )
        await Bucket(connection, "places", ttl_s=PLACES_KEPT_S).put(f"h1.wait.{wait.wait_id}", codec.encode(place))


async def _until_it_removes(fleet: Rig, slow: pytest.MonkeyPatch) -> str:
    """Be an endpoint that has made a display when the lost host comes back; return the display that it removed."""
    removed: asyncio.Queue[str] = asyncio.Queue()
    made, remove = DisplayCopies.make, DisplayCopies.remove

    async def made_slowly(self: DisplayCopies, member: Member, display: str) -> str:
        copy = await made(self, member, display)
        await asyncio.to_thread(fleet.daemons["h1"].start)
        while await self._roster.registry.holder("h1") is None:  # noqa: ASYNC110 - another process's doing
            await asyncio.sleep(0.05)
        return copy

    async def removing(self: DisplayCopies, copy: str) -> None:
        await remove(self, copy)
        removed.put_nowait(copy)

    slow.setattr(DisplayCopies, "make", made_slowly)
    slow.setattr(DisplayCopies, "remove", removing)
    async with _endpoint(fleet.nats.url), asyncio.timeout(2 * LONG_S):
        return await removed.get()


@pytest.mark.long
def test_it_goes_on_where_each_has_an_account_and_signs(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    grants = nkey_files.grants(seeds)

    def login(name: str) -> str:
        words = f'nkey_seed_file = {json.dumps(str(seeds / name.upper()))}\nadmin_key = "{grants.admin_key()}"\n'
        return words + ("" if name == "endpoint" else "rearm = true\n")

    hosts, admin = dict.fromkeys(("h1", "h2"), 'pool = "a"'), {"nkey_seed_file": str(seeds / "ADMIN")}
    with Fleet(hosts, more=MORE, extra=permissions(grants), login_of=login, admin=admin, grants=grants) as guarded:
        there = shown(guarded, "h1", tmp_path)
        settings = FleetSettings(
            url=guarded.nats.url, nkey_seed_file=str(seeds / "ENDPOINT"), admin_key=grants.admin_key()
        )
        wait = guarded.client.wait_create(
            WindowTitle("Done"), display=f"h1/{there.name}", timeout_s=600, policy=REARM
        ).wait
        asyncio.run(_recipe_told(settings, there))
        kill(guarded, "h1")
        now = now_on(guarded.client, wait, "h1")
        there.finish()
        assert guarded.client.wait_result(now.wait_id, block_s=LONG_S, peek=True).wait.state is WaitState.RESOLVED
        assert now.display.startswith("h2/")
        agent = msgspec.structs.replace(settings, nkey_seed_file=str(seeds / "AGENT"))
        assert asyncio.run(_wakes(agent)) == [wake_id(wait)]
        assert [log for log in (guarded.endpoint.log(), guarded.daemons["h2"].log()) if "fleet.unproven" in log] == []


async def _recipe_told(settings: FleetSettings, there: Shown) -> None:
    async with asyncio.timeout(LONG_S), NatsConnection(settings, "test", inbox="endpoint") as connection:
        await connection.ready()
        places = Places(connection)
        while not ((found := await places.one(there.host, "display", there.name)) and found.recipe):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def _wakes(settings: FleetSettings) -> list[str]:
    """Return the wakes of the agent main once there is one, and no more."""
    async with NatsConnection(settings, "test", inbox="agent-main") as connection:
        await connection.ready()
        async with AgentWakes(connection) as wakes:
            found = [await wakes.next(LONG_S), await wakes.next(1.0)]
            return [one.wake.id for one in found if one is not None]


def test_a_wait_that_no_other_host_could_take_is_refused_when_it_is_armed(fleet: Rig) -> None:
    client = fleet.daemons["h1"].client
    # A start that takes longer than the lease would send the wait elsewhere: no other host is labelled so.
    name = client.display_create(64, 64, labels={"is": "h1"}).display.name
    with pytest.raises(InvalidRequest, match="of this machine"):
        client.wait_create(FileState("~/a"), display=name, policy=REARM)
    change = client.wait_create(Change(), display=name).wait
    with pytest.raises(InvalidRequest, match="pixels of this display"):
        client.wait_update(change.wait_id, policy=REARM)
    text = client.wait_create(WindowTitle("Done"), display=name, policy=REARM, wake=WakeAddress(routes=())).wait
    client.desktop_action([Launch(("true",), "/")], display=name)
    before = client.fleet_recipe(name).recipe
    assert before.programs == (Launch(("true",), "/"),)
    fleet.daemons["h1"].kill()
    fleet.daemons["h1"].start()
    assert client.fleet_recipe(name).recipe == before
    until(lambda: [one.state.value for one in client.display_list().displays] == ["up"], "its display")
    client.desktop_action([Launch(("sh", "-c", "sleep 1; exit 3"))], display=name)
    until(lambda: client.fleet_recipe(name).recipe == before, "the end of the program that failed")
    client.desktop_action([Launch(("true",))] * 63, display=name)
    with pytest.raises(InvalidRequest, match="pixels of this display"):
        client.wait_update(text.wait_id, until=Change())
    client.desktop_action([Launch(("true",))], display=name)
    with pytest.raises(Refused, match="65 programs"):
        client.wait_create(WindowTitle("Done"), display=name, policy=REARM)


def test_a_host_that_lets_no_wait_go_says_what_to_set(fleet: Rig) -> None:
    with Daemon(settings='[fleet]\nurl = "nats://127.0.0.1:1"\n' + BARE) as daemon:
        name = daemon.client.display_create(64, 64).display.name
        with pytest.raises(Refused) as refused:
            daemon.client.wait_create(WindowTitle("Done"), display=name, policy=REARM)
        assert "[fleet] rearm" in refused.value.hint
    client = fleet.daemons["h1"].client
    with XServer(64, 64) as server:
        added = client.display_add(server.display, auth_file=server.auth_file).display.name
        with pytest.raises(Refused, match="acud did not make it") as refused:
            client.wait_create(WindowTitle("Done"), display=added, policy=REARM)
        assert "acud do launch" in refused.value.hint
        client.display_remove(added, force=True)
