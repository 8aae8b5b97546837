"""Secrets announced by the place of a label: left of a value, above it, or at the head of its column.

A cell is a piece of a row of the screen, as the engine reads it. Engines join cells that stand close, so a column is
also looked for inside of a longer piece, by the place of its words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from acud.features.redaction.labels import RULES, Label, LabelKind, find_label
from acud.features.redaction.rule_data import forms
from acud.features.redaction.spans import RedactedSpan, find_words
from acud.features.redaction.values import accepts, looks_chosen
from acud.types import Rect


class Cell(NamedTuple):
    """text[start:end] of a page, its row number, its text, its box, and the columns of its words if known."""

    start: int
    end: int
    row: int
    text: str
    box: Rect
    columns: tuple[tuple[int, int], ...] = ()


_MAX_LABEL = 48
_MAX_WORDS = 6
_FAR = 24
"""Heights of a line from a label to its value on the right."""
_BELOW = 2.4
"""Heights of a line from a label to its value below."""
_NEXT_ROW = 3.6


def find_in_cells(cells: Sequence[Cell]) -> Iterator[RedactedSpan]:
    """Yield the secrets that labels announce by their place among `cells`, which are in reading order."""
    rows = _group_rows(cells)
    for cell in cells:
        found = read_label(cell.text)
        if found is not None:
            yield from _find_values(cell, found, rows)
    for row in rows:
        for cell in row:
            yield from _find_under_heads(cell, rows)


def read_label(text: str) -> Label | None:
    """Return the label that all of `text` is; None for other text."""
    bare = text.strip(" *:：=>|-")
    if not bare or len(bare) > _MAX_LABEL or len(bare.split()) > _MAX_WORDS or forms()["no label"].search(bare):
        return None
    found = find_label(bare)
    # `Cook Pass`, `Ski pass`: a password only by itself, or with what it opens (a term of two words).
    other = found is not None and found.is_bare and found.kind is LabelKind.PASSWORD and " " in bare
    return None if other else found


def _group_rows(cells: Sequence[Cell]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for cell in cells:
        if rows and rows[-1][-1].row == cell.row:
            rows[-1].append(cell)
        else:
            rows.append([cell])
    return rows


def _find_values(cell: Cell, label: Label, rows: Sequence[Sequence[Cell]]) -> Iterator[RedactedSpan]:
    at = next(place for place, row in enumerate(rows) if row[0].row == cell.row)
    row = rows[at]
    place = row.index(cell)
    right = row[place + 1] if place + 1 < len(row) else None
    if right is not None and right.box.x - cell.box.right > _FAR * cell.box.h:
        right = None
    column = list(_cells_under(cell, right, rows, at))
    is_head = (
        not _goes_on_with(row, rows, at) and len(row) > 1 and (place > 0 or len(row) > 2) and _is_head(row, rows, at)
    )
    if right is not None and not is_head and _is_value(label, right.text):
        yield _whole_cell(right, label)
        return
    if not column:
        return
    if is_head:
        for part in column:
            text = part.text[: part.end - part.start]
            if accepts(label, text) and read_label(text) is None:
                yield RedactedSpan(part.start, part.end, RULES[label.kind])
        return
    first = column[0]
    if label.term.endswith("s") and sum(other.row == first.row for other in column) < _cells_in(rows, first.row):
        return  # `Passwords` above the head of a table
    if first.box.y - cell.box.bottom < (_BELOW - 1) * cell.box.h and _is_value(label, first.text) and right is None:
        yield _whole_cell(first, label)


def _is_value(label: Label, text: str) -> bool:
    if not accepts(label, text) or text.rstrip().endswith(":"):
        return False
    words = text.split()
    if len(words) > (4 if label.kind in (LabelKind.PASSWORD, LabelKind.KEY) else 24):
        return label.kind is LabelKind.KEY and all(3 <= len(word) <= 8 for word in words)
    return read_label(text) is None or looks_chosen(text)


def _cells_in(rows: Sequence[Sequence[Cell]], number: int) -> int:
    return next((len(row) for row in rows if row[0].row == number), 0)


def _whole_cell(cell: Cell, label: Label) -> RedactedSpan:
    return RedactedSpan(cell.start, cell.end, RULES[label.kind])


def _is_head(row: Sequence[Cell], rows: Sequence[Sequence[Cell]], at: int) -> bool:
    """Return whether `row` names the columns of the rows below: no cell is a value, and most have one below."""
    if any(any(c.isdigit() for c in cell.text) or len(cell.text.split()) > 4 for cell in row):
        return False
    below = [cell for other in _rows_below(rows, at, 3) for cell in other]
    under = [any(_is_aligned(cell, other) for other in below) for cell in row]
    labels_below = sum(read_label(other.text) is not None for other in below)
    return sum(under) >= max(1, len(row) * 2 // 3) and labels_below <= 1


def _goes_on_with(row: Sequence[Cell], rows: Sequence[Sequence[Cell]], at: int) -> bool:
    """Return whether `row` continues the table of the row above: each cell begins below one of that row."""
    above = rows[at - 1] if at else ()
    if len(row) < _COLUMNS or len(above) != len(row) or next(_rows_below(rows, at - 1, 1), None) is not row:
        return False
    return all(abs(cell.box.x - over.box.x) < cell.box.h // 2 for cell, over in zip(row, above, strict=True))


_COLUMNS = 3


def _rows_below(rows: Sequence[Sequence[Cell]], at: int, most: int = 1000) -> Iterator[Sequence[Cell]]:
    """Yield the rows below that follow without a large gap."""
    for above, below in pairwise(rows[at : at + most + 1]):
        high = max(cell.box.h for cell in above)
        if below[0].box.y - above[0].box.bottom > (_NEXT_ROW - 1) * high or forms()["table end"].match(below[0].text):
            return
        yield below


def _is_aligned(head: Cell, cell: Cell) -> bool:
    return cell.box.x <= head.box.right and cell.box.right >= head.box.x


def _cells_under(
    head: Cell, right: Cell | None, rows: Sequence[Sequence[Cell]], at: int, until: int | None = None
) -> Iterator[Cell]:
    """Yield the cells under `head` and left of those under `right`, row by row."""
    left = head.box.x - head.box.h
    limit = until if until is not None else right.box.x - head.box.h // 3 if right is not None else None
    for row in _rows_below(rows, at):
        for cell in row:
            part = _clip_cell(cell, left, limit)
            if part is not None and part.box.x <= head.box.right + 4 * head.box.h:
                yield part


def _clip_cell(cell: Cell, left: float, limit: float | None) -> Cell | None:
    """Return the words of `cell` that begin at or after `left` and before `limit`."""
    if cell.box.x >= left and (limit is None or cell.box.right <= limit):
        return cell
    if cell.box.right <= left or (limit is not None and cell.box.x >= limit):
        return None
    wide = cell.box.w / max(1, len(cell.text))
    spans = [word.span() for word in find_words(cell.text)]
    begins = [column[0] for column in cell.columns] if len(cell.columns) == len(spans) else None
    words = [
        span
        for place, span in enumerate(spans)
        if (begins[place] if begins else cell.box.x + (span[0] + 0.6) * wide) >= left
        and (limit is None or (begins[place] if begins else cell.box.x + (span[0] + 0.5) * wide) < limit)
    ]
    if not words:
        return None
    first, last = words[0][0], words[-1][1]
    box = Rect(int(cell.box.x + first * wide), cell.box.y, max(1, int((last - first) * wide)), cell.box.h)
    return Cell(cell.start + first, cell.start + last, cell.row, cell.text[first:last], box)


def _is_shouted(word: str) -> bool:
    return word.isupper() and word.replace("_", "").replace("-", "").isalpha()


def _find_under_heads(cell: Cell, rows: Sequence[Sequence[Cell]]) -> Iterator[RedactedSpan]:
    """Yield the secrets in the columns of a head that was read as one piece: `NAME TOKEN AGE`."""
    words = find_words(cell.text)
    if not 3 <= len(words) <= 12 or not all(_is_shouted(word[0]) for word in words):
        return
    at = next(place for place, row in enumerate(rows) if row[0].row == cell.row)
    wide = cell.box.w / len(cell.text)
    for word, after in zip(words, [*words[1:], None], strict=True):
        found = find_label(word[0])
        if found is None:
            continue
        box = Rect(int(cell.box.x + word.start() * wide), cell.box.y, int(len(word[0]) * wide), cell.box.h)
        head = Cell(cell.start + word.start(), cell.start + word.end(), cell.row, word[0], box)
        limit = int(cell.box.x + after.start() * wide) if after is not None else None
        for part in _cells_under(head, None, rows, at, limit):
            if accepts(found, part.text) and (found.kind is not LabelKind.PASSWORD or looks_chosen(part.text)):
                yield RedactedSpan(part.start, part.end, RULES[found.kind])
