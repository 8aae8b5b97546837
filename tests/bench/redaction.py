"""How much of what is secret on rendered screens is blacked out, letter by letter, and how much beside it goes with it.

The truth comes from the program that draws: the box of every letter is known. `hidden_whole`: secrets of which every
letter is hidden; `lost_letters`: the share of other letters that is hidden too (labels of passwords, neighbours).
`fields_walk_ms`, `fields_mirror_ms`: finding the password field among about 300 widgets of GTK windows by a walk, and
by the mirror that scenes keep warm; `…_cpu_ms` is our part of it.

`work` and `closed` are the halves of the redaction set (`tests/redaction_set`): real terminals, forms and pages, and
texts. `n` secrets; `hidden`: those hidden whole; `overhidden`: the share of other letters and words hidden with them.
Two closed halves were opened and are a part of `work`. `closed` comes with `--closed`, and each time once it was
opened; see `tests/redaction_set/closed.py` before you do.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Limits
from acud.config import AccessibilitySettings, OcrSettings, RedactionSettings
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import RedactedPixels
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.evaluator import RedactionRules
from acud.features.redaction.secure_fields import SecureFields
from acud.protocol.questions import WidgetSources
from acud.types import Rect
from tests.grounding.desktop import Desktop, missing
from tests.integration.secret_screen import COLOURS, HEIGHT, WIDTH, covered, draw, screen
from tests.redaction_set import closed as closed_half
from tests.redaction_set.marked import read
from tests.redaction_set.scores import figures as figures_of

FONTS = ("DejaVuSansMono.ttf", "DejaVuSans.ttf", "DejaVuSerif.ttf")
SIZES_PX = (9, 11, 12, 13, 14, 16)
WALKS = 40


def run(*, closed: bool = False) -> dict[str, Any]:
    """Measure every font, size and colour, each with other secrets, and the redaction set."""
    text = TextReading(OcrSettings())
    redactor = RedactionRules(RedactionSettings(), text)
    found = {place: _screen(redactor, n, *place) for n, place in enumerate(product(FONTS, SIZES_PX, COLOURS))}
    text.close()
    whole = [all(letters) for secrets, _, _ in found.values() for letters in secrets]
    letters = [hidden for secrets, _, _ in found.values() for one in secrets for hidden in one]
    others = [hidden for _, plain, _ in found.values() for hidden in plain]
    by_size = {
        f"hidden_whole_{size}px": _share([all(one) for place, f in found.items() if place[1] == size for one in f[0]])
        for size in SIZES_PX
    }
    return {
        "screens": len(found),
        "secrets": len(whole),
        "hidden_whole": _share(whole),
        **by_size,
        "hidden_letters": _share(letters),
        "lost_letters": _share(others),
        "fresh_ms": round(statistics.median(ms for _, _, ms in found.values()), 1),
        **(asyncio.run(_fields()) if not missing("gtk3") else {}),
        "work": figures_of(read(*closed_half.WORK)),
        **({"closed": figures_of(read(closed_half.SOURCE))} if closed or closed_half.OPENED else {}),
    }


async def _fields() -> dict[str, Any]:
    settings, mirrors = AccessibilitySettings(), AtSpiProvider(60)
    with Desktop() as desktop:
        desktop.show("odd.py", "many", "300")
        desktop.show("odd.py", "plain")
        told = WidgetSources(desktop.bus_address, "", desktop.windows())
        size = desktop.screen.h, desktop.screen.w, 4
        shot = ViewPixels(":1", 1, 1, 0, desktop.screen, np.zeros(size, np.uint8), "same", told=told)
        fields = SecureFields(settings, mirrors)
        while not await fields.boxes(shot):  # noqa: ASYNC110 - a program tells nobody when it is on the bus
            await asyncio.sleep(0.1)
        walked = await _timed(fields, shot)
        limits = Limits(settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s, actions=True)
        await mirrors.read(AccessibilityAsk(":1", told.windows, told.bus_address, "", 30.0, limits))
        mirrored = await _timed(fields, shot)
        await fields.close()
        await mirrors.close()
    return {
        "fields_walk_ms": walked[0],
        "fields_walk_cpu_ms": walked[1],
        "fields_mirror_ms": mirrored[0],
        "fields_mirror_cpu_ms": mirrored[1],
    }


async def _timed(fields: SecureFields, shot: ViewPixels) -> tuple[float, float]:
    """Return the medians of wall and CPU milliseconds; each time the one field is found."""
    wall, cpu = [], []
    for _ in range(WALKS):
        started, begun = time.perf_counter(), time.process_time()
        found = await fields.boxes(shot)
        wall.append((time.perf_counter() - started) * 1000)
        cpu.append((time.process_time() - begun) * 1000)
        if len(found) != 1:
            raise RuntimeError(f"{len(found)} password fields were found, not 1")
    return round(statistics.median(wall), 2), round(statistics.median(cpu), 2)


def _share(flags: list[bool]) -> float:
    return round(sum(flags) / len(flags), 4)


def _screen(
    redactor: RedactionRules, seed: int, font: str, size: int, colours: Any
) -> tuple[list[list[bool]], list[bool], float]:
    """Return each secret's letters, the other letters (True: hidden), and the milliseconds it took."""
    pixels, letters = draw(screen(seed), font, size, colours)
    shot = ViewPixels(f":{seed}", 1, 1, 0, Rect(0, 0, WIDTH, HEIGHT), pixels, f"{seed}")
    started = time.perf_counter()
    out = asyncio.run(redactor.redact_shot(shot))
    spent_ms = (time.perf_counter() - started) * 1000
    if not isinstance(out, RedactedPixels):
        raise TypeError(out.reason)
    by_secret: defaultdict[str, list[bool]] = defaultdict(list)
    for letter, hidden in zip(letters, covered(letters, [one.box for one in out.hidden]), strict=True):
        by_secret[letter.secret].append(hidden)
    plain = by_secret.pop("")
    return list(by_secret.values()), plain, spent_ms


def table(figures: dict[str, Any]) -> str:
    flat = {
        (f"{name} {part}" if part else name): value
        for name, found in figures.items()
        for part, value in (found.items() if isinstance(found, dict) else [("", found)])
    }
    return "\n".join(f"{name:>25}  {value}" for name, value in flat.items())
