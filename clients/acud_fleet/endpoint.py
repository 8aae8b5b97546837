"""The endpoint of a fleet: the sockets of a daemon, with all the fleet's hosts behind them. `acud fleet serve`."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
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

from acud import log
from acud.child_process import guarded_async
from acud.errors import AcudError, Conflict, Refused
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import Identity, Signatures, Signed
from acud.fleet import FleetSettings
from acud.paths import Paths, make_private
from acud.protocol import codec
from acud.protocol.requests.daemon import Shutdown, ShutdownReply
from acud_fleet import envelopes
from acud_fleet.envelopes import ReadRequest
from acud_fleet.events import ID, EventDedupe, EventFeed, is_gap
from acud_fleet.host_client import HostClient
from acud_fleet.lost_waits import LostWaits
from acud_fleet.places import Places
from acud_fleet.registry import Member, Roster
from acud_fleet.request_router import RequestRouter
from acud_fleet.socket_reader import SocketReader

_LOG = log.logger("fleet")
_BEAT_S = 5.0
_MOST = 4096
"""Requests under way at once, as many as a daemon parks."""


class _UnderWay(msgspec.Struct):
    """A request that is being answered: its digest, and who asked last."""

    digest: bytes
    peer: bytes


class Endpoint:
    """Serves the sockets in `paths` (`Paths.of_fleet`) for the fleet in `settings`; run once, until `stop`."""

    def __init__(self, settings: FleetSettings, paths: Paths) -> None:
        self._settings = settings
        self._paths = paths
        self._context = zmq.Context()
        self._control = self._bound(zmq.ROUTER, "control")
        self._events = self._bound(zmq.XPUB, "events")
        self._feed = EventFeed(lambda topic, body: self._publish(topic, body))
        self._dedupe = EventDedupe()
        self._under_way: dict[str, _UnderWay] = {}
        self._stopping = asyncio.Event()

    def _bound(self, kind: int, name: str) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(kind)
        socket.setsockopt(zmq.LINGER, 500)
        socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_MESSAGE_BYTES)
        if kind == zmq.ROUTER:
            socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        socket.bind(self._paths.endpoint(name))
        return socket

    def stop(self) -> None:
        """End: requests under way are dropped; their clients ask the next endpoint again."""
        self._stopping.set()

    async def run(self) -> None:
        """Serve until `stop`. Raises: ConfigError when a file that is named can't be used."""
        try:
            async with NatsConnection(
                self._settings, "acud fleet endpoint", self._news, inbox="endpoint"
            ) as connection:
                roster = Roster(connection, self._member, lambda host: host_client.answers(host))
                host_client = HostClient(connection, roster)
                places = Places(connection)
                lost_waits = LostWaits(connection, roster, places, self._feed.tell_end)
                router = RequestRouter(
                    connection, roster, host_client, self._feed, places, lost_waits, str(self._paths.home)
                )
                async with asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(self._join(connection, roster, host_client)),
                        group.create_task(lost_waits.run()),
                        group.create_task(self._serve(router)),
                        group.create_task(self._beat()),
                    ]
                    await self._stopping.wait()
                    for task in tasks:
                        task.cancel()
        finally:
            self._context.destroy(linger=500)

    async def _join(self, connection: NatsConnection, roster: Roster, host_client: HostClient) -> None:
        await connection.ready()
        await host_client.open()
        kinds = {Signed.EVENT: connection.names.event("*", ">"), Signed.TOLD: connection.names.told("*", ">")}
        for kind, subject in kinds.items():
            await connection.nats.subscribe(subject, cb=partial(self._event, connection.signatures, kind))
        await roster.run()

    # ---- events ----

    def _news(self, connected: bool, text: str) -> None:
        if not connected:
            self._feed.missed()

    def _member(self, word: str, member: Member) -> None:
        _LOG.info(f"fleet.{word}", host=member.host)
        self._feed.tell(
            f"fleet.{word}", member.host, {"waits": member.state.live_waits, "displays": member.state.displays}
        )

    async def _event(self, signatures: Signatures, kind: Signed, message: Msg) -> None:
        host, identity = message.subject.split(".")[2], (message.headers or {}).get(ID, "")
        sender = Identity("host", host)
        try:
            await signatures.check(kind, message.subject, message.data, message.headers, sender, identity)
        except AcudError as fault:
            if fault.facts.get("reason") == "keys_unread":
                self._feed.missed()
            return
        if is_gap(message.subject):
            self._feed.missed()
        elif self._dedupe.is_news(host, identity):
            self._feed.take(host, message.data)

    def _publish(self, topic: bytes, body: bytes) -> None:
        # A PUB never blocks: a slow subscriber loses messages, and sees it by `prev`.
        self._events.send_multipart([topic, body], zmq.NOBLOCK)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_S)
            self._feed.beat()

    # ---- requests ----

    async def _serve(self, router: RequestRouter) -> None:
        async with asyncio.TaskGroup() as group:

            def begin(parts: list[bytes]) -> None:
                if len(parts) == 3 and parts[1] == b"":
                    group.create_task(self._receive(router, reader, parts[0], parts[2]))

            reader = SocketReader(self._control, begin)
            try:
                await asyncio.Event().wait()
            finally:
                reader.stop()

    async def _receive(self, router: RequestRouter, reader: SocketReader, peer: bytes, data: bytes) -> None:
        try:
            asked = envelopes.read(data)
            if self._joins(asked, peer, data):
                return
        except AcudError as fault:
            _send(reader, peer, envelopes.refusal(envelopes.id_in(data), fault, self._feed.newest))
            return
        try:
            answer = await self._answer(router, asked)
        finally:
            under_way = self._under_way.pop(asked.request_id)
        _send(reader, under_way.peer, answer)

    def _joins(self, asked: ReadRequest, peer: bytes, data: bytes) -> bool:
        """Tell whether this repeats a request under way, whose answer then goes to `peer`."""
        digest = hashlib.sha256(data).digest()
        known = self._under_way.get(asked.request_id)
        if known is None:
            if len(self._under_way) >= _MOST:
                raise Refused(f"{_MOST} requests are under way already", hint="wait for some of them")
            self._under_way[asked.request_id] = _UnderWay(digest, peer)
            return False
        if known.digest != digest:
            raise Conflict(f"request id {asked.request_id} was used for another content", hint="use a fresh id")
        known.peer = peer
        return True

    async def _answer(self, router: RequestRouter, asked: ReadRequest) -> bytes:
        try:
            if isinstance(asked.request, Shutdown):
                asyncio.get_running_loop().call_later(0.1, self.stop)
                return envelopes.answer(asked.request_id, ShutdownReply(os.getpid()), self._feed.newest)
            reply = await guarded_async(router.reply(asked), asked.spec.name)
            return envelopes.answer(asked.request_id, reply, self._feed.newest)
        except AcudError as fault:
            return envelopes.refusal(asked.request_id, fault, self._feed.newest)


