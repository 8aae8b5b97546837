"""Secrets in tables and lists of plain text: below the head of a column, in lines below the name of a list.

Columns are parted by tabs, by two blanks or more, by `|`, or by commas or semicolons (CSV). A list is what stands below
`Backup codes:`, one or more to a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from acud.features.redaction.labels import RULES, Label, LabelKind, find_announcing, find_label
from acud.features.redaction.rule_data import forms, has_form
from acud.features.redaction.spans import RedactedSpan, split_lines
from acud.features.redaction.values import accepts, looks_chosen

_MAX_HEAD = 200
_MAX_ROWS = 500
_MARKS = ("|", "\t", ";", ",")
_GAPPED = re.compile(r"\S+(?:[ ]\S+)*")
_WORDS_OF_HEAD = 4


def find_in_tables(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield what heads of columns and names of lists announce in the lines of `text`; `read`: it was read off a screen,
    where columns are found by their place (`cells.py`), except for those between bars.
    """
    lines = split_lines(text)
    starts = [start for start, _ in lines]
    naming = {number for word in find_announcing(text) for number in _lines_with(text, word, starts)}
    for number in sorted(naming - {len(lines) - 1}):
        start, line = lines[number]
        if len(line) > _MAX_HEAD:
            continue
        below = lines[number + 1 : number + 1 + _MAX_ROWS]
        yield from _find_list(line, below)
        if not read:
            yield from _find_alone(line, below)
        if read:
            yield from _find_between_bars(line, below)
            continue
        mark = next((one for one in _MARKS if line.count(one) >= 1 + (one == ",")), "")
        if mark and any(one.count(mark) == line.count(mark) for _, one in below[:2]):
            yield from _find_between_marks(line, below, mark)
        elif not mark and "  " in line.strip() and "  " in below[0][1].strip():
            yield from _find_aligned(start, line, below)


