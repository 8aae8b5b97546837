"""The fleet process of a host: its entry among the hosts, renewed while it lives, and all that it does for its daemon.

It sends hello, heartbeats and news of the connection to the supervisor, and ends in good order on request.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from acud import __version__
from acud.base import log, paths
from acud.base.errors import AcudError, ConfigError
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import own_host
from acud.process import child_process
from acud.process.async_child import AsyncChild
from acud.protocol import VERSION
from acud.protocol.bootstrap import Bootstrap, FleetOptions
from acud.protocol.children import Heartbeat
from acud.protocol.delivery import Deliver
from acud.protocol.fleet import FleetHello, FleetNews, HostState, ToFleet
from acud.protocol.requests.daemon import Status, StatusReply
from acud_client.aio import AsyncClient
from acud_fleet.daemon_relay import DaemonRelay
from acud_fleet.events import EventForwarder
from acud_fleet.host_server import HostCapacity, HostServer
from acud_fleet.host_wakes import WakeAcks, WakeCarrier, WakePublisher
from acud_fleet.registry import Registry
from acud_fleet.state_mirror import StateMirror
from acud_fleet.streams import watch_room

_LOG = log.logger("fleet")
_RENEWALS = 3
"""In a lease: two may be lost."""
_WATCHES = 7
"""In a lease: out of step with the renewals, which replace what a look is to find."""
_LOOKS = 2
"""In a lease: a living host has renewed it between two of them."""
_AGAIN_S = 1.0
_WRITTEN = 16
"""Reports of this host that may still be stored: a copy of a bucket may be behind."""
_WARNED_S = 600.0
_KEYS = "give each host a key of its own: acud fleet grant host NAME; see docs/scaling.md"
_PERMITS = "acud fleet grant host NAME, restart the servers, then acud fleet init; see docs/scaling.md"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LEAVE_S = 2.0


class Membership:
    """Reports that `host` lives, and how full it is. `home`: its daemon's folder, of which there is one. `on_return`:
    done before this host takes its lease, and takes it again after it ran out.
    """

    def __init__(
        self,
        host: str,
        connection: NatsConnection,
        client: AsyncClient,
        capacity: HostCapacity,
        home: Path,
        on_return: Callable[[], Awaitable[None]],
    ) -> None:
        self._host = host
        self._settings = connection.settings
        self._registry = Registry(connection)
        self._client = client
        self._capacity = capacity
        self._on_return = on_return
        self._find_place = _find_place(home)
        self._last: HostState | None = None
        self._holder: HostState | None = None
        """The daemon that had the name when this host came, and may be dead."""
        self._fault = ""
        self._written: deque[HostState] = deque(maxlen=_WRITTEN)
        self._connection = connection
        self._strange_s = float("-inf")
        self._renewed_s = float("-inf")

    async def enter(self) -> None:
        """Return once this host has its name; at once, unless another daemon has or had it, which then had time to
        renew its lease. Raises: ConfigError when it did, or the fleet is set up differently from this host.
        """
        while self._last is None:
            done = await self._try_renewal()
            if self._last is None:
                await asyncio.sleep(self._settings.lease_s / _LOOKS if done else _AGAIN_S)

    async def renew_until_cancelled(self) -> None:
        """Renew this host's lease again and again, once entered. Raises: ConfigError as `enter` does."""
        while True:
            await asyncio.sleep(self._settings.lease_s / _RENEWALS if not self._fault else _AGAIN_S)
            await self._try_renewal()

    async def _try_renewal(self) -> bool:
        try:
            await self._renew_entry(await self._make_state())
        except ConfigError:
            raise
        except AcudError as fault:
            if fault.message != self._fault:
                _LOG.warning("fleet.not_renewed", fault=fault.message)
            self._fault = fault.message
            return False
        self._fault = ""
        return True

    async def _renew_entry(self, state: HostState) -> None:
        holder = await self._registry.holder(self._host)
        if not self._may_have(state, holder):
            return
        if self._last is not None and holder is not None:
            self._warn_of_others({"hosts": holder})
        began_s = time.monotonic()
        if holder is None or began_s - self._renewed_s >= self._settings.lease_s:
            await self._on_return()
        self._last = state
        self._written.append(_make_identity(state))
        await self._registry.renew(state)
        self._renewed_s = began_s
        self._capacity.draining = await self._registry.is_draining(self._host)

    def _may_have(self, state: HostState, holder: HostState | None) -> bool:
        """Return whether the name is this host's by now. Raises: ConfigError when another living daemon has it."""
        if holder is None or holder.instance == state.instance or holder.place == state.place:
            return True
        if self._last is not None:  # both came at once: the younger gives way
            if _order_key(holder) < _order_key(state):
                raise _make_name_taken(holder)
            return True
        before, self._holder = self._holder, holder
        if before is None:
            _LOG.info("fleet.name_held", host=self._host, by=holder.instance)
            return False
        if (before.instance, before.utc_s) != (holder.instance, holder.utc_s):
            raise _make_name_taken(holder)
        return True

    async def watch(self) -> None:
        """Look until cancelled whether another process writes under this host's name. This host's next report replaces
        that; but it is warned of, since it can make the host look full, foreign or gone in between.
        """
        while True:
            await asyncio.sleep(self._settings.lease_s / _WATCHES)
            try:
                found = await self._registry.entries(self._host)
            except AcudError as fault:
                self._connection.warn("entries", f"this host can't look after its entries: {fault.message}", _PERMITS)
                continue
            self._connection.warn("entries", "", "")
            self._warn_of_others(found)

    def _warn_of_others(self, states: dict[str, HostState]) -> None:
        for bucket, state in states.items():
            if _make_identity(state) not in self._written:
                self._strange_s = time.monotonic()
                words = f"pid {state.instance.partition('-')[0] or '?'}, acud {state.version}"
                text = f"somebody else wrote the entry of host {self._host} in the bucket {bucket} (as {words})"
                self._connection.warn("name", f"{text}; this host took it back", _KEYS)
                return
        if time.monotonic() - self._strange_s > _WARNED_S:
            self._connection.warn("name", "", "")

    async def leave(self) -> None:
        """Write that this host ends in good order; its waits stay armed for its return."""
        if self._last is not None:
            await self._registry.give_up_lease(msgspec.structs.replace(self._last, left=True, utc_s=time.time()))

    async def _make_state(self) -> HostState:
        status = await self._client.ask(Status(), StatusReply)
        return HostState(
            host=self._host,
            instance=f"{status.pid}-{int(status.started_utc_s * 1000)}",
            labels=self._settings.labels,
            displays=await self._capacity.displays(),
            room=self._capacity.room,
            load=round(os.getloadavg()[0] / len(os.sched_getaffinity(0)), 3),
            version=__version__,
            protocol=VERSION,
            utc_s=time.time(),
            live_waits=status.waits_live,
            place=self._find_place,
            server=self._connection.server,
            rearm=self._settings.rearm,
        )


