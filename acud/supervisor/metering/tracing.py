"""Whether what sends traces is installed: the web process imports it, the supervisor only looks for it."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from acud.config import OtelSettings


def missing(settings: OtelSettings) -> str:
    """Return why no traces can be sent though an endpoint is set; "" where nothing is wrong."""
    if not settings.url or _is_installed():
        return ""
    return "[otel] endpoint is set, and the extra acud[otel] is not installed"


@cache
def _is_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:  # not even the packages around it
        return False
