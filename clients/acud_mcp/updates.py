"""Telling clients that a resource changed: one reader of the daemon's events, running while anybody listens."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated, ServerEvent

from acud.errors import AcudError
from acud.protocol.events import Event
from acud_mcp.daemon import Daemon

_ENDS = ("wait.resolved", "wait.timeout", "wait.cancelled", "wait.failed")
_TOLD = ("wait.updated", "wait.note", *_ENDS, "task.")
_RETRY_S = 2.0
_MAX_SUBSCRIPTIONS = 1024


class Updates:
    """The subscriptions of every client of this server. As a `SubscriptionBus` it serves `subscriptions/listen` (from
    2026 on); `add` and `remove` serve `resources/subscribe` (before). Close it.
    """

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._bus = InMemorySubscriptionBus()
        self._listeners = 0
        self._legacy: OrderedDict[tuple[str, str], ServerSession] = OrderedDict()
        self._reading: asyncio.Task[None] | None = None
        self._after: int | None = None
        """Where the next reading begins; None: at what is new then."""

    async def begin(self) -> None:
        """Await this before each subscription: what happens once it is acknowledged is told, however long the reader
        takes to begin. While the daemon is down there is nothing to be told of."""
        if self._reading is None:
            self._after = None
            with contextlib.suppress(AcudError):
                self._after = (await self._daemon.client.events_since(limit=1)).newest

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Register a modern listener and return what ends it."""
        unsubscribe = self._bus.subscribe(listener)
        self._listeners += 1
        self._follow_demand()
        done = False

        def end() -> None:
            nonlocal done
            if not done:
                done = True
                unsubscribe()
                self._listeners -= 1
                self._follow_demand()

        return end

    async def publish(self, event: ServerEvent) -> None:
        """Tell every modern listener."""
        await self._bus.publish(event)

    def add(self, client: str, uri: str, session: ServerSession) -> None:
        """Subscribe a client of the handshake era; the oldest go when there are too many, since a connection that
        ended does not say so."""
        self._legacy[(client, uri)] = session
        while len(self._legacy) > _MAX_SUBSCRIPTIONS:
            self._legacy.popitem(last=False)
        self._follow_demand()

    def remove(self, client: str, uri: str) -> None:
        """End a subscription; harmless when there is none."""
        self._legacy.pop((client, uri), None)
        self._follow_demand()

    def _follow_demand(self) -> None:
        wanted = bool(self._listeners or self._legacy)
        if wanted and self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read())
        elif not wanted and self._reading is not None:
            self._reading.cancel()
            self._reading = None

    async def _read(self) -> None:
        async with self._daemon.client.events(after=self._after) as stream:
            while True:
                with contextlib.suppress(AcudError):  # it goes on where it stood
                    async for event in stream:
                        if isinstance(event, Event) and event.topic.startswith(_TOLD):
                            await self._tell(event)
                await asyncio.sleep(_RETRY_S)

    async def _tell(self, event: Event) -> None:
        uri = f"acud://{event.topic.partition('.')[0]}/{event.subject}"
        await self._bus.publish(ResourceUpdated(uri))
        for (client, wanted), session in list(self._legacy.items()):
            if wanted == uri:
                await session.send_resource_updated(uri)
                if event.topic in _ENDS:  # nothing more will come of it
                    self._legacy.pop((client, wanted), None)

    async def close(self) -> None:
        """Stop reading; twice is harmless."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None


def client_of(context: Any) -> str:
    """Return what tells one client's subscriptions from another's: the HTTP session, or "" on stdio."""
    request = context.request
    return "" if request is None else str(request.headers.get("mcp-session-id", ""))
