"""What the finders see of each screen, taken once and asked as often as rules change.

    .venv/bin/python -m tests.grounding.seen [--fresh] [--text] [screen …]

Takes the screens of the half to work with that are not taken yet (`--fresh`: all anew) into build/grounding, asks their
descriptions, and prints the table of `run`. `--text`: as for programs that tell nothing of their widgets. The closed
half is never taken: it is asked live, by `scripts/bench ground --closed`.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from Xlib import X

from acud.accessibility.nodes import Limits, Tree
from acud.config import AccessibilitySettings, GroundingSettings, OcrSettings
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.reader import TreeReader
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.view_pixels import ViewPixels
from acud.features.grounding import search_progress
from acud.features.grounding.evaluator.accessibility import AccessibilityMethod
from acud.features.grounding.evaluator.method import SearchView
from acud.features.grounding.evaluator.ocr import OcrMethod
from acud.protocol.questions import FindAsk
from acud.types import Rect, WindowInfo
from acud.types.grounding import Found, GroundingBackend, GroundingMethod
from tests.grounding import screens
from tests.grounding.desktop import Desktop
from tests.grounding.run import Answer, descriptions, is_right, settled, table

FOLDER = Path(__file__).parents[2] / "build" / "grounding"


class SeenScreen(NamedTuple):
    """A screen as the finders see it. `pixels`: height x width x 4 uint8 BGRX of the whole display."""

    tree: Tree
    windows: tuple[WindowInfo, ...]
    area: Rect
    pixels: NDArray[np.uint8]
    lines: tuple[Line, ...]
    truth: dict[str, Rect]

    @property
    def shot(self) -> ViewPixels:
        return ViewPixels(":seen", 1, 1, 0, self.area, self.pixels, "")


def seen(names: Sequence[str], *, fresh: bool = False) -> dict[str, SeenScreen]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    found: dict[str, SeenScreen] = {}
    for name in names:
        file = FOLDER / f"{name}.pickle"
        if file.exists() and not fresh:
            found[name] = SeenScreen(*pickle.loads(file.read_bytes()))
        elif why := screens.lacking(name):
            print(f"{name}: left out, {why}", file=sys.stderr)
        else:
            found[name] = asyncio.run(_taken(name))
            file.write_bytes(pickle.dumps(tuple(found[name])))
            print(f"{name}: taken", file=sys.stderr)
    return found


async def _taken(name: str) -> SeenScreen:
    settings = AccessibilitySettings(answer_s=5, walk_s=20)
    limits = Limits(settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s)
    reading = TextReading(OcrSettings())
    with screens.shown(name) as (desktop, truth):
        await settled(desktop)
        bus = AccessibilityBus(desktop.bus_address, connect_s=20)
        try:
            windows = desktop.windows()
            tree = await TreeReader(bus).read(windows, limits)
        finally:
            await bus.close()
        shot = desktop_view(desktop)
    try:
        lines = await reading.lines(shot)
    finally:
        reading.close()
    return SeenScreen(tree, tuple(windows), shot.crop, shot.pixels, tuple(lines), dict(truth))


def desktop_view(desktop: Desktop) -> ViewPixels:
    area = desktop.screen
    image = desktop.x.root.get_image(0, 0, area.w, area.h, X.ZPixmap, 0xFFFFFFFF)
    pixels = np.frombuffer(image.data, np.uint8).reshape(area.h, area.w, 4).copy()
    return ViewPixels(desktop.server.display, 1, 1, 0, area, pixels, "")


class _Lines:
    def __init__(self, lines: tuple[Line, ...]) -> None:
        self._lines = lines

    async def lines(self, shot: ViewPixels) -> tuple[Line, ...]:
        return self._lines


async def find(words: str, screen: SeenScreen, *, text_only: bool = False) -> Found:
    methods = search_progress.methods(GroundingBackend.AUTO)[1:]
    view = SearchView(screen.shot, screen.area)
    widgets = AccessibilityMethod(AccessibilitySettings())
    text = OcrMethod(_Lines(screen.lines), GroundingSettings().fuzzy_min, OcrSettings().min_confidence)
    found = search_progress.nothing_yet()
    plan = methods[1:] if text_only else methods
    while (name := search_progress.next_method(plan, found)) is not None:
        ask = FindAsk(words, tuple(methods), windows=screen.windows, before=found)
        looked = (
            widgets.match_tree(ask, view, screen.tree)
            if name is GroundingMethod.ACCESSIBILITY
            else await text.find(ask, view)
        )
        found = search_progress.add(found, looked.tried, looked.candidates)
    return found


async def asked(names: Sequence[str], taken: dict[str, SeenScreen], *, text_only: bool = False) -> list[Answer]:
    answers: list[Answer] = []
    for about in descriptions(names):
        if about.screen in taken:
            screen, begun = taken[about.screen], time.monotonic()
            found = await find(about.words, screen, text_only=text_only)
            ms = (time.monotonic() - begun) * 1000
            answers.append(Answer(about, found, is_right(about, found, screen.truth), ms))
    return answers


def main(arguments: Sequence[str]) -> None:
    flags = [one for one in arguments if one.startswith("--")]
    names = [one for one in arguments if not one.startswith("--")] or list(screens.WORK)
    if any(name in screens.CLOSED for name in names):
        raise SystemExit("the closed half is asked live, once: scripts/bench ground --closed")
    taken = seen(names, fresh="--fresh" in flags)
    print(table(asyncio.run(asked(names, taken, text_only="--text" in flags))))


if __name__ == "__main__":
    main(sys.argv[1:])
