"""A viewer of live screens that paints what it is sent, as a page does; and a stand-in for the wire to it."""

from __future__ import annotations

import asyncio
import io
import json
import struct
import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from tests.fixtures.patience import LONG_S

Pixels = npt.NDArray[np.uint8]


class Painting:
    """What a page has painted: `picture` (height x width x 3 RGB), and what it was told."""

    def __init__(self) -> None:
        self.picture: Pixels = np.zeros((0, 0, 3), np.uint8)
        self.heads: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.bytes = 0

    def take(self, message: bytes | str) -> int:
        """Paint or note `message`; return the frame that is to be acknowledged, or 0."""
        self.bytes += len(message)
        if isinstance(message, str):
            self.told.append(json.loads(message) | {"at_s": time.monotonic()})
            return 0
        (length,) = struct.unpack_from("<I", message)
        head = json.loads(message[4 : 4 + length])
        assert head["type"] == "frame"
        self._paint(head, message[4 + length :])
        self.heads.append(head | {"at_s": time.monotonic(), "bytes": len(message)})
        return int(head["frame"])

    def _paint(self, head: dict[str, Any], data: bytes) -> None:
        if head["key"]:
            self.picture = np.full((head["height"], head["width"], 3), 77, np.uint8)
        at = 0
        for block in head["blocks"]:
            image = Image.open(io.BytesIO(data[at : at + block["size"]]), formats=[block["format"].upper()])
            x, y, w, h = (block[name] for name in "xywh")
            assert image.size == (w, h)
            assert y + h <= head["height"]
            self.picture[y : y + h, x : x + w] = np.asarray(image.convert("RGB"))
            at += block["size"]
        assert at == len(data)

    def kinds(self) -> list[str]:
        """Return the types of the texts so far."""
        return [one["type"] for one in self.told]


class Page:
    """Drives a `Painting`: `receive` gives the next message, `send` takes a text."""

    def __init__(self, receive: Callable[[], Awaitable[bytes | str]], send: Callable[[str], Any]) -> None:
        self.painting = Painting()
        self._receive = receive
        self._send = send

    async def want(self, fps: float = 30, max_side_px: int = 0) -> None:
        """Say how fast and how large."""
        await self._say({"type": "want", "fps": fps, "max_side_px": max_side_px})

    async def ack(self, frame: int) -> None:
        """Say that `frame` is painted."""
        await self._say({"type": "ack", "frame": frame})

    async def _say(self, message: dict[str, Any]) -> None:
        found = self._send(json.dumps(message))
        if found is not None:
            await found

    async def once(self, *, paints: bool = True) -> int:
        """Take one message; acknowledge a frame when it `paints`. Returns the frame, or 0."""
        frame = self.painting.take(await self._receive())
        if frame and paints:
            await self.ack(frame)
        return frame

    async def until(self, holds: Callable[[Painting], Any], what: str = "it") -> None:
        """Go on painting until `holds`."""
        try:
            async with asyncio.timeout(LONG_S):
                while not holds(self.painting):
                    await self.once()
        except TimeoutError:
            raise AssertionError(f"{what} did not come; told: {self.painting.told[-5:]}") from None

    async def until_equal(self, pixels: Pixels) -> None:
        """Go on painting until the picture is `pixels`, byte for byte."""
        await self.until(lambda painting: np.array_equal(painting.picture, pixels), "the display's picture")
