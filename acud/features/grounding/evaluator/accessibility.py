"""Finding by accessibility: a widget's role and name, over the accessibility bus of the display in question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial

from acud.accessibility.nodes import Limits, Tree
from acud.base.errors import Unavailable
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.bus import AccessibilityBuses
from acud.evaluator.accessibility.reader import TreeReader
from acud.features.grounding.evaluator.icon_shapes import shape_meanings
from acud.features.grounding.evaluator.method import MethodResult, SearchView
from acud.features.grounding.screen_items import ShapeOf
from acud.features.grounding.widget_match import Match, match
from acud.protocol.questions import FindAsk
from acud.types import Rect
from acud.types.grounding import Candidate, GroundingMethod, Tried


class AccessibilityMethod:
    """Finds widgets in the searched part of the display. Owns a connection for each bus; `close` ends them."""

    name = GroundingMethod.ACCESSIBILITY

    def __init__(self, settings: AccessibilitySettings) -> None:
        self._limits = Limits(settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s)
        self._buses = AccessibilityBuses()

    async def find(self, ask: FindAsk, view: SearchView) -> MethodResult:
        """Return the widgets that fit; see `GroundingMethodPort`."""
        begun = time.monotonic()
        try:
            tree = await self._read_tree(ask)
        except Unavailable as fault:
            return MethodResult(_make_tried("unavailable", str(fault), begun))
        return await asyncio.to_thread(self.match_tree, ask, view, tree)  # the first icon draws all templates

    def match_tree(self, ask: FindAsk, view: SearchView, tree: Tree) -> MethodResult:
        """Return which widgets of `tree` fit, reading icon shapes from the view's pixels."""
        shape_of = partial(_find_meanings, view)
        return MethodResult(*_match_widgets(ask, view.at, tree, shape_of, time.monotonic()))

    async def search(self, ask: FindAsk, screen: Rect) -> tuple[Tried, tuple[Candidate, ...]]:
        """Return the outcome and the candidates: one when `sure`, best first otherwise. `screen`: the display's bounds
        in its own pixels. Icons are recognised by their names only.
        """
        begun = time.monotonic()
        try:
            tree = await self._read_tree(ask)
        except Unavailable as fault:
            return _make_tried("unavailable", str(fault), begun), ()
        return _match_widgets(ask, screen, tree, None, begun)

    async def _read_tree(self, ask: FindAsk) -> Tree:
        bus = await self._buses.of(ask.bus_address, ask.a11y_address)
        return await TreeReader(bus).read(ask.windows, self._limits)

    async def close(self) -> None:
        await self._buses.close()


def _find_meanings(view: SearchView, box: Rect) -> Mapping[str, float]:
    return shape_meanings(view.shot.pixels, box.shift(-view.at.x, -view.at.y))


def _match_widgets(
    ask: FindAsk, screen: Rect, tree: Tree, shape_of: ShapeOf | None, begun_s: float
) -> tuple[Tried, tuple[Candidate, ...]]:
    found = match(ask.description, tree, ask.windows, screen, verb=ask.verb, most=ask.max_candidates, shape_of=shape_of)
    return _summarize_match(found, tree, begun_s), found.candidates


def _make_tried(outcome: str, reason: str, begun_s: float) -> Tried:
    ms = (time.monotonic() - begun_s) * 1000
    return Tried(GroundingMethod.ACCESSIBILITY, outcome, reason[:1000], ms=round(ms, 2))  # type: ignore[arg-type]


def _summarize_match(best: Match, tree: Tree, begun_s: float) -> Tried:
    """Return the outcome. With gaps in the tree, finding nothing is `unavailable`: the target may be in a gap."""
    gaps = "; ".join(tree.gaps())
    if best.outcome == "nothing" and gaps:
        return _make_tried("unavailable", gaps, begun_s)
    if best.outcome == "nothing" and not tree.apps:
        return _make_tried("unavailable", "no application reports its widgets: see docs/accessibility.md", begun_s)
    return _make_tried(best.outcome, "; ".join(text for text in (best.reason, gaps) if text), begun_s)
