"""Finding by description on the screens of the grounding set (tests/grounding): the local cascade, nothing else.

`precision`: of the places named, those inside the widget that was meant (where the words fit several things or none,
every place is wrong). `answered`: of the descriptions that mean one widget, those with a place named. `declined`: of
the others, those without. `…_p50_ms`: of the searches in which that method was asked. `ocr_…`: text alone, as for
programs that tell nothing of their widgets. `icons_answered`: of the descriptions that mean one widget which shows only
an icon, those with the right place named. `wrong`: how many of the places named are wrong.

All that is of the half to work with. `closed` has the same figures of the closed half, with `--closed` and, once it has
been opened (`tests/grounding/closed`), always: a half that has been opened is measured every time.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from acud.config import AccessibilitySettings, GroundingSettings, OcrSettings
from acud.evaluator.memory import keep_freed_memory
from acud.evaluator.ocr.reader import TextReading
from acud.features.grounding import search_progress
from acud.features.grounding.evaluator.accessibility import AccessibilityMethod
from acud.features.grounding.evaluator.cascade import Cascade
from acud.features.grounding.evaluator.ocr import OcrMethod
from acud.protocol.questions import FindAsk
from acud.types.grounding import Found, GroundingBackend, GroundingMethod
from tests.grounding import closed as closed_half
from tests.grounding import run as grounding
from tests.grounding import screens
from tests.grounding.half import is_measured
from tests.grounding.seen import desktop_view

_LOCAL = search_progress.methods(GroundingBackend.AUTO)[1:]
_TEXT = (GroundingMethod.OCR,)
_PATIENT = AccessibilitySettings(answer_s=2, walk_s=10)
"""On a machine that does much else a program may take its time; that is not what is measured."""


def run(*, closed: bool = False) -> dict[str, Any]:
    """Ask every description of every screen that this machine can show. `closed`: of the closed half as well."""
    keep_freed_memory()
    local, text = asyncio.run(_asked())
    alone = grounding.score(text)
    found = {
        **grounding.figures(local),
        "accessibility_p50_ms": _p50(local, GroundingMethod.ACCESSIBILITY),
        "ocr_p50_ms": _p50(local, GroundingMethod.OCR),
        "ocr_asked": sum(any(t.method is GroundingMethod.OCR for t in one.found.tried) for one in local),
        "ocr_precision": round(alone.precision, 4),
        "ocr_answered": round(alone.answered, 4),
    }
    if is_measured(closed, closed_half.OPENED):
        found["closed"] = grounding.figures(asyncio.run(_asked(screens.CLOSED, (_LOCAL,)))[0])
    return found


def table(figures: dict[str, Any]) -> str:
    f = figures
    lines = [
        f"{f['n']} descriptions on {f['screens']} screens, accessibility and OCR",
        *_half_lines(f),
        f"  accessibility {f['accessibility_p50_ms']} ms   OCR {f['ocr_p50_ms']} ms (asked {f['ocr_asked']} times)",
        f"  OCR alone: precision {f['ocr_precision']:.1%}, answered {f['ocr_answered']:.1%}",
    ]
    if closed := f.get("closed"):
        lines += [f"the closed half: {closed['n']} descriptions on {closed['screens']} screens", *_half_lines(closed)]
    return "\n".join(lines)


def _half_lines(f: dict[str, Any]) -> tuple[str, str]:
    return (
        f"  precision {f['precision']:.1%}   answered {f['answered']:.1%}   declined {f['declined']:.1%}",
        f"  icons answered {f['icons_answered']:.1%}   wrong places {f['wrong']}",
    )


async def _asked(
    names: Sequence[str] = (), kinds: Sequence[Sequence[GroundingMethod]] = (_LOCAL, _TEXT)
) -> list[list[grounding.Answer]]:
    reading = TextReading(OcrSettings())
    settings = GroundingSettings()
    text = OcrMethod(reading, settings.fuzzy_min, OcrSettings().min_confidence)
    widgets = AccessibilityMethod(_PATIENT)
    cascade = Cascade({widgets.name: widgets, text.name: text})
    try:
        return [
            await grounding.judged(lambda ask, kind=kind: _find(cascade, kind, ask), names)  # type: ignore[misc]
            for kind in kinds
        ]
    finally:
        await cascade.close()
        reading.close()


async def _find(cascade: Cascade, methods: Sequence[GroundingMethod], ask: grounding.Ask) -> Found:
    desktop = ask.desktop
    request = FindAsk(ask.words, tuple(methods), windows=desktop.windows(), bus_address=desktop.bus_address)
    return await cascade.find(request, desktop_view(desktop))


def _p50(answers: Sequence[grounding.Answer], method: GroundingMethod) -> float:
    spent = [one.ms for answer in answers for one in answer.found.tried if one.method is method]
    return round(statistics.median(spent), 2) if spent else 0.0


if __name__ == "__main__":  # the misses, for whoever improves a method
    for answers in asyncio.run(_asked(sys.argv[1:])):
        sys.stdout.write(grounding.table(answers) + "\n\n")
