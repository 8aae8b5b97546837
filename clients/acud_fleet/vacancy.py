"""How many managed displays this host has, and whether it takes another: the host's own word, whatever others saw."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator

from acud.errors import Refused
from acud.types import DisplayState
from acud_client.aio import AsyncClient

_REMEMBERED = 10_000


class Vacancy:
    """The places of `host`, of which there are `room`."""

    def __init__(self, host: str, room: int, client: AsyncClient) -> None:
        self._host = host
        self.room = room
        self._client = client
        self._starting: set[str] = set()
        self._answers: OrderedDict[str, bool] = OrderedDict()
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
        before: its display may be there already. A request keeps its answer, as several endpoints may ask, and one
        that heard a no goes to another host. Raises: Refused, with the reason `no_room`, when there is none.
        """
        async with self._lock:
            await self._let_in(request_id, again)
            self._starting.add(request_id)
        try:
            yield
        finally:
            self._starting.discard(request_id)

    async def _let_in(self, request_id: str, again: bool) -> None:
        answer = self._answers.get(request_id, again or None)
        if answer is False:
            raise Refused(f"host {self._host} had no room for this request", hint="acud fleet hosts", reason="no_room")
        try:
            if answer is None:
                await self._check()
        except Refused:
            self._note(request_id, False)
            raise
        self._note(request_id, True)

    def _note(self, request_id: str, let_in: bool) -> None:
        self._answers[request_id] = let_in
        if len(self._answers) > _REMEMBERED:
            self._answers.popitem(last=False)

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
