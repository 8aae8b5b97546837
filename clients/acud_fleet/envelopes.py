"""Envelopes between hosts: read, made, cut into what one NATS message holds, and with names as each side knows them.

A display is `host/:100` outside and `:100` on its host; so are the tokens that begin with one.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec

from acud.base.errors import AcudError, InvalidRequest, ProtocolError
from acud.base.typed_values import msgpack_decoder
from acud.protocol import VERSION, codec
from acud.protocol.display_names import rename_displays
from acud.protocol.envelope import ErrorBody, ReplyEnvelope, RequestEnvelope, RequestId
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.command import Command

PART = "Acud-Part"
"""Header of a reply that comes in several messages: `2/3`."""
AGAIN = "Acud-Again"
"""Header of a request that was sent to this host before: what it may have started counts as there."""
_HEADERS_BYTES = 1024
_OF = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
_OUTER = re.compile(r"([a-z0-9][a-z0-9-]{0,62})/(:\d.*)", re.DOTALL)


class ReadRequest(msgspec.Struct, frozen=True):
    """A request that was read: its id, what it declares about itself, and the typed request."""

    request_id: str
    spec: Command
    request: Any


class _RequestFrame(msgspec.Struct, forbid_unknown_fields=True):
    """A `RequestEnvelope` with its body still encoded, until its type is known."""

    v: int
    id: RequestId
    body: msgspec.Raw


class _Tagged(msgspec.Struct):
    """The tag of a body."""

    type: str


_FRAME, _TAGGED = msgpack_decoder(_RequestFrame), msgpack_decoder(_Tagged)


def read(data: bytes) -> ReadRequest:
    """Return the request in `data`. Raises: InvalidRequest naming what is wrong with it."""
    try:
        return _read_sound(data)
    except (msgspec.MsgspecError, ValueError, RecursionError, KeyError):
        return _read_checked(data)  # to report what is wrong


def _read_sound(data: bytes) -> ReadRequest:
    """Read a request that has no fault, in half the time; processes that pass requests on do little else."""
    if len(data) > codec.MAX_MESSAGE_BYTES or codec.has_unusual_numbers(data):
        raise ValueError
    frame = _FRAME.decode(data)
    if frame.v != VERSION:
        raise ValueError
    spec = BY_NAME[_TAGGED.decode(frame.body).type]
    return ReadRequest(frame.id, spec, decoder(spec.request).decode(frame.body))


decoder = functools.cache(msgpack_decoder)


def _read_checked(data: bytes) -> ReadRequest:
    envelope = codec.decode(data, RequestEnvelope)
    if envelope.v != VERSION:
        raise InvalidRequest(
            f"protocol version {envelope.v} is not spoken here, {VERSION} is", hint="update the older side"
        )
    name = envelope.body.get("type")
    spec = BY_NAME.get(name) if isinstance(name, str) else None
    if spec is None:
        raise InvalidRequest(f"unknown request {name!r}", hint="known: " + ", ".join(sorted(BY_NAME)))
    return ReadRequest(envelope.id, spec, codec.convert(envelope.body, spec.request))


def id_in(data: bytes) -> str:
    """Return the id of a request that could not be read, "-" where there is none."""
    try:
        plain = codec.unpack(data)
    except InvalidRequest:
        return "-"
    found = plain.get("id") if isinstance(plain, dict) else None
    return found if isinstance(found, str) else "-"


def write(request_id: str, request: msgspec.Struct) -> bytes:
    """Return the envelope of `request`."""
    return codec.encode(RequestEnvelope(VERSION, request_id, msgspec.to_builtins(request, builtin_types=(bytes,))))


def answer(request_id: str, body: msgspec.Struct, n: int = 0) -> bytes:
    """Return the reply envelope around `body`."""
    return codec.encode(ReplyEnvelope(request_id, n, body=body))


def refusal(request_id: str, fault: AcudError, n: int = 0) -> bytes:
    """Return the reply envelope of a fault; facts that are no plain values stay behind."""
    facts = {key: value for key, value in fault.facts.items() if isinstance(value, str | int | float | bool)}
    error = ErrorBody(fault.code, fault.message, fault.hint, facts)
    return codec.encode(ReplyEnvelope(request_id, n, error=error))


def reply_about(request_id: str, part: str) -> str:
    """Return what a reply's signature is about: its request, and which part it is ("": all of it)."""
    return f"{request_id} {part}"


def cut(data: bytes, max_payload: int) -> list[tuple[bytes, dict[str, str]]]:
    """Return `data` in messages of at most `max_payload` bytes with their headers; one without headers if it fits."""
    size = max_payload - _HEADERS_BYTES
    if len(data) <= size:
        return [(data, {})]
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return [(part, {PART: f"{number}/{len(parts)}"}) for number, part in enumerate(parts, 1)]


class ReplyParts:
    """Messages of one reply until it is whole; they come in order, as NATS keeps the order of one sender."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def take(self, data: bytes, header: str) -> bytes | None:
        """Take one message; return the whole reply with its last one. A first part begins anew (a repeated answer).

        Raises: ProtocolError for a header that is none, or replies that are too large.
        """
        if not header:
            return data
        found = _OF.fullmatch(header)
        if found is None:
            raise ProtocolError(f"a reply came with the part {header[:20]!r}", hint="update the older host")
        number, count = map(int, found.groups())
        if number == 1:
            self._held = []
        if len(self._held) != number - 1:
            return None  # the rest of an answer that another one replaced
        self._held.append(data)
        if sum(map(len, self._held)) > codec.MAX_REPLY_BYTES:
            raise ProtocolError(f"a reply is over the limit of {codec.MAX_REPLY_BYTES} bytes")
        return b"".join(self._held) if number == count else None


def outward(value: Any, host: str) -> Any:
    """Return the message `value` of `host` with its displays named as outside."""
    return rename_displays(value, lambda word: f"{host}/{word}" if word.startswith(":") else word)


def inward(value: Any) -> tuple[Any, set[str]]:
    """Return the message `value` as its host wants it, and the hosts that its displays and tokens named."""
    hosts: set[str] = set()

    def change(word: str) -> str:
        found = _OUTER.fullmatch(word)
        if found is None:
            return word
        hosts.add(found[1])
        return found[2]

    return rename_displays(value, change), hosts


def host_in(word: str) -> str:
    """Return the host that a display's name begins with, "" for none."""
    found = _OUTER.fullmatch(word)
    return found[1] if found is not None else ""
