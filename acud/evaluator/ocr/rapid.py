"""RapidOCR's detector and recogniser (PP-OCRv6 small, models inside its package), driven apart.

RapidOCR's own front door resizes small crops up (a 620x140 dialog took 2.2 s so, 0.32 s at its own scale: measured) and
reads lines again that did not change. Only its models are used; what runs them is `runtime`'s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from acud.base.errors import Unavailable
from acud.evaluator.ocr import bands
from acud.evaluator.ocr.decoder import LetterDecoder, with_gaps
from acud.evaluator.ocr.engine import Bgr, Reading
from acud.evaluator.ocr.ligatures import with_ligatures
from acud.evaluator.ocr.runtime import HINT, Choice, Model, Runtime, Tensor, choose_runtime
from acud.pixels.components import find_shapes
from acud.types import Rect

VERSION = f"rapidocr {metadata.version('rapidocr')}"
ENLARGE = 1.5
"""Lines are found in pixels enlarged so much: at a screen's own scale whole lines of 6x13 letters stay unseen
(recall of words 80 % against 89 %: measured)."""
LINE_PX = 48
BUCKET_PX, LEAST_LINE_PX, MOST_LINE_PX = 64, 192, 3200
"""Lines are padded to multiples of 64: a runtime keeps memory for each width that it saw. RapidOCR pads to 320 at
least; 192 reads short words 1.6x as fast and as well, 128 loses some (measured)."""
_INSIDE, _SURE = 0.3, 0.5
"""A pixel belongs to a line, and a box holds one, with so much of a chance (as RapidOCR has it)."""
_GROW = 1.5
"""The detector finds the core of a line: its box grows by so many times its area over its outline."""
_LEAST_CORE_PX = 3
_FILLED = 0.7
"""A line fills so much of its box, or leans as in a scan: then what it fills alone is weighed and measured."""
_OVERLAP_PX = 48
"""Pieces of a tall part share so many rows: a line that one piece cuts is whole in the next."""


class RapidEngine:
    """Loads both models when made. Raises: Unavailable."""

    def __init__(self, choice: Choice = "auto") -> None:
        try:
            runtime = choose_runtime(choice)
            self._load_models(runtime)
        except (ImportError, OSError, RuntimeError, ValueError) as fault:
            raise Unavailable(f"{VERSION} cannot be loaded: {fault}", hint=HINT) from fault
        self.version = f"{VERSION}, {runtime.version}" + (f" ({runtime.why})" if runtime.why else "")

    def _load_models(self, runtime: Runtime) -> None:
        # The folder of RapidOCR's models. Nothing of it is imported.
        found = find_spec("rapidocr")
        if found is None or found.origin is None:
            raise Unavailable("rapidocr is not installed", hint=HINT)
        models = Path(found.origin).parent / "models"
        finder = runtime.load(models / "PP-OCRv6_det_small.onnx")
        reader = runtime.load(models / "PP-OCRv6_rec_small.onnx")
        self._finder, self._reader = finder.run, reader.run
        self._loaded = (finder, reader)
        self._decoder = LetterDecoder(reader.characters.splitlines())

    def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
        """Return the boxes of lines in each part; see `Engine`. Rotated text comes out as its upright bounding box."""
        pieces = [piece for index, part in enumerate(parts) for piece in self._enlarge_in_pieces(index, part)]
        shapes = [piece.pixels.shape[:2] for piece in pieces]
        packing = bands.pack(shapes)
        canvases = bands.fill(packing, [piece.pixels for piece in pieces])
        masks = bands.mask_parts(packing, shapes)
        on_canvas = [self._boxes_on(canvas, mask) for canvas, mask in zip(canvases, masks, strict=True)]
        found: list[list[Rect]] = [[] for _ in parts]
        for piece, place in zip(pieces, packing.places, strict=True):
            high, wide = piece.pixels.shape[:2]
            area = Rect(place.x, place.y, wide, high)
            for box in on_canvas[place.canvas]:
                common = box.intersect(area)
                if common is None or 2 * common.area < box.area:
                    continue
                self._add_box(found[piece.part], piece.inside(common.shift(-place.x, -place.y)))
        return found

    @staticmethod
    def _add_box(boxes: list[Rect], box: Rect) -> None:
        """Add `box`, or the larger of it and one that two overlapping pieces both found."""
        for place, other in enumerate(boxes):
            common = box.intersect(other)
            if common is not None and 2 * common.area >= min(box.area, other.area):
                boxes[place] = max(box, other, key=lambda one: one.area)
                return
        boxes.append(box)

    def _enlarge_in_pieces(self, index: int, part: Bgr) -> list[_EnlargedPart]:
        """Return `part` enlarged, in pieces that canvases can hold."""
        height, width = part.shape[:2]
        scale = min(ENLARGE, bands.WIDTHS[-1] / width)
        most = int(bands.HEIGHTS[-1] / scale)
        made = []
        for top in range(0, max(1, height - _OVERLAP_PX), most - _OVERLAP_PX):
            rows = part[top : top + most]
            size = (max(1, round(width * scale)), max(1, round(rows.shape[0] * scale)))
            made.append(_EnlargedPart(index, top, scale, _resize_pixels(rows, size), Rect(0, 0, width, height)))
        return made

    def _boxes_on(self, canvas: Bgr, parts: NDArray[np.bool_]) -> list[Rect]:
        """Return the boxes of lines on a canvas. `parts` marks the pixels that belong to a part of a picture. The
        detector's chances between parts are set to 0, as it would join lines of neighbouring parts to one box.
        """
        tensor = canvas.transpose(2, 0, 1)[None].astype(np.float32)
        tensor *= np.float32(2 / 255)
        tensor -= np.float32(1)
        return find_lines(self._run_model(self._finder, tensor, "find lines")[0, 0] * parts)

    def recognise(self, crops: Sequence[Bgr]) -> list[Reading]:
        return [self._read_line(crop) for crop in crops]

    def release(self) -> None:
        for model in self._loaded:
            model.release()

    def _read_line(self, crop: Bgr) -> Reading:
        height, width = crop.shape[:2]
        wide = min(MOST_LINE_PX, max(1, math.ceil(LINE_PX * width / height)))
        padded = max(LEAST_LINE_PX, -(-wide // BUCKET_PX) * BUCKET_PX)
        tensor = np.zeros((1, 3, LINE_PX, padded), np.float32)
        resized = _resize_pixels(crop, (wide, LINE_PX)).transpose(2, 0, 1)
        tensor[0, :, :, :wide] = resized * np.float32(2 / 255) - np.float32(1)
        chances = self._run_model(self._reader, tensor, "read lines")
        reading = self._decoder.decode(chances[0], width / wide * padded / chances.shape[1])
        return with_ligatures(with_gaps(reading, crop), crop)

    @staticmethod
    def _run_model(model: Model, tensor: Tensor, what: str) -> Tensor:
        try:
            return model(tensor)
        except RuntimeError as fault:
            raise Unavailable(f"{VERSION} failed to {what}") from fault


class _EnlargedPart(NamedTuple):
    """Rows of a part from `top` on, enlarged by `scale`. `bounds`: the part's."""

    part: int
    top: int
    scale: float
    pixels: Bgr
    bounds: Rect

    def inside(self, box: Rect) -> Rect:
        """Return a box of these pixels in pixels of the part."""
        x, y = math.floor(box.x / self.scale), math.floor(box.y / self.scale)
        right, bottom = math.ceil(box.right / self.scale), math.ceil(box.bottom / self.scale)
        return Rect(x, y + self.top, right - x, bottom - y).intersect(self.bounds) or self.bounds


