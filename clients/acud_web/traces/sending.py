"""Spans to an OTLP receiver over HTTP, by OpenTelemetry's own SDK, from a thread of its own.

The SDK comes with the extra `acud[otel]`; this module is imported only where `[otel] endpoint` is set.
"""

from __future__ import annotations

import logging
import threading

import requests
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags, set_span_in_context

from acud import __version__
from acud_web.traces.spans import Span

_BATCH_MS = 1000
_QUEUE = 2048
"""Spans that wait for a receiver that is slow or away; more are dropped, and the SDK logs that."""
_TIMEOUT_S = 10.0
_CLOSE_S = 1.0
"""The supervisor kills its children three seconds after it told them to end."""
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class _GivenIds(IdGenerator):
    """The ids of the span that is being made."""

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
        _log_with_ours()

    def send(self, span: Span) -> None:
        """Queue `span`."""
        self._ids.trace_id, self._ids.span_id = span.trace_id, span.span_id
        made = self._tracer.start_span(
            span.name, context=_within(span), attributes=span.attributes, start_time=_ns(span.start_utc_s)
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


def _within(span: Span) -> Context:
    if not span.parent_id:
        return Context()
    parent = SpanContext(span.trace_id, span.parent_id, is_remote=False, trace_flags=_SAMPLED)
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _ns(utc_s: float) -> int:
    return int(utc_s * 1e9)


def _log_with_ours() -> None:
    """Have the SDK's own faults (a receiver that is away) written as acud's log is."""
    theirs = logging.getLogger("opentelemetry")
    theirs.handlers, theirs.propagate = logging.getLogger("acud").handlers, False
