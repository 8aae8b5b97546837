"""The control socket: takes typed requests and sends replies after the commit; idempotent ids, deferred replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import AcudError, Conflict, InternalError, InvalidRequest, Refused, StoreUnavailable
from acud.metrics.counters import Summaries, Tally
from acud.process.event_loop import EventLoop
from acud.protocol import VERSION, codec, zmtp
from acud.protocol.display_names import use_canonical_names
from acud.protocol.envelope import ReplyEnvelope, RequestEnvelope
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.command import Command, name_of
from acud.supervisor.coroutines import Callback, Steps, StepTask
from acud.supervisor.journal import Journal
from acud.supervisor.replies import Outgoing, RequestDigest, RequestTiming, error_of, reply_of
from acud.supervisor.socket_server.connection import ServerConnection
from acud.supervisor.socket_server.server import ServerLimits, SocketServer
from acud.types.metrics import Sample

_LOG = log.logger("control")
_TURN_REQUESTS = 64
_TURN_S = 0.008
"""Requests get this much of a turn, with timers, children and commits in between; a longer one ends the turn."""
_LIMITS = ServerLimits(zmtp.Bounds(codec.MAX_MESSAGE_BYTES, 8), connections=640, of_client=512)
_CLIENTS_SHARE = 4  # one client may have the parked replies' number divided by this, so that others have room

Handler = Callable[[Any, "Call"], msgspec.Struct | Steps[msgspec.Struct | None] | None]
"""Returns the reply, or None when `Call.reply` or `Call.fail` will come later. One of several steps is `async def`."""

Thing = TypeVar("Thing")
Registered = TypeVar("Registered", bound=Callable[..., Any])

HANDLERS: dict[str, Callable[..., Any]] = {}
"""The handler of each request, by name; `handles` fills it as their modules are imported."""


def handles(request: type[msgspec.Struct]) -> Callable[[Registered], Registered]:
    """Make the decorated function the handler of `request`. Raises: ValueError when it has one."""

    def register(handler: Registered) -> Registered:
        name = name_of(request)
        if name in HANDLERS:
            raise ValueError(f"{name} has two handlers: {HANDLERS[name].__module__} and {handler.__module__}")
        HANDLERS[name] = handler
        return handler

    return register


class FaultGuard:
    """Turns internal faults into errors for the caller, so that everything else goes on."""

    def __init__(self) -> None:
        self.count = 0  # faults since the start

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Do the block as a part of `name`. Raises: AcudError; InternalError for any other fault, which is logged."""
        try:
            yield
        except AcudError:
            raise
        except Exception as fault:
            self.count += 1
            _LOG.error("request.internal", request=name, exc_info=fault)
            raise InternalError(
                f"{name} met a fault of acud itself: {type(fault).__name__}",
                hint="see the traceback in the log: acud logs --level error",
            ) from fault


