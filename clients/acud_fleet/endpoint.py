"""The endpoint of a fleet: the sockets of a daemon, with all the fleet's hosts behind them. `acud fleet serve`."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import uvloop
import zmq
from nats.aio.msg import Msg

from acud.base import log
from acud.base.errors import AcudError, Conflict
from acud.base.paths import Paths, make_private
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import Identity, Signatures, Signed
from acud.process.systemd_notify import SystemdNotifier
from acud.protocol.bootstrap import Bootstrap, EndpointOptions
from acud.protocol.requests.daemon import EventsSince, Shutdown, ShutdownReply
from acud.protocol.requests.fleet import FleetHostsReply
from acud_fleet import envelopes
from acud_fleet.control_server import ControlServer
from acud_fleet.endpoint_parts import EndpointParts
from acud_fleet.endpoint_pool import FIRST, ProcessPool, SharedNumbers
from acud_fleet.envelopes import ReadRequest
from acud_fleet.events import ID, EventDedupe, EventFeed, is_gap
from acud_fleet.message_socket import MessageServer, listen_at
from acud_fleet.registry import Member
from acud_fleet.request_router import RequestRouter

_LOG = log.logger("fleet")
_BEAT_S = 5.0


class Endpoint:
    """Serves the sockets in `paths` (`Paths.of_fleet`) for the fleet in `settings`, with `further` processes that
    answer at the same control socket; run once, until `stop`.
    """

    def __init__(self, settings: FleetSettings, paths: Paths, further: int = 0, *, debug: bool = False) -> None:
        self._settings = settings
        self._paths = paths
        self._further = further
        self._debug = debug
        self._listener = listen_at(paths.run / "control")
        self._inner_listener = listen_at(paths.run / FIRST)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._events = self._context.socket(zmq.XPUB)
        self._events.setsockopt(zmq.LINGER, 500)
        self._events.bind(paths.endpoint("events"))
        self._shared = SharedNumbers.new()
        self._feed = EventFeed(lambda topic, body: self._publish_event(topic, body))
        self._shared.newest = self._feed.newest
        self._dedupe = EventDedupe()
        self._stopping = asyncio.Event()
        self._notifier = SystemdNotifier(os.environ)

    def stop(self) -> None:
        """End: requests under way are dropped; their clients ask the next endpoint again."""
        self._stopping.set()

    async def run(self) -> None:
        """Serve until `stop`. Raises: ConfigError when a file that is named can't be used."""
        try:
            async with NatsConnection(
                self._settings, "acud fleet endpoint", self._on_connection, inbox="endpoint"
            ) as connection:
                parts = EndpointParts(connection, self._on_member, self._feed.publish_end, str(self._paths.home))
                pool = self._make_pool(connection)

                def open_to(server: MessageServer) -> None:
                    server.accept_at(self._listener, pool.hand_on)
                    server.accept_at(self._inner_listener)
                    self._notifier.ready("answering requests")

                answer = partial(self._answer_request, parts.router, pool)
                server = ControlServer(open_to, answer, lambda: self._feed.newest)
                async with asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(self._join_fleet(connection, parts)),
                        group.create_task(server.run()),
                        group.create_task(self._send_beats()),
                        group.create_task(self._feed_watchdog()),
                        group.create_task(pool.run()),
                    ]
                    await self._stopping.wait()
                    self._notifier.stopping()
                    for task in tasks:
                        task.cancel()
        finally:
            self._context.destroy(linger=500)
            self._listener.close()
            self._inner_listener.close()
            os.close(self._shared.descriptor)

    def _make_pool(self, connection: NatsConnection) -> ProcessPool:
        def bootstrap(number: int, channel_fd: int) -> Bootstrap:
            home, shared_fd = str(self._paths.home.parent), self._shared.descriptor
            options = EndpointOptions(self._settings, home, number, shared_fd, channel_fd)
            first, name = self._paths.endpoint(FIRST), f"fleet-endpoint-{number + 1}"
            return Bootstrap(first, name, os.getpid(), _BEAT_S, self._debug, options)

        control = self._paths.run / "control"
        return ProcessPool(self._further, bootstrap, self._shared, control, connection.warn)

    async def _join_fleet(self, connection: NatsConnection, parts: EndpointParts) -> None:
        await connection.ready()
        kinds = {Signed.EVENT: connection.names.event("*", ">"), Signed.TOLD: connection.names.unstored_event("*", ">")}
        for kind, subject in kinds.items():
            await connection.nats.subscribe(subject, cb=partial(self._handle_event, connection.signatures, kind))
        await parts.run()

    # ---- events ----

    def _on_connection(self, connected: bool, text: str) -> None:
        if not connected:
            self._feed.mark_missed()

    def _on_member(self, word: str, member: Member) -> None:
        _LOG.info(f"fleet.{word}", host=member.host)
        self._feed.publish_own(
            f"fleet.{word}", member.host, {"waits": member.state.live_waits, "displays": member.state.displays}
        )

    async def _handle_event(self, signatures: Signatures, kind: Signed, message: Msg) -> None:
        host, identity = message.subject.split(".")[2], (message.headers or {}).get(ID, "")
        sender = Identity("host", host)
        try:
            await signatures.check(kind, message.subject, message.data, message.headers, sender, identity)
        except AcudError as fault:
            if fault.facts.get("reason") == "keys_unread":
                self._feed.mark_missed()
            return
        if is_gap(message.subject):
            self._feed.mark_missed()
        elif self._dedupe.is_news(host, identity):
            self._feed.take(host, message.data)

    def _publish_event(self, topic: bytes, body: bytes) -> None:
        # A PUB never blocks: a slow subscriber loses messages, and sees it by `prev`.
        self._events.send_multipart([topic, body], zmq.NOBLOCK)
        self._shared.newest = self._feed.newest

    async def _send_beats(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_S)
            self._feed.publish_newest()

    async def _feed_watchdog(self) -> None:
        while self._notifier.watchdog_s:
            self._notifier.alive()
            await asyncio.sleep(self._notifier.watchdog_s / 2)

    # ---- requests ----

    async def _answer_request(self, router: RequestRouter, pool: ProcessPool, incoming: ReadRequest, _: bytes) -> bytes:
        reply = await self._make_reply(router, incoming)
        if isinstance(reply, FleetHostsReply):
            reply = msgspec.structs.replace(reply, processes=(os.getpid(), *pool.pids))
        return envelopes.answer(incoming.request_id, reply, self._feed.newest)

    async def _make_reply(self, router: RequestRouter, incoming: ReadRequest) -> Any:
        if isinstance(incoming.request, EventsSince):
            return self._feed.since(incoming.request)
        if isinstance(incoming.request, Shutdown):
            asyncio.get_running_loop().call_later(0.1, self.stop)
            return ShutdownReply(os.getpid())
        return await router.reply(incoming)


