"""The daemon behind the tools: asked through `acud_client`, and started when that is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import msgspec

from acud.errors import DaemonDown
from acud.paths import Paths
from acud.protocol.requests import BY_NAME

if TYPE_CHECKING:
    from acud_client.aio import AsyncClient
    from acud_client.here import Here

Starter = Callable[[], object]
"""Starts the daemon and returns when it answers; blocks. Raises: AcudError."""


class Daemon:
    """Made before a connection is: the client, and ZeroMQ with it, are loaded at the first call. `close` it."""

    def __init__(self, paths: Paths, starter: Starter | None, here: Here | None = None) -> None:
        self._paths = paths
        self._here = here
        self._starter = starter
        self._starting = asyncio.Lock()
        self._client: AsyncClient | None = None

    @property
    def client(self) -> AsyncClient:
        """The connection."""
        if self._client is None:
            from acud_client.aio import AsyncClient

            self._client = AsyncClient(self._paths, here=self._here)
        return self._client

    async def ask(self, request: msgspec.Struct) -> Any:
        """Return the reply; an absent daemon is started first where there is a starter. Raises: AcudError."""
        kind = BY_NAME[str(request.__struct_config__.tag)].reply
        try:
            return await self.client.ask(request, kind)
        except DaemonDown as fault:
            if self._starter is None or not _is_absent(fault):
                raise
        await self._start(self._starter)
        return await self.client.ask(request, kind)

    async def _start(self, starter: Starter) -> None:
        async with self._starting:
            from acud_client.door import DoorState

            if self.client.door.look().state is not DoorState.OPEN:
                await anyio.to_thread.run_sync(starter)

    async def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            await self._client.close()


def _is_absent(fault: DaemonDown) -> bool:
    from acud_client.call import is_away

    return is_away(fault)
