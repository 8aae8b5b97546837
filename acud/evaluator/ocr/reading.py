"""Text reading for the event loop: one engine, loaded when first needed, one view read at a time in its own thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from acud.config import OcrSettings
from acud.errors import Unavailable
from acud.evaluator.ocr.engine import Engine, Line
from acud.evaluator.ocr.match import look_for
from acud.evaluator.ocr.rapid import VERSION, RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.evaluator.shot import Shot
from acud.protocol.evaluation import JudgeHealth
from acud.types import JudgeName, Text, Verdict, unknown


class TextReading:
    """Owns the engine and its thread. A whole frame takes seconds; judges have other threads and do not wait for it."""

    name = "rapidocr"

    def __init__(self, settings: OcrSettings, make_engine: Callable[[], Engine] = RapidEngine) -> None:
        self._min_confidence = settings.min_confidence
        self._make_engine = make_engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ocr")
        self._reader: ScreenReader | None = None
        self._fault = ""

    async def look_for(self, shot: Shot, leaf: Text) -> Verdict:
        """Return whether `leaf` holds on `shot`; `unknown(engine)` when the engine fails."""
        try:
            lines = await self.lines(shot)
        except Unavailable as fault:
            return unknown("engine", fault.message)
        return look_for(lines, leaf, self._min_confidence, shot.crop)

    async def lines(self, shot: Shot, *, fresh: bool = False) -> tuple[Line, ...]:
        """Return the lines of text in `shot`, in its pixels; with `fresh` nothing of an earlier frame is taken for it.

        Raises: Unavailable when the engine fails.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, shot, fresh)

    def _read(self, shot: Shot, fresh: bool) -> tuple[Line, ...]:
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
