"""The web process under the supervisor: hello, heartbeats, and an end when told."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine

from acud import child_process, paths
from acud.async_child import AsyncChild
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud.protocol.children import Heartbeat
from acud.protocol.serving import ToWeb
from acud_web.doors import Doors
from acud_web.traces import running


async def serve(bootstrap: Bootstrap, options: WebOptions) -> None:
    """Serve until `Stop` or SIGTERM. Raises: Refused or ConfigError when nothing that is asked for can be served: a
    port is taken, the token's file is open to others, a file that is named can't be used.
    """
    places = paths.resolve({"ACU_HOME": options.home})
    async with AsyncChild[ToWeb](bootstrap, ToWeb) as child:
        with contextlib.ExitStack() as stack:
            doors = Doors(options, places, stack)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, doors.stop)
            await child.send(doors.hello)
            await _until_stopped(child, doors, _traces(options, places))


def _traces(options: WebOptions, places: paths.Paths) -> list[Coroutine[None, None, None]]:
    otel = options.otel
    return [running.run(otel.url, places, direct=otel.is_here)] if otel.url else []


async def _until_stopped(child: AsyncChild[ToWeb], doors: Doors, beside: list[Coroutine[None, None, None]]) -> None:
    async with asyncio.TaskGroup() as group:
        work = [_obey(child, doors), child.beat(lambda: _heartbeat(doors)), *beside]
        tasks = [group.create_task(one) for one in work]
        await doors.run(lambda: group.create_task(child.send(doors.hello)))
        for task in tasks:
            task.cancel()


async def _obey(child: AsyncChild[ToWeb], doors: Doors) -> None:
    async for _ in child.messages():  # Stop is all there is
        doors.stop()


def _heartbeat(doors: Doors) -> Heartbeat:
    return Heartbeat(rss_mb=child_process.rss_mb(), counters=doors.counters())
