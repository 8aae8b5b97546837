"""Text reading for the event loop: one engine, loaded when first needed; one view is read at a time, in a thread.

The engine is RapidOCR's detector and recogniser (PP-OCRv6 small, models inside its package) on onnxruntime. The two
stages are driven apart, so that unchanged lines are not read again, at the screen's own scale: RapidOCR's own front
door resizes small crops up (a 620x140 dialog took 2.2 s so, 0.32 s at its own scale: measured). One thread that does
not spin, and no memory arena (same speed, 400 MB less: measured).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from acud.config import OcrSettings
from acud.errors import Unavailable
from acud.evaluator.ocr.engine import Bgr, Engine, Line
from acud.evaluator.ocr.match import look_for
from acud.evaluator.ocr.reader import ScreenReader
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.evaluation import JudgeHealth
from acud.types import JudgeName, Rect, Text, Verdict, unknown

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
