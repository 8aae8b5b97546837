"""A request asked of one host over NATS: sent again with the same id until it is answered or there is no hope."""

from __future__ import annotations

import asyncio
import functools
import itertools
import time
from typing import Any

import msgspec
from nats.aio.msg import Msg

from acud import ids
from acud.errors import AcudError, DaemonDown, InvalidRequest, ProtocolError, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import sender_of
from acud.features.fleet.signatures import Identity, Signatures, Signed
from acud.protocol import VERSION
from acud.protocol.envelope import ErrorBody
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.daemon import Status
from acud_client.call import rebuilt
from acud_fleet import envelopes
from acud_fleet.registry import Member, Roster, gone

_ATTEMPT_S = 5.0
"""Also for deferred requests: a host that is asked again while it answers only notes where the answer goes."""
_LIVES_S = 2.0
_NOBODY = "503"


class _Answer:
    """What comes back for one request, however often it is sent. `subject`: where it goes."""

    def __init__(self, signatures: Signatures, subject: str, request_id: str) -> None:
        self._signatures = signatures
        self._subject = subject
        self._request_id = request_id
        self._host = Identity("host", sender_of(subject))
        self.parts = envelopes.ReplyParts()
        self.whole: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.refused = ""
        """Why a reply was not taken for the host's."""

    def renew(self) -> None:
        """Wait on: who waited gave up, and the future with it."""
        self.whole = asyncio.get_running_loop().create_future()

    async def take(self, message: Msg) -> None:
        if self.whole.done():
            return
        headers = message.headers or {}
        if headers.get("Status") == _NOBODY and not message.data:
            self.whole.set_result(b"")
            return
        part = headers.get(envelopes.PART, "")
        about = envelopes.reply_about(self._request_id, part)
        try:
            await self._signatures.check(Signed.REPLY, self._subject, message.data, headers, self._host, about)
        except AcudError as fault:
            self.refused = fault.message
            return
        if self.whole.done():
            return
        try:
            data = self.parts.take(message.data, part)
        except ProtocolError as fault:
            self.whole.set_exception(fault)
            return
        if data is not None:
            self.whole.set_result(data)


class HostClient:
    """Asks hosts; `open` before the first question. For one event loop."""

    def __init__(self, connection: NatsConnection, roster: Roster) -> None:
        self._connection = connection
        self._roster = roster
        self._inbox = ""
        self._numbers = itertools.count(1)
        self._awaited: dict[str, _Answer] = {}

    async def open(self) -> None:
        """Listen for answers."""
        self._inbox = self._connection.nats.new_inbox()
        await self._connection.nats.subscribe(f"{self._inbox}.*", cb=self._came)

    async def _came(self, message: Msg) -> None:
        answer = self._awaited.get(message.subject.rpartition(".")[2])
        if answer is not None:
            await answer.take(message)

    async def ask(
        self, host: str, request: msgspec.Struct, request_id: str, within_s: float, *, again: bool = False
    ) -> Any:
        """Return the typed reply of `host`. `again`: it may have had this request before.

        Raises: what the host answered; Unavailable when it is away (`reason`), or does not answer within `within_s`.
        """
        data = envelopes.write(request_id, request)
        self._fits(data)
        number = str(next(self._numbers))
        subject = self._connection.names.request(host)
        answer = self._awaited[number] = _Answer(self._connection.signatures, subject, request_id)
        try:
            return typed_reply(await self._answered(host, data, number, answer, within_s, again=again), host, request)
        finally:
            del self._awaited[number]

    async def answers(self, host: str) -> bool:
        """Tell whether a host answers now, whatever its lease says; a refusal is an answer. Raises: Unavailable when it
        can't be asked from here, which says nothing of the host.
        """
        try:
            await self.ask(host, Status(), ids.new_id("req"), _LIVES_S)
        except DaemonDown:  # the words of its fleet process, which may outlive the daemon for a moment
            return False
        except Unavailable as fault:
            if fault.facts.get("host") != host:
                raise
            return "delivered" not in fault.facts and fault.facts.get("reason") != "silent"
        except AcudError:
            pass
        return True

    def _fits(self, data: bytes) -> None:
        most = self._connection.nats.max_payload - 1024
        if len(data) > most:
            raise InvalidRequest(
                f"a request of {len(data)} bytes is over the {most} that the fleet's servers take",
                hint="raise max_payload of nats-server, or ask on the host itself",
            )

    async def _answered(
        self, host: str, data: bytes, number: str, answer: _Answer, within_s: float, *, again: bool
    ) -> bytes:
        end_s = time.monotonic() + within_s
        while (left_s := end_s - time.monotonic()) > 0:
            member = self._roster.checked(host)
            await self._publish(host, data, number, again=again)
            try:
                async with asyncio.timeout(min(_ATTEMPT_S, left_s)):
                    whole = await answer.whole
            except TimeoutError:
                answer.renew()
                again = True
                continue
            if not whole:
                raise _nobody(member, delivered=again)
            return whole
        refused = f": {answer.refused}" if answer.refused else ""
        text = f"host {host} did not answer within {within_s:g} s{refused}"
        raise Unavailable(text, hint="acud fleet hosts", host=host, reason="silent")

    async def _publish(self, host: str, data: bytes, number: str, *, again: bool) -> None:
        if not self._connection.connected:
            raise self._connection.down()
        headers = {envelopes.AGAIN: "1"} if again else {}
        subject = self._connection.names.request(host)
        headers |= self._connection.signatures.header(Signed.REQUEST, subject, data, headers.get(envelopes.AGAIN, ""))
        with self._connection.translated(f"asking host {host}"):
            await self._connection.nats.publish(subject, data, reply=f"{self._inbox}.{number}", headers=headers or None)


def _nobody(member: Member, *, delivered: bool) -> Unavailable:
    """Return the error of a host of which no process listens; fact `delivered`: whether one may have before."""
    fault = gone(member)
    fault.facts["delivered"] = delivered
    return fault


class _ReplyFrame(msgspec.Struct, forbid_unknown_fields=True):
    """A `ReplyEnvelope` whose body is read once the type that it should have is known."""

    id: str
    n: int
    body: msgspec.Raw = msgspec.Raw()
    error: ErrorBody | None = None
    v: int = VERSION


@functools.cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


def typed_reply(data: bytes, host: str, request: msgspec.Struct) -> Any:
    """Return the reply in `data`. Raises: the error in it, with the host in its facts; ProtocolError for no reply to
    `request`.
    """
    spec = BY_NAME[str(request.__struct_config__.tag)]
    try:
        reply = _decoder(_ReplyFrame).decode(data)
        if reply.error is None:
            return _decoder(spec.reply).decode(reply.body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as fault:
        raise ProtocolError(
            f"the reply of host {host} to {spec.name} is malformed: {fault}", hint="update the older host"
        ) from fault
    told: AcudError = rebuilt(reply.error)
    told.facts.setdefault("host", host)
    raise told
