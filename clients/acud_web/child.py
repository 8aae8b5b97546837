"""The web process under the supervisor: hello, heartbeats, and an end when told."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from acud import paths, process
from acud.process import AsyncChild
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud.protocol.children import Heartbeat, ToWeb, WebHello
from acud_web.gateway_listening import GatewayListening
from acud_web.listening import Listening
from acud_web.serving import Serving


async def serve(bootstrap: Bootstrap, options: WebOptions) -> None:
    """Serve until `Stop` or SIGTERM. Raises: Refused when a port is taken or the token's file is open to others;
    ConfigError when a file that is named can't be used.
    """
    places = paths.resolve({"ACU_HOME": options.home})
    async with AsyncChild[ToWeb](bootstrap, ToWeb) as child:
        with contextlib.ExitStack() as stack:
            relay, gateway = _listening(options, places, stack)
            serving = Serving(relay, gateway, places)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.stop)
            await child.send(_hello(relay, gateway))
            await _until_stopped(child, serving)


def _listening(
    options: WebOptions, places: paths.Paths, stack: contextlib.ExitStack
) -> tuple[Listening | None, GatewayListening | None]:
    wanted, door = options.listener, options.gateway
    relay = stack.enter_context(Listening(wanted, places)) if wanted.enabled else None
    return relay, stack.enter_context(GatewayListening(door, wanted.port)) if door.enabled else None


def _hello(relay: Listening | None, gateway: GatewayListening | None) -> WebHello:
    return WebHello(
        os.getpid(),
        url=relay.url if relay is not None else "",
        port=relay.port if relay is not None else 0,
        token_file=relay.token_file if relay is not None else "",
        gateway_url=gateway.url if gateway is not None else "",
        gateway_port=gateway.port if gateway is not None else 0,
    )


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
