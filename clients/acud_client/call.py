"""One request on its way, without a socket: what to send, how long to listen, when to send again, when to give up.

The Lazy Pirate of the ZeroMQ guide (chapter 4, "Client-Side Reliability"): a REQ socket that got no answer is thrown
away, and the same request, with the same id, goes out on a new one. The daemon knows a repeat by its id.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import msgspec

from acud.base import ids
from acud.base.errors import AcudError, DaemonDown, InvalidRequest, ProtocolError, from_wire
from acud.protocol import VERSION, codec
from acud.protocol.envelope import ErrorBody, ReplyEnvelope, RequestEnvelope
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.command import Command, name_of
from acud_client.daemon_socket import DaemonSocket, SocketState, SocketStatus

ATTEMPT_S = 5.0
"""How long one attempt listens before the request is sent again; daemons answer plain requests in a millisecond."""

DEFERRED_ATTEMPT_S = 30.0
"""The same for requests with a deferred reply: asking again finds the pending one."""

PAUSE_S = 0.05
"""Between looks at a socket on which no daemon answers."""

DEFAULT_S = 10.0
"""How long a client lets a plain request take in all, when its caller names no limit."""

POLL_S = 20.0
"""The longest single long-poll of `wait_end`: short enough that a daemon's restart costs little."""

_GARBAGE_LIMIT = 3
_FIRST_LOOK_S = 0.25
_LAST_LOOK_S = 2.0


class Step(Enum):
    """What the owner of the socket does next."""

    SEND = "send"
    LISTEN = "listen"
    PAUSE = "pause"


class ClientLimits(msgspec.Struct, frozen=True):
    """`total_s` bounds the whole call; `patience_s` is how long a daemon may be away before that is an error."""

    total_s: float
    patience_s: float = 0.0


class ClientCall:
    """A request, its id and its clocks. All times are readings of one monotonic clock, in seconds."""

    def __init__(
        self,
        request: msgspec.Struct,
        limits: ClientLimits,
        daemon_socket: DaemonSocket,
        now_s: float,
        request_id: str = "",
    ) -> None:
        self.spec: Command = command_of(request)
        self.request_id = request_id or ids.new_id("req")
        self.frame = _encode_envelope(self.request_id, request)
        self._limits = limits
        self._daemon_socket = daemon_socket
        self._deadline_s = now_s + limits.total_s
        self._attempt_s = DEFERRED_ATTEMPT_S if self.spec.deferred else ATTEMPT_S
        self._attempt_end_s = now_s
        self._away_since_s: float | None = None
        self._look_s = _FIRST_LOOK_S
        self._sent_to = ""
        self._garbage = 0

    def next_step(self, now_s: float, status: SocketStatus) -> Step:
        """Return the next step, given a look at the socket. Raises: DaemonDown when no step is left."""
        if now_s >= self._deadline_s and self._sent_to:
            raise self._daemon_socket.silent(
                self._limits.total_s, self.spec.name, self.request_id, is_mutating=self.spec.mutating
            )
        if status.state is not SocketState.OPEN:
            if self._away_since_s is None:
                self._away_since_s = now_s
            if now_s - self._away_since_s >= self._limits.patience_s or now_s >= self._deadline_s:
                raise self._daemon_socket.fault(status.state)
            self._sent_to = ""
            return Step.PAUSE
        self._away_since_s = None
        if status.serial == self._sent_to and now_s < self._attempt_end_s:
            return Step.LISTEN
        return self._begin_attempt(now_s, status.serial)

    def _begin_attempt(self, now_s: float, serial: str) -> Step:
        self._sent_to = serial
        self._attempt_end_s = now_s + self._attempt_s
        self._look_s = _FIRST_LOOK_S
        return Step.SEND

    def listen_ms(self, now_s: float) -> int:
        """Return for how many ms to poll before the next check of the daemon's socket; checks grow rarer."""
        end_s = min(self._attempt_end_s, self._deadline_s)
        wanted_s, self._look_s = self._look_s, min(self._look_s * 2, _LAST_LOOK_S)
        return max(0, math.ceil(1000 * min(wanted_s, end_s - now_s)))

    def accept(self, parts: list[bytes]) -> Any:
        """Return the reply in `parts`, or None when it is garbage and the request must be sent again.

        Raises: the error that the daemon answered with; ProtocolError after garbage again and again.
        """
        reply = self._read_reply(parts)
        if reply is None or (reply.body is None and reply.error is None):
            return self._count_garbage()
        if reply.error is not None:
            raise rebuild_error(reply.error)
        try:
            return codec.convert(reply.body, self.spec.reply)
        except InvalidRequest as fault:
            raise ProtocolError(
                f"the daemon's reply to {self.spec.name} is malformed: {fault.message}", hint=_VERSION_HINT
            ) from fault

    def _read_reply(self, parts: list[bytes]) -> ReplyEnvelope | None:
        try:
            reply = codec.decode(b"".join(parts), ReplyEnvelope, limit=codec.MAX_REPLY_BYTES)
        except InvalidRequest:
            return None
        # A daemon that could not read our envelope answers with an error that has no id.
        mine = reply.id == self.request_id or (reply.error is not None and reply.id in _NAMELESS)
        return reply if mine else None

    def _count_garbage(self) -> None:
        self._garbage += 1
        self._sent_to = ""
        if self._garbage >= _GARBAGE_LIMIT:
            raise ProtocolError(f"what answers {self.spec.name} is not acud's protocol", hint=_VERSION_HINT)


_VERSION_HINT = f"this client speaks version {VERSION}; `acud daemon restart` starts the daemon of this installation"
_NAMELESS = ("", "-")
_TAKEN = frozenset({"self", "message", "hint"})


def total_s(request: msgspec.Struct, timeout_s: float) -> float:
    """Return the limit in seconds for `request`: the client's own, or more if its declaration asks for more."""
    return command_of(request).total_s(request, timeout_s)


def command_of(request: msgspec.Struct) -> Command:
    """Return the declaration of `request`. Raises: InvalidRequest when its type is no request's."""
    command = BY_NAME.get(name_of(type(request)))
    if command is None:
        raise InvalidRequest(f"{type(request).__name__} is not a request")
    return command


def poll_s(left_s: float) -> float:
    """Return how long the next long-poll may block when `left_s` are left in all."""
    return max(0.0, min(POLL_S, left_s))


def rebuild_error(error: ErrorBody) -> AcudError:
    """Return the exception for an error from the wire; a fact with the name of an error's own attribute gets a dash."""
    facts = {f"{name}_" if name in _TAKEN else name: value for name, value in error.facts.items()}
    return from_wire(error.code, error.message, error.hint, facts)


def _encode_envelope(request_id: str, request: msgspec.Struct) -> bytes:
    body = msgspec.to_builtins(request, builtin_types=(bytes,))
    checked = codec.convert(body, type(request))
    frame = codec.encode(RequestEnvelope(VERSION, request_id, msgspec.to_builtins(checked)))
    if len(frame) > codec.MAX_MESSAGE_BYTES:
        raise InvalidRequest(f"a request of {len(frame)} bytes is over the limit of {codec.MAX_MESSAGE_BYTES}")
    return frame


def is_away(fault: AcudError) -> bool:
    """Return whether `fault` means that no daemon listens now (rather than that one is silent or closed to us)."""
    return isinstance(fault, DaemonDown) and fault.facts.get("reason") in (SocketState.ABSENT, SocketState.REFUSED)
