"""Reads the text of views, and of a view seen before only what changed.

Finding and reading lines cost far more than comparing pixels, so both are kept: lines outside the changed regions
stand as they are, and a line whose very pixels were read before, in any view, is not read again; nor is an unchanged
part of a line that changes where it stands. Lines are looked for in bands where text can be (`bands`), all bands of a
frame in a few calls of the detector. The regions are cut on a grid with room around them, so that the bands in them are
those that the whole frame would give.

The engine is loaded when needed, and unloaded when nothing was read for a while; what was read is kept. Views are read
in one thread, step by step: see `read_queue`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import xxhash
from msgspec.structs import replace
from numpy.typing import NDArray

from acud.config import OcrSettings
from acud.errors import Unavailable
from acud.evaluator.ocr import bands
from acud.evaluator.ocr.changes import REACH_Y_PX, apart, around, changed_boxes, on_grid, plan_reading
from acud.evaluator.ocr.engine import Bgr, Engine, EngineOnDemand, Line
from acud.evaluator.ocr.match import look_for
from acud.evaluator.ocr.rapid import VERSION, RapidEngine
from acud.evaluator.ocr.read_queue import ReadingQueue, Steps
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.evaluation import JudgeHealth
from acud.types import JudgeName, Rect, Text, Verdict, unknown

MAX_KEPT_BYTES = 64 << 20
"""Pixels of earlier frames kept to compare with: 17 views of 1280x720."""
MAX_KEPT_READINGS = 8192
"""Read lines kept; about 2 MB."""
_GRID_PX = 32
_CONTEXT_PX = 16
_AREA_A_STEP, _LINES_A_STEP = 130_000, 4
"""Pixels searched and lines, or parts of them, read before another view may go first: 0.1 to 0.3 s (measured)."""
_BEYOND_PX = 4
"""A detector's boxes reach so far past their letters, which all lie in their band."""
_SAME_PX = 3
"""A detector's box of the same line moves so far when the line changes."""
_UNLOAD_S = 120.0
"""An engine takes 300 MB, and 0.4 s to load."""
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff01-\uff60]")
"""Chinese and Japanese letters and their punctuation."""

ViewKey = tuple[object, ...]
"""What makes two frames the same view: source, crop and ignored boxes."""


class _Known(NamedTuple):
    """A line, and its box as the detector gave it."""

    found: Rect
    line: Line


class _Seen(NamedTuple):
    pixels: NDArray[np.uint8]
    known: tuple[_Known, ...]