def _lines_with(text: str, word: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield the numbers of the lines that have `word`."""
    at = text.find(word)
    while at >= 0:
        number = bisect_right(starts, at) - 1
        yield number
        at = text.find(word, starts[number + 1]) if number + 1 < len(starts) else -1


def _is_ruled(line: str) -> bool:
    return not line.strip("|+:=- \t\r")


# ---- columns -----------------------------------------------------------------------------------------------------


def _find_between_marks(head: str, below: Sequence[tuple[int, str]], mark: str) -> Iterator[RedactedSpan]:
    """Yield the secrets in a table with cells between marks."""
    heads = head.split(mark)
    if not _is_head([cell.strip() for cell in heads if cell.strip()]):
        return
    columns = [(place, found) for place, cell in enumerate(heads) if (found := _read_head(cell)) is not None]
    for start, line in below:
        cells = _split_cells(line, mark)
        if len(cells) != len(heads):
            if line and _is_ruled(line):
                continue
            return
        for place, found in columns:
            at, bare = cells[place]
            if bare and not _is_ruled(bare) and _is_value_of(found, bare):
                yield RedactedSpan(start + at, start + at + len(bare), RULES[found.kind])


def _split_cells(line: str, mark: str, *, quotes: str = "\"'`") -> list[tuple[int, str]]:
    cells, at = [], 0
    for cell in line.split(mark):
        bare = cell.strip().strip(quotes)
        cells.append((at + cell.index(bare), bare))
        at += len(cell) + 1
    return cells


def _find_between_bars(head: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield the secrets in a table between bars as read by an engine, which loses some of the bars."""
    bars = " ".join("|" if word in ("I", "l") else word for word in head.replace("\t", " | ").split(" "))
    heads = [cell.strip() for cell in bars.split("|") if cell.strip()]
    columns = [(place, found) for place, cell in enumerate(heads) if (found := _read_head(cell)) is not None]
    if not columns or not _is_head(heads):
        return
    for start, line in below:
        if "|" not in line:
            if _is_ruled(line):
                continue
            return
        cells = [cell for cell in _split_cells(line.replace("\t", "|"), "|", quotes="") if cell[1]]
        for place, found in columns if len(cells) == len(heads) else ():
            at, bare = cells[place]
            if _is_value_of(found, bare) or (
                found.kind is LabelKind.KEY and len(bare) >= _LONG_HEX and set(bare) <= set("0123456789abcdef")
            ):
                yield RedactedSpan(start + at, start + at + len(bare), RULES[found.kind])


_LONG_HEX = 32


def _find_aligned(start: int, head: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield the secrets in a table with its cells below one another."""
    heads = list(_GAPPED.finditer(head.replace("\t", "  ")))
    if not _is_head([one[0] for one in heads]):
        return
    for place, one in enumerate(heads):
        found = _read_head(one[0])
        if found is None:
            continue
        limit = heads[place + 1].start() if place + 1 < len(heads) else 10_000
        for at, line in below:
            if not line.strip():
                break
            cell = next((word for word in _GAPPED.finditer(line) if one.start() <= word.start() < limit), None)
            if cell is None or (one.start() and line[one.start() - 1 : one.start()].strip()):
                if _is_ruled(line):
                    continue
                break
            if cell.start() - one.start() > 1 and cell.end() != one.end():
                break  # neither at its left nor at its right edge
            if not _is_ruled(cell[0]) and _is_value_of(found, cell[0]):
                yield RedactedSpan(at + cell.start(), at + cell.end(), RULES[found.kind])


def _is_head(cells: Sequence[str]) -> bool:
    """Return whether these are names of columns: short, without digits; the first of two announces no secret."""
    return (
        len(cells) > 1
        and all(
            len(cell.split()) <= _WORDS_OF_HEAD and not any(c in "=:([" or c.isdigit() for c in cell) for cell in cells
        )
        and (len(cells) > 2 or _read_head(cells[0]) is None)
    )


def _read_head(cell: str) -> Label | None:
    bare = cell.strip().strip("\"'`*_ ")
    return find_label(bare) if bare and not any(c.isdigit() for c in bare) else None


def _is_value_of(label: Label, value: str) -> bool:
    if find_label(value) is not None and not looks_chosen(value):
        return False
    return accepts(label, value, quoted=label.kind is LabelKind.PASSWORD and not label.is_bare)


# ---- rows that a statement inserts -------------------------------------------------------------------------------


def find_in_inserts(text: str) -> Iterator[RedactedSpan]:
    """Yield what the names of columns announce in the rows of `INSERT INTO … VALUES`."""
    for match in _INSERT.finditer(text) if "INSERT" in text or "insert" in text else ():
        heads = [_read_head(cell.strip(' `"[]')) for cell in match["heads"].split(",")]
        start = match.start("rows")
        for row in match["rows"].split(")"):
            opened = row.find("(") + 1
            cells = [cell for cell in forms()["inserted value"].finditer(row, opened) if cell[0].strip()]
            for found, cell in zip(heads, cells, strict=False):
                if found is not None and cell["quoted"] and _is_value_of(found, cell["quoted"]):
                    yield RedactedSpan(start + cell.start("quoted"), start + cell.end("quoted"), RULES[found.kind])
            start += len(row) + 1


_INSERT = re.compile(
    r"\b(?:INSERT|insert)[ ](?i:(?:ignore[ ])?into)[ ][^\n(]{1,80}\((?P<heads>[^()\n]{1,300})\)"
    r"\s{0,4}(?i:values)\s{0,4}(?P<rows>(?:\([^()\n]{1,1000}\)[,\s]{0,4}){1,50})"
)


# ---- lists -------------------------------------------------------------------------------------------------------

_BLANKS, _MAX_ITEMS, _LONGEST_LABEL = 2, 160, 40


def _is_name(label: str) -> bool:
    return not set(label) & set(":.=|")


_ENDS_PART = str.maketrans(".:!,(–—", "\n" * 7)


def _read_plural(line: str) -> Label | None:
    """Return the label of several codes in a sentence: `Keep these backup codes. Each works once.`"""
    for part in line.replace(" -", "\n").translate(_ENDS_PART).split("\n"):
        found = find_label(part.strip()[-60:])
        if found is not None and found.kind is LabelKind.CODE and found.term[-1] == "s":
            return found
    return None


def _find_alone(name: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield the only word of the line below a label that has a line to itself."""
    bare = name.strip(" \t*:")
    if not 0 < len(bare) <= _LONGEST_LABEL or not _is_name(bare):
        return
    start, line = next(((start, line) for start, line in below[:_BLANKS] if line.strip()), (0, ""))
    value = line.strip()
    if not value or len(value.split()) > 1:
        return
    found = find_label(bare)
    if found is None or found.is_bare or find_label(value) is not None or not accepts(found, value):
        return
    if found.kind in (LabelKind.PASSWORD, LabelKind.PHRASE):
        strong = looks_chosen(value) or value.count("-") > 1
    else:
        strong = found.kind is not LabelKind.CODE or value.isdigit()
    if strong:
        begin = start + line.index(value)
        yield RedactedSpan(begin, begin + len(value), RULES[found.kind])


def _find_list(name: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield the codes in the lines below the name of a list of codes."""
    first = next((line for _, line in below[:_BLANKS] if line.strip()), "")
    if (
        len(first) > _MAX_ITEMS
        or not set(first) & set("0123456789-")
        or not has_form(first.replace("\t", " "), "code items")
    ):
        return
    bare = name.rstrip(" \t:")
    found = (find_label(bare[-60:].strip()) if _is_name(bare) else None) or _read_plural(name)
    if found is None or found.kind is not LabelKind.CODE or found.term[-1] in "0123456789":
        return
    blanks, items = 0, 0
    shapes: set[str] = set()
    for start, line in below[:40]:
        if not line.strip():
            blanks += 1
            if blanks > _BLANKS or items:
                return
            continue
        line = line.replace("\t", " ")
        if not has_form(line, "code items"):
            return
        for item in forms()["code item"].finditer(line):
            shape = "".join("-" if c == "-" else "x" for c in item[0])
            if any(c.isdigit() for c in item[0]) or shape in shapes:
                items += 1
                shapes.add(shape)
                yield RedactedSpan(start + item.start(), start + item.end(), RULES[found.kind])
