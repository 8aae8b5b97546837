"""Events for one client: what it missed, then what happens, as far as its pass may be told."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from acud.protocol.events import Event
from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud.protocol.web import Pass
from acud_client.cursor import Trimmed
from acud_web.api.hub import Reader, Told, told_of
from acud_web.api.owners import Owners
from acud_web.desk import Desk

HEARTBEAT_S = 15.0
_PAGE = 500


class Telling:
    """One stream. `topic`: what topics begin with. `begin` it, then take from `told`."""

    def __init__(self, desk: Desk, reader: Reader, pass_: Pass, topic: str) -> None:
        self._desk = desk
        self.reader = reader
        self._pass = pass_
        self._topic = topic
        self._owners = Owners(desk)
        self.position = 0
        """Everything up to this number was told, or is not for this client."""
        self._first: EventsSinceReply | None = None

    async def begin(self, since: int | None) -> None:
        """Take up after the number `since`, or from now on. Raises: AcudError when the daemon does not answer."""
        if since is None:
            self.position = (await self._page(0, 1)).newest
        else:
            self.position = since
            self._first = await self._page(since, _PAGE)

    async def told(self) -> AsyncGenerator[Told | None, None]:
        """Yield item after item, and None where nothing came for 15 s. Raises: Cut; AcudError when the daemon can't be
        asked what was missed, or whose an event is: the client comes back with the number it had last.
        """
        async for item in self._missed():
            yield item
        while True:
            told = await self.reader.next(HEARTBEAT_S)
            if told is None or await self._is_new(told):
                yield told

    async def _missed(self) -> AsyncGenerator[Told, None]:
        page = self._first
        while page is not None:
            if page.trimmed > self.position + 1:
                yield told_of(Trimmed(self.position, page.trimmed))
            elif page.newest < self.position:
                # Numbers from another life of the store: there is no knowing what came between.
                yield told_of(Trimmed(self.position, page.newest + 1))
                self.position = page.newest
            for event in page.events:
                if await self._may_tell(event):
                    yield told_of(event)
                self.position = event.n
            page = await self._page(self.position, _PAGE) if len(page.events) == _PAGE else None

    async def _is_new(self, told: Told) -> bool:
        """Tell whether to pass it on, and count it."""
        if not isinstance(told.item, Event):
            return True
        if 0 < told.item.n <= self.position:
            return False
        new = await self._may_tell(told.item)
        self.position = max(self.position, told.item.n)
        return new

    async def _may_tell(self, event: Event) -> bool:
        return event.topic.startswith(self._topic) and await self._owners.sees(self._pass, event)

    async def _page(self, after: int, limit: int) -> EventsSinceReply:
        return await self._desk.ask(EventsSince(after, limit=limit), EventsSinceReply)
