"""The web process: under the supervisor, or in the foreground (acud web serve, acud web relay)."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine

from acud import child_process, log, paths
from acud.async_child import AsyncChild
from acud.http_listeners import ListenerSettings, WebSettings
from acud.paths import Paths
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud.protocol.children import Heartbeat, ToWeb
from acud_web.application import Serving
from acud_web.listeners import Listeners, listen_endpoints, listen_gateway
from acud_web.server import run_in_foreground

_LOG = log.logger("traces")


async def serve(bootstrap: Bootstrap, options: WebOptions) -> None:
    """Serve until `Stop` or SIGTERM. Raises: Refused or ConfigError when nothing that is asked for can be served: a
    port is taken, the token's file is open to others, a file that is named can't be used.
    """
    places = paths.resolve({"ACU_HOME": options.home})
    async with AsyncChild[ToWeb](bootstrap, ToWeb) as child:
        with contextlib.ExitStack() as stack:
            listeners = Listeners(options, places, stack)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, listeners.stop)
            await child.send(listeners.hello)
            await _until_stopped(child, listeners, _send_traces(options, places))


async def _send_traces(options: WebOptions, places: paths.Paths) -> None:
    """Send spans where one asks for it; without the SDK nothing is sent, which doctor tells as well."""
    if not options.otel.url:
        return
    try:
        from acud_web import trace_export
    except ImportError as fault:
        _LOG.error("traces.missing", fault=str(fault), fix='pip install "acud[otel]"')
        return
    await trace_export.run(options.otel.url, places, direct=options.otel.is_here)


async def _until_stopped(child: AsyncChild[ToWeb], listeners: Listeners, traces: Coroutine[None, None, None]) -> None:
    async with asyncio.TaskGroup() as group:
        work = [_obey(child, listeners), child.beat(lambda: _heartbeat(listeners)), traces]
        tasks = [group.create_task(one) for one in work]
        await listeners.run(lambda: group.create_task(child.send(listeners.hello)))
        for task in tasks:
            task.cancel()


async def _obey(child: AsyncChild[ToWeb], listeners: Listeners) -> None:
    async for _ in child.messages():  # Stop is all there is
        listeners.stop()


def _heartbeat(listeners: Listeners) -> Heartbeat:
    return Heartbeat(rss_mb=child_process.rss_mb(), counters=listeners.counters())


def serve_relay(settings: ListenerSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken or the token's file is open to others."""
    log.configure("web", debug=False)
    with listen_endpoints(settings, paths) as listening:
        told = f"acud web: {listening.url}, {listening.credentials}"
        serving = Serving(listening, paths)
        asyncio.run(run_in_foreground(serving.run, serving.stop, told))


def serve_gateway(settings: WebSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken; ConfigError when certificate or key
    can't be used.
    """
    log.configure("web", debug=False)
    with listen_gateway(settings) as listening:
        told = f"acud web: {listening.url}; acud web login --url {listening.url}"
        serving = Serving(listening, paths)
        asyncio.run(run_in_foreground(serving.run, serving.stop, told))
