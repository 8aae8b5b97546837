"""Spans of waits, made from the daemon's events and sent to an OTLP receiver by OpenTelemetry's own SDK.

Ids follow from the wait's id: every span of a wait finds its trace and its parent, in whichever process it is made. So
nothing has to be kept between events, and a web process that is started anew goes on with the same trace.

Attributes hold ids, names of judges and routes, answers and figures; never words from a screen, nor the condition's.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Protocol

import requests
from msgspec import Struct
from msgspec.structs import replace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags, set_span_in_context

from acud import __version__
from acud.base import log
from acud.base.errors import AcudError, NotFound
from acud.base.paths import Paths
from acud.protocol.events import Event
from acud.types import WaitInfo, WaitState, WakeInfo
from acud_client.aio import AsyncClient
from acud_client.stream import Trimmed

Value = str | int | float | bool


class Span(Struct, frozen=True):
    """One span; times are UTC seconds. `points`: moments within it, by name.

    `span_id` 0: any will do. `parent_id` 0: it is the trace's root. `failed`: why it counts as an error ("": it does
    not).
    """

    name: str
    trace_id: int
    start_utc_s: float
    end_utc_s: float
    attributes: Mapping[str, Value]
    span_id: int = 0
    parent_id: int = 0
    points: Mapping[str, float] = {}
    failed: str = ""


def trace_id(wait_id: str) -> int:
    """Return the 128-bit id of the wait's trace; never 0, which OpenTelemetry takes for invalid."""
    return int.from_bytes(hashlib.sha256(wait_id.encode()).digest()[:16]) | 1


def root_id(wait_id: str) -> int:
    """Return the 64-bit id of the wait's own span."""
    return int.from_bytes(hashlib.sha256(wait_id.encode()).digest()[16:24]) | 1


def make_judged_span(event: Event) -> Span:
    """Return the span of the judge's call in `wait.judged`."""
    data = event.data
    answer = {"acud.answer": data["answer"], "acud.code": data["code"]}
    facts = {"acud.judge": data["judge"], "acud.frame": data["frame"], **answer}
    start_utc_s = event.utc_s - float(data["latency_ms"]) / 1000
    fault = str(data["code"]) if data["answer"] == "unknown" else ""
    return _make_child("acud.judge", event.subject, start_utc_s, event.utc_s, facts, fault)


def make_ended_spans(wait: WaitInfo) -> list[Span]:
    """Return the wait's own span, from its arming to its end, and the way from the deciding frame to the verdict."""
    end = wait.ended_utc_s
    root = Span(
        "acud.wait",
        trace_id(wait.wait_id),
        wait.created_utc_s,
        end,
        _list_attributes(wait),
        root_id(wait.wait_id),
        points={"armed": wait.created_utc_s, wait.state.value: end},
        failed=wait.verdict.code or "failed" if wait.state is WaitState.FAILED else "",
    )
    return [root, _make_verdict_span(wait)] if wait.state is WaitState.RESOLVED else [root]


def _list_attributes(wait: WaitInfo) -> dict[str, Value]:
    facts: dict[str, Value] = {
        "acud.wait_id": wait.wait_id,
        "acud.state": wait.state.value,
        "acud.display": wait.display,
        "acud.judge": wait.spec.judge,
        "acud.frames_seen": wait.frames_seen,
        "acud.judged": wait.judged,
        "acud.judge_calls": wait.judge_calls,
    }
    facts |= {"acud.task_id": wait.spec.task_id} if wait.spec.task_id else {}
    return facts | ({"acud.cost_usd": wait.cost_usd} if wait.cost_usd is not None else {})


def _make_verdict_span(wait: WaitInfo) -> Span:
    """A wait that resolved on what was there before it has no deciding change: then the span has no length."""
    since_s = (wait.changed_to_resolved_ms or 0.0) / 1000
    facts: dict[str, Value] = {"acud.answer": wait.verdict.answer.value}
    if wait.evidence is not None:
        facts |= {"acud.frame": wait.evidence.frame, "acud.epoch": wait.evidence.epoch}
    start_utc_s = wait.ended_utc_s - since_s
    made = _make_child("acud.verdict", wait.wait_id, start_utc_s, wait.ended_utc_s, facts)
    return made if wait.changed_to_resolved_ms is None else replace(made, points={"frame": start_utc_s})


def make_wake_span(wake: WakeInfo) -> Span:
    """Return the way of a wake: from its making to a receiver that took it, or to giving up."""
    sent = bool(wake.sent_utc_s)
    facts: dict[str, Value] = {
        "acud.wake_id": wake.wake_id,
        "acud.kind": wake.kind.value,
        "acud.route": wake.sent_by,
        "acud.reminders": wake.reminders,
    }
    end_utc_s = wake.sent_utc_s if sent else wake.created_utc_s
    return _make_child("acud.wake", wake.wait_id, wake.created_utc_s, end_utc_s, facts, "" if sent else "undelivered")


