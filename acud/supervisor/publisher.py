"""The events socket: stored events after their commit, and a beat every five seconds."""

from __future__ import annotations

from collections.abc import Callable

import zmq

from acud.loop import Loop
from acud.protocol import codec
from acud.protocol.events import Beat, Event

_BEAT_S = 5.0


class Publisher:
    """Tells subscribers; a slow one loses messages (and sees it by `prev`), never the supervisor its time."""

    def __init__(self, socket: zmq.Socket[bytes], loop: Loop, utc_s: Callable[[], float], newest: Callable[[], int]):
        self._socket = socket
        self._loop = loop
        self._utc_s = utc_s
        self._newest = newest
        loop.watch(socket, self._drain_subscriptions)
        loop.call_later(_BEAT_S, self._beat)

    def tell(self, event: Event) -> None:
        """Publish a committed event on its topic."""
        self._socket.send_multipart([event.topic.encode(), codec.encode(event)], zmq.NOBLOCK)

    def _beat(self) -> None:
        self._loop.call_later(_BEAT_S, self._beat)
        self._socket.send_multipart([b"beat", codec.encode(Beat(self._newest(), self._utc_s()))], zmq.NOBLOCK)

    def _drain_subscriptions(self) -> None:
        # XPUB hands subscriptions up as messages; a subscriber may also send us anything. Nothing of it is acted on.
        while True:
            try:
                self._socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
