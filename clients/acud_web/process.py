"""The web process: under the supervisor, or in the foreground (acud web serve, acud web relay)."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Coroutine

from acud import child_process, log, paths
from acud.async_child import AsyncChild
from acud.http_listeners import ListenerSettings, WebSettings
from acud.paths import Paths
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud.protocol.children import Heartbeat, ToWeb
from acud_web.listeners import Listeners, Serving, listen_gateway, listen_relay
from acud_web.traces import export


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
            await _until_stopped(child, listeners, _traces(options, places))


def _traces(options: WebOptions, places: paths.Paths) -> list[Coroutine[None, None, None]]:
    otel = options.otel
    return [export.run(otel.url, places, direct=otel.is_here)] if otel.url else []


async def _until_stopped(
    child: AsyncChild[ToWeb], listeners: Listeners, beside: list[Coroutine[None, None, None]]
) -> None:
    async with asyncio.TaskGroup() as group:
        work = [_obey(child, listeners), child.beat(lambda: _heartbeat(listeners)), *beside]
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
    with listen_relay(settings, paths) as listening:
        told = f"acud web: {listening.url}, {listening.credentials}"
        asyncio.run(_serve(Serving(listening, paths), told))


def serve_gateway(settings: WebSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken; ConfigError when certificate or key
    can't be used.
    """
    log.configure("web", debug=False)
    with listen_gateway(settings) as listening:
        told = f"acud web: {listening.url}; acud web login --url {listening.url}"
        asyncio.run(_serve(Serving(listening, paths), told))


async def _serve(serving: Serving, told: str) -> None:
    """Serve; `told` says where, once it listens and a signal would end it."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.stop)
    sys.stderr.write(told + "\n")
    sys.stderr.flush()
    await serving.run()
