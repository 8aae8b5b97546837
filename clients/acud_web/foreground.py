"""One listener in the foreground (`acud web serve`, `acud web relay`); a daemon may come and go meanwhile."""

from __future__ import annotations

import asyncio
import signal
import sys

from acud import log
from acud.http_listeners import ListenerSettings, WebSettings
from acud.paths import Paths
from acud_web.gateway_listening import GatewayListening
from acud_web.listening import Listening
from acud_web.serving import Serving


def serve_relay(settings: ListenerSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken or the token's file is open to others."""
    log.configure("web", debug=False)
    with Listening(settings, paths) as listening:
        told = f"acud web: {listening.url}, {listening.credentials}"
        asyncio.run(_serve(Serving(listening, None, paths), told))


def serve_gateway(settings: WebSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken; ConfigError when certificate or key
    can't be used.
    """
    log.configure("web", debug=False)
    with GatewayListening(settings) as listening:
        told = f"acud web: {listening.url}; acud web login --url {listening.url}"
        asyncio.run(_serve(Serving(None, listening, paths), told))


async def _serve(serving: Serving, told: str) -> None:
    """Serve; `told` says where, once it listens and a signal would end it."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.stop)
    sys.stderr.write(told + "\n")
    sys.stderr.flush()
    await serving.run()
