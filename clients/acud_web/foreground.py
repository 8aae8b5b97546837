"""The listener in the foreground, as `acud web` runs it; a daemon may come and go meanwhile."""

from __future__ import annotations

import asyncio
import signal
import sys

from acud import log
from acud.listener import ListenerSettings
from acud.paths import Paths
from acud_web.listening import Listening
from acud_web.server import Serving


def serve(settings: ListenerSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken or the token's file is open to others."""
    log.configure("web", debug=False)
    with Listening(settings, paths) as listening:
        sys.stderr.write(f"acud web: {listening.url}, {listening.credentials}\n")
        sys.stderr.flush()
        asyncio.run(_serve(Serving(listening, paths)))


async def _serve(serving: Serving) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.stop)
    await serving.run()