def _resize_pixels(pixels: Bgr, size: tuple[int, int]) -> Bgr:
    return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).resize(size, Image.Resampling.BILINEAR))


def find_lines(chances: Tensor) -> list[Rect]:
    """Return the upright boxes of lines by the detector's chance of each pixel (height x width), as RapidOCR does."""
    inside = chances > _INSIDE
    inside[1:] |= inside[:-1]
    inside[:, 1:] |= inside[:, :-1]
    height, width = chances.shape
    found = []
    for left, top, wide, high, _ in find_shapes(inside).tolist():
        box = np.s_[top : top + high, left : left + wide]
        strip, thick = _fill_across(inside[box])
        if strip.mean() >= _FILLED:
            strip, thick = np.ones_like(strip), min(wide, high)
        thick, length = thick - 1, max(wide, high) - 1  # between the middles of its outermost pixels
        if min(length, thick) < _LEAST_CORE_PX or chances[box][strip].mean() < _SURE:
            continue
        by = _GROW * length * thick / (2 * (length + thick))
        x, y = max(0, round(left - by)), max(0, round(top - by))
        right, bottom = min(width - 1, round(left + wide - 1 + by)), min(height - 1, round(top + high - 1 + by))
        found.append(Rect(x, y, right - x, bottom - y))
    return found


def _fill_across(shape: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
    """Return `shape` without gaps across its longer side, and how thick it is there at most."""
    axis = int(shape.shape[0] > shape.shape[1])
    onwards = np.logical_or.accumulate(shape, axis=axis)
    strip = onwards & np.flip(np.logical_or.accumulate(np.flip(shape, axis), axis=axis), axis)
    return strip, int(strip.sum(axis=axis).max())
