"""Replies on their way out, and what becomes of them when the commit of their turn fails."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from acud.errors import AcudError
from acud.protocol.envelope import ErrorBody, ReplyEnvelope
from acud.supervisor.socket_server.connection import ServerConnection


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