class Call:
    """One request until its reply; answering it twice is a bug."""

    def __init__(
        self, control: Control, peer: ServerConnection, envelope: RequestEnvelope, spec: Command, at_s: float
    ) -> None:
        self._control, self.peer = control, peer
        self.asked = RequestTiming(spec.name, at_s)
        self.request_id = envelope.id
        self.spec = spec
        self.digest = control.request_digest.digest(envelope.body)
        self.answered = False
        self.acted = False
        """Whether something was done outside the store: from then on repeats get the same answer, even an error."""

    def reply(
        self, body: msgspec.Struct, on_sent: Callable[[], None] | None = None, stored_body: msgspec.Struct | None = None
    ) -> None:
        """Answer; the reply is sent after this turn's commit. `on_sent` is called once it was sent to a connected
        client. `stored_body`: the answer for repeats, if `body` holds what must not be stored.
        """
        stored = None if stored_body is None else reply_of(self.request_id, stored_body)
        self._control.answer(self, reply_of(self.request_id, body), on_sent, stored)

    def when_started(self, step: Callable[[], None]) -> None:
        """Do `step` once the start of this request is on disk; if that fails, the call fails without it."""
        self._control.when_started(self, step)

    def started(self) -> Callback[None]:
        """Await that the start of this request is on disk; if that fails, the call fails and its coroutine ends."""
        return Callback(lambda resume: self.when_started(lambda: resume(None)))

    def touch(self) -> None:
        """Note that the call is about to change something outside the store."""
        self.acted = True

    def fail(self, fault: AcudError) -> None:
        self._control.answer(self, error_of(self.request_id, fault))

    def end(self, outcome: msgspec.Struct | AcudError | None) -> None:
        """Answer with what the coroutine of a handler returned (None: it has answered). Raises: its fault, so that the
        savepoint of its last step is undone.
        """
        if isinstance(outcome, AcudError):
            raise outcome
        if outcome is not None:
            self.reply(outcome)

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` as a callback; what it raises answers this call, and does not reach its caller."""
        return lambda outcome: self._control.go_on(self, lambda: step(outcome))


class Control:
    """Owns the control socket at `path`.

    A turn serves some requests, of each client in turn; the others wait for the next turn. `handlers` has one entry per
    request name before the loop runs. A request is handled inside a savepoint of the turn's transaction; its reply is
    queued until `flush`, which the supervisor calls after the commit.
    """

    def __init__(
        self,
        path: Path,
        loop: EventLoop,
        journal: Journal,
        max_parked: int,
        clock: Clock,
        request_digest: RequestDigest,
        handlers: Mapping[str, Handler],
        admit: Callable[[Command, msgspec.Struct], None],
        faults: FaultGuard,
    ) -> None:
        """`admit` raises an error if a request of that command is refused now."""
        self._clock, self.request_digest, self._journal = clock, request_digest, journal
        self._now = loop.now_s
        self._handlers, self._admit, self._max_parked = handlers, admit, max_parked
        self._parked: dict[str, Call] = {}
        self._parked_by: Counter[str] = Counter()
        self._starting: list[Call] = []  # calls that begin only after this turn's commit
        self._outgoing: list[Outgoing] = []
        self._faults = faults
        self._answers_s = Summaries()  # replies by request, and the time each took
        self._errors = Tally()  # replies that were errors, by request and code
        self.server = SocketServer(path, loop, "ROUTER", frozenset({"REQ", "DEALER"}), _LIMITS, self.serve)

    @property
    def parked(self) -> int:
        """Number of calls without a reply yet."""
        return len(self._parked)

    # ---- in --------------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Handle some of the requests that have arrived."""
        began_s = now_s = self._now()
        for _ in range(_TURN_REQUESTS):
            found = self.server.next() if now_s - began_s < _TURN_S else None
            if found is None:
                return
            self._handle_message(*found)
            before_s, now_s = now_s, self._now()
            self.server.charge(found[0], now_s - before_s)

    def _handle_message(self, peer: ServerConnection, parts: list[bytes]) -> None:
        data = parts[-1]
        if len(parts) != 2 or parts[0] != b"":
            self.server.close(peer, "it sends what is no request")  # it would understand no reply
            return
        request_id, asked = "-", RequestTiming("unknown", self._now())
        try:
            plain = codec.unpack(data)
            request_id, asked = _id_of(plain), RequestTiming(_name_of(plain), asked.at_s)
            codec.check_numbers(data, plain, "body")
            self._begin_call(peer, codec.convert(plain, RequestEnvelope), asked.at_s)
        except AcudError as fault:
            self._outgoing.append(Outgoing(peer, error_of(request_id, fault), asked))

    def _begin_call(self, peer: ServerConnection, envelope: RequestEnvelope, at_s: float) -> None:
        if envelope.v != VERSION:
            raise InvalidRequest(
                f"protocol version {envelope.v} is not spoken here, {VERSION} is", hint="update the older side"
            )
        spec = _find_command(envelope.body)
        request = use_canonical_names(codec.convert(envelope.body, spec.request))
        call = Call(self, peer, envelope, spec, at_s)
        if not self._answer_repeat(call):
            self._handle_request(call, request)

    def _answer_repeat(self, call: Call) -> bool:
        parked = self._parked.get(call.request_id)
        if parked is not None:
            if parked.digest != call.digest:
                raise _other_content(call.request_id)
            self._unpark_call(call.request_id)
            parked.peer = call.peer  # the client gave up on its old socket; the reply goes to the new one
            self._keep_parked(parked)
            return True
        if not call.spec.mutating:
            return False
        reply = self._journal.store.requests.recall(call.request_id, call.digest)
        if reply is None:
            return False
        envelope = codec.decode(reply, ReplyEnvelope, limit=codec.MAX_REPLY_BYTES)
        self._outgoing.append(Outgoing(call.peer, envelope, call.asked))
        return True

    def _handle_request(self, call: Call, request: Any) -> None:
        self._admit(call.spec, request)
        if call.spec.deferred:
            self._check_parked(call.peer.client)
        with self._part_of(call):
            body = self._begin_answer(call, request)
        if body is not None and not (call.spec.mutating or call.spec.deferred):
            call.answered = True
            again = partial(self._read_again, call, request)
            self._outgoing.append(Outgoing(call.peer, reply_of(call.request_id, body), call.asked, again=again))
        elif body is not None:
            call.reply(body)
        elif not call.answered:
            self._park_call(call)

    def _begin_answer(self, call: Call, request: Any) -> msgspec.Struct | None:
        answer = self._handlers[call.spec.name](request, call)
        if answer is None or isinstance(answer, msgspec.Struct):
            return answer
        StepTask(answer, call.later, call.end).begin()
        return None

    def _read_again(self, call: Call, request: Any) -> ReplyEnvelope:
        try:
            with self._faults.guard(call.spec.name):
                body = self._begin_answer(call, request)
        except AcudError as fault:
            return error_of(call.request_id, fault)
        assert body is not None  # a request that is never deferred answers at once
        return reply_of(call.request_id, body)

    def _check_parked(self, client: str) -> None:
        if len(self._parked) >= self._max_parked:
            raise Refused(f"{len(self._parked)} replies are parked already", hint="wait for some of them")
        share = max(1, self._max_parked // _CLIENTS_SHARE)
        if self._parked_by[client] >= share:
            raise Refused(
                f"{share} replies to this client are parked already",
                hint="wait for some of them; one client may have a quarter of [daemon] max_parked_replies",
            )

    def _keep_parked(self, call: Call) -> None:
        self._parked[call.request_id] = call
        self._parked_by[call.peer.client] += 1

    def _unpark_call(self, request_id: str) -> Call | None:
        call = self._parked.pop(request_id, None)
        if call is not None:
            self._parked_by[call.peer.client] -= 1
            if not self._parked_by[call.peer.client]:
                del self._parked_by[call.peer.client]
        return call

    def _park_call(self, call: Call) -> None:
        self._keep_parked(call)
        if not call.spec.outside:
            return
        try:
            self._journal.store.requests.start(call.request_id, call.digest, self._clock.instant().utc_s)
        except StoreUnavailable:
            if call not in self._starting:  # else the turn's failed commit answers it
                raise

    def when_started(self, call: Call, step: Callable[[], None]) -> None:
        """Run `step` after this turn's commit; `flush_failed` answers the call in its place."""
        self._starting.append(call)
        self._journal.after_commit(lambda: self._begin_started(call, step))

    def _begin_started(self, call: Call, step: Callable[[], None]) -> None:
        self._starting.remove(call)
        self.go_on(call, step)

    def go_on(self, call: Call, step: Callable[[], None]) -> None:
        """Run a later part of `call`; a fault answers it."""
        try:
            with self._part_of(call):
                step()
        except AcudError as fault:
            if not call.answered:
                call.fail(fault)

    @contextmanager
    def _part_of(self, call: Call) -> Iterator[None]:
        savepoint = self._journal.savepoint() if call.spec.mutating else nullcontext()
        with savepoint, self._faults.guard(call.spec.name):
            yield

    # ---- out -------------------------------------------------------------------------------------------------------

    def answer(
        self,
        call: Call,
        envelope: ReplyEnvelope,
        on_sent: Callable[[], None] | None = None,
        stored_reply: ReplyEnvelope | None = None,
    ) -> None:
        """Queue the reply of `call`; record that of a mutating one (or `stored_reply`) in the turn's transaction."""
        if call.answered:
            raise RuntimeError(f"{call.spec.name} {call.request_id} was answered twice")
        call.answered = True
        self._unpark_call(call.request_id)
        final = self._record_reply(call, envelope, stored_reply or envelope) if call.spec.mutating else envelope
        self._outgoing.append(Outgoing(call.peer, final, call.asked, on_sent, stands=not call.spec.mutating))

    def _record_reply(self, call: Call, envelope: ReplyEnvelope, stored_reply: ReplyEnvelope) -> ReplyEnvelope:
        requests = self._journal.store.requests
        try:
            if envelope.error is None or call.acted:
                requests.answer(call.request_id, call.digest, codec.encode(stored_reply), self._clock.instant().utc_s)
            else:
                requests.withdraw(call.request_id)
        except StoreUnavailable as fault:
            return error_of(call.request_id, fault)
        return envelope

    def samples(self) -> Iterator[tuple[str, Sample]]:
        """Yield the metrics of its requests."""
        for sample in self._answers_s.samples():
            yield "acud_requests_total", Sample(sample.labels, sample.count)
            yield "acud_request_seconds", sample
        yield from (("acud_request_errors_total", sample) for sample in self._errors.samples())
        yield "acud_requests_parked", Sample((), self.parked)

    def flush(self, newest: int) -> None:
        """Send the replies of the committed turn. `newest`: the newest event number."""
        outgoing, self._outgoing = self._outgoing, []
        for one in outgoing:
            began_s = self._now()
            self._count_answer(one)
            if self._send_reply(one.peer, msgspec.structs.replace(one.envelope, n=newest)) and one.on_sent is not None:
                one.on_sent()
            self.server.charge(one.peer, self._now() - began_s)

    def _count_answer(self, one: Outgoing) -> None:
        took_s = self._now() - one.asked.at_s
        self._answers_s.observe(took_s, one.asked.name)
        fault = one.envelope.error.code if one.envelope.error is not None else ""
        _LOG.debug("request.answered", request=one.asked.name, ms=round(took_s * 1000, 1), fault=fault)
        if one.envelope.error is not None:
            self._errors.add(one.asked.name, one.envelope.error.code)

    def flush_failed(self, newest: int, fault: AcudError) -> None:
        """Send `fault` in place of each reply that needed the failed commit; repeat requests that only read."""
        self._outgoing = [one.after(fault) for one in self._outgoing]
        starting, self._starting = self._starting, []
        for call in starting:
            if self._unpark_call(call.request_id) is call:
                call.answered = True
                self._outgoing.append(Outgoing(call.peer, error_of(call.request_id, fault), call.asked))
        self.flush(newest)

    def _send_reply(self, peer: ServerConnection, envelope: ReplyEnvelope) -> bool:
        if self.server.send(peer, [b"", codec.encode(envelope)]):
            return True
        _LOG.debug("reply.unsent", request=envelope.id)  # the client is gone, or was closed as it does not read
        return False


def _find_command(body: dict[str, Any]) -> Command:
    name = body.get("type")
    spec = BY_NAME.get(name) if isinstance(name, str) else None
    if spec is None:
        raise InvalidRequest(f"unknown request {name!r}", hint="known: " + ", ".join(sorted(BY_NAME)))
    return spec


def _id_of(plain: Any) -> str:
    found = plain.get("id") if isinstance(plain, dict) else None
    return found if isinstance(found, str) else "-"


def _name_of(plain: Any) -> str:
    body = plain.get("body") if isinstance(plain, dict) else None
    name = body.get("type") if isinstance(body, dict) else None
    return name if isinstance(name, str) and name in BY_NAME else "unknown"


def _other_content(request_id: str) -> Conflict:
    return Conflict(
        f"request id {request_id} was used for another content",
        hint="use a fresh id for a new request",
        request_id=request_id,
    )
