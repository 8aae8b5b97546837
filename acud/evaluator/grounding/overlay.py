"""The picture with its things framed and numbered from 1, so that a model can name one by its number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from acud.types import Rect

_COLOURS = ("#d00000", "#0050d0", "#007000", "#8000a0", "#b05000", "#006a70")
"""Dark enough for white figures; neighbours in the list differ."""
_FONT_PX = 13
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def numbered(pixels: NDArray[np.uint8], boxes: Sequence[Rect]) -> NDArray[np.uint8]:
    """Return a copy of `pixels` (height x width x 4 BGRX) with a frame and a number on each of `boxes`. Blocks."""
    image = Image.fromarray(np.ascontiguousarray(pixels[:, :, 2::-1]))
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(_FONT_PX)
    for number, box in enumerate(boxes, 1):
        _mark(draw, font, str(number), box, _COLOURS[number % len(_COLOURS)])
    drawn = np.zeros_like(pixels)
    drawn[:, :, :3] = np.asarray(image)[:, :, ::-1]
    return drawn


def _mark(draw: ImageDraw.ImageDraw, font: Font, number: str, box: Rect, colour: str) -> None:
    draw.rectangle((box.x, box.y, max(box.x, box.right - 1), max(box.y, box.bottom - 1)), outline=colour, width=2)
    left, top, right, bottom = draw.textbbox((0, 0), number, font=font)
    wide, high = right - left + 4, bottom - top + 4
    # Above the box, so that what is in it stays visible; below at the screen's upper edge.
    y = box.y - high if box.y >= high else box.bottom
    draw.rectangle((box.x, y, box.x + wide, y + high), fill=colour)
    draw.text((box.x + 2 - left, y + 2 - top), number, fill="white", font=font)
