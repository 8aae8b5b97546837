"""Frames for a redacted recording: text is read here, and secrets are painted black before anything is kept.

The recorder's own engine reads the text (150 MB more); a frame that cannot be read is not recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from acud.config import AccessibilitySettings, OcrSettings, RedactionSettings
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import Withheld
from acud.evaluator.view_pixels import ViewPixels, hiding
from acud.features.evaluators import make_redactor
from acud.protocol.questions import Hide
from acud.types import Rect

Pixels = npt.NDArray[np.uint8]
Result = TypeVar("Result")


class FrameRedactor:
    """Redacts the frames of one display, in the main thread. Closing twice is harmless."""

    def __init__(
        self,
        redaction: RedactionSettings,
        ocr: OcrSettings,
        accessibility: AccessibilitySettings,
        beat: Callable[[], None],
        beat_s: float,
    ) -> None:
        """`beat` is called every `beat_s` seconds while a frame is read, which takes seconds."""
        self._beat, self._beat_s = beat, beat_s
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._text = TextReading(ocr)
        self._redactor = make_redactor(redaction, accessibility, self._text, AtSpiProvider(0), self._stack)

    def redact(self, source: str, frame: int, mono_ns: int, pixels: Pixels, hide: Hide) -> Pixels | Withheld:
        """Return a copy of `pixels` (height x width x 4 uint8 BGRX) with secrets black, or why there is none."""
        whole = Rect(0, 0, pixels.shape[1], pixels.shape[0])
        shot = hiding(ViewPixels(source, 0, frame, mono_ns, whole, pixels, f"{frame}"), hide)
        out = self._runner.run(self._run_beating(self._redactor.redact_shot(shot)))
        return out if isinstance(out, Withheld) else out.shot.pixels

    async def _run_beating(self, work: Awaitable[Result]) -> Result:
        task = asyncio.ensure_future(work)
        while not (await asyncio.wait({task}, timeout=self._beat_s))[0]:
            self._beat()
        return task.result()

    def close(self) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()
        self._text.close()
