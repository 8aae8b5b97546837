"""Queued replies, their replacement when the commit of their turn fails, and digests that recognise repeats."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from acud.base.errors import AcudError, InvalidRequest, Refused
from acud.base.paths import keep_secret
from acud.protocol.envelope import ErrorBody, ReplyEnvelope
from acud.supervisor.socket_server.connection import ServerConnection

_KEY_BYTES = 32


class RequestDigest:
    """Makes digests with the key in the file at `path`, which is outside the store.

    With another key (after the file was removed, or for an older acud's digests) a repeat is a Conflict and is never
    carried out twice; such rows expire with the others after 24 h.
    """

    def __init__(self, path: Path) -> None:
        """Read or make the key. Raises: Refused for a file without a key or that other users can read; OSError."""
        text = keep_secret(path, lambda: secrets.token_hex(_KEY_BYTES).encode())
        try:
            self._key = bytes.fromhex(text.decode("ascii"))
        except ValueError:
            self._key = b""
        if len(self._key) != _KEY_BYTES:
            raise Refused(f"{path} holds no key", hint=f"remove it; a new one is made: rm {path}")

    def digest(self, body: dict[str, Any]) -> str:
        """Return the HMAC-SHA-256 of a request's body. Raises: InvalidRequest for one that is nested too deeply."""
        try:
            data = msgspec.msgpack.Encoder(order="deterministic").encode(body)
        except RecursionError as fault:  # the envelope's own limit is a few levels from this one
            raise InvalidRequest("the message is nested too deeply", hint="send it flatter") from fault
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()


class RequestTiming(msgspec.Struct, frozen=True):
    """What a reply answers, for metrics: the request's name (`unknown` for an unknown one), and when it came."""

    name: str
    at_s: float


class Outgoing(msgspec.Struct, frozen=True):
    """A reply that is sent after the commit. If that fails, `again` repeats a request that only reads, as it may have
    read what is rolled back; `stands`: the reply depends on nothing in this turn and is sent as it is.
    """

    peer: ServerConnection
    envelope: ReplyEnvelope
    asked: RequestTiming
    on_sent: Callable[[], None] | None = None
    again: Callable[[], ReplyEnvelope] | None = None
    stands: bool = False

    def after(self, fault: AcudError) -> Outgoing:
        """Return the reply for a commit that failed with `fault`."""
        if self.stands:
            return self
        envelope = self.again() if self.again is not None else error_of(self.envelope.id, fault)
        return Outgoing(self.peer, envelope, self.asked)


def reply_of(request_id: str, body: msgspec.Struct) -> ReplyEnvelope:
    return ReplyEnvelope(request_id, 0, body=body)


def error_of(request_id: str, fault: AcudError) -> ReplyEnvelope:
    facts = {key: value for key, value in fault.facts.items() if isinstance(value, str | int | float | bool)}
    return ReplyEnvelope(request_id, 0, error=ErrorBody(fault.code, fault.message, fault.hint, facts))
