"""Words that occur twice: texts that a widget reports too, and the labels beside widgets without a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from acud.features.scene.widget_words import MAX_WORDS, can_act, is_holder, plain
from acud.types import Rect
from acud.types.scene import AxElement, OcrElement

_ROW_PX, _COLUMN_PX = 32, 256
_MOST_CELLS = 200
_SLACK_PX = 3
_BESIDE_PX = 240
"""How far left of a field its label may end; right of a check box it begins within a tenth of it."""
_ABOVE_PX = 24
_MOST_LETTERS = 60
"""Letters of a label at most."""
_EXPLAINED = 0.6
"""Share of a line's letters that widgets must report for the line to be a repetition."""
_PICTURES = frozenset({"image", "icon", "canvas", "drawing area", "video", "terminal", "image map"})
"""Roles whose name is not the text that they show."""
_LABELS = frozenset({"static", "label", "text", "paragraph", "caption"})
_MARKS_AFTER = frozenset({"check box", "radio button", "switch"})
_WITH_LABEL = _MARKS_AFTER | {
    *("entry", "text", "password text", "combo box", "spin button", "editbar", "date editor", "autocomplete"),
    *("slider", "dial", "list box"),
}
"""Their labels stand beside them, and texts inside are their content. Other widgets hold their label."""


def has_label_beside(widget: AxElement) -> bool:
    """Return whether a label of the widget stands beside it, not in it."""
    return widget.role in _WITH_LABEL


class Boxes:
    """Boxes by the cells of the screen that they touch, to find those around a point or beside a box.

    A box that touches more than `_MOST_CELLS` is left out: no label or line of text is so large.
    """

    def __init__(self, boxes: Iterable[tuple[Rect, str]]) -> None:
        self._cells: dict[tuple[int, int], list[tuple[Rect, str]]] = {}
        for box, name in boxes:
            for cell in _cells(_widen_box(box)):
                self._cells.setdefault(cell, []).append((box, name))

    def holds(self, x: int, y: int) -> bool:
        """Return whether the point is in one of the boxes, or within 3 px of it."""
        return any(_widen_box(box).holds(x, y) for box, _ in self._cells.get((x // _COLUMN_PX, y // _ROW_PX), ()))

    def near(self, box: Rect) -> list[tuple[Rect, str]]:
        """Return the boxes that touch `box` or the area left, right and above of it."""
        around = Rect(box.x - _BESIDE_PX, box.y - _ABOVE_PX, box.w + 2 * _BESIDE_PX, box.h + _ABOVE_PX)
        return list(dict.fromkeys(one for cell in _cells(around) for one in self._cells.get(cell, ())))


def _widen_box(box: Rect) -> Rect:
    return Rect(box.x - _SLACK_PX, box.y - _SLACK_PX, box.w + 2 * _SLACK_PX, box.h + 2 * _SLACK_PX)


def _cells(box: Rect) -> Iterator[tuple[int, int]]:
    columns = range(box.x // _COLUMN_PX, (box.right - 1) // _COLUMN_PX + 1)
    rows = range(box.y // _ROW_PX, (box.bottom - 1) // _ROW_PX + 1)
    if len(columns) * len(rows) <= _MOST_CELLS:
        yield from ((column, row) for column in columns for row in rows)


class WidgetWords:
    """The words in sight that the widgets of a window report."""

    def __init__(self, widgets: Iterable[AxElement]) -> None:
        shown = [one for one in widgets if not one.offscreen and one.bbox.area and _shows_its_words(one)]
        self._inside = Boxes((one.bbox, "") for one in shown)
        self._rows: dict[int, set[str]] = {}
        for one in shown:
            if can_act(one):  # the words of a check box stand beside it
                for _, row in _cells(Rect(0, one.bbox.y, 1, one.bbox.h)):
                    self._rows.setdefault(row, set()).update(map(plain, one.label.split()))

    def has(self, text: OcrElement) -> bool:
        """Return whether widgets report a line of text: most of its letters lie inside of widgets with words, or are
        words of a control in the same row.
        """
        words = text.words or ((text.text, text.bbox),)
        explained = sum(len(word) for word, box in words if self._has_word(word, box))
        return explained >= _EXPLAINED * sum(len(word) for word, _ in words)

    def _has_word(self, word: str, box: Rect) -> bool:
        x, y = box.x + box.w // 2, box.y + box.h // 2
        in_row = self._rows.get(y // _ROW_PX, set())
        return self._inside.holds(x, y) or all(plain(part) in in_row for part in word.split() if plain(part))


def _shows_its_words(one: AxElement) -> bool:
    """Return whether the widget reports all words that it shows."""
    longest = max(len(one.label), len(one.value))
    return 0 < longest < MAX_WORDS and one.role not in _PICTURES and not is_holder(one)


class LabelsBeside:
    """The labels of widgets without a name, taken from texts beside them. `used`: the ids of those texts."""

    def __init__(self, widgets: Sequence[AxElement], texts: Sequence[OcrElement]) -> None:
        self.used: set[str] = set()
        named = [one for one in widgets if one.label and one.role in _LABELS and not can_act(one)]
        words = {one.id: one.label for one in named} | {one.id: one.text for one in texts}
        boxes = [*((one.bbox, one.id) for one in named), *((one.bbox, one.id) for one in texts)]
        short = [one for one in boxes if one[0].area and len(words[one[1]]) <= _MOST_LETTERS and plain(words[one[1]])]
        self._texts = Boxes(short)
        self._words = words
        self._others = Boxes((one.bbox, one.id) for one in widgets if can_act(one) and one.bbox.area)

    def of(self, widget: AxElement) -> str:
        """Return the words inside the widget, or else beside or above it; "" where there are none."""
        if not widget.bbox.area:
            return ""
        near = [one for one in self._texts.near(widget.bbox) if one[1] not in self.used]
        scored = [(score, id_) for box, id_ in near if (score := self._measure_distance(widget, box)) is not None]
        if not scored:
            return ""
        _, id_ = min(scored)
        self.used.add(id_)
        return self._words[id_].rstrip(" :*")

    def _measure_distance(self, widget: AxElement, text: Rect) -> tuple[int, int] | None:
        """Return how far a text is from the usual place of the widget's label; None where it is no label."""
        box = widget.bbox
        if not has_label_beside(widget):
            return (0, 0) if box.contains(text) else None
        middle = text.y + text.h // 2
        if box.y - _SLACK_PX <= middle <= box.bottom + _SLACK_PX:
            before, after = box.x - text.right, text.x - box.right
            if widget.role in _MARKS_AFTER and -_SLACK_PX <= after <= _BESIDE_PX // 10:
                return 0, after
            if -_SLACK_PX <= before <= _BESIDE_PX and not self._is_another_between(text, box):
                return 1, before
            return None
        above = box.y - text.bottom
        overlaps = min(box.right, text.right) - max(box.x, text.x)
        return (2, above) if -_SLACK_PX <= above <= _ABOVE_PX and overlaps > 0 else None

    def _is_another_between(self, text: Rect, box: Rect) -> bool:
        gap = Rect(text.right, box.y + box.h // 2, max(0, box.x - text.right - 1), 1)
        return any(gap.intersect(other) is not None for other, _ in self._others.near(box) if other != box)
