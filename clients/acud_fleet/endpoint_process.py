"""A further process of a fleet's endpoint: `python -m acud_fleet.endpoint_process`, started by the first one.

It gets connections from the first and answers requests about existing hosts, which are nearly all. Requests that are
decided in one place (placing something new, drains, events, the endpoint itself) it passes on to the first. It ends
with the first.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from functools import partial

from acud.base import paths
from acud.base.errors import ProtocolError
from acud.base.paths import Paths
from acud.features.fleet.connection import NatsConnection
from acud.process import child_process
from acud.protocol.bootstrap import Bootstrap, EndpointOptions
from acud.protocol.requests.command import FleetRoute
from acud.protocol.requests.daemon import Doctor, Status
from acud_fleet import envelopes
from acud_fleet.control_server import ControlServer
from acud_fleet.daemon_relay import DaemonRelay
from acud_fleet.endpoint_parts import EndpointParts
from acud_fleet.endpoint_pool import FIRST, READY, SharedNumbers
from acud_fleet.envelopes import ReadRequest


class EndpointProcess:
    """Answers beside the first process of the endpoint in `places`; run once, until `stop`."""

    def __init__(self, options: EndpointOptions, places: Paths) -> None:
        self._options = options
        self._places = places
        self._shared = SharedNumbers(options.shared_fd)
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End: requests under way are dropped; their clients ask another process."""
        self._stopping.set()

    async def run(self) -> None:
        """Serve until `stop`. Raises: ConfigError when a file that is named can't be used."""
        async with (
            DaemonRelay(self._places, FIRST) as first,
            NatsConnection(self._options.settings, "acud fleet endpoint", inbox="endpoint") as connection,
        ):
            # The first process publishes what happens.
            parts = EndpointParts(connection, _ignore_change, _ignore_change, str(self._places.home))
            async with asyncio.TaskGroup() as group:
                works = (parts.run(), self._serve_requests(parts, first), self._shared.beat(self._options.number))
                tasks = [group.create_task(work) for work in works]
                await self._stopping.wait()
                for task in tasks:
                    task.cancel()

    async def _serve_requests(self, parts: EndpointParts, first: DaemonRelay) -> None:
        async def answer(incoming: ReadRequest, data: bytes) -> bytes:
            if _is_of_the_first(incoming):
                return await first.ask(incoming, data)
            return envelopes.answer(incoming.request_id, await parts.router.reply(incoming), self._shared.newest)

        await parts.until_hosts_known()  # before, this process would refuse requests that the others answer
        sys.stdout.buffer.write(READY)
        sys.stdout.flush()
        with socket.socket(fileno=self._options.channel_fd) as channel:
            channel.setblocking(False)
            await ControlServer(
                lambda server: server.take_from(channel),
                answer,
                lambda: self._shared.newest,
                partial(self._shared.count_ended, self._options.number),
            ).run()


def _ignore_change(_: object, __: object) -> None:
    """Ignore a change."""


def _is_of_the_first(incoming: ReadRequest) -> bool:
    return incoming.spec.fleet in (FleetRoute.ENDPOINT, FleetRoute.PLACED) or isinstance(
        incoming.request, Status | Doctor
    )


def main(bootstrap: Bootstrap) -> None:
    """Serve by the options of `bootstrap`, until SIGTERM. Raises: ProtocolError if it is for another kind of child."""
    if not isinstance(bootstrap.options, EndpointOptions):
        raise ProtocolError("the bootstrap of a process of the endpoint holds options of another child")
    import uvloop

    uvloop.run(_run_process(bootstrap.options))


async def _run_process(options: EndpointOptions) -> None:
    process = EndpointProcess(options, paths.resolve({"ACU_HOME": options.home}).of_fleet())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, process.stop)
    await process.run()


if __name__ == "__main__":
    child_process.run(main)
