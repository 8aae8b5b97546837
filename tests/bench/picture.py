"""A picture of 1280x720 as PNG: acud's encoder beside Pillow's at level 1, bytes read back by Pillow's decoder.

`png_x` and `size_x` are ours over Pillow's, for a desktop of text, a dialog and a picture. `judge_x` is the lossless
picture over the JPEG that a judge is shown, both made and posted over loopback: what the JPEG is for.
"""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from acud.base import png
from acud.evaluator.judges.picture_encoding import encode_for_judge, resized_pixels
from tests.bench import encode
from tests.bench._model import ModelProcess

_TRIES = 40
_LEVEL = 1

Pixels = NDArray[np.uint8]


def pillow(pixels: Pixels) -> bytes:
    height, width = pixels.shape[:2]
    buffer = io.BytesIO()
    Image.frombuffer("RGB", (width, height), pixels, "raw", "BGRX", 0, 1).save(buffer, "PNG", compress_level=_LEVEL)
    return buffer.getvalue()


def run() -> dict[str, Any]:
    """Return milliseconds, bytes and ratios; medians of ways that take turns."""
    pixels = encode.screen()
    ours = png.encode(pixels)
    if not np.array_equal(np.asarray(Image.open(io.BytesIO(ours))), pixels[:, :, 2::-1]):
        raise RuntimeError("a PNG that does not hold the pixels")
    with ModelProcess(0) as model:
        ways: dict[str, Callable[[], object]] = {
            "ms": lambda: png.encode(pixels),
            "pillow_ms": lambda: pillow(pixels),
            "judge_jpeg_ms": lambda: model.ask("/echo", encode_for_judge(pixels, encode.MAX_DIM, encode.QUALITY).jpeg),
            "judge_png_ms": lambda: model.ask("/echo", png.encode(resized_pixels(pixels, encode.SIZE))),
        }
        found = _turns(ways)
    theirs = pillow(pixels)
    return {
        **found,
        "bytes": len(ours),
        "pillow_bytes": len(theirs),
        "judge_jpeg_bytes": len(encode_for_judge(pixels, encode.MAX_DIM, encode.QUALITY).jpeg),
        "judge_png_bytes": len(png.encode(resized_pixels(pixels, encode.SIZE))),
        "png_x": round(found["ms"] / found["pillow_ms"], 3),
        "size_x": round(len(ours) / len(theirs), 3),
        "judge_x": round(found["judge_png_ms"] / found["judge_jpeg_ms"], 2),
    }


def _turns(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_TRIES):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            taken[name].append((time.perf_counter() - began) * 1000)
    return {name: round(statistics.median(each), 3) for name, each in taken.items()}


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:16} {value:>10}" for name, value in figures.items())
