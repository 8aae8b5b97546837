"""The grounding set: descriptions of widgets on real screens, and how well a way of finding answers them.

    .venv/bin/python -m tests.grounding.run [screen …]      accessibility alone, a table on standard output

Names of screens choose what is asked: `screens.WORK`, the half to work with, unless told.
`judged` takes any `find`; `Ask` is what it gets, `Found` what it returns. An answer (`found`) is right when its point
lies in the widget that was meant; where the words fit several or none, every answer is wrong.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from acud.accessibility.nodes import Limits
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.reader import TreeReader
from acud.features.grounding.evaluator.accessibility import AccessibilityMethod
from acud.protocol.questions import FindAsk
from acud.types import Rect
from acud.types.grounding import Found, Tried
from tests.grounding import screens
from tests.grounding.desktop import Desktop
from tests.grounding.half import Description, read

_FILE = Path(__file__).parent / "descriptions.txt"
_EDGE_PX = 1
"""Rounding of fractions of pixels."""

_PATIENCE_S = 60.0
_REST_S = 0.3
_SILENT_S = 8.0
"""What a desktop with a window that tells nothing of its widgets may be still before it is taken as settled."""

SEVERAL, NONE = "several", "none"


class Ask(NamedTuple):
    """One question: `words` about what `desktop` shows now."""

    words: str
    desktop: Desktop


Find = Callable[[Ask], Awaitable[Found]]


class Answer(NamedTuple):
    """What was answered, and whether that was right. `ms`: how long it took."""

    about: Description
    found: Found
    is_right: bool
    ms: float

    @property
    def is_answer(self) -> bool:
        return self.found.status == "found"


class Score(NamedTuple):
    """`precision`: of the places named, those that are right. `answered`: of the descriptions that mean one widget,
    those with a place named. `icons_answered`: of those that mean one icon, the ones with the right place named.
    `declined`: of the others, those without. `wrong`: how many places named are wrong.
    """

    n: int
    precision: float
    answered: float
    icons_answered: float
    declined: float
    wrong: int
    p50_ms: float


def descriptions(names: Sequence[str] = ()) -> list[Description]:
    """Return what is asked about the screens of these names (the half to work with unless told)."""
    every = [*read(_FILE), *(one for half in screens.HALVES for one in half.descriptions())]
    return [one for one in every if one.screen in (names or screens.WORK)]


def is_right(about: Description, found: Found, truth: dict[str, Rect]) -> bool:
    if about.want in (SEVERAL, NONE):
        return found.status != "found"
    box = truth[about.want]
    if found.status != "found":
        return False
    x, y = found.candidates[0].point.x, found.candidates[0].point.y
    return box.x - _EDGE_PX <= x < box.right + _EDGE_PX and box.y - _EDGE_PX <= y < box.bottom + _EDGE_PX


async def judged(find: Find, names: Sequence[str] = ()) -> list[Answer]:
    """Show each screen that this machine can show, ask its descriptions, and return the answers."""
    answers: list[Answer] = []
    for screen in names or screens.WORK:
        if why := screens.lacking(screen):
            print(f"{screen}: left out, {why}", file=sys.stderr)
            continue
        with screens.shown(screen) as (desktop, truth):
            await settled(desktop)
            answers += [await _asked(find, about, desktop, truth) for about in descriptions([screen])]
    return answers


async def settled(desktop: Desktop) -> None:
    """Wait until the owner of every window has told of its widgets, and of no more than a moment before: programs come
    to the accessibility bus in their own time. Where one has told nothing the others have to be still for longer.
    """
    bus = AccessibilityBus(desktop.bus_address, connect_s=_PATIENCE_S)
    until, before, since = time.monotonic() + _PATIENCE_S, -1, 0.0
    try:
        while (now := time.monotonic()) < until:
            tree = await TreeReader(bus).read(desktop.windows(), Limits(answer_s=5, walk_s=10))
            there = {node.window for node in tree.nodes}
            if len(tree.nodes) != before:
                before, since = len(tree.nodes), time.monotonic()
            is_whole = all(window.window_id in there for window in desktop.windows())
            if now - since >= (_REST_S if is_whole else _SILENT_S):
                break
            await asyncio.sleep(0.1)
    finally:
        await bus.close()


async def _asked(find: Find, about: Description, desktop: Desktop, truth: dict[str, Rect]) -> Answer:
    begun = time.monotonic()
    found = await find(Ask(about.words, desktop))
    return Answer(about, found, is_right(about, found, truth), (time.monotonic() - begun) * 1000)


def score(answers: Sequence[Answer]) -> Score:
    named = [one for one in answers if one.is_answer]
    single = [one for one in answers if one.about.want not in (SEVERAL, NONE)]
    others = [one for one in answers if one.about.want in (SEVERAL, NONE)]
    return Score(
        n=len(answers),
        precision=_share([one.is_right for one in named]),
        answered=_share([one.is_answer for one in single]),
        icons_answered=_share([one.is_right for one in single if one.about.tag == "icon"]),
        declined=_share([not one.is_answer for one in others]),
        wrong=sum(not one.is_right for one in named),
        p50_ms=statistics.median(one.ms for one in answers) if answers else 0.0,
    )


def figures(answers: Sequence[Answer]) -> dict[str, Any]:
    told = score(answers)
    return {
        "n": told.n,
        "screens": len({one.about.screen for one in answers}),
        "precision": round(told.precision, 4),
        "answered": round(told.answered, 4),
        "icons_answered": round(told.icons_answered, 4),
        "declined": round(told.declined, 4),
        "wrong": told.wrong,
    }


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0


def table(answers: Sequence[Answer]) -> str:
    """Return the scores by screen, and what was answered wrongly or not at all, as text."""
    lines = [
        f"{'screen':14} {'n':>4} {'precision':>10} {'answered':>9} {'icons':>6} {'declined':>9} {'wrong':>5} "
        f"{'p50 ms':>8}"
    ]
    names = dict.fromkeys(one.about.screen for one in answers)
    lines += [_line(name, [one for one in answers if one.about.screen == name]) for name in names]
    lines.append(_line("all", answers))
    missed = [one for one in answers if not one.is_right]
    return "\n".join([*lines, "", *(_miss(one) for one in missed)])


def _line(name: str, answers: Sequence[Answer]) -> str:
    s = score(answers)
    return (
        f"{name:14} {s.n:4} {s.precision:10.1%} {s.answered:9.1%} {s.icons_answered:6.0%} {s.declined:9.1%} "
        f"{s.wrong:5} {s.p50_ms:8.1f}"
    )


def _miss(one: Answer) -> str:
    said = "; ".join(f"{c.role} {c.label!r} {c.confidence}" for c in one.found.candidates[:3])
    why = "; ".join(f"{t.outcome} {t.reason}" for t in one.found.tried)
    kind = "WRONG" if one.is_answer else "open"
    return (
        f"{kind:6}{one.about.screen}: {one.about.words!r} means {one.about.want}: {one.found.status} [{said}] ({why})"
    )


class ByAccessibility:
    """Finds by accessibility alone, over the display's own bus."""

    def __init__(self) -> None:
        self._grounding = AccessibilityMethod(AccessibilitySettings(answer_s=10, walk_s=30))

    async def find(self, ask: Ask) -> Found:
        """Return what the widgets of the display say, once they are there to be read."""
        desktop = ask.desktop
        request = FindAsk(ask.words, (), windows=desktop.windows(), bus_address=desktop.bus_address)
        tried, candidates = await self._grounding.search(request, desktop.screen)
        return as_found(tried, candidates)

    async def close(self) -> None:
        await self._grounding.close()


def as_found(tried: Tried, candidates: tuple) -> Found:
    status = {"sure": "found", "ambiguous": "ambiguous", "unavailable": "unknown"}.get(tried.outcome, "not_found")
    return Found(status, candidates, (tried,))


async def main(names: Sequence[str]) -> None:
    method = ByAccessibility()
    try:
        print(table(await judged(method.find, names)))
    finally:
        await method.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
