"""Finding by description on the screens of the grounding set (tests/grounding): the local cascade, nothing else.

`precision`: of the places named, those inside the widget that was meant (where the words fit several things or none,
every place is wrong). `answered`: of the descriptions that mean one widget, those with a place named. `declined`: of
the others, those without. `…_p50_ms`: of the searches in which that method was asked. `ocr_…`: text alone, as for
programs that tell nothing of their widgets.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from Xlib import X

from acud.config import AccessibilitySettings, GroundingSettings, OcrSettings
from acud.evaluator.memory import keep_freed_memory
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.view_pixels import ViewPixels
from acud.features.grounding import search_progress
from acud.features.grounding.evaluator.accessibility import AccessibilityMethod
from acud.features.grounding.evaluator.cascade import Cascade
from acud.features.grounding.evaluator.ocr import OcrMethod
from acud.protocol.questions import FindAsk
from acud.types.grounding import Found, GroundingBackend, GroundingMethod
from tests.grounding import run as grounding

_LOCAL = search_progress.methods(GroundingBackend.AUTO)[1:]
_TEXT = (GroundingMethod.OCR,)
_PATIENT = AccessibilitySettings(answer_s=2, walk_s=10)
"""On a machine that does much else a program may take its time; that is not what is measured."""


def run() -> dict[str, Any]:
    """Ask every description of every screen that this machine can show."""
    keep_freed_memory()
    local, text = asyncio.run(_asked())
    whole, alone = grounding.score(local), grounding.score(text)
    return {
        "n": whole.n,
        "screens": len({one.about.screen for one in local}),
        "precision": round(whole.precision, 4),
        "answered": round(whole.answered, 4),
        "declined": round(whole.declined, 4),
        "accessibility_p50_ms": _p50(local, GroundingMethod.ACCESSIBILITY),
        "ocr_p50_ms": _p50(local, GroundingMethod.OCR),
        "ocr_asked": sum(any(t.method is GroundingMethod.OCR for t in one.found.tried) for one in local),
        "ocr_precision": round(alone.precision, 4),
        "ocr_answered": round(alone.answered, 4),
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures as lines for a person."""
    f = figures
    return "\n".join(
        (
            f"{f['n']} descriptions on {f['screens']} screens, accessibility and OCR",
            f"  precision {f['precision']:.1%}   answered {f['answered']:.1%}   declined {f['declined']:.1%}",
            f"  accessibility {f['accessibility_p50_ms']} ms   OCR {f['ocr_p50_ms']} ms (asked {f['ocr_asked']} times)",
            f"  OCR alone: precision {f['ocr_precision']:.1%}, answered {f['ocr_answered']:.1%}",
        )
    )


async def _asked(names: Sequence[str] = ()) -> tuple[list[grounding.Answer], list[grounding.Answer]]:
    reading = TextReading(OcrSettings())
    settings = GroundingSettings()
    text = OcrMethod(reading, settings.fuzzy_min, OcrSettings().min_confidence)
    widgets = AccessibilityMethod(_PATIENT)
    cascade = Cascade({widgets.name: widgets, text.name: text})
    try:
        local = await grounding.judged(lambda ask: _find(cascade, _LOCAL, ask), names)
        alone = await grounding.judged(lambda ask: _find(cascade, _TEXT, ask), names)
    finally:
        await cascade.close()
        reading.close()
    return local, alone


async def _find(cascade: Cascade, methods: Sequence[GroundingMethod], ask: grounding.Ask) -> Found:
    desktop = ask.desktop
    request = FindAsk(ask.words, tuple(methods), windows=desktop.windows(), bus_address=desktop.bus_address)
    return await cascade.find(request, _shot(desktop))


def _shot(desktop: grounding.Desktop) -> ViewPixels:
    area = desktop.screen
    image = desktop.x.root.get_image(0, 0, area.w, area.h, X.ZPixmap, 0xFFFFFFFF)
    pixels = np.frombuffer(image.data, np.uint8).reshape(area.h, area.w, 4).copy()
    return ViewPixels(desktop.server.display, 1, 1, 0, area, pixels, "")


def _p50(answers: Sequence[grounding.Answer], method: GroundingMethod) -> float:
    spent = [one.ms for answer in answers for one in answer.found.tried if one.method is method]
    return round(statistics.median(spent), 2) if spent else 0.0


if __name__ == "__main__":  # the misses, for whoever improves a method
    for answers in asyncio.run(_asked(sys.argv[1:])):
        sys.stdout.write(grounding.table(answers) + "\n\n")
