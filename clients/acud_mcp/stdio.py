"""The server on standard input and output, for one host that started it."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from acud_mcp.daemon import Starter
from acud_mcp.options import Options
from acud_mcp.server import build


def serve(options: Options, starter: Starter | None) -> None:
    """Serve until standard input ends. Raises: InvalidRequest for unknown names."""
    anyio.run(_serve, options, starter)


async def _serve(options: Options, starter: Starter | None) -> None:
    server = build(options, starter)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
