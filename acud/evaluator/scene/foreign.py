"""Readers of text that others brought: found by entry point, run in a thread each, never trusted to behave."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from acud.child_process import guarded
from acud.errors import Unavailable
from acud.evaluator.ocr.engine import Line
from acud.evaluator.scene.provider import OCR_GROUP, OcrProvider
from acud.evaluator.view_pixels import ViewPixels
from acud.types import Rect


class Found(NamedTuple):
    """What the entry points gave: providers that could be made, and (name, reason) of those that could not."""

    providers: tuple[ForeignReading, ...]
    failed: tuple[tuple[str, str], ...]


def find_providers(points: Iterable[EntryPoint] | None = None, timeout_s: float = 20.0) -> Found:
    """Return the providers of `points` (None: of what is installed), the highest priority first."""
    made: list[ForeignReading] = []
    failed: list[tuple[str, str]] = []
    for point in sorted(entry_points(group=OCR_GROUP) if points is None else points, key=lambda one: one.name):
        try:
            made.append(ForeignReading(_made(point), timeout_s))
        except Unavailable as fault:
            failed.append((point.name, fault.message))
    return Found(tuple(sorted(made, key=lambda one: (-one.priority, one.name))), tuple(failed))


def _made(point: EntryPoint) -> OcrProvider:
    provider = guarded(lambda: point.load()(), f"the provider {point.name}")
    if not isinstance(provider, OcrProvider):
        raise Unavailable(f"the provider {point.name} has no name, priority and read: see docs/scene.md")
    return provider


class ForeignReading:
    """One provider with its thread. After a picture that took too long it is left alone until that one is read."""

    def __init__(self, provider: OcrProvider, timeout_s: float) -> None:
        self.name = str(provider.name)[:64]
        self.priority = int(provider.priority)
        self._provider = provider
        self._timeout_s = timeout_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"ocr-{self.name}")
        self._running: asyncio.Future[list[Line]] | None = None

    async def lines(self, shot: ViewPixels, *, fresh: bool = False) -> Sequence[Line]:
        """Return the lines in the shot's pixels. Raises: Unavailable when it fails, or takes too long."""
        if self._running is not None and not self._running.done():
            raise Unavailable(f"it still reads an earlier picture, after {self._timeout_s:g} s")
        loop = asyncio.get_running_loop()
        self._running = loop.run_in_executor(self._thread, self._read, shot, fresh)
        done, _ = await asyncio.wait({self._running}, timeout=self._timeout_s)
        if not done:
            raise Unavailable(f"it did not read the picture in {self._timeout_s:g} s")
        return self._running.result()

    def _read(self, shot: ViewPixels, fresh: bool) -> list[Line]:
        pixels = shot.pixels.view()
        pixels.flags.writeable = False
        inside = Rect(0, 0, shot.pixels.shape[1], shot.pixels.shape[0])
        return guarded(lambda: [_checked(line, inside) for line in self._provider.read(pixels, fresh)], self.name)

    def close(self) -> None:
        """Start nothing more; a picture that is being read is not waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _checked(line: Line, inside: Rect) -> Line:
    """Return the line with plain values, inside the picture. Raises: ValueError for one that is none."""
    box = Rect(int(line.box.x), int(line.box.y), int(line.box.w), int(line.box.h)).intersect(inside)
    if box is None:
        raise ValueError(f"a line outside the picture: {line.box}")
    return Line(str(line.text), min(1.0, max(0.0, float(line.confidence))), box)
