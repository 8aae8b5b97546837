"""The widget that a description means, among those of a display: exact before alike, and never a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from acud.accessibility.nodes import Node, State, Tree
from acud.features.grounding.description_parts import Parts, parts_of
from acud.features.grounding.item_match import Explained, explain, names_icon
from acud.features.grounding.screen_items import ShapeOf, TreeSurroundings, behind_modal, tree_items, with_shape
from acud.features.grounding.widget_score import TYPED_INTO, Scorer, WidgetVisibility, is_interactive
from acud.features.grounding.widget_words import DescriptionReading, implied_names, in_one_row, readings
from acud.types import Rect, WindowInfo
from acud.types.grounding import Candidate, GroundingMethod

SURE = 0.84
"""The least score of an answer: the same name, or one with a word more where nothing else comes near."""
WORTH_NAMING = 0.55
_CLEAR = 0.08
"""How much better than the next the best must be."""
_GUESSED_READING = 0.995
"""A reading with a place or a number beats the plain one only where that found nothing as good."""

_SURE_COST, _SURE_TEXT_COST = 1.3, 0.7
"""What the explanation of a widget, or of a text that reacts to nothing, costs at most where the answer is sure."""
_NOTHING_TOLD = Parts()

Outcome = Literal["sure", "ambiguous", "unsure", "nothing"]


class Match(Struct, frozen=True):
    """`sure`: exactly one candidate. `ambiguous`: several that fit as well. `unsure`: what comes near, best first."""

    outcome: Outcome
    candidates: tuple[Candidate, ...] = ()
    reason: str = ""


class Scored(Struct, frozen=True):
    """A widget that can be clicked, with how well it fits."""

    node: Node
    part: Rect
    score: float


def match(
    description: str, tree: Tree, windows: Sequence[WindowInfo], screen: Rect, *, verb: str = "", most: int = 8,
    shape_of: ShapeOf | None = None,
) -> Match:  # fmt: skip
    """Return which widget of `tree` is meant. `windows` are the display's, topmost first; `screen` its bounds.

    `shape_of` tells what the icon of a widget means by its shape; it is asked only where names leave the answer open.
    Only what shows, reacts, and lies uncovered inside its window and the display is a candidate; what fits but doesn't
    is told in `reason`.
    """
    return _Matching(tree, windows, screen, verb, shape_of).answer(description, most)


class _Matching:
    def __init__(
        self, tree: Tree, windows: Sequence[WindowInfo], screen: Rect, verb: str, shape_of: ShapeOf | None
    ) -> None:
        self._tree = tree
        self._shape_of = shape_of
        self._windows = windows
        self._sight = WidgetVisibility(tree, windows, screen)
        self._behind = behind_modal(windows)
        parts = {node.ref: self._sight.visible_part(node) for node in tree.nodes}
        self._parts = {ref: part for ref, part in parts.items() if part is not None}
        seen = [node for node in tree.nodes if node.ref in self._parts]
        self._seen = seen if verb != "type" else [n for n in seen if n.role in TYPED_INTO and is_interactive(n)]
        implied = implied_names(seen)
        self._scorer = Scorer(tree, self._parts, implied, windows, self._blocked(seen))
        self._nodes = {node.ref: node for node in tree.nodes}
        self._implied = implied

    def _surroundings(self, description: str) -> TreeSurroundings:
        """Return what can be seen, with the meanings of nameless icons where the description names one."""
        shown = {node.ref: self._parts[node.ref] for node in self._seen}
        items = tree_items(self._tree, shown, self._implied)
        if self._shape_of is not None and names_icon(description):
            texts = [item.box for item in items if item.role in ("label", "static") and item.names]
            shape_of = self._shape_of
            items = [one if any(one.box.contains(box) for box in texts) else with_shape(one, shape_of) for one in items]
        titles = {window.window_id: window.title for window in self._windows}
        return TreeSurroundings(items, titles, self._tree)

    def _blocked(self, nodes: Sequence[Node]) -> frozenset[str]:
        return frozenset(node.ref for node in nodes if not node.is_enabled or self._is_behind_modal(node))

    def answer(self, description: str, most: int) -> Match:
        best: list[Scored] = []
        for index, reading in enumerate(readings(description)):
            found = self._found(reading)
            weight = _GUESSED_READING**index
            scored = [Scored(one.node, one.part, one.score * weight) for one in found]
            if scored and (not best or scored[0].score > best[0].score + 0.05 or self._is_narrower(scored, best)):
                best = scored
        usable = [one for one in best if self._why_not(one) == ""]
        read = self._judged(usable, best, most)
        return read if read.outcome == "sure" else self._by_every_word(description, read, most)

    def _by_every_word(self, description: str, before: Match, most: int) -> Match:
        """Return what explains every word of the description, where the readings found nothing sure."""
        explained = explain(description, self._surroundings(description))
        if explained.outcome == "nothing":
            return before
        told = parts_of(description)
        fitting = [
            Scored(self._nodes[one.item.ref], one.item.box, max(SURE, 1 - one.cost / 4)) for one in explained.items
        ]
        usable = [one for one in fitting if self._why_not(one, told) == ""]
        if not usable:
            return Match("nothing", (), self._told(fitting))
        candidates = tuple(self._candidate(one) for one in usable[:most])
        disabled = [one for one in fitting if self._why_not(one, told) == "disabled"]
        if len(usable) == 1:  # a disabled one may be what was meant, one behind a dialog is not
            doubtful = bool(disabled) or not _is_plain(explained.items[fitting.index(usable[0])])
            return Match("unsure" if doubtful else "sure", candidates, self._told(fitting))
        return Match("ambiguous", candidates, f"{len(candidates)} widgets fit as well")

    def _is_narrower(self, new: list[Scored], old: list[Scored]) -> bool:
        """Tell whether a reading with a place or a number leaves fewer of what fits as well as before."""
        return new[0].score > old[0].score - 0.05 and len(_equals(new)) < len(_equals(old))

    def _found(self, reading: DescriptionReading) -> list[Scored]:
        scores = self._scorer.fitting(reading, self._seen)
        nodes = [node for node in self._seen if scores.get(node.ref, 0.0) >= WORTH_NAMING]
        if reading.number and reading.kind in _ROW_KINDS:
            nodes = [node for node in nodes if not self._is_option(node)]
        single = self._without_parts(nodes, scores)
        found = [Scored(node, self._parts[node.ref], scores[node.ref]) for node in single]
        found.sort(key=lambda one: (-one.score, one.part.y, one.part.x))
        return _numbered(found, reading)

    def _is_option(self, node: Node) -> bool:
        """Tell whether it is an option of a list to choose from, which toolkits tell of also while it is closed."""
        return any(other.role == "combo box" for other in self._tree.ancestors(node))

    def _without_parts(self, nodes: Sequence[Node], scores: dict[str, float]) -> list[Node]:
        """Leave out the labels inside a widget that fits itself, and containers around one that fits as well."""
        fitting = {node.ref for node in nodes}
        inner = {n.ref for n in nodes if any(o.ref in fitting and is_interactive(o) for o in self._tree.ancestors(n))}
        left = [node for node in nodes if node.ref not in inner or self._beats_outer(node, scores)]
        active = {other.ref for node in left if is_interactive(node) for other in self._tree.ancestors(node)}
        kept = [node for node in left if is_interactive(node) or node.ref not in active]
        return self._without_labels(kept, scores)

    def _beats_outer(self, node: Node, scores: dict[str, float]) -> bool:
        """Tell whether an inner widget reacts itself and fits better than what is around it."""
        outer = [other for other in self._tree.ancestors(node) if other.ref in scores and is_interactive(other)]
        return is_interactive(node) and all(scores[node.ref] > scores[other.ref] + 0.02 for other in outer)

    def _without_labels(self, nodes: list[Node], scores: dict[str, float]) -> list[Node]:
        """Leave out what doesn't react where something that does fits about as well, or is shown in the same place."""
        active = [node for node in nodes if is_interactive(node)]
        best = max((scores[node.ref] for node in active), default=0.0)
        return [n for n in nodes if is_interactive(n) or not active or scores[n.ref] > best + 0.02]

    # ---- deciding ---------------------------------------------------------------------------------------------------

    def _why_not(self, one: Scored, told: Parts = _NOTHING_TOLD) -> str:
        """Return why it can't be used, but for what the description itself tells of it."""
        if not one.node.is_enabled and "disabled" not in told.states:
            return "disabled"
        if self._is_behind_modal(one.node) and not told.is_behind:
            return "behind a dialog that must be answered first"
        if self._sight.click_point(one.node, one.part) is None:
            return "covered by another window"
        return ""

    def _is_behind_modal(self, node: Node) -> bool:
        top = (node, *self._tree.ancestors(node))[-1]
        if top.window in self._behind or node.window in self._behind:
            return True
        return not top.has(State.MODAL) and any(
            other.app == top.app and other.parent == -1 and other.has(State.MODAL | State.SHOWING)
            for other in self._tree.nodes
        )

    def _judged(self, usable: list[Scored], fitting: list[Scored], most: int) -> Match:
        reason = self._told(fitting)
        if not usable:
            return Match("nothing", (), reason)
        candidates = tuple(self._candidate(one) for one in usable[:most])
        best = usable[0].score
        # A better one that can't be used is what was meant: the next best is no answer.
        if best < SURE or (fitting and fitting[0].score > best + _CLEAR):
            return Match("unsure", candidates, reason)
        near = _equals(usable)
        if len(near) == 1:
            return Match("sure", candidates[:1], reason)
        return Match("ambiguous", candidates[: len(near)], f"{len(near)} widgets fit as well")

    def _told(self, fitting: list[Scored]) -> str:
        """Say why the widget that fits best can't be used ("" when it can)."""
        if not fitting or fitting[0].score < SURE or not (why := self._why_not(fitting[0])):
            return ""
        node = fitting[0].node
        return f"the {node.role} {node.name[:80]!r} is {why}"

    def _candidate(self, one: Scored) -> Candidate:
        point = self._sight.click_point(one.node, one.part)
        assert point is not None
        title = next((w.title for w in self._windows if w.window_id == one.node.window), "")
        return Candidate(
            point=point,
            box=one.part,
            confidence=round(min(one.score, 1.0), 3),
            method=GroundingMethod.ACCESSIBILITY,
            label=one.node.name or one.node.description,
            role=one.node.role,
            window=title,
        )


