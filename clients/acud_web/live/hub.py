"""Every display that is being watched through this process, and the threads that make their pictures."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import zmq
import zmq.asyncio

from acud.errors import InvalidRequest
from acud.http_listeners import WebSettings, is_loopback
from acud.paths import Paths
from acud.protocol import codec
from acud.protocol.events import Event
from acud_web.desk import Desk
from acud_web.faults import wrong
from acud_web.live.display import LiveDisplay

_TOPICS = (b"live.frame", b"live.lost")
_THREADS = 2


class Hub:
    """Use it in an `async with`, in one loop. Borrows `desk`."""

    def __init__(self, desk: Desk, paths: Paths, settings: WebSettings) -> None:
        self._desk = desk
        self._paths = paths
        self._settings = settings
        self.workers = ThreadPoolExecutor(_THREADS, "live")
        self._displays: dict[str, LiveDisplay] = {}
        self._streams: Counter[str] = Counter()
        self._listening: asyncio.Task[None] | None = None
        self._context = zmq.asyncio.Context()

    async def __aenter__(self) -> Self:
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})
        self._context.destroy(linger=0)
        self.workers.shutdown(wait=False, cancel_futures=True)

    def display(self, name: str) -> LiveDisplay:
        """Return the display `name`; it is watched while somebody joined it."""
        found = self._displays.get(name)
        if found is None or found.bye is not None:
            found = self._displays[name] = LiveDisplay(name, self._desk, self._gone)
        return found

    def _gone(self, display: LiveDisplay) -> None:
        if self._displays.get(display.name) is display:
            del self._displays[display.name]

    def hides(self, address: str) -> bool:
        """Tell whether what rules hide is to be black for a viewer at `address`: pictures leave this host there."""
        return self._settings.live_hides == "always" or not is_loopback(address)

    @contextmanager
    def stream(self, pass_id: str) -> Iterator[None]:
        """Count one live stream of a pass. Raises: Fault 429 where there are too many."""
        self.check(pass_id)
        self._streams[pass_id] += 1
        try:
            yield
        finally:
            self._streams[pass_id] -= 1
            self._streams += Counter()  # without the zeros

    def check(self, pass_id: str) -> None:
        """Raises: Fault 429 when this pass, or this process, has as many live streams as it may."""
        mine, most = self._streams[pass_id], self._settings
        if mine >= most.live_streams_per_pass or self._streams.total() >= most.live_streams:
            words = f"{mine} live streams of this pass, {self._streams.total()} in all"
            raise wrong(429, "too_many", words, "close some of them, or see [web] live_streams")

    async def _listen(self) -> None:
        """Hand events to displays. What is missed is told again half a second later."""
        socket = self._context.socket(zmq.SUB)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_MESSAGE_BYTES)
        for topic in _TOPICS:
            socket.setsockopt(zmq.SUBSCRIBE, topic)
        socket.connect(self._paths.endpoint("events"))
        while True:
            parts = await socket.recv_multipart()
            try:
                event = codec.decode(parts[-1], Event)
            except InvalidRequest:
                continue
            display = self._displays.get(event.subject)
            if display is not None:
                display.heard(event)
