"""Reads the text of views, and of a view seen before only what changed.

Finding lines costs ~0.3 s for a whole 1280x720 frame and reading one 20 to 100 ms, so both are kept: lines outside the
changed regions stand as they are, and a line whose very pixels were read before is not read again. The regions are cut
on the detector's own grid with room around them, so that what is found in them is what the whole frame would give.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xxhash
from msgspec.structs import replace
from numpy.typing import NDArray

from acud.evaluator.ocr.changes import REACH_Y_PX, apart, around, changed_boxes, content_boxes, on_grid, plan_reading
from acud.evaluator.ocr.engine import Bgr, Engine, Line
from acud.types import Rect

MAX_KEPT_BYTES = 64 << 20
"""Pixels of earlier frames kept to compare with: 17 views of 1280x720."""

MAX_KEPT_READINGS = 8192
"""Read lines kept; about 2 MB."""

_GRID_PX = 32
_CONTEXT_PX = 16
_WHOLE_SHARE = 0.6
"""Above this share of the view, one search of the whole costs less than the regions."""

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
        """Return the lines in `pixels` (height x width x 4 uint8 BGRX; kept, so never to be written to again).

        Raises: Unavailable when the engine fails; the view is read whole the next time then.
        """
        before = self._seen.pop(key, None)
        if before is None or before.pixels.shape != pixels.shape:
            known = self._read_fresh(pixels)
        else:
            known = self._read_changes(before, pixels)
        self._seen[key] = _Seen(pixels, known)
        self._drop_oldest()
        return tuple(one.line for one in known if one.line.text)

    def forget(self, key: ViewKey) -> None:
        """Find every line of that view anew the next time, whatever changed. Readings of equal pixels are kept: the
        engine would read the same again.
        """
        self._seen.pop(key, None)

    def _read_fresh(self, pixels: NDArray[np.uint8]) -> tuple[_Known, ...]:
        """Read a view where something is on it: a detector shown a small window on an empty desktop misses lines of it
        that it finds in the window alone, and takes longer.
        """
        bounds = _whole(pixels)
        regions = content_boxes(pixels)
        full = sum(region.area for region in regions) > _WHOLE_SHARE * bounds.area
        return self._read_regions(pixels, [bounds] if full else regions, ())

    def _read_changes(self, before: _Seen, pixels: NDArray[np.uint8]) -> tuple[_Known, ...]:
        bounds = _whole(pixels)
        changed = changed_boxes(before.pixels, pixels)
        plan = plan_reading(changed, [one.line.box for one in before.known], bounds)
        if sum(region.area for region in plan.regions) > _WHOLE_SHARE * bounds.area:
            return self._read_regions(pixels, [bounds], ())
        return self._read_regions(pixels, plan.regions, [before.known[index] for index in plan.stand])

    def _read_regions(
        self, pixels: NDArray[np.uint8], regions: Sequence[Rect], standing: Sequence[_Known]
    ) -> tuple[_Known, ...]:
        found = [one.found for one in standing]
        fresh: list[Rect] = []
        for region in regions:
            fresh += self._find(pixels, region, [*found, *fresh])
        parted = apart([*found, *fresh])
        kept = [
            _Known(one.found, replace(one.line, box=box))
            for one, box in zip(standing, parted, strict=False)  # the parted boxes of fresh lines follow
        ]
        lines = self._read_boxes(pixels, parted[len(found) :])
        return (*kept, *(_Known(box, line) for box, line in zip(fresh, lines, strict=True)))

    def _find(self, pixels: NDArray[np.uint8], region: Rect, standing: Sequence[Rect]) -> list[Rect]:
        """Return the boxes in reach of `region` that are no line standing already."""
        reach = around(region, 0, REACH_Y_PX, _whole(pixels))
        cut = on_grid(region, _CONTEXT_PX, _GRID_PX, _whole(pixels))
        found = (box.moved(cut.x, cut.y) for box in self._engine.detect(_bgr(pixels, cut)))
        return [box for box in found if box.intersect(reach) and not any(_is(box, other) for other in standing)]

    def _read_boxes(self, pixels: NDArray[np.uint8], boxes: Sequence[Rect]) -> list[Line]:
        crops = [_bgr(pixels, box) for box in boxes]
        keys = [_key(crop) for crop in crops]
        missing = {key: crop for key, crop in zip(keys, crops, strict=True) if key not in self._readings}
        read = self._engine.recognise(list(missing.values()))
        self._readings.update(zip(missing, read, strict=True))
        lines = [Line(*self._readings[key], box) for key, box in zip(keys, boxes, strict=True)]
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


def _whole(pixels: NDArray[np.uint8]) -> Rect:
    return Rect(0, 0, pixels.shape[1], pixels.shape[0])


def _bgr(pixels: NDArray[np.uint8], box: Rect) -> Bgr:
    return np.ascontiguousarray(pixels[box.y : box.bottom, box.x : box.right, :3])


def _key(crop: Bgr) -> bytes:
    return xxhash.xxh3_128_digest(crop.data) + bytes(str(crop.shape), "ascii")


def _is(found: Rect, standing: Rect) -> bool:
    """Tell whether a box found again is (a part of) a line that stands."""
    common = found.intersect(standing)
    return common is not None and 2 * common.area >= found.area
