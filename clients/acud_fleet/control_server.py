"""The control socket of a fleet's endpoint: clients' requests, answered side by side, each once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

import msgspec

from acud.base.errors import AcudError, Conflict, Refused
from acud.process.child_process import answer_request
from acud_fleet import envelopes
from acud_fleet.envelopes import ReadRequest
from acud_fleet.message_socket import MessageConnection, MessageServer

_MOST = 4096
"""Requests under way at once, as many as a daemon parks."""
Answer = Callable[[ReadRequest, bytes], Awaitable[bytes]]
"""Returns the reply envelope to a request, which came in these bytes. Raises: what went wrong."""


class _UnderWay(msgspec.Struct):
    """A request under way: its digest, and the peer that asked last."""

    digest: bytes
    peer: MessageConnection


class ControlServer:
    """Answers clients' requests. `open_to` takes their connections, from the start on; `on_end` is called at the end of
    each. `newest`: the newest event's number.
    """

    def __init__(
        self,
        open_to: Callable[[MessageServer], None],
        answer: Answer,
        newest: Callable[[], int],
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._open_to = open_to
        self._on_end = on_end
        self._answer = answer
        self._newest = newest
        self._under_way: dict[str, _UnderWay] = {}

    async def run(self) -> None:
        """Answer until cancelled."""
        async with asyncio.TaskGroup() as group:

            def begin(peer: MessageConnection, data: bytes) -> None:
                group.create_task(self._handle_message(peer, data))

            server = MessageServer(begin, self._on_end)
            self._open_to(server)
            try:
                await asyncio.Event().wait()
            finally:
                server.stop()

    async def _handle_message(self, peer: MessageConnection, data: bytes) -> None:
        try:
            asked = envelopes.read(data)
            if self._joins_same_call(asked, peer, data):
                return
        except AcudError as fault:
            peer.send(envelopes.refusal(envelopes.id_in(data), fault, self._newest()))
            return
        try:
            answer = await self._answer_or_refuse(asked, data)
        finally:
            under_way = self._under_way.pop(asked.request_id)
        under_way.peer.send(answer)

    def _joins_same_call(self, incoming: ReadRequest, peer: MessageConnection, data: bytes) -> bool:
        """Return whether this repeats a request under way; the answer then goes to `peer`."""
        digest = hashlib.sha256(data).digest()
        known = self._under_way.get(incoming.request_id)
        if known is None:
            if len(self._under_way) >= _MOST:
                raise Refused(f"{_MOST} requests are under way already", hint="wait for some of them")
            self._under_way[incoming.request_id] = _UnderWay(digest, peer)
            return False
        if known.digest != digest:
            raise Conflict(f"request id {incoming.request_id} was used for another content", hint="use a fresh id")
        known.peer = peer
        return True

    async def _answer_or_refuse(self, incoming: ReadRequest, data: bytes) -> bytes:
        try:
            return await answer_request(self._answer(incoming, data), incoming.spec.name)
        except AcudError as fault:
            return envelopes.refusal(incoming.request_id, fault, self._newest())
