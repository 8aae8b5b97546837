"""The web process under the supervisor: hello, heartbeats, and an end when told."""

from __future__ import annotations

import asyncio
import contextlib
import signal

from acud import paths, process
from acud.process import AsyncChild
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud.protocol.children import Heartbeat, ToWeb
from acud_web.doors import Doors


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
            await _until_stopped(child, doors)


async def _until_stopped(child: AsyncChild[ToWeb], doors: Doors) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_obey(child, doors)), group.create_task(child.beat(lambda: _heartbeat(doors)))]
        await doors.run(lambda: group.create_task(child.send(doors.hello)))
        for task in tasks:
            task.cancel()


async def _obey(child: AsyncChild[ToWeb], doors: Doors) -> None:
    async for _ in child.messages():  # Stop is all there is
        doors.stop()


def _heartbeat(doors: Doors) -> Heartbeat:
    return Heartbeat(rss_mb=process.rss_mb(), counters=doors.counters())