def _is_plain(one: Explained) -> bool:
    """Tell whether little of the explanation is taken from around the widget, and less where it is only a text."""
    return one.cost <= (_SURE_COST if one.item.is_active else _SURE_TEXT_COST)


def _equals(found: Sequence[Scored]) -> Sequence[Scored]:
    """Return those that are about as good as the first."""
    return [one for one in found if one.score > found[0].score - _CLEAR]


_ROW_KINDS = frozenset({"row", "item", "list item", "list entry", "entry"})


def _parents(rows: Sequence[Scored]) -> Sequence[int]:
    return list(dict.fromkeys(one.node.parent for one in rows))


def _first_of_rows(cells: Sequence[Scored]) -> list[Scored]:
    """Return the leftmost of each line of `cells`: a table whose rows are no widgets tells of cells alone."""
    kept: list[Scored] = []
    for one in sorted(cells, key=lambda one: (one.part.x, one.part.y)):
        if not any(in_one_row(one.part, other.part) for other in kept):
            kept.append(one)
    return kept


def _numbered(found: list[Scored], reading: DescriptionReading) -> list[Scored]:
    """Return the one that the reading's number or side picks among the best; all of them without."""
    if not found or not (reading.number or reading.side):
        return found
    equal = _equals(found)
    if not reading.name and not reading.side and reading.kind in _ROW_KINDS:
        lists = [_first_of_rows([one for one in equal if one.node.parent == parent]) for parent in _parents(equal)]
        lists = [rows for rows in lists if len(rows) >= max(2, abs(reading.number))]
        if len(lists) != 1:
            return []  # rows of which list?
        equal = lists[0]
    if len(equal) < max(2, abs(reading.number)):
        return []
    if reading.side:
        return [(min if reading.side == "left" else max)(equal, key=lambda one: one.part.x)]
    ordered = sorted(equal, key=lambda one: (one.part.y, one.part.x))
    return [ordered[reading.number - 1 if reading.number > 0 else -1]]