def _send(reader: SocketReader, peer: bytes, data: bytes) -> None:
    try:
        reader.send([peer, b"", data])
    except zmq.ZMQError as fault:  # the client is gone, or does not read
        _LOG.debug("reply.unsent", errno=fault.errno)


@contextlib.contextmanager
def alone(paths: Paths) -> Iterator[None]:
    """Be the one endpoint of `paths`, whose folders are made. Raises: Conflict, naming the other."""
    for folder in (paths.home, paths.run):
        make_private(folder)
    descriptor = os.open(paths.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Conflict(f"an endpoint serves {paths.home} already", hint="acud fleet status") from None
    try:
        _sweep(paths.run)
        yield
        _sweep(paths.run)
    finally:
        os.close(descriptor)


def _sweep(run: Path) -> None:
    for name in ("control", "events"):
        (run / name).unlink(missing_ok=True)


def serve(settings: FleetSettings, paths: Paths, *, debug: bool = False) -> None:
    """Serve until SIGINT, SIGTERM or a `shutdown` request. Raises: Conflict when another endpoint does; ConfigError
    when a file that is named can't be used.
    """
    log.configure("fleet-endpoint", debug=debug)
    with alone(paths):
        uvloop.run(_serve(settings, paths))


async def _serve(settings: FleetSettings, paths: Paths) -> None:
    endpoint = Endpoint(settings, paths)
    loop: Any = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, endpoint.stop)
    sys.stderr.write(f"acud fleet: {paths.endpoint('control')}, servers {settings.url}\n")
    sys.stderr.flush()
    await endpoint.run()
