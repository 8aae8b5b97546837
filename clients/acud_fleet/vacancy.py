"""How many managed displays this host has, and whether it takes another: the host's own word, whatever others saw."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from acud.errors import Refused
from acud.types import DisplayState
from acud_client.aio import AsyncClient


class Vacancy:
    """The places of `host`, of which there are `room`."""

    def __init__(self, host: str, room: int, client: AsyncClient) -> None:
        self._host = host
        self.room = room
        self._client = client
        self._starting: set[str] = set()
        self._lock = asyncio.Lock()
        self.draining = False

    async def displays(self) -> int:
        """Return how many managed displays there are, with those that are being started."""
        states = [one.state for one in (await self._client.display_list()).displays if one.managed]
        starting = states.count(DisplayState.STARTING)  # of these we may have asked for some
        there = sum(state not in (DisplayState.STARTING, DisplayState.ENDED) for state in states)
        return there + max(starting, len(self._starting))

    @contextlib.asynccontextmanager
    async def taken(self, request_id: str, *, again: bool) -> AsyncIterator[None]:
        """Hold a place while the request that starts a display is asked of the daemon. With `again` it was let in
        before: its display may be there already. Raises: Refused, with the reason `no_room`, when there is none.
        """
        async with self._lock:
            if not again:
                await self._check()
            self._starting.add(request_id)
        try:
            yield
        finally:
            self._starting.discard(request_id)

    async def _check(self) -> None:
        if self.draining:
            raise Refused(f"host {self._host} is being drained", hint="acud fleet hosts", reason="no_room")
        displays = await self.displays()
        if displays >= self.room:
            raise Refused(
                f"host {self._host} has {displays} displays, and room for {self.room}",
                hint="acud fleet hosts; end a display, or raise [fleet] room",
                reason="no_room",
            )
