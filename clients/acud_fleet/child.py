"""The fleet process under the supervisor: hello, heartbeats, news of the connection, and an end when told."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Mapping

from msgspec.structs import replace

from acud import child_process, paths
from acud.async_child import AsyncChild
from acud.jetstream.connection import Connection
from acud.jetstream.naming import own_host
from acud.protocol.bootstrap import Bootstrap, FleetOptions
from acud.protocol.children import Heartbeat
from acud.protocol.fleet import FleetHello, FleetNews, ToFleet
from acud.protocol.relay import Deliver
from acud_client.aio import AsyncClient
from acud_fleet.host import Host
from acud_fleet.waking import Waking


async def serve(bootstrap: Bootstrap, options: FleetOptions) -> None:
    """Answer for this host until `Stop` or SIGTERM. Raises: ConfigError when a file that is named can't be used."""
    places = paths.resolve({"ACU_HOME": options.home})
    name = own_host(options.settings)
    async with AsyncChild[ToFleet](bootstrap, ToFleet) as child:
        await child.send(FleetHello(os.getpid(), name))
        async with (
            AsyncClient(places) as client,
            _Telling(child) as telling,
            Connection(options.settings, f"acud host {name}", telling.news, inbox=f"host-{name}") as connection,
        ):
            connection.warned = lambda: telling.warned(connection.warnings)
            await _until_stopped(child, Host(name, connection, client, places.home, options.carry))


class _Telling:
    """Sends news to the supervisor in the order in which they came."""

    def __init__(self, child: AsyncChild[ToFleet]) -> None:
        self._child = child
        self._queue: asyncio.Queue[FleetNews] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._newest = FleetNews(False, "")

    def news(self, connected: bool, text: str) -> None:
        self._tell(FleetNews(connected, text, self._newest.warnings))

    def warned(self, warnings: Mapping[str, tuple[str, str]]) -> None:
        self._tell(replace(self._newest, warnings=tuple(warnings.values())))

    def _tell(self, news: FleetNews) -> None:
        self._newest = news
        self._queue.put_nowait(news)

    async def __aenter__(self) -> _Telling:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._child.send(await self._queue.get())


async def _until_stopped(child: AsyncChild[ToFleet], host: Host) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    async with asyncio.TaskGroup() as group:
        tasks: set[asyncio.Task[None]] = set()

        def begin(work: Coroutine[None, None, None]) -> None:
            task = group.create_task(work)
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        begin(_obey(child, stopping, lambda delivery: begin(_bring(child, host.waking, delivery))))
        begin(child.beat(lambda: Heartbeat(rss_mb=child_process.rss_mb(), counters=host.counters())))
        begin(host.run())
        await stopping.wait()
        for task in tasks:
            task.cancel()
    await host.leave()


async def _obey(child: AsyncChild[ToFleet], stopping: asyncio.Event, bring: Callable[[Deliver], None]) -> None:
    async for message in child.messages():
        if isinstance(message, Deliver):
            bring(message)  # as many side by side as the route has places
        else:
            stopping.set()


async def _bring(child: AsyncChild[ToFleet], waking: Waking, delivery: Deliver) -> None:
    await child.send(await waking.bring(delivery))
