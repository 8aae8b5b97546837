"""Encoding: a 1280x720 BGRX frame in a ring becomes the 960x540 JPEG of quality 72 that a judge sees.

`ms`: from the ring to JPEG bytes, sequence checked. `plain_ms`: the obvious way with the same Pillow, in the same
rounds, in an ordinary process: convert, LANCZOS, save; `plain_kept_ms` is that in a process that keeps freed memory as
the evaluator does. `job_ms`: what a job really does, with a copy to keep as evidence and the identity. The ways not
taken are measured beside them.
"""

from __future__ import annotations

import io
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import simplejpeg
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.evaluator.memory import keep_freed_memory
from acud.evaluator.view_pixels import Rings
from acud.frames.layout import Layout
from acud.frames.reader import RingReader
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.protocol.evaluation import Job
from acud.protocol.questions import View
from tests.bench._plain_encoder import OrdinaryProcess, plain

WIDTH, HEIGHT, MAX_DIM, QUALITY = 1280, 720, 960, 72
SIZE = (960, 540)
ROUNDS = 120

Pixels = NDArray[np.uint8]


def screen() -> Pixels:
    """Return a desktop-like frame: a terminal full of text, a dialog, a picture, a bar with a clock."""
    image = Image.new("RGBX", (WIDTH, HEIGHT), (58, 110, 165, 0))
    draw = ImageDraw.Draw(image)
    mono, sans = (ImageFont.truetype(f"{name}.ttf", 12) for name in ("DejaVuSansMono", "DejaVuSans"))
    draw.rectangle((40, 40, 700, 480), (255, 255, 255))
    for row in range(29):
        draw.text((46, 44 + 15 * row), f"{row:03d} the quick brown fox jumps over the lazy dog", (0, 0, 0), mono)
    draw.rectangle((760, 60, 1180, 320), (240, 240, 240))
    for row in range(8):
        draw.text((780, 80 + 24 * row), "Downloading file 3 of 12, please wait", (20, 20, 20), sans)
    draw.rectangle((0, 690, WIDTH, HEIGHT), (40, 40, 40))
    draw.text((1200, 698), "12:34", (255, 255, 255), sans)
    pixels = np.asarray(image).copy()
    across, down = np.meshgrid(np.linspace(0, 9, 360), np.linspace(0, 7, 260))
    picture = 127 + 60 * np.sin(across) * np.cos(down) + 40 * np.sin(across * down)
    pixels[380:640, 800:1160, :3] = picture[:, :, None]
    return pixels


def pillow_bilinear(pixels: Pixels) -> bytes:
    image = Image.frombuffer("RGB", (WIDTH, HEIGHT), pixels, "raw", "BGRX", 0, 1)
    buffer = io.BytesIO()
    image.resize(SIZE, Image.Resampling.BILINEAR).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def mapped_lanczos(pixels: Pixels) -> bytes:
    image = Image.frombuffer("RGBX", (WIDTH, HEIGHT), pixels, "raw", "RGBX", 0, 1)
    return encoded(np.asarray(image.resize(SIZE, Image.Resampling.LANCZOS)))


def cv2_area(pixels: Pixels) -> bytes:
    return encoded(cv2.resize(pixels, SIZE, interpolation=cv2.INTER_AREA))


def cv2_linear(pixels: Pixels) -> bytes:
    """OpenCV's bilinear, which takes four pixels of each six and drops thin lines."""
    return encoded(cv2.resize(pixels, SIZE, interpolation=cv2.INTER_LINEAR))


def full_size(pixels: Pixels) -> bytes:
    """No resize: 1280x720 to the model."""
    return encoded(pixels)


def encoded(pixels: Pixels) -> bytes:
    """Return `pixels` (BGRX) as JPEG 4:2:0."""
    return simplejpeg.encode_jpeg(np.ascontiguousarray(pixels), QUALITY, "BGRX", "420")


REJECTED: dict[str, Callable[[Pixels], bytes]] = {
    "pillow_bilinear_ms": pillow_bilinear, "mapped_lanczos_ms": mapped_lanczos, "cv2_area_ms": cv2_area,
    "cv2_linear_ms": cv2_linear, "full_size_ms": full_size,
}  # fmt: skip