def _make_child(
    name: str, wait_id: str, start_utc_s: float, end_utc_s: float, facts: Mapping[str, Value], fault: str = ""
) -> Span:
    start = min(start_utc_s, end_utc_s)
    found = {key: value for key, value in facts.items() if value != ""}
    return Span(name, trace_id(wait_id), start, end_utc_s, found, parent_id=root_id(wait_id), failed=fault)


_BATCH_MS = 1000
_QUEUE = 2048
"""Spans that wait for a receiver that is slow or away; more are dropped, and the SDK logs that."""
_TIMEOUT_S = 10.0
_CLOSE_S = 1.0
"""The supervisor kills its children three seconds after it asked them to end."""
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class _GivenIds(IdGenerator):
    """Gives the tracer the ids of the span that is being exported."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self.trace_id = 0
        self.span_id = 0

    def generate_span_id(self) -> int:
        return self.span_id or self._random.generate_span_id()

    def generate_trace_id(self) -> int:
        return self.trace_id


class Sender:
    """Queues spans for `endpoint`, a whole URL; never blocks. `direct`: past any proxy (it is on this machine)."""

    def __init__(self, endpoint: str, *, direct: bool) -> None:
        session = requests.Session()
        session.trust_env = not direct
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=_TIMEOUT_S, session=session)
        self._ids = _GivenIds()
        resource = Resource.create({"service.name": "acud", "service.version": __version__})
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, _QUEUE, _BATCH_MS))
        self._tracer = self._provider.get_tracer("acud", __version__)
        # Have the SDK's own faults (a receiver that is away) written as acud's log is.
        theirs = logging.getLogger("opentelemetry")
        theirs.handlers, theirs.propagate = logging.getLogger("acud").handlers, False

    def send(self, span: Span) -> None:
        self._ids.trace_id, self._ids.span_id = span.trace_id, span.span_id
        made = self._tracer.start_span(
            span.name, context=_make_context(span), attributes=span.attributes, start_time=_ns(span.start_utc_s)
        )
        for name, utc_s in span.points.items():
            made.add_event(name, timestamp=_ns(utc_s))
        if span.failed:
            made.set_status(Status(StatusCode.ERROR, span.failed))
        made.end(_ns(span.end_utc_s))

    def close(self) -> None:
        """Send what is queued; blocks for at most a second, and gives up what a receiver that is away did not take."""
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(_CLOSE_S)


def _make_context(span: Span) -> Context:
    if not span.parent_id:
        return Context()
    parent = SpanContext(span.trace_id, span.parent_id, is_remote=False, trace_flags=_SAMPLED)
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _ns(utc_s: float) -> int:
    return int(utc_s * 1e9)


_LOG = log.logger("traces")
_AGAIN_S = 1.0
_ENDS = frozenset(f"wait.{state.value}" for state in WaitState if state is not WaitState.WATCHING)


class Sink(Protocol):
    """Where spans go."""

    def send(self, span: Span) -> None:
        """Queue `span`; never blocks."""


async def follow(client: AsyncClient, sink: Sink) -> None:
    """Make spans of what happens from now on, until cancelled; a daemon that is away is waited for."""
    async with aclosing(_follow_events(client)) as events:
        async for event in events:
            try:
                for span in await make_spans(client, event):
                    sink.send(span)
            except NotFound:
                continue  # retention or a deletion was quicker
            except AcudError as fault:
                _LOG.warning("trace.lost", topic=event.topic, fault=fault.message)


async def make_spans(client: AsyncClient, event: Event) -> list[Span]:
    """Return the spans that `event` completes. Raises: AcudError if the daemon has no more about it."""
    if event.topic == "wait.judged":
        return [make_judged_span(event)]
    if event.topic in _ENDS:
        return make_ended_spans((await client.wait_show(event.subject)).wait)
    if event.topic in ("wake.sent", "wake.undelivered"):
        found = await client.wake_list(seen=True, wait_id=str(event.data["wait_id"])) if event.data["wait_id"] else None
        return [make_wake_span(wake) for wake in found.wakes if wake.wake_id == event.subject] if found else []
    return []


async def _ask_newest(client: AsyncClient) -> int:
    while True:
        try:
            return (await client.events_since(limit=1)).newest
        except AcudError:
            await asyncio.sleep(_AGAIN_S)


async def _follow_events(client: AsyncClient) -> AsyncGenerator[Event, None]:
    newest = await _ask_newest(client)
    stream = client.events(topic="wa", after=newest)  # wait. and wake.
    _LOG.info("traces.following", after=newest)
    try:
        while True:
            try:
                told = await anext(stream)
            except AcudError:
                await asyncio.sleep(_AGAIN_S)
                continue
            if isinstance(told, Trimmed):
                _LOG.warning("trace.gap", after=told.after, first=told.first)
            else:
                yield told
    finally:
        stream.close()


async def run(url: str, places: Paths, *, direct: bool) -> None:
    """Send spans to `url` until cancelled."""
    sender = Sender(url, direct=direct)
    _LOG.info("traces.sending", url=url)
    try:
        async with AsyncClient(places) as client:
            await follow(client, sender)
    finally:
        sender.close()
