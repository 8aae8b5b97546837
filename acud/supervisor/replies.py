"""Replies on their way out, what becomes of them when the commit of their turn fails, and how a repeat is known."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from acud.base.errors import AcudError, InvalidRequest, Refused
from acud.base.paths import kept_secret
from acud.protocol.envelope import ErrorBody, ReplyEnvelope
from acud.supervisor.socket_server.connection import ServerConnection

_KEY_BYTES = 32


class RequestDigest:
    """Makes digests with the key in the file at `path`, which lies beside the store and never in it.

    With another key (a file that was removed, an older acud's digests) a repeat is a Conflict, never a second deed;
    such rows lapse with the others after 24 h.
    """

    def __init__(self, path: Path) -> None:
        """Read the key, or make it. Raises: Refused for a file that holds none or that others can read; OSError."""
        text = kept_secret(path, lambda: secrets.token_hex(_KEY_BYTES).encode())
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
    """What a reply answers, for those who count: the request's name (`unknown` for none we know), and since when."""

    name: str
    at_s: float


class Outgoing(msgspec.Struct, frozen=True):
    """A reply that leaves after the commit. Should that fail: `again` asks anew where it only read, for it may have
    seen what is undone; `stands`: it tells what went before this turn, and wanted nothing stored in it.
    """

    peer: ServerConnection
    envelope: ReplyEnvelope
    asked: RequestTiming
    left: Callable[[], None] | None = None
    again: Callable[[], ReplyEnvelope] | None = None
    stands: bool = False

    def after(self, fault: AcudError) -> Outgoing:
        """Return what is said when the commit failed with `fault`."""
        if self.stands:
            return self
        envelope = self.again() if self.again is not None else error_of(self.envelope.id, fault)
        return Outgoing(self.peer, envelope, self.asked)


def reply_of(request_id: str, body: msgspec.Struct) -> ReplyEnvelope:
    """Return the reply that `body` is."""
    return ReplyEnvelope(request_id, 0, body=body)


def error_of(request_id: str, fault: AcudError) -> ReplyEnvelope:
    """Return the reply that says `fault`."""
    facts = {key: value for key, value in fault.facts.items() if isinstance(value, str | int | float | bool)}
    return ReplyEnvelope(request_id, 0, error=ErrorBody(fault.code, fault.message, fault.hint, facts))