class ScreenReader:
    """Reads views with `engine`. Blocks; for one thread. Keeps the last frame of each view, oldest use first out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen: OrderedDict[ViewKey, _Seen] = OrderedDict()
        self._readings: OrderedDict[bytes, tuple[str, float]] = OrderedDict()

    def read(self, key: ViewKey, pixels: NDArray[np.uint8]) -> tuple[Line, ...]:
        """Return the lines in `pixels`; see `steps`."""
        steps = self.steps(key, pixels)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: tuple[Line, ...] = end.value
                return found

    def steps(self, key: ViewKey, pixels: NDArray[np.uint8]) -> Steps[tuple[Line, ...]]:
        """Return the lines in `pixels` (height x width x 4 uint8 BGRX; kept, so never to be written to again).

        Another view may be read between two steps, of some tenths of a second each. A reading that ends early, or by a
        fault, leaves what was known of the view. Raises: Unavailable when the engine fails.
        """
        before = self._seen.get(key)
        if before is None or before.pixels.shape != pixels.shape:
            known = yield from self._read_fresh(pixels)
        else:
            known = yield from self._read_changes(before, pixels)
        self._seen[key] = _Seen(pixels, known)
        self._seen.move_to_end(key)
        self._drop_oldest()
        return tuple(one.line for one in known if one.line.text)

    def knows(self, key: ViewKey) -> bool:
        """Tell whether a frame of that view was read."""
        return key in self._seen

    def forget(self, key: ViewKey) -> None:
        """Find every line of that view anew the next time, whatever changed. Readings of equal pixels are kept: the
        engine would read the same again.
        """
        self._seen.pop(key, None)

    def _read_fresh(self, pixels: NDArray[np.uint8]) -> Steps[tuple[_Known, ...]]:
        return self._read_regions(pixels, [_whole(pixels)], (), ())

    def _read_changes(self, before: _Seen, pixels: NDArray[np.uint8]) -> Steps[tuple[_Known, ...]]:
        changed = changed_boxes(before.pixels, pixels)
        plan = plan_reading(changed, [one.line.box for one in before.known], _whole(pixels))
        stand = set(plan.stand)
        gone = [one.found for index, one in enumerate(before.known) if index not in stand]
        return self._read_regions(pixels, plan.regions, [before.known[index] for index in plan.stand], gone)

    def _read_regions(
        self, pixels: NDArray[np.uint8], regions: Sequence[Rect], standing: Sequence[_Known], gone: Sequence[Rect]
    ) -> Steps[tuple[_Known, ...]]:
        found = [one.found for one in standing]
        settled = [_settled(box, gone) for box in (yield from self._find(pixels, regions, found))]
        fresh = [box for box, _ in settled]
        parted = apart([*found, *fresh])
        kept = [
            _Known(one.found, replace(one.line, box=box))
            for one, box in zip(standing, parted, strict=False)  # the parted boxes of fresh lines follow
        ]
        lines = yield from self._read_boxes(pixels, parted[len(found) :], [changed for _, changed in settled])
        return (*kept, *(_Known(box, line) for box, line in zip(fresh, lines, strict=True)))

    def _find(self, pixels: NDArray[np.uint8], regions: Sequence[Rect], standing: Sequence[Rect]) -> Steps[list[Rect]]:
        """Return the boxes in reach of `regions` that are no line standing already: searched where text can be."""
        whole = _whole(pixels)
        cuts = [on_grid(region, _CONTEXT_PX, _GRID_PX, whole) for region in regions]
        reaches = [around(region, 0, REACH_Y_PX, whole) for region in regions]
        held = [
            inside
            for cut, reach in zip(cuts, reaches, strict=True)
            for band in bands.text_bands(_part(pixels, cut))
            if (inside := band.moved(cut.x, cut.y).intersect(reach)) is not None
        ]
        parts = [around(band, bands.MARGIN_X_PX, bands.MARGIN_Y_PX, whole) for band in held]
        searched: list[list[Rect]] = []
        for some in _shares(parts):
            searched += self._engine.detect([_bgr(pixels, part) for part in some])
            yield
        boxes = [
            own
            for band, part, found in zip(held, parts, searched, strict=True)
            for box in found
            if (own := _own(box.moved(part.x, part.y), band, whole)) is not None
        ]
        fresh: list[Rect] = []
        for box in sorted(boxes, key=lambda one: -one.area):  # a band may show a part of what another one shows whole
            if not any(_is(box, other) for other in (*standing, *fresh)):
                fresh.append(box)
        return fresh

    def _read_boxes(
        self, pixels: NDArray[np.uint8], boxes: Sequence[Rect], changed: Sequence[bool]
    ) -> Steps[list[Line]]:
        """Return the line in each box. A line that `changed` where it stood is read part by part: when it grows or
        counts on, only one part is new. Any other is read whole, which costs a tenth less.
        """
        parts = [
            [part.moved(box.x, box.y) for part in bands.line_parts(_part(pixels, box))] if one else [box]
            for box, one in zip(boxes, changed, strict=True)
        ]
        crops = [_bgr(pixels, part) for line in parts for part in line]
        keys = [_key(crop) for crop in crops]
        read = {key: self._readings[key] for key in keys if key in self._readings}
        missing = [(key, crop) for key, crop in dict(zip(keys, crops, strict=True)).items() if key not in read]
        for place in range(0, len(missing), _LINES_A_STEP):
            some = missing[place : place + _LINES_A_STEP]
            read.update(zip((key for key, _ in some), self._engine.recognise([crop for _, crop in some]), strict=True))
            yield
        self._readings.update(read)
        told = iter(keys)
        lines = [_joined([read[next(told)] for _ in line], box) for line, box in zip(parts, boxes, strict=True)]
        self._forget_readings(keys)
        return lines

    def _forget_readings(self, used: Sequence[bytes]) -> None:
        for key in used:
            self._readings.move_to_end(key)
        while len(self._readings) > MAX_KEPT_READINGS:
            self._readings.popitem(last=False)

    def _drop_oldest(self) -> None:
        while len(self._seen) > 1 and sum(seen.pixels.nbytes for seen in self._seen.values()) > MAX_KEPT_BYTES:
            self._seen.popitem(last=False)


def _shares(parts: Sequence[Rect]) -> Iterator[list[Rect]]:
    """Yield the parts in order, so many at a time as one step searches."""
    share: list[Rect] = []
    for part in parts:
        if share and sum(one.area for one in (*share, part)) > _AREA_A_STEP:
            yield share
            share = []
        share.append(part)
    if share:
        yield share


def _whole(pixels: NDArray[np.uint8]) -> Rect:
    return Rect(0, 0, pixels.shape[1], pixels.shape[0])


def _part(pixels: NDArray[np.uint8], box: Rect) -> NDArray[np.uint8]:
    return pixels[box.y : box.bottom, box.x : box.right]


def _bgr(pixels: NDArray[np.uint8], box: Rect) -> Bgr:
    return np.ascontiguousarray(pixels[box.y : box.bottom, box.x : box.right, :3])


def _key(crop: Bgr) -> bytes:
    return xxhash.xxh3_128_digest(crop.data) + bytes(str(crop.shape), "ascii")


def _settled(found: Rect, gone: Sequence[Rect]) -> tuple[Rect, bool]:
    """Return a box with the left, top and bottom of the line that was there before, if that is hardly elsewhere, and
    whether it is: what did not change of it then has the same pixels, and is not read again.
    """
    for old in gone:
        if max(abs(found.x - old.x), abs(found.y - old.y), abs(found.bottom - old.bottom)) <= _SAME_PX:
            return Rect(old.x, old.y, max(1, found.right - old.x), old.h), True
    return found, False


def _joined(parts: Sequence[tuple[str, float]], box: Rect) -> Line:
    """Return the line that its parts make; it is as sure as its letters on average."""
    length = sum(len(text) for text, _ in parts)
    sure = sum(score * len(text) for text, score in parts) / length if length else parts[0][1]
    return Line(reduce(_side_by_side, (text for text, _ in parts)), sure, box)


def _side_by_side(left: str, right: str) -> str:
    """Return two parts of a line with a space between, as between words; Chinese and Japanese have none."""
    spaced = left and right and not (_UNSPACED.match(left[-1]) or _UNSPACED.match(right[0]))
    return f"{left} {right}" if spaced else left + right


def _own(found: Rect, band: Rect, whole: Rect) -> Rect | None:
    """Return what of a box found around `band` belongs to it: its margins show the beginnings of other bands."""
    own = found.intersect(around(band, _BEYOND_PX, _BEYOND_PX, whole))
    return own if own is not None and 2 * own.h >= found.h and 2 * own.w >= own.h else None


def _is(found: Rect, standing: Rect) -> bool:
    """Tell whether a box found again is (a part of) a line that stands."""
    common = found.intersect(standing)
    return common is not None and 2 * common.area >= found.area


class TextReading:
    """Owns the engine and the queue for it. A whole frame takes a second or more; judges do not wait for it."""

    name = "rapidocr"

    def __init__(
        self,
        settings: OcrSettings,
        make_engine: Callable[[], Engine] | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._min_confidence = settings.min_confidence
        self._engine = EngineOnDemand(make_engine or (lambda: RapidEngine(settings.runtime)), VERSION)
        self._queue: ReadingQueue[tuple[Line, ...]] = ReadingQueue()
        self._reader = ScreenReader(self._engine)
        self._now = monotonic_s
        self._read_s = monotonic_s()
        self._fault = ""

    async def look_for(self, shot: ViewPixels, leaf: Text) -> Verdict:
        """Return whether `leaf` holds on `shot`; `unknown(engine)` when the engine fails."""
        try:
            lines = await self.lines(shot)
        except Unavailable as fault:
            return unknown("engine", fault.message)
        return look_for(lines, leaf, self._min_confidence, shot.crop)

    async def lines(self, shot: ViewPixels, *, fresh: bool = False) -> tuple[Line, ...]:
        """Return the lines of text in `shot`, in its pixels; with `fresh` nothing of an earlier frame is taken for it.

        Raises: Unavailable when the engine fails.
        """
        key = (shot.source, shot.crop, shot.ignore)
        asked = self._queue.ask(
            key, lambda: self._read(key, shot, fresh), lambda: not fresh and self._reader.knows(key)
        )
        try:
            return await asyncio.wrap_future(asked)
        finally:
            self._read_s = self._now()

    def _read(self, key: ViewKey, shot: ViewPixels, fresh: bool) -> Steps[tuple[Line, ...]]:
        try:
            self._engine.load()  # a screen without text needs none, but one that can't be loaded is told of now
            if fresh:
                self._reader.forget(key)
            lines = yield from self._reader.steps(key, shot.pixels)
        except Unavailable as fault:
            self._fault = f"{fault.message}; {fault.hint}" if fault.hint else fault.message
            raise
        self._fault = ""
        return lines

    async def check_health(self) -> JudgeHealth:
        """Return idle while no engine is loaded, down after a failure, else ready."""
        if self._fault:
            return JudgeHealth(JudgeName.OCR, "down", self._fault, self._engine.version)
        return JudgeHealth(JudgeName.OCR, "ready" if self._engine.loaded else "idle", version=self._engine.version)

    def rest(self) -> bool:
        """Unload the engine if nothing was read for two minutes; tell whether that has freed its memory."""
        due = self._engine.loaded and self._queue.idle and self._now() - self._read_s >= _UNLOAD_S
        if due:
            self._engine.unload()
        return due

    def close(self) -> None:
        """End the thread after the step that it is at; what is left of readings is dropped."""
        self._queue.close()
