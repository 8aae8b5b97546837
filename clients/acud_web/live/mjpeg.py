"""A display as MJPEG, for viewers that know nothing else: whole pictures, two a second at most, in one answer.

A picture that is not the present is not shown: while there are no pixels it is a grey one that says why.
"""

from __future__ import annotations

import asyncio
import textwrap
import time
from collections.abc import AsyncGenerator
from contextlib import suppress

import numpy as np
from PIL import Image, ImageDraw

from acud.frames.reader import FrameGone
from acud_web.live import encoding
from acud_web.live.displays import DisplayHub, LiveDisplay

BOUNDARY = "acud-frame"
MEDIA_TYPE = f"multipart/x-mixed-replace; boundary={BOUNDARY}"
_FPS = 2.0
_REPEAT_S = 10.0
"""The same picture again: whoever is in between (a proxy) sees that the stream lives."""
_GREY = 96
_UNKNOWN_SIZE = (640, 360)


class Pictures:
    """The pictures of `display`; use `parts` once."""

    def __init__(self, hub: DisplayHub, display: LiveDisplay, *, hides: bool) -> None:
        self._hub = hub
        self._display = display
        self._hides = hides
        self._news = asyncio.Event()
        self._size = _UNKNOWN_SIZE
        self._shown: object = None
        """What the last picture was of: a ring's serial, frame and hidden places, or a reason."""
        self._sent_s = float("-inf")

    async def parts(self) -> AsyncGenerator[bytes, None]:
        """Yield parts of the answer, until the display ends; close it to stop watching."""
        self._display.join(self, self._news.set, _FPS)
        try:
            while self._display.bye is None:
                self._news.clear()
                part = await self._part()
                if part:
                    self._sent_s = time.monotonic()
                    yield part
                await self._rest()
        finally:
            await self._display.leave(self)

    async def _rest(self) -> None:
        """Sleep until something may be due; half a second after a picture at least."""
        await asyncio.sleep(max(0.0, self._sent_s + 1 / _FPS - time.monotonic()))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self._sent_s + _REPEAT_S - time.monotonic())):
                await self._news.wait()

    async def _part(self) -> bytes:
        display = self._display
        reason = display.lost.reason if display.lost is not None else ""
        if display.known is not None and self._hides:
            reason = reason or display.known.fault
        if reason:
            return self._of(reason, _grey(self._size, reason)) if self._is_due(reason) else b""
        return await self._newest()

    async def _newest(self) -> bytes:
        known, ring = self._display.known, self._display.ring
        if known is None or ring is None or not self._is_due((ring.serial, known.frame, known.hidden)):
            return b""
        self._size = ring.size
        ring.begin()
        work = asyncio.get_running_loop().run_in_executor(
            self._hub.workers, lambda: ring.whole(known, hides=self._hides)
        )
        work.add_done_callback(lambda _: ring.end())
        try:
            frame, jpeg = await asyncio.shield(work)
        except FrameGone:
            self._news.set()
            return b""
        return self._of((ring.serial, frame, known.hidden), jpeg)

    def _is_due(self, shown: object) -> bool:
        return shown != self._shown or time.monotonic() - self._sent_s >= _REPEAT_S

    def _of(self, shown: object, jpeg: bytes) -> bytes:
        self._shown = shown
        head = f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
        return head.encode() + jpeg + b"\r\n"


def _grey(size: tuple[int, int], reason: str) -> bytes:
    image = Image.new("RGBA", size, (_GREY, _GREY, _GREY, 0))
    words = "\n".join(textwrap.wrap(f"no picture now: {reason}", 60))
    ImageDraw.Draw(image).multiline_text((16, 16), words, (255, 255, 255, 0))
    return encoding.whole_jpeg(np.asarray(image))
