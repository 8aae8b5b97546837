"""This host's stored events, put into the fleet's stream one after the other: none missing, none twice.

Nothing is remembered here: where to go on is what the stream's newest message of this host says, so that a kill at any
moment costs nothing. One at a time, because several under way could leave a hole when the stream's leader dies.
"""

from __future__ import annotations

import asyncio
import secrets

import nats.js.errors
from msgspec import Struct

from acud import log
from acud.errors import AcudError
from acud.jetstream.connection import Connection
from acud.protocol import codec
from acud.protocol.events import Event
from acud_client.aio import AsyncClient
from acud_client.cursor import Trimmed
from acud_fleet import streams

_LOG = log.logger("fleet")
_AGAIN_S = 1.0
ID = "Nats-Msg-Id"
"""The header by which the servers know a message again (NATS documentation, JetStream, message deduplication)."""
TRIMMED = "trimmed"
"""The topic that tells a gap: the daemon no longer kept what was to be told."""
Item = Event | Trimmed


class Position(Struct, frozen=True):
    """Every event up to `n` of the store `instance` is in the stream. Another store counts from 1 again."""

    instance: str
    n: int


class Forwarding:
    """Puts the events of the daemon behind `client`, the daemon of `host`, into the stream of events."""

    def __init__(self, host: str, connection: Connection, client: AsyncClient) -> None:
        self._host = host
        self._connection = connection
        self._client = client
        self._fault = ""
        self.forwarded = 0

    async def run(self) -> None:
        """Forward until cancelled; whatever fails is begun anew where the stream stands then."""
        while True:
            try:
                await self._follow()
            except AcudError as fault:
                self._warn(fault)
                await asyncio.sleep(_AGAIN_S)

    def _warn(self, fault: AcudError) -> None:
        if fault.message != self._fault:
            _LOG.warning("fleet.events_waiting", fault=fault.message)
        self._fault = fault.message

    async def _follow(self) -> None:
        stream = await streams.ensure(self._connection, streams.events(self._connection.names))
        at = await self._position(stream)
        _LOG.info("fleet.events_from", instance=at.instance, n=at.n)
        async with self._client.events(after=at.n) as events:
            async for item in events:
                if isinstance(item, Trimmed) or item.n:
                    await self._put(stream, at.instance, item)

    async def _put(self, stream: str, instance: str, item: Item) -> None:
        topic = TRIMMED if isinstance(item, Trimmed) else item.topic
        headers = {ID: f"{self._host}:{instance}:{_mark(item)}"}
        subject = self._connection.names.event(self._host, topic)
        with self._connection.translated(f"event {_mark(item)}"):
            await self._connection.streams.publish(
                subject, codec.encode(item), stream=stream, headers=headers, timeout=streams.PUBLISH_S
            )
        self.forwarded += 1
        self._fault = ""

    # ---- where to go on --------------------------------------------------------------------------------------------

    async def _position(self, stream: str) -> Position:
        newest = await self._newest(stream)
        if newest is not None and await self._continues(newest[1]):
            return Position(newest[0], reached(newest[1]))
        return Position(secrets.token_hex(4), 0)

    async def _newest(self, stream: str) -> tuple[str, Item] | None:
        """Return the newest item of this host in the stream, and the instance it is of."""
        with self._connection.translated(f"stream {stream}"):
            try:
                info = await self._connection.streams.stream_info(stream)
                found = await self._connection.streams.get_last_msg(
                    stream, self._connection.names.event(self._host, ">"), direct=bool(info.config.allow_direct)
                )
            except nats.js.errors.NotFoundError:
                return None
        parts = (found.headers or {}).get(ID, "").split(":")
        # Somebody else's message on this host's subjects names no instance: events are then told anew, never left out.
        return (parts[1], read(found.data or b"")) if len(parts) == 3 else None

    async def _continues(self, told: Item) -> bool:
        """Tell whether the daemon's store is the one that `told` came from, not a new or a restored one."""
        page = await self._client.events_since(max(0, reached(told) - 1), limit=1)
        if page.newest < reached(told):
            return False
        same = [event for event in page.events if isinstance(told, Event) and event.n == told.n]
        return all((event.utc_s, event.topic) == (told.utc_s, told.topic) for event in same if isinstance(told, Event))


def read(data: bytes) -> Item:
    """Return the event, or the gap, in a message of the stream. Raises: InvalidRequest when it is neither."""
    return codec.decode(data, Item)  # type: ignore[arg-type]  # a union is a type to msgspec


def reached(item: Item) -> int:
    """Return the number up to which `item` leaves nothing to be told."""
    return item.first - 1 if isinstance(item, Trimmed) else item.n


def _mark(item: Item) -> str:
    return f"{TRIMMED}-{item.after}-{item.first}" if isinstance(item, Trimmed) else str(item.n)