def from_ring(reader: RingReader) -> bytes:
    """The newest frame, encoded where it lies, and checked."""
    with reader.newest() as view:
        jpeg = encode_for_judge(view.pixels, MAX_DIM, QUALITY).jpeg
        view.check()
    return jpeg


class Frame:
    """A ring with one frame in it. Owns the file."""

    def __init__(self) -> None:
        self.path = Path(f"/dev/shm/acud-bench-{os.getpid()}")
        self._ring = Ring.create(self.path, Layout(WIDTH, HEIGHT, 4), 1)
        writer = FrameWriter(self._ring)
        slot = writer.begin()
        writer.arrays[slot][:] = screen()
        writer.publish(slot, 1, 0, None, np.ones(self._ring.layout.tiles, np.uint64))
        writer.close()
        self.job = Job("job-1", View(":1"), str(self.path), 1, 1)

    def close(self) -> None:
        self._ring.close()
        self._ring.unlink()


def run() -> dict[str, Any]:
    """Measure every way in turn, `ROUNDS` times, so that a busy machine is busy for all of them."""
    keep_freed_memory()
    frame = Frame()
    try:
        with Rings() as rings, RingReader(frame.path) as reader, reader.newest() as view, OrdinaryProcess() as other:
            ways: dict[str, Callable[[], object]] = {
                "ms": lambda: from_ring(reader),
                "job_ms": lambda: encode_for_judge(rings.take_view(frame.job).pixels, MAX_DIM, QUALITY),
                "take_ms": lambda: rings.take_view(frame.job),
                "plain_kept_ms": lambda: plain(view.pixels, SIZE, QUALITY),
                **{name: _bound(way, view.pixels) for name, way in REJECTED.items()},
            }
            figures: dict[str, Any] = {name: round(ms, 3) for name, ms in _medians(ways, other).items()}
            figures["bytes"] = len(encode_for_judge(view.pixels, MAX_DIM, QUALITY).jpeg)
            ways.clear()
    finally:
        frame.close()
    figures["vs_plain"] = round(figures["ms"] / figures["plain_ms"], 3)
    figures["vs_plain_kept"] = round(figures["ms"] / figures["plain_kept_ms"], 3)
    return figures


def _bound(way: Callable[[Pixels], bytes], pixels: Pixels) -> Callable[[], bytes]:
    return lambda: way(pixels)


def _medians(ways: dict[str, Callable[[], object]], other: OrdinaryProcess) -> dict[str, float]:
    spent: dict[str, list[float]] = {name: [] for name in (*ways, "plain_ms")}
    for _ in range(ROUNDS):
        spent["plain_ms"].append(other.measure())
        for name, way in ways.items():
            way()  # the caches hold the frame for each of them alike
            began = time.perf_counter()
            way()
            spent[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(values) for name, values in spent.items()}


def table(figures: dict[str, Any]) -> str:
    rows = [
        ("ring to JPEG", "ms"), ("as a job: copy, identity, JPEG", "job_ms"),
        ("  of which copy and identity", "take_ms"), ("plain: convert, LANCZOS, save", "plain_ms"),
        ("plain, freed memory kept", "plain_kept_ms"), ("Pillow alone, bilinear", "pillow_bilinear_ms"),
        ("mapped, LANCZOS, simplejpeg", "mapped_lanczos_ms"), ("OpenCV INTER_AREA, simplejpeg", "cv2_area_ms"),
        ("OpenCV INTER_LINEAR, simplejpeg", "cv2_linear_ms"), ("1280x720 without resize", "full_size_ms"),
    ]  # fmt: skip
    lines = [f"{title:38} {figures[key]:8.2f} ms" for title, key in rows]
    return "\n".join(
        [
            *lines,
            f"{'ours / plain':38} {figures['vs_plain']:8.2f}",
            f"{'ours / plain, freed memory kept':38} {figures['vs_plain_kept']:8.2f}",
            f"{figures['bytes']} bytes",
        ]
    )