class HostService:
    """The host `name`, over `connection`, for the daemon behind `client` and `relay`. Call `run`, then `leave`."""

    def __init__(
        self,
        name: str,
        connection: NatsConnection,
        client: AsyncClient,
        relay: DaemonRelay,
        home: Path,
        carry: tuple[str, ...] = (),
        side_by_side: int = 1,
    ) -> None:
        self._connection = connection
        capacity = HostCapacity(name, connection.settings.room, client)
        self._server = HostServer(name, connection, relay, capacity)
        self._state_mirror = StateMirror(name, connection, client)
        self._membership = Membership(name, connection, client, capacity, home, self._state_mirror.take_ends)
        self.wake_publisher = WakePublisher(name, connection, self._state_mirror.write_end)
        self._forwarder = EventForwarder(name, connection, client)
        self._wake_acks = WakeAcks(name, connection, client)
        self._carriers = [WakeCarrier(agent, connection, client, side_by_side) for agent in carry]

    async def run(self) -> None:
        """Join, answer and report until cancelled; servers may come and go meanwhile. Raises: ConfigError when another
        daemon has its name, or the fleet is set up differently.
        """
        await self._connection.ready()
        await self._membership.enter()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._server.run())
            group.create_task(self._membership.renew_until_cancelled())
            group.create_task(self._membership.watch())
            group.create_task(self._state_mirror.run())
            group.create_task(self._forwarder.run())
            group.create_task(self._wake_acks.run())
            group.create_task(watch_room(self._connection))
            for one in self._carriers:
                group.create_task(one.run())

    async def leave(self) -> None:
        """Announce that this host ends in good order; if that fails, its lease runs out."""
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._membership.leave()
        except (AcudError, TimeoutError):
            return

    def counters(self) -> dict[str, float]:
        """Return how many requests were answered and events published since the start."""
        return {
            "requests": float(self._server.answered),
            "events": float(self._forwarder.forwarded),
            "wakes": float(self.wake_publisher.sent),
            "carried": float(sum(one.carried for one in self._carriers)),
        }


