"""Traces beside the listeners of the web process: on where `[otel] endpoint` is set and `acud[otel]` is installed."""

from __future__ import annotations

from acud import log
from acud.paths import Paths
from acud_client.aio import AsyncClient
from acud_web.traces.following import follow

_LOG = log.logger("traces")


async def run(url: str, places: Paths, *, direct: bool) -> None:
    """Send spans to `url` until cancelled; without the SDK nothing is sent, which doctor tells as well."""
    try:
        from acud_web.traces.sending import Sender
    except ImportError as fault:
        _LOG.error("traces.missing", fault=str(fault), fix='pip install "acud[otel]"')
        return
    sender = Sender(url, direct=direct)
    _LOG.info("traces.sending", url=url)
    try:
        async with AsyncClient(places) as client:
            await follow(client, sender)
    finally:
        sender.close()
