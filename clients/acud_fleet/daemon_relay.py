"""The way of the fleet's requests to this host's daemon and back: unchanged, over one connection."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Self

import msgspec

from acud.base.paths import Paths
from acud.base.typed_values import msgpack_decoder
from acud_client.call import ATTEMPT_S, DEFAULT_S, DEFERRED_ATTEMPT_S, PAUSE_S, total_s
from acud_client.daemon_socket import DaemonSocket
from acud_fleet.envelopes import ReadRequest
from acud_fleet.message_socket import MessageConnection, connect


class _Named(msgspec.Struct):
    """A reply of the daemon, of which the fleet process needs only the id."""

    id: str


_NAMED = msgpack_decoder(_Named)


class DaemonRelay:
    """Asks the daemon of `paths`, the parent of this process; or, by its `socket`, an endpoint's first process. Use in
    an `async with`; requests may run side by side, each id once.
    """

    def __init__(self, paths: Paths, socket: str = "control") -> None:
        self._daemon_socket = DaemonSocket(paths.run / socket, paths.fleet)
        self._connection: MessageConnection | None = None
        self._connecting = asyncio.Lock()
        self._awaited: dict[str, asyncio.Future[bytes]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()

    def _on_message(self, _: MessageConnection, data: bytes) -> None:
        waiting = self._awaited.get(_NAMED.decode(data).id)
        if waiting is not None and not waiting.done():
            waiting.set_result(data)

    def _on_lost(self, _: MessageConnection) -> None:
        for waiting in self._awaited.values():
            if not waiting.done():
                waiting.set_exception(ConnectionResetError())

    async def ask(self, incoming: ReadRequest, data: bytes) -> bytes:
        """Return the daemon's reply to `data`, which was read as `incoming`. It is sent again if none comes: the daemon
        knows its id. Raises: DaemonDown when none came at all.
        """
        within_s = total_s(incoming.request, DEFAULT_S)
        attempt_s = DEFERRED_ATTEMPT_S if incoming.spec.deferred else ATTEMPT_S
        end_s = time.monotonic() + within_s
        try:
            while (left_s := end_s - time.monotonic()) > 0:
                try:
                    async with asyncio.timeout(min(attempt_s, left_s)):
                        return await self._ask_once(incoming.request_id, data)
                except TimeoutError:
                    continue
                except OSError:  # the daemon closed the connection, or does not listen
                    await asyncio.sleep(PAUSE_S)
        finally:
            self._awaited.pop(incoming.request_id, None)
        raise self._daemon_socket.silent(
            within_s, incoming.spec.name, incoming.request_id, is_mutating=incoming.spec.mutating
        )

    async def _ask_once(self, request_id: str, data: bytes) -> bytes:
        connection = self._connection
        if connection is None or not connection.is_open:
            connection = await self._get_connection()
        waiting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._awaited[request_id] = waiting
        connection.send(data)
        return await waiting

    async def _get_connection(self) -> MessageConnection:
        async with self._connecting:
            if self._connection is None or not self._connection.is_open:
                self._connection = await connect(self._daemon_socket.path, self._on_message, self._on_lost)
            return self._connection
