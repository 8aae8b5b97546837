"""What a process holds that reads text, with its engine loaded and unloaded. Run by `scripts/bench memory`."""

from __future__ import annotations

import asyncio
import json
import os
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from acud.config import OcrSettings
from acud.evaluator.memory import give_back, keep_freed_memory
from acud.evaluator.ocr.engine import Bgr
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.view_pixels import ViewPixels
from acud.types import Rect
from tests.bench._process import rss_mb
from tests.e2e.text_page import ENGLISH
from tests.fixtures.manual_clock import ManualClock

_SIZE = (1280, 720)
_PAGES = 6
_SHORT_S, _LONG_S = 10.0, 3600.0


def _page(chance: random.Random) -> Bgr:
    picture = Image.new("RGBX", _SIZE, (26, 26, 31, 0))
    face = ImageFont.truetype("DejaVuSansMono.ttf", 14)
    for row in range(36):
        words = " ".join(chance.choices(ENGLISH, k=chance.randrange(2, 20)))
        ImageDraw.Draw(picture).text((6, 4 + 20 * row), words, fill=(219, 219, 219), font=face)
    return np.asarray(picture)


async def _measure() -> dict[str, float]:
    chance, clock = random.Random(1), ManualClock()
    reading = TextReading(OcrSettings(), monotonic_s=clock.monotonic_s)
    for number in range(_PAGES):
        await reading.lines(ViewPixels("page", 1, number, 0, Rect(0, 0, *_SIZE), _page(chance), str(number)))
    found = {"text_mb": rss_mb([os.getpid()])}
    clock.advance(_SHORT_S)
    reading.release_idle_engine()
    give_back()
    found["text_rests_mb"] = rss_mb([os.getpid()])
    clock.advance(_LONG_S)
    reading.release_idle_engine()
    give_back()
    found["text_unloaded_mb"] = rss_mb([os.getpid()])
    reading.close()
    return found


if __name__ == "__main__":
    keep_freed_memory()
    print(json.dumps(asyncio.run(_measure())))
