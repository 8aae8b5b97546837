"""Requests that come over NATS, asked of this host's daemon; and whether this host takes another managed display."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any

from nats.aio.msg import Msg

from acud.base import log
from acud.base.errors import AcudError, Refused, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import Identity, Signed
from acud.process.child_process import answer_request
from acud.protocol.requests import find_command
from acud.protocol.requests.command import FleetRoute
from acud.types import DisplayState
from acud_client.aio import AsyncClient
from acud_fleet import envelopes
from acud_fleet.daemon_relay import DaemonRelay
from acud_fleet.envelopes import ReadRequest

_REMEMBERED = 10_000
_ENDPOINT = Identity("endpoint")
_LOG = log.logger("fleet")
_MOST = 400
"""Requests at once: what one host may hold of the 1,024 parked replies that its daemon grants one client."""


class HostCapacity:
    """The places for displays on `host`, of which there are `room`."""

    def __init__(self, host: str, room: int, client: AsyncClient) -> None:
        self._host = host
        self.room = room
        self._client = client
        self._starting: set[str] = set()
        self._answers: OrderedDict[str, bool] = OrderedDict()
        self._lock = asyncio.Lock()
        self.draining = False

    async def displays(self) -> int:
        """Return the number of managed displays, with those that are being started."""
        states = [one.state for one in (await self._client.display_list()).displays if one.managed]
        starting = states.count(DisplayState.STARTING)  # of these we may have asked for some
        there = sum(state not in (DisplayState.STARTING, DisplayState.ENDED) for state in states)
        return there + max(starting, len(self._starting))

    @contextlib.asynccontextmanager
    async def hold_place(self, request_id: str, *, again: bool) -> AsyncIterator[None]:
        """Hold a place while the request that starts a display is asked of the daemon. With `again` it was let in
        before: its display may be there already. A request keeps its answer, as several endpoints may ask, and one that
        was refused goes to another host. Raises: Refused, with the reason `no_room`, when there is none.
        """
        async with self._lock:
            await self._let_in(request_id, again)
            self._starting.add(request_id)
        try:
            yield
        finally:
            self._starting.discard(request_id)

    async def _let_in(self, request_id: str, again: bool) -> None:
        answer = self._answers.get(request_id, again or None)
        if answer is False:
            raise Refused(f"host {self._host} had no room for this request", hint="acud fleet hosts", reason="no_room")
        try:
            if answer is None:
                await self._check_room()
        except Refused:
            self._note_answer(request_id, False)
            raise
        self._note_answer(request_id, True)

    def _note_answer(self, request_id: str, let_in: bool) -> None:
        self._answers[request_id] = let_in
        if len(self._answers) > _REMEMBERED:
            self._answers.popitem(last=False)

    async def _check_room(self) -> None:
        if self.draining:
            raise Refused(f"host {self._host} is being drained", hint="acud fleet hosts", reason="no_room")
        displays = await self.displays()
        if displays >= self.room:
            raise Refused(
                f"host {self._host} has {displays} displays, and room for {self.room}",
                hint="acud fleet hosts; end a display, or raise [fleet] room",
                reason="no_room",
            )


def is_placing(request: Any) -> bool:
    """Return whether `request` starts a managed display, and so needs a place."""
    return find_command(type(request)).fleet is FleetRoute.PLACED and getattr(request, "isolated_display", True)


class HostServer:
    """Answers the requests of one host, side by side. A request repeated while it is under way is answered to all."""

    def __init__(self, host: str, connection: NatsConnection, relay: DaemonRelay, capacity: HostCapacity) -> None:
        self._host = host
        self._connection = connection
        self._relay = relay
        self._capacity = capacity
        self._under_way: dict[str, set[str]] = {}
        self.answered = 0

    async def run(self) -> None:
        """Answer until cancelled."""
        async with asyncio.TaskGroup() as group:

            def begin(message: Msg) -> None:
                group.create_task(self._handle_message(message))

            end = await self._connection.nats.subscribe_directly(self._connection.names.request(self._host), begin)
            try:
                await asyncio.Event().wait()
            finally:
                end()

    async def _handle_message(self, message: Msg) -> None:
        headers, signatures = message.headers or {}, self._connection.signatures
        again = headers.get(envelopes.AGAIN, "")
        try:
            await signatures.check(Signed.REQUEST, message.subject, message.data, headers, _ENDPOINT, again)
            asked = envelopes.read(message.data)
        except AcudError as fault:
            request_id = envelopes.id_in(message.data)
            await self._send_reply(message.reply, request_id, envelopes.refusal(request_id, fault))
            return
        askers = self._under_way.setdefault(asked.request_id, set())
        known = bool(askers)
        askers.add(message.reply)
        if known:
            return
        try:
            answer = await self._answer_request(asked, message.data, again=bool(again))
        finally:
            askers = self._under_way.pop(asked.request_id)
        self.answered += 1
        for subject in askers:
            await self._send_reply(subject, asked.request_id, answer)
        if not self._under_way:  # several go together
            self._connection.nats.push()

    async def _answer_request(self, incoming: ReadRequest, data: bytes, *, again: bool) -> bytes:
        try:
            if len(self._under_way) > _MOST:
                raise Refused(f"host {self._host} answers {_MOST} requests already", hint="ask again later")
            return await answer_request(self._ask_daemon(incoming, data, again), incoming.spec.name)
        except AcudError as fault:
            return envelopes.refusal(incoming.request_id, fault)

    async def _ask_daemon(self, incoming: ReadRequest, data: bytes, again: bool) -> bytes:
        if incoming.spec.fleet in (FleetRoute.NEVER, FleetRoute.ENDPOINT):
            raise Refused(f"{incoming.spec.name} is not taken over the fleet", hint="ask the daemon on its own host")
        if not is_placing(incoming.request):
            return await self._relay.ask(incoming, data)
        async with self._capacity.hold_place(incoming.request_id, again=again):
            return await self._relay.ask(incoming, data)

    async def _send_reply(self, subject: str, request_id: str, data: bytes) -> None:
        if not subject:
            return
        nats, signatures = self._connection.nats, self._connection.signatures
        # The subject of a reply is another on each side of an account's border: what was asked stands for it.
        asked = self._connection.names.request(self._host)
        try:
            with self._connection.translate_faults("reply"):
                for part, headers in envelopes.cut(data, nats.max_payload):
                    about = envelopes.reply_about(request_id, headers.get(envelopes.PART, ""))
                    headers |= signatures.header(Signed.REPLY, asked, part, about)
                    await nats.publish(subject, part, headers=headers or None)
        except Unavailable as fault:  # the asker asks again, with the same id
            _LOG.warning("fleet.reply_unsent", fault=fault.message)
