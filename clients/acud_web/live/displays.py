"""Displays that are watched through this process: leases, rings, viewers, and threads for pictures."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, Self

import msgspec
import zmq
import zmq.asyncio

from acud.base.errors import AcudError, InvalidRequest, NotFound
from acud.base.paths import Paths
from acud.base.typed_values import convert
from acud.config.http_listeners import WebSettings, is_loopback
from acud.frames.reader import FrameGone
from acud.protocol import codec
from acud.protocol.events import Event
from acud.protocol.requests.looks import LiveWatch, LiveWatched
from acud_http.errors import wrong
from acud_web.daemon_gateway import DaemonGateway
from acud_web.live.composition import Known, OpenRing
from acud_web.live.messages import Bye, Lost

_LEASE_S = 8.0
_RENEW_S = 3.0
_AGAIN_S = 0.4
"""After a refusal, or a loss: how soon to ask again."""
_SILENT_NS = 2_900_000_000
"""A frame compared longer ago is not the present. The daemon itself reports that earlier, unless it stands still."""
_LOOK_S = 0.25
_SERIALS = count(1)


class LiveDisplay:
    """The display `name`, watched while it has viewers (`join`, `remove_viewer`); then `on_gone` is called.

    `known` and `ring`: the newest frame, and where it is; both None while there is none (why: `lost`). `bye`: there
    will be none again.
    """

    def __init__(self, name: str, gateway: DaemonGateway, on_gone: Callable[[LiveDisplay], None]) -> None:
        self.name = name
        self.known: Known | None = None
        self.ring: OpenRing | None = None
        self.lost: Lost | None = None
        self.bye: Bye | None = None
        self._gateway = gateway
        self._forget_display = on_gone
        self._viewers: dict[object, tuple[Callable[[], None], float]] = {}
        self._watch = ""
        self._asked_fps = 0.0
        self._since_ns = time.monotonic_ns()
        """A frame compared before is not the present: the display was not grabbed since."""
        self._soon = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def join(self, viewer: object, wake: Callable[[], None], fps: float) -> None:
        """Add `viewer` to the viewers of this display, or change its frame rate. `wake` is called when there is a new
        picture.
        """
        self._viewers[viewer] = (wake, fps)
        if self._task is None:
            self._task = asyncio.create_task(self._keep_watch())
        elif self._wanted_fps() > self._asked_fps:
            self._soon.set()

    async def remove_viewer(self, viewer: object) -> None:
        """Watch no more for `viewer`; with the last one the lease ends."""
        self._viewers.pop(viewer, None)
        if self._viewers or self._task is None:
            return
        self._forget_display(self)
        task, self._task = self._task, None
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        self._close_ring()
        if self._watch:
            with suppress(AcudError):  # else it lapses
                await self._gateway.ask(LiveWatch(self.name, for_s=0, watch=self._watch), LiveWatched)

    def _wanted_fps(self) -> float:
        return max((fps for _, fps in self._viewers.values()), default=1.0)

    def _wake_viewers(self) -> None:
        for wake, _ in list(self._viewers.values()):
            wake()

    async def _keep_watch(self) -> None:
        while self.bye is None:
            self._soon.clear()
            self._asked_fps = self._wanted_fps()
            await self._ask_daemon()
            due_s = time.monotonic() + (_RENEW_S if self.lost is None else _AGAIN_S)
            while time.monotonic() < due_s and not self._soon.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_S):
                        await self._soon.wait()
                self._check_age()
            if self._soon.is_set() and self.lost is not None:
                await asyncio.sleep(_LOOK_S / 10)  # losses come in rows

    async def _ask_daemon(self) -> None:
        asked = LiveWatch(self.name, self._asked_fps, _LEASE_S, self._watch)
        try:
            found = await self._gateway.ask(asked, LiveWatched)
        except NotFound as fault:
            self._end_display(Bye(fault.code, fault.message))
        except AcudError as fault:
            self._set_lost(Lost(fault.code, fault.message))
        else:
            self._watch = found.watch
            self._take_answer(found)

    def _take_answer(self, watched: LiveWatched) -> None:
        if watched.code == "ended":
            self._end_display(Bye(watched.code, watched.reason))
        elif not watched.path:
            self._set_lost(Lost(watched.code, watched.reason))
        elif self._open_ring(watched):
            hidden = tuple(one.box for one in watched.hidden)
            self._show_frame(Known(watched.epoch, watched.frame, watched.checked_mono_ns, hidden, watched.fault))

    def _open_ring(self, watched: LiveWatched) -> bool:
        """Open the ring that `watched` names; return False when it is gone already."""
        if self.ring is not None and self.ring.path == watched.path and self.ring.reader.epoch == watched.epoch:
            return True
        self._close_ring()
        try:
            self.ring = OpenRing(watched.path, next(_SERIALS))
        except FrameGone as fault:
            self._set_lost(Lost("no_pixels", fault.message))
        except AcudError as fault:
            self._set_lost(Lost(fault.code, fault.message))
        return self.ring is not None

    def handle_event(self, event: Event) -> None:
        if event.topic == "live.lost":
            self._set_lost(Lost(_read_text(event, "code"), _read_text(event, "reason")))
            self._soon.set()
            return
        with suppress(msgspec.ValidationError):  # a newer daemon's fields: the lease reports as much
            told = convert(event.data, Known)
            if self.ring is None or self.ring.reader.epoch != told.epoch:
                self._soon.set()
            else:
                self._show_frame(told)

    def _show_frame(self, places: Known) -> None:
        before = self.known.checked_mono_ns if self.known is not None else self._since_ns
        if places.checked_mono_ns <= before or _is_old(places.checked_mono_ns):
            return
        self.known, self.lost = places, None
        self._wake_viewers()

    def _check_age(self) -> None:
        if self.known is not None and _is_old(self.known.checked_mono_ns):
            self._set_lost(Lost("silent", f"the daemon says nothing of {self.name}"))

    def _set_lost(self, loss: Lost) -> None:
        if self.lost is not None and self.known is None and self.ring is None:
            return  # the first reason is the one
        self._close_ring()
        self.lost = loss
        self._wake_viewers()

    def _end_display(self, bye: Bye) -> None:
        self._close_ring()
        self.bye = bye
        self._wake_viewers()

    def _close_ring(self) -> None:
        self.known = None
        if self.ring is not None:
            self.ring.retire()
            self.ring = None


def _is_old(checked_mono_ns: int) -> bool:
    return time.monotonic_ns() - checked_mono_ns > _SILENT_NS


def _read_text(event: Event, name: str) -> str:
    found: Any = event.data.get(name)
    return found if isinstance(found, str) else ""


_TOPICS = (b"live.frame", b"live.lost")
_THREADS = 2


class DisplayHub:
    """Use it in an `async with`, in one loop. Borrows `gateway`."""

    def __init__(self, gateway: DaemonGateway, paths: Paths, settings: WebSettings) -> None:
        self._gateway = gateway
        self._paths = paths
        self._settings = settings
        self.workers = ThreadPoolExecutor(_THREADS, "live")
        self._displays: dict[str, LiveDisplay] = {}
        self._streams: Counter[str] = Counter()
        self._listening: asyncio.Task[None] | None = None
        self._context = zmq.asyncio.Context()

    async def __aenter__(self) -> Self:
        self._listening = asyncio.create_task(self._handle_events())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})
        self._context.destroy(linger=0)
        self.workers.shutdown(wait=False, cancel_futures=True)

    def display(self, name: str) -> LiveDisplay:
        """Return the display `name`; it is watched while it has viewers."""
        found = self._displays.get(name)
        if found is None or found.bye is not None:
            found = self._displays[name] = LiveDisplay(name, self._gateway, self._forget_display)
        return found

    def _forget_display(self, display: LiveDisplay) -> None:
        if self._displays.get(display.name) is display:
            del self._displays[display.name]

    def hides(self, address: str) -> bool:
        """Return whether what rules hide must be black for a viewer at `address`: pictures leave this host there."""
        return self._settings.live_hides == "always" or not is_loopback(address)

    @contextmanager
    def stream(self, pass_id: str) -> Iterator[None]:
        """Count one live stream of an access token. Raises: Fault 429 where there are too many."""
        self.check(pass_id)
        self._streams[pass_id] += 1
        try:
            yield
        finally:
            self._streams[pass_id] -= 1
            self._streams += Counter()  # without the zeros

    def check(self, pass_id: str) -> None:
        """Raises: Fault 429 when this access token, or this process, has as many live streams as it may."""
        mine, most = self._streams[pass_id], self._settings
        if mine >= most.live_streams_per_pass or self._streams.total() >= most.live_streams:
            words = f"{mine} live streams of this access token, {self._streams.total()} in all"
            raise wrong(429, "too_many", words, "close some of them, or see [web] live_streams")

    async def _handle_events(self) -> None:
        """Hand events to displays. Missed ones are repeated half a second later."""
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
                display.handle_event(event)
