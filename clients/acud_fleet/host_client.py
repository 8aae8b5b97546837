"""A request asked of one host over NATS: sent again with the same id until it is answered or there is no hope."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from typing import Any

import msgspec
from nats.aio.msg import Msg

from acud.base import ids
from acud.base.errors import AcudError, DaemonDown, InvalidRequest, ProtocolError, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import sender_of
from acud.features.fleet.signatures import Identity, Signatures, Signed
from acud.protocol import VERSION
from acud.protocol.envelope import ErrorBody
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.daemon import Status
from acud_client.call import rebuild_error
from acud_fleet import envelopes
from acud_fleet.near_connections import AnswerInbox, NearConnections, open_inbox
from acud_fleet.registry import Life, Roster

_ATTEMPT_S = 5.0
"""Also for deferred requests: a host that is asked again while it answers only notes where the answer goes."""
_LIVES_S = 2.0
_NOBODY = "503"


class _Answer:
    """The answer to one request, however often that is sent. `subject`: where it goes."""

    def __init__(self, signatures: Signatures, subject: str, request_id: str) -> None:
        self._signatures = signatures
        self._subject = subject
        self._request_id = request_id
        self._host = Identity("host", sender_of(subject))
        self._parts = envelopes.ReplyParts()
        self._messages: deque[Msg] = deque()
        self._more: asyncio.Future[None] | None = None
        self.refused = ""
        """Why a reply was not accepted as the host's."""

    def put(self, message: Msg) -> None:
        """Take a message that belongs to the answer."""
        self._messages.append(message)
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    async def whole(self) -> bytes:
        """Return the reply once it is whole; b"" if no process listens. Raises: ProtocolError."""
        while True:
            while self._messages:
                found = await self._read_part(self._messages.popleft())
                if found is not None:
                    return found
            self._more = asyncio.get_running_loop().create_future()
            await self._more

    async def _read_part(self, message: Msg) -> bytes | None:
        headers = message.headers or {}
        if headers.get("Status") == _NOBODY and not message.data:
            return b""
        part = headers.get(envelopes.PART, "")
        about = envelopes.reply_about(self._request_id, part)
        try:
            await self._signatures.check(Signed.REPLY, self._subject, message.data, headers, self._host, about)
        except AcudError as fault:
            self.refused = fault.message
            return None
        return self._parts.take(message.data, part)


