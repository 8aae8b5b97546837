"""The daemon, asked on behalf of HTTP clients: a bounded number of questions at once."""

from __future__ import annotations

import asyncio
from typing import TypeVar

import msgspec

from acud.paths import Paths
from acud_client.aio import AsyncClient
from acud_client.stream import AsyncEventStream

_AT_ONCE = 64
"""Each question takes a ZeroMQ socket, of which a context has 1,023."""

Reply = TypeVar("Reply", bound=msgspec.Struct)


class DaemonGateway:
    """Borrows `client`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._places = asyncio.Semaphore(_AT_ONCE)

    @property
    def paths(self) -> Paths:
        """Where the daemon lives."""
        return self._client.paths

    def events(self) -> AsyncEventStream:
        """Return a subscription to all events from now on; close it."""
        return self._client.events()

    async def ask(self, request: msgspec.Struct, kind: type[Reply]) -> Reply:
        """Return the daemon's reply to `request`, which is a `kind`. Raises: AcudError, as the daemon says."""
        async with self._places:
            return await self._client.ask(request, kind)
