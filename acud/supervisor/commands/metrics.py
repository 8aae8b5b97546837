"""Answer `metrics`."""

from __future__ import annotations

from acud.protocol.requests.daemon import Metrics, MetricsReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.metering.collecting import collect


def handle(app: App, request: Metrics, call: Call) -> MetricsReply:
    """Return every figure as of now."""
    return MetricsReply(collect(app))
