"""The web process under the supervisor: hello, heartbeats, and an end when told."""

from __future__ import annotations

import asyncio
import os
import signal

from acud import paths, process
from acud.process import AsyncChild
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud.protocol.children import Heartbeat, ToWeb, WebHello
from acud_web.listening import Listening
from acud_web.server import Serving


async def serve(bootstrap: Bootstrap, options: WebOptions) -> None:
    """Serve until `Stop` or SIGTERM. Raises: Refused when the port is taken or the token's file is open to others."""
    places = paths.resolve({"ACU_HOME": options.home})
    async with AsyncChild[ToWeb](bootstrap, ToWeb) as child:
        with Listening(options.listener, places) as listening:
            serving = Serving(listening, places)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.stop)
            await child.send(WebHello(os.getpid(), listening.url, listening.port, listening.token_file))
            await _until_stopped(child, serving)


async def _until_stopped(child: AsyncChild[ToWeb], serving: Serving) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_obey(child, serving)), group.create_task(child.beat(lambda: _heartbeat(serving)))]
        await serving.run()
        for task in tasks:
            task.cancel()


async def _obey(child: AsyncChild[ToWeb], serving: Serving) -> None:
    async for _ in child.messages():  # Stop is all there is
        serving.stop()


def _heartbeat(serving: Serving) -> Heartbeat:
    return Heartbeat(rss_mb=process.rss_mb(), counters=serving.counters())