@contextlib.contextmanager
def alone(paths: Paths) -> Iterator[None]:
    """Hold the lock of `paths` during the body, so that no second endpoint serves it; create its folders first.

    Raises: Conflict if another endpoint has the lock.
    """
    for folder in (paths.home, paths.run):
        make_private(folder)
    descriptor = os.open(paths.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Conflict(f"an endpoint serves {paths.home} already", hint="acud fleet status") from None
    try:
        _remove_sockets(paths.run)
        yield
        _remove_sockets(paths.run)
    finally:
        os.close(descriptor)


def _remove_sockets(run: Path) -> None:
    for name in ("control", "events", FIRST):
        (run / name).unlink(missing_ok=True)


def serve(settings: FleetSettings, paths: Paths, processes: int = 1, *, debug: bool = False) -> None:
    """Serve with that many `processes` until SIGINT, SIGTERM or a `shutdown` request. Raises: Conflict when another
    endpoint does; ConfigError when a file that is named can't be used.
    """
    log.configure("fleet-endpoint", debug=debug)
    with alone(paths):
        uvloop.run(_run_endpoint(settings, paths, processes, debug=debug))


async def _run_endpoint(settings: FleetSettings, paths: Paths, processes: int, *, debug: bool) -> None:
    endpoint = Endpoint(settings, paths, processes - 1, debug=debug)
    loop: Any = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, endpoint.stop)
    sys.stderr.write(f"acud fleet: {paths.endpoint('control')}, servers {settings.url}\n")
    sys.stderr.flush()
    await endpoint.run()