async def serve(bootstrap: Bootstrap, options: FleetOptions) -> None:
    """Answer for this host until `Stop` or SIGTERM. Raises: ConfigError when a file that is named can't be used."""
    places = paths.resolve({"ACU_HOME": options.home})
    name = own_host(options.settings)
    async with AsyncChild[ToFleet](bootstrap, ToFleet) as child:
        await child.send(FleetHello(os.getpid(), name))
        async with (
            AsyncClient(places) as client,
            DaemonRelay(places) as relay,
            _ConnectionNews(child) as connection_news,
            NatsConnection(
                options.settings,
                f"acud host {name}",
                connection_news.news,
                on_warning=connection_news.warn,
                inbox=f"host-{name}",
            ) as connection,
        ):
            host = HostService(name, connection, client, relay, places.home, options.carry, options.side_by_side)
            await _until_stopped(child, host)


class _ConnectionNews:
    """Sends news to the supervisor in the order in which they came."""

    def __init__(self, child: AsyncChild[ToFleet]) -> None:
        self._child = child
        self._queue: asyncio.Queue[FleetNews] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._newest = FleetNews(False, "")

    def news(self, connected: bool, text: str) -> None:
        self._send_news(FleetNews(connected, text, self._newest.warnings))

    def warn(self, warnings: Mapping[str, tuple[str, str]]) -> None:
        self._send_news(replace(self._newest, warnings=tuple(warnings.values())))

    def _send_news(self, news: FleetNews) -> None:
        self._newest = news
        self._queue.put_nowait(news)

    async def __aenter__(self) -> _ConnectionNews:
        self._task = asyncio.create_task(self._send_queued())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _send_queued(self) -> None:
        while True:
            await self._child.send(await self._queue.get())


def _make_identity(state: HostState) -> HostState:
    """Return the identity of a host's own report: an endpoint counts a display more when it claims a place."""
    return msgspec.structs.replace(state, displays=0)


def _find_place(home: Path) -> str:
    """Return an identity of this folder: unique on a machine that is up, and constant as long as it is up."""
    found = home.stat()
    words = f"{_BOOT_ID.read_text(encoding='ascii').strip()} {found.st_dev} {found.st_ino}"
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _order_key(state: HostState) -> tuple[int, str]:
    """Return a key that orders runs of daemons by age."""
    started_ms = state.instance.rpartition("-")[2]
    return (int(started_ms) if started_ms.isdecimal() else 0, state.instance)


def _make_name_taken(holder: HostState) -> ConfigError:
    pid, _, _ = holder.instance.partition("-")
    return ConfigError(
        f"another daemon is host {holder.host} of this fleet: pid {pid} on its machine, acud {holder.version}, "
        f"with {holder.displays} of {holder.room} displays, heard {max(0.0, time.time() - holder.utc_s):.0f} s ago",
        hint="give each host a name of its own: [fleet] host",
    )


async def _until_stopped(child: AsyncChild[ToFleet], host: HostService) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    async with asyncio.TaskGroup() as group:
        tasks: set[asyncio.Task[None]] = set()

        def begin(work: Coroutine[None, None, None]) -> None:
            task = group.create_task(work)
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        begin(_handle_orders(child, stopping, lambda delivery: begin(_bring(child, host.wake_publisher, delivery))))
        begin(child.send_beats(lambda: Heartbeat(rss_mb=child_process.rss_mb(), counters=host.counters())))
        begin(host.run())
        await stopping.wait()
        for task in tasks:
            task.cancel()
    await host.leave()


async def _handle_orders(child: AsyncChild[ToFleet], stopping: asyncio.Event, bring: Callable[[Deliver], None]) -> None:
    async for message in child.messages():
        if isinstance(message, Deliver):
            bring(message)  # as many side by side as the route allows
        else:
            stopping.set()


async def _bring(child: AsyncChild[ToFleet], publisher: WakePublisher, delivery: Deliver) -> None:
    await child.send(await publisher.publish_wake(delivery))
