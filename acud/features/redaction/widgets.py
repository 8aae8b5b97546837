"""Secrets in widgets: the content of a field with a secret's name, or of a cell below such a head.

Widgets report their words exactly, so the rules for plain text apply, not those for text read by an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from acud.accessibility.nodes import Node
from acud.features.redaction.cells import Cell, find_in_cells
from acud.features.redaction.labels import RULES, find_label
from acud.features.redaction.text_rules import TextRules, find
from acud.features.redaction.values import accepts

_FIELDS = frozenset(("text", "entry", "password text", "spin button", "editbar", "autocomplete", "combo box"))
_CELLS = _FIELDS | frozenset(
    (
        "label",
        "static",
        "table cell",
        "table column header",
        "column header",
        "table row header",
        "row header",
        "heading",
    )
)
_HOLDERS = frozenset(("table cell", "column header", "table column header", "row header", "table row header"))
_MAX_TEXT = 300
"""Longer texts are documents: the widget does not give the place of a secret in them."""


def rules_of_widgets(nodes: Sequence[Node], rules: TextRules) -> list[str]:
    """Return for each widget the rule that hides its content, "" for most. `nodes` as in `Tree`."""
    found = [""] * len(nodes)
    for number, node in enumerate(nodes):
        rule = _field_rule(node) or _text_rule(node, rules)
        if rule in rules.active:
            found[number] = rule
    for number, rule in _place_rules(nodes):
        if rule in rules.active:
            found[number] = found[number] or rule
    return found


def _field_rule(node: Node) -> str:
    if node.role not in _FIELDS or not node.text:
        return ""
    announced = find_label(node.name[:80]) if node.name else None
    return RULES[announced.kind].value if announced is not None and accepts(announced, node.text, quoted=True) else ""


def _text_rule(node: Node, rules: TextRules) -> str:
    """Return the rule that hides all of a widget's text."""
    text = (node.text or node.name) if node.role in _CELLS else ""
    return _rule_of_all(text, rules) if 0 < len(text) <= _MAX_TEXT else ""


@lru_cache(4096)
def _rule_of_all(text: str, rules: TextRules) -> str:
    # Most widgets have the same text each time they are read.
    spans = find(text, rules)
    hidden = sum(span.end - span.start for span in spans)
    return spans[0].rule.value if 10 * hidden >= 9 * len(text.strip()) > 0 else ""


def _place_rules(nodes: Sequence[Node]) -> list[tuple[int, str]]:
    placed = [
        (number, node)
        for number, node in enumerate(nodes)
        if node.box is not None and node.role in _CELLS and 0 < len(node.text or node.name) <= _MAX_TEXT
        if not (node.parent >= 0 and nodes[node.parent].role in _HOLDERS)
    ]
    placed.sort(key=lambda one: (_middle_px(one[1]), _left_px(one[1])))
    cells: list[Cell] = []
    numbers: dict[int, int] = {}
    at = row = 0
    last = -1.0
    for number, node in placed:
        assert node.box is not None
        if _middle_px(node) - last > node.box.h / 2:
            row += 1
            last = _middle_px(node)
        text = node.text or node.name
        numbers[at] = number
        cells.append(Cell(at, at + len(text), row, text, node.box))
        at += len(text) + 1
    cells.sort(key=lambda cell: (cell.row, cell.box.x))
    ends = {cell.start: cell.end for cell in cells}
    return [
        (numbers[span.start], span.rule.value)
        for span in find_in_cells(cells)
        if span.start in numbers and span.end == ends[span.start]
    ]


def _middle_px(node: Node) -> float:
    return node.box.y + node.box.h / 2 if node.box is not None else 0.0


def _left_px(node: Node) -> int:
    return node.box.x if node.box is not None else 0
