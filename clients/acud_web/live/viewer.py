"""One viewer of a display: one frame on its way at most, always the newest; nothing queues."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Executor
from contextlib import suppress
from typing import Self

from msgspec.structs import replace

from acud.frames.reader import FrameGone
from acud_web.live.composition import Canvas, FrameStep, Known, OpenRing
from acud_web.live.displays import LiveDisplay
from acud_web.live.messages import Alive, Bye, Lost, Want, encode_message, frame_head, parse_viewer_message, utc_ms

_ALIVE_S = 0.9
_ACK_S = 30.0
"""A viewer that paints nothing for so long is asked to come again: a lease is held for it."""
_RETRY_S = 0.05
"""After a frame that was overwritten while it was read."""


class Ended(Exception):
    """There is nothing more for this viewer; `bye`: the reason."""

    def __init__(self, bye: Bye) -> None:
        super().__init__(bye.reason)
        self.bye = bye


class Viewer:
    """The picture of `display` for one viewer; use it in an `async with`. `hides`: what rules hide is black for it."""

    def __init__(self, display: LiveDisplay, workers: Executor, *, hides: bool) -> None:
        self._display = display
        self._workers = workers
        self._hides = hides
        self._want = Want()
        self._canvas = Canvas()
        self._news = asyncio.Event()
        self._unpainted = 0
        """The frame that is on its way; 0 for none."""
        self._sent_s = self._told_s = float("-inf")
        self._told_ns = 0
        self._lost: Lost | None = None

    async def __aenter__(self) -> Self:
        self._display.join(self, self._news.set, self._want.fps)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._display.remove_viewer(self)

    def handle_message(self, text: str) -> None:
        """Handle a viewer's message. Raises: msgspec.MsgspecError for an unknown one."""
        message = parse_viewer_message(text)
        if isinstance(message, Want):
            self._want = message
            self._display.join(self, self._news.set, message.fps)
        elif message.frame == self._unpainted:
            self._unpainted = 0
        self._news.set()

    async def next(self) -> bytes | str:
        """Return the next message for the viewer, once there is one. Raises: Ended."""
        while True:
            self._news.clear()
            now_s = time.monotonic()
            found = self._take_loss_message() or await self._next_message(now_s) or self._make_alive(now_s)
            if found:
                return found
            with suppress(TimeoutError):
                async with asyncio.timeout(self._rest_s(time.monotonic())):
                    await self._news.wait()

    def _take_loss_message(self) -> str:
        """Return the encoded message about a new loss of the display and clear the canvas; "" when the loss is old or
        there is none. Raises: Ended.
        """
        if self._display.bye is not None:
            raise Ended(self._display.bye)
        lost = self._now_lost()
        if lost == self._lost:
            return ""
        self._lost = lost
        if lost is None:
            return ""
        self._canvas = Canvas()  # what comes next replaces the whole picture
        return encode_message(lost)

    def _now_lost(self) -> Lost | None:
        display = self._display
        if display.lost is not None:
            return display.lost
        if self._hides and display.known is not None and display.known.fault:
            return Lost("redaction", display.known.fault)
        return self._lost if display.known is None else None

    async def _next_message(self, now_s: float) -> bytes:
        known, ring = self._display.known, self._display.ring
        if known is None or ring is None or self._lost is not None:
            return b""
        if self._unpainted:
            if now_s - self._sent_s > _ACK_S:
                raise Ended(Bye("not_painted", f"frame {self._unpainted} was not acknowledged in {_ACK_S:.0f} s"))
            return b""
        if now_s < self._next_s() or not self._is_due(known, ring, now_s):
            return b""
        step = await self._make_step(ring, known, now_s)
        if step is None:
            return b""
        self._unpainted, self._sent_s = step.head.frame, now_s
        self._told_s, self._told_ns = now_s, known.checked_mono_ns
        return frame_head(replace(step.head, sent_ms=time.time() * 1000), step.blocks)

    def _next_s(self) -> float:
        return self._sent_s + 1 / self._want.fps

    def _is_due(self, places: Known, ring: OpenRing, now_s: float) -> bool:
        canvas = self._canvas
        if canvas.ring != ring.serial or canvas.max_side_px != self._want.max_side_px:
            return True
        exact_s = canvas.exact_due_s()
        moved = self._hides and places.hidden != canvas.hidden
        return places.frame > canvas.frame or moved or (exact_s is not None and exact_s <= now_s)

    async def _make_step(self, ring: OpenRing, places: Known, now_s: float) -> FrameStep | None:
        side_px = self._want.max_side_px
        ring.begin_use()
        work = asyncio.get_running_loop().run_in_executor(
            self._workers, lambda: ring.make_step(self._canvas, side_px, places, is_redacted=self._hides, now_s=now_s)
        )
        work.add_done_callback(lambda done: _release_ring(ring, done))
        try:
            return await asyncio.shield(work)  # a thread cannot be stopped: the ring is its own until it is through
        except FrameGone:
            self._sent_s = max(self._sent_s, now_s - 1 / self._want.fps + _RETRY_S)
            return None

    def _make_alive(self, now_s: float) -> str:
        known = self._display.known
        current = known is not None and self._canvas.ring and known.frame == self._canvas.frame
        if known is None or not current or self._unpainted or now_s - self._told_s < _ALIVE_S:
            return ""
        if known.checked_mono_ns <= self._told_ns:
            return ""
        self._told_s, self._told_ns = now_s, known.checked_mono_ns
        return encode_message(Alive(known.frame, utc_ms(known.checked_mono_ns)))

    def _rest_s(self, now_s: float) -> float:
        """Return the seconds in which no message can be due without news."""
        if self._display.known is None or self._lost is not None:
            return _ACK_S
        if self._unpainted:
            return max(0.0, self._sent_s + _ACK_S - now_s) + _RETRY_S
        known, exact_s = self._display.known, self._canvas.exact_due_s()
        dues = [now_s + _ACK_S] if exact_s is None else [max(exact_s, self._next_s())]
        if known.checked_mono_ns > self._told_ns:
            dues.append(self._told_s + _ALIVE_S)
        if known.frame > self._canvas.frame or not self._canvas.ring:
            dues.append(self._next_s())
        left_s = min(dues) - now_s
        return left_s if left_s > 0 else _RETRY_S


def _release_ring(ring: OpenRing, step: asyncio.Future[FrameStep | None]) -> None:
    ring.end_use()
    if not step.cancelled():
        step.exception()  # it is raised in every task that still waits