class HostClient:
    """Asks hosts, each over the server that it is connected to where that is known; `open` before the first question,
    and `run` until cancelled. For one event loop.
    """

    def __init__(self, connection: NatsConnection, roster: Roster) -> None:
        self._connection = connection
        self._roster = roster
        self.near = NearConnections(connection, self._on_message)
        """The shorter ways to hosts."""
        self._inbox: AnswerInbox | None = None
        self._numbers = itertools.count(1)
        self._awaited: dict[str, _Answer] = {}

    async def open(self) -> None:
        """Listen for answers."""
        self._inbox = await open_inbox(self._connection, self._on_message)

    async def run(self) -> None:
        """Hold connections to the servers that hosts are connected to."""
        await self.near.run()

    def _on_message(self, message: Msg) -> None:
        answer = self._awaited.get(message.subject.rpartition(".")[2])
        if answer is not None:
            answer.put(message)

    async def ask(
        self,
        host: str,
        request: msgspec.Struct,
        request_id: str,
        within_s: float,
        *,
        again: bool = False,
        only_up: bool = True,
    ) -> Any:
        """Return the typed reply of `host`. `again`: it may have had this request before. Without `only_up` it is asked
        whatever its state in the roster.

        Raises: what the host answered; Unavailable when it is away (`reason`), or does not answer within `within_s`.
        """
        data = envelopes.write(request_id, request)
        self._check_size(data)
        number = str(next(self._numbers))
        subject = self._connection.names.request(host)
        answer = self._awaited[number] = _Answer(self._connection.signatures, subject, request_id)
        try:
            whole = await self._collect_answer(host, data, number, answer, within_s, again=again, only_up=only_up)
            return typed_reply(whole, host, request)
        finally:
            del self._awaited[number]

    async def answers(self, host: str) -> bool:
        """Return whether a host answers now, whatever its lease; a refusal is an answer. Raises: Unavailable when it
        can't be asked from here, which proves nothing about the host.
        """
        try:
            await self.ask(host, Status(), ids.new_id("req"), _LIVES_S, only_up=False)
        except DaemonDown:  # the words of its fleet process, which may outlive the daemon for a moment
            return False
        except Unavailable as fault:
            if fault.facts.get("host") != host:
                raise
            return "delivered" not in fault.facts and fault.facts.get("reason") != "silent"
        except AcudError:
            pass
        return True

    def _check_size(self, data: bytes) -> None:
        most = self._connection.nats.max_payload - 1024
        if len(data) > most:
            raise InvalidRequest(
                f"a request of {len(data)} bytes is over the {most} that the fleet's servers take",
                hint="raise max_payload of nats-server, or ask on the host itself",
            )

    async def _collect_answer(
        self, host: str, data: bytes, number: str, answer: _Answer, within_s: float, *, again: bool, only_up: bool
    ) -> bytes:
        end_s = time.monotonic() + within_s
        by_near = not again
        while (left_s := end_s - time.monotonic()) > 0:
            near = None
            if only_up:
                server = self._roster.find_checked(host).state.server
                near = self.near.to(server) if by_near else None
            await self._publish_request(near or self._get_inbox(), host, data, number, again=again)
            try:
                async with asyncio.timeout(min(_ATTEMPT_S, left_s)):
                    whole = await answer.whole()
            except TimeoutError:
                again, by_near = True, False
                continue
            if not whole and near is not None:  # it may be a server that does not find the others now
                by_near = False
                continue
            if not whole:
                raise _make_no_listener(host, delivered=again)
            return whole
        refused = f": {answer.refused}" if answer.refused else ""
        text = f"host {host} did not answer within {within_s:g} s{refused}"
        raise Unavailable(text, hint="acud fleet hosts", host=host, reason="silent")

    def _get_inbox(self) -> AnswerInbox:
        if self._inbox is None or not self._connection.connected:
            raise self._connection.down()
        return self._inbox

    async def _publish_request(self, inbox: AnswerInbox, host: str, data: bytes, number: str, *, again: bool) -> None:
        headers = {envelopes.AGAIN: "1"} if again else {}
        subject = self._connection.names.request(host)
        headers |= self._connection.signatures.header(Signed.REQUEST, subject, data, headers.get(envelopes.AGAIN, ""))
        with inbox.connection.translate_faults(f"asking host {host}"):
            await inbox.connection.nats.publish(
                subject, data, reply=f"{inbox.subject}.{number}", headers=headers or None
            )
        if len(self._awaited) == 1:  # several go together
            inbox.connection.nats.push()


def is_unanswered(fault: AcudError) -> bool:
    """Return whether no host answered, or could be asked, so that asking again may help: not the error of a host."""
    if isinstance(fault, DaemonDown):
        return True
    ways = ("silent", *Life)
    return isinstance(fault, Unavailable) and ("host" not in fault.facts or fault.facts.get("reason") in ways)


def _make_no_listener(host: str, *, delivered: bool) -> Unavailable:
    """Return the error of a host of which no process listens; fact `delivered`: whether one may have before."""
    return Unavailable(
        f"host {host} does not answer",
        hint="acud fleet hosts; what is there goes on when it is back",
        reason="up",
        host=host,
        delivered=delivered,
    )


class _ReplyFrame(msgspec.Struct, forbid_unknown_fields=True):
    """A `ReplyEnvelope` with its body still encoded, until its type is known."""

    id: str
    n: int
    body: msgspec.Raw = msgspec.Raw()
    error: ErrorBody | None = None
    v: int = VERSION


def typed_reply(data: bytes, host: str, request: msgspec.Struct) -> Any:
    """Return the reply in `data`. Raises: the error in it, with the host in its facts; ProtocolError for no reply to
    `request`.
    """
    spec = BY_NAME[str(request.__struct_config__.tag)]
    try:
        reply = envelopes.decoder(_ReplyFrame).decode(data)
        if reply.error is None:
            return envelopes.decoder(spec.reply).decode(reply.body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as fault:
        raise ProtocolError(
            f"the reply of host {host} to {spec.name} is malformed: {fault}", hint="update the older host"
        ) from fault
    told: AcudError = rebuild_error(reply.error)
    told.facts.setdefault("host", host)
    raise told
