"""The events socket: stored events after their commit, and a beat every five seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from acud.event_loop import EventLoop
from acud.protocol import codec
from acud.protocol.events import Beat, Event
from acud.supervisor.socket_server import zmtp
from acud.supervisor.socket_server.connection import ServerConnection
from acud.supervisor.socket_server.server import ServerLimits, SocketServer

_BEAT_S = 5.0
_UNREAD_BYTES = 1 << 20
"""What a slow subscriber may have before it; more is lost for it."""
_MOST_PREFIXES = 256
_LONGEST_PREFIX = 200
"""The longest topic has 30 bytes; a subscription begins with a byte of its own."""
_LIMITS = ServerLimits(zmtp.Bounds(_LONGEST_PREFIX + 1, 1), connections=512, of_client=256, large=1)
_TURN_SUBSCRIPTIONS = 512
_SUBSCRIBE, _CANCEL = b"\x01", b"\x00"


class Publisher:
    """Tells subscribers; a slow one loses messages (and sees it by `prev`), never the supervisor its time. One that
    asks for more or longer topics than anybody needs is closed.
    """

    def __init__(self, path: Path, loop: EventLoop, utc_s: Callable[[], float], newest: Callable[[], int]):
        self.server = SocketServer(path, loop, "XPUB", frozenset({"SUB", "XSUB"}), _LIMITS, self._subscriptions)
        self._loop = loop
        self._utc_s = utc_s
        self._newest = newest
        loop.call_later(_BEAT_S, self._beat)

    def tell(self, event: Event) -> None:
        """Publish a committed event on its topic."""
        self._publish(event.topic.encode(), event)

    def _beat(self) -> None:
        self._loop.call_later(_BEAT_S, self._beat)
        self._publish(b"beat", Beat(self._newest(), self._utc_s()))

    def _publish(self, topic: bytes, message: Event | Beat) -> None:
        told: bytes | None = None
        for connection in self.server.all:
            if connection.out_bytes < _UNREAD_BYTES and any(map(topic.startswith, connection.prefixes)):
                told = codec.encode(message) if told is None else told
                self.server.send(connection, [topic, told])

    def _subscriptions(self) -> None:
        for _ in range(_TURN_SUBSCRIPTIONS):
            found = self.server.next()
            if found is None:
                return
            self._subscribe(*found)

    def _subscribe(self, connection: ServerConnection, message: list[bytes]) -> None:
        # A subscriber may also send us anything else. Nothing of it is acted on.
        kind, prefix = message[0][:1], message[0][1:]
        if kind == _CANCEL:
            connection.prefixes.discard(prefix)
        elif kind == _SUBSCRIBE:
            connection.prefixes.add(prefix)
            if len(connection.prefixes) > _MOST_PREFIXES:
                self.server.close(connection, f"it asks for more than {_MOST_PREFIXES} topics")
