"""One subscription to the daemon's events for every stream of this process, held while there are readers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from acud.base.errors import AcudError
from acud.protocol.events import Event
from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud_client.stream import PAGE, AsyncEventStream, Trimmed
from acud_http.errors import code_of
from acud_web.daemon_gateway import DaemonGateway

QUEUED = 1000
"""Events that a reader may be behind; one that is further behind is cut off, and comes back with its last number."""
_AGAIN_S = 0.5
_UNTOLD = ("live.", "beat")
"""Unstored topics that are many, and have requests of their own."""


class Down(Struct, frozen=True, tag="down"):
    """The daemon does not answer: what follows may come late, and nothing of it is lost."""

    reason: str
    code: str


class Up(Struct, frozen=True, tag="up"):
    """The daemon answers again."""


Item = Event | Trimmed | Down | Up


class Told(Struct, frozen=True):
    """An item, and its JSON, encoded once for all readers."""

    item: Item
    text: str


class Cut(Exception):
    """A reader was too slow."""


class Reader:
    """The queue of one stream."""

    def __init__(self) -> None:
        self._waiting: deque[Told] = deque()
        self._rung = asyncio.Event()
        self._cut = asyncio.Event()

    def put(self, entry: Told) -> None:
        """Queue an item; when the queue is full, drop the queue and cut its reader off."""
        if len(self._waiting) >= QUEUED:
            self._waiting.clear()
            self._cut.set()
        elif not self._cut.is_set():
            self._waiting.append(entry)
        self._rung.set()

    async def until_cut(self) -> None:
        """Return when the reader was too slow."""
        await self._cut.wait()

    async def next(self, timeout_s: float) -> Told | None:
        """Return the next item, or None when none came in time. Raises: Cut."""
        if not self._waiting and not self._cut.is_set():
            self._rung.clear()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._rung.wait()
            except TimeoutError:
                return None
        if self._cut.is_set():
            raise Cut
        return self._waiting.popleft()


class EventHub:
    """Borrows `gateway`. For one event loop."""

    def __init__(self, gateway: DaemonGateway) -> None:
        self._gateway = gateway
        self._readers: set[Reader] = set()
        self._task: asyncio.Task[None] | None = None
        self._joining = asyncio.Lock()

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[Reader]:
        """Yield a reader of everything from now on. Raises: AcudError when the daemon does not answer."""
        reader = Reader()
        self._readers.add(reader)
        try:
            async with self._joining:
                await self._begin_following()
            yield reader
        finally:
            self._readers.discard(reader)
            if not self._readers and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _begin_following(self) -> None:
        if self._task is not None:
            return
        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._follow_daemon(started))
        try:
            await started
        except BaseException:
            self._task = None
            raise

    async def _follow_daemon(self, started: asyncio.Future[None]) -> None:
        async with self._gateway.events() as stream:
            try:
                position = (await self._ask_page(0, 1)).newest
            except AcudError as fault:
                if not started.cancelled():
                    started.set_exception(fault)
                return
            if not started.done():
                started.set_result(None)
            await self._publish_from(stream, position)

    async def _publish_from(self, stream: AsyncEventStream, position: int) -> None:
        """Publish everything after `position`, in the order of the numbers, whatever becomes of the daemon."""
        down = False
        while True:
            try:
                item = await anext(stream)
                if down:
                    self._publish_item(Up())
                down = False
                position = await self._publish_up_to(item, position)
            except AcudError as fault:
                if not down:
                    self._publish_item(Down(fault.message, code_of(fault)))
                down = True
                await asyncio.sleep(_AGAIN_S)

    async def _publish_up_to(self, item: Event | Trimmed, position: int) -> int:
        """Publish everything up to `item`, and return the number reached."""
        if isinstance(item, Event) and item.n == 0:
            if not item.topic.startswith(_UNTOLD):
                self._publish_item(item)
            return position
        if isinstance(item, Event) and item.n == position + 1:
            self._publish_item(item)
            return item.n
        if isinstance(item, Event) and item.n <= position:
            return position
        return await self._catch_up(position)

    async def _catch_up(self, position: int) -> int:
        """Publish stored events after `position`: the socket lost some of them, or sent those of several topics out of
        order.
        """
        while True:
            page = await self._ask_page(position, PAGE)
            if page.trimmed > position + 1:
                self._publish_item(Trimmed(position, page.trimmed))
            for event in page.events:
                self._publish_item(event)
                position = event.n
            if len(page.events) < PAGE:
                return max(position, page.newest)

    async def _ask_page(self, after: int, limit: int) -> EventsSinceReply:
        return await self._gateway.ask(EventsSince(after, limit=limit), EventsSinceReply)

    def _publish_item(self, item: Item) -> None:
        told = make_told(item)
        for reader in self._readers:
            reader.put(told)


def make_told(item: Item) -> Told:
    return Told(item, msgspec.json.encode(item).decode())
