"""The way of the fleet's requests to this host's daemon and back: as they came, byte for byte, over one socket."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Self

import msgspec
import zmq

from acud.paths import Paths
from acud.protocol import codec
from acud_client.call import ATTEMPT_S, DEFAULT_S, DEFERRED_ATTEMPT_S, total_s
from acud_client.daemon_socket import DaemonSocket
from acud_fleet.envelopes import ReadRequest
from acud_fleet.socket_reader import SocketReader


class _Named(msgspec.Struct):
    """A reply of the daemon, of which the fleet process needs only the id."""

    id: str


_NAMED = msgspec.msgpack.Decoder(_Named)


class DaemonRelay:
    """Asks the daemon of `paths`, whose child this process is. Use in an `async with`; requests may run side by side,
    each id once.
    """

    def __init__(self, paths: Paths) -> None:
        self._daemon_socket = DaemonSocket(paths.run / "control")
        self._endpoint = paths.endpoint("control")
        self._context = zmq.Context()
        self._awaited: dict[str, asyncio.Future[bytes]] = {}

    async def __aenter__(self) -> Self:
        socket: zmq.Socket[bytes] = self._context.socket(zmq.DEALER)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_REPLY_BYTES)
        socket.setsockopt(zmq.SNDHWM, 0)
        socket.setsockopt(zmq.RCVHWM, 0)  # the daemon closes a connection that does not read what it is sent
        socket.connect(self._endpoint)
        self._reader = SocketReader(socket, self._came)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None
    ) -> None:
        self._reader.stop()
        self._context.destroy(linger=0)

    def _came(self, parts: list[bytes]) -> None:
        waiting = self._awaited.get(_NAMED.decode(parts[-1]).id)
        if waiting is not None and not waiting.done():
            waiting.set_result(parts[-1])

    async def ask(self, asked: ReadRequest, data: bytes) -> bytes:
        """Return the daemon's reply to `data`, which was read as `asked`. It is sent again where none comes: the daemon
        knows its id. Raises: DaemonDown when none came at all.
        """
        within_s = total_s(asked.request, DEFAULT_S)
        attempt_s = DEFERRED_ATTEMPT_S if asked.spec.deferred else ATTEMPT_S
        end_s = time.monotonic() + within_s
        try:
            while (left_s := end_s - time.monotonic()) > 0:
                waiting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
                self._awaited[asked.request_id] = waiting
                self._reader.send([b"", data])
                try:
                    async with asyncio.timeout(min(attempt_s, left_s)):
                        return await waiting
                except TimeoutError:
                    continue
        finally:
            self._awaited.pop(asked.request_id, None)
        raise self._daemon_socket.silent(within_s, asked.spec.name, asked.request_id)
