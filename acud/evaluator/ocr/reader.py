"""Reads the text of views, and of a view seen before only what changed.

Finding lines costs ~0.3 s for a whole 1280x720 frame and reading one 20 to 100 ms, so both are kept: lines outside the
changed regions stand as they are, and a line whose very pixels were read before is not read again. The regions are cut
on the detector's own grid with room around them, so that what is found in them is what the whole frame would give.

The engine is RapidOCR's detector and recogniser (PP-OCRv6 small, models inside its package) on onnxruntime, loaded when
first needed; one view is read at a time, in a thread. The two stages are driven apart, so that unchanged lines are not
read again, at the screen's own scale: RapidOCR's own front door resizes small crops up (a 620x140 dialog took 2.2 s so,
0.32 s at its own scale: measured). One thread that does not spin, and no memory arena (same speed, 400 MB less:
measured).
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash
from msgspec.structs import replace
from numpy.typing import NDArray
from PIL import Image

from acud.config import OcrSettings
from acud.errors import Unavailable
from acud.evaluator.ocr.changes import REACH_Y_PX, apart, around, changed_boxes, content_boxes, on_grid, plan_reading
from acud.evaluator.ocr.engine import Bgr, Engine, Line
from acud.evaluator.ocr.match import look_for
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.evaluation import JudgeHealth
from acud.types import JudgeName, Rect, Text, Verdict, unknown

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

VERSION = f"rapidocr {metadata.version('rapidocr')}"
ENLARGE = 1.5
"""Lines are found in pixels enlarged so much: at a screen's own scale whole lines of 6x13 letters stay unseen
(recall of words 80 % against 89 %, for 0.25 s more a whole frame: measured)."""
MAX_SIDE_PX = 2560
"""Frames are not enlarged beyond this, and longer ones are shrunk, for finding lines (not for reading them): a 4K frame
would take 1.7 GB (measured)."""
_STRIDE = 32
"""The detector's grid: sides must be multiples of it."""

_DETECTOR = {
    "limit_side_len": MAX_SIDE_PX,
    "limit_type": "max",
    "mean": [0.5] * 3,
    "std": [0.5] * 3,
    "thresh": 0.3,
    "box_thresh": 0.5,
    "max_candidates": 3000,
    "unclip_ratio": 1.5,
    "use_dilation": True,
    "score_mode": "fast",
}

# A batch is padded to its longest line: 44 lines took 2.6 s one at a time, 3.7 s in batches of six (measured).
_RECOGNISER = {"lang_type": "ch", "rec_batch_num": 1, "rec_img_shape": [3, 48, 320], "font_path": None}


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


class _Section(dict[str, Any]):
    """What RapidOCR's stages take for a section of its configuration: keys that can also be read as attributes."""

    __getattr__ = dict.__getitem__


class RapidEngine:
    """Loads both models when made (0.8 s, ~300 MB, growing with the frames). Raises: Unavailable."""

    def __init__(self) -> None:
        try:
            self._load()
        except (ImportError, OSError, RuntimeError, ValueError) as fault:
            raise Unavailable(f"{VERSION} cannot be loaded: {fault}", hint="run scripts/setup") from fault

    def _load(self) -> None:
        # Imported here: 0.7 s and 100 MB that an evaluator without text to read never spends.
        import rapidocr
        from rapidocr.ch_ppocr_det import TextDetector
        from rapidocr.ch_ppocr_rec import TextRecInput, TextRecognizer
        from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError
        from rapidocr.utils.typings import EngineType

        logging.getLogger("RapidOCR").setLevel(logging.WARNING)
        models = Path(rapidocr.__file__).parent / "models"
        own = {"engine_type": EngineType.ONNXRUNTIME}
        finder = _session(models / "PP-OCRv6_det_small.onnx")
        reader = _session(models / "PP-OCRv6_rec_small.onnx")
        self._detector = TextDetector(_Section(_DETECTOR, session=finder, **own))
        self._recogniser = TextRecognizer(_Section(_RECOGNISER, session=reader, **own))
        self._input = TextRecInput
        self._fault: type[Exception] = ONNXRuntimeError

    def detect(self, pixels: Bgr) -> list[Rect]:
        """Return the boxes of lines; see `Engine`. Rotated text comes out as its upright bounding box."""
        height, width = pixels.shape[:2]
        scale = min(ENLARGE, max(1.0, MAX_SIDE_PX / max(height, width)))
        try:
            found = self._detector(_padded(_enlarged(pixels, scale)))
        except self._fault as fault:
            raise Unavailable(f"{VERSION} failed to find lines") from fault
        boxes = [_upright(quad / scale) for quad in found.boxes] if found.boxes is not None else []
        inside = (box.intersect(Rect(0, 0, width, height)) for box in boxes)
        return [box for box in inside if box is not None]

    def recognise(self, crops: Sequence[Bgr]) -> list[tuple[str, float]]:
        """Return the text of each crop; see `Engine`."""
        if not crops:
            return []
        try:
            found = self._recogniser(self._input(img=list(crops), return_word_box=False))
        except self._fault as fault:
            raise Unavailable(f"{VERSION} failed to read lines") from fault
        return [(text.strip(), float(score)) for text, score in zip(found.txts or (), found.scores or (), strict=True)]


class TextReading:
    """Owns the engine and its thread. A whole frame takes seconds; judges have other threads and do not wait for it."""

    name = "rapidocr"

    def __init__(self, settings: OcrSettings, make_engine: Callable[[], Engine] = RapidEngine) -> None:
        self._min_confidence = settings.min_confidence
        self._make_engine = make_engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ocr")
        self._reader: ScreenReader | None = None
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
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, shot, fresh)

    def _read(self, shot: ViewPixels, fresh: bool) -> tuple[Line, ...]:
        try:
            if self._reader is None:
                self._reader = ScreenReader(self._make_engine())
            key = (shot.source, shot.crop, shot.ignore)
            if fresh:
                self._reader.forget(key)
            lines = self._reader.read(key, shot.pixels)
        except Unavailable as fault:
            self._fault = fault.message
            raise
        self._fault = ""
        return lines

    async def check_health(self) -> JudgeHealth:
        """Return idle before the first use, down after a failure, else ready."""
        if self._fault:
            return JudgeHealth(JudgeName.OCR, "down", self._fault, VERSION)
        return JudgeHealth(JudgeName.OCR, "idle" if self._reader is None else "ready", version=VERSION)

    def close(self) -> None:
        """End the thread; a reading in progress is waited for, others are dropped."""
        self._thread.shutdown(cancel_futures=True)


def _session(model: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _enlarged(pixels: Bgr, scale: float) -> Bgr:
    height, width = pixels.shape[:2]
    image = Image.fromarray(pixels)
    return np.asarray(image.resize((round(width * scale), round(height * scale)), Image.Resampling.BILINEAR))


def _padded(pixels: Bgr) -> Bgr:
    """Return `pixels` with its last row and column repeated up to the grid, so that nothing is stretched."""
    height, width = pixels.shape[:2]
    return np.pad(pixels, ((0, -height % _STRIDE), (0, -width % _STRIDE), (0, 0)), mode="edge")


def _upright(quad: Any) -> Rect:
    (left, top), (right, bottom) = np.floor(quad.min(axis=0)), np.ceil(quad.max(axis=0))
    return Rect(int(left), int(top), int(right - left), int(bottom - top))
