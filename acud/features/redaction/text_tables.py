"""Secrets in tables and lists of plain text: below the head of a column, in lines below the name of a list.

Columns are parted by tabs, by two blanks or more, by `|`, or by commas or semicolons (CSV). A list is what stands below
`Backup codes:`, one or more to a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from acud.features.redaction.labels import RULES, Label, LabelKind, find_label, may_announce
from acud.features.redaction.spans import RedactedSpan
from acud.features.redaction.values import accepts, looks_chosen

_MAX_HEAD = 200
_MAX_ROWS = 500
_MARKS = ("|", "\t", ";", ",")
_RULED = re.compile(r"[\s|+:=-]*")
_GAPPED = re.compile(r"\S+(?:[ ]\S+)*")
_RUN = re.compile(r"\w{2,60}")
_WORDS_OF_HEAD = 4


def find_in_tables(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield what heads of columns and names of lists announce in the lines of `text`; `read`: it was read off a screen,
    where columns are found by their place (`cells.py`), except for those between bars.
    """
    lines = _split_lines(text)
    starts = [start for start, _ in lines]
    naming = {
        number for word in set(_RUN.findall(text)) if may_announce(word) for number in _lines_with(text, word, starts)
    }
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


def _split_lines(text: str) -> list[tuple[int, str]]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    return lines


# ---- columns -----------------------------------------------------------------------------------------------------


def _find_between_marks(head: str, below: Sequence[tuple[int, str]], mark: str) -> Iterator[RedactedSpan]:
    """Yield the secrets in a table with cells between marks."""
    heads = head.split(mark)
    if not _is_head([cell.strip() for cell in heads if cell.strip()]):
        return
    columns = [(place, found) for place, cell in enumerate(heads) if (found := _read_head(cell)) is not None]
    for start, line in below:
        cells = line.split(mark)
        if len(cells) != len(heads):
            if _RULED.fullmatch(line) and line:
                continue
            return
        for place, found in columns:
            cell = cells[place]
            bare = cell.strip().strip("\"'`")
            if bare and not _RULED.fullmatch(bare) and _fits(found, bare):
                begin = start + sum(len(one) + 1 for one in cells[:place]) + cell.index(bare)
                yield RedactedSpan(begin, begin + len(bare), RULES[found.kind])


_BAR = re.compile(r"[ ]?(?:\||\t[Il|]?\t?)[ ]?")
_SPACED_BAR = re.compile(r"(?<=[ \t])[Il](?=[ \t])|[ ][Il]$")


def _find_between_bars(head: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield the secrets in a table between bars as read by an engine, which loses some of the bars."""
    heads = [cell.strip() for cell in re.split(r"[|\t]", _SPACED_BAR.sub("|", head)) if cell.strip(" |")]
    columns = [(place, found) for place, cell in enumerate(heads) if (found := _read_head(cell)) is not None]
    if not columns or not _is_head(heads):
        return
    for start, line in below:
        if "|" not in line:
            if _RULED.fullmatch(line.replace("\t", " ")):
                continue
            return
        cells = [cell for cell in re.finditer(r"[^|\t]+", line) if cell[0].strip()]
        for place, found in columns if len(cells) == len(heads) else ():
            bare = cells[place][0].strip()
            if _fits(found, bare) or (found.kind is LabelKind.KEY and len(bare) >= _LONG_HEX and _HEX.fullmatch(bare)):
                begin = start + cells[place].start() + cells[place][0].index(bare)
                yield RedactedSpan(begin, begin + len(bare), RULES[found.kind])


_HEX = re.compile(r"[0-9a-f]+")
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
                if _RULED.fullmatch(line):
                    continue
                break
            if cell.start() - one.start() > 1 and cell.end() != one.end():
                break  # neither at its left nor at its right edge
            if not _RULED.fullmatch(cell[0]) and _fits(found, cell[0]):
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


def _fits(found: Label, value: str) -> bool:
    if find_label(value) is not None and not looks_chosen(value):
        return False
    return accepts(found, value, quoted=found.kind is LabelKind.PASSWORD and not found.is_bare)


# ---- rows that a statement inserts -------------------------------------------------------------------------------

_INSERT = re.compile(
    r"\b(?:INSERT|insert)[ ](?i:(?:ignore[ ])?into)[ ][^\n(]{1,80}\((?P<heads>[^()\n]{1,300})\)"
    r"\s{0,4}(?i:values)\s{0,4}(?P<rows>(?:\([^()\n]{1,1000}\)[,\s]{0,4}){1,50})"
)
_ROW = re.compile(r"\([^()\n]{1,1000}\)")
_CELL = re.compile(r"'(?P<quoted>[^'\n]{0,400})'|[^,()'\n]{1,400}")


def find_in_inserts(text: str) -> Iterator[RedactedSpan]:
    """Yield what the names of columns announce in the rows of `INSERT INTO … VALUES`."""
    for match in _INSERT.finditer(text) if "INSERT" in text or "insert" in text else ():
        heads = [_read_head(cell.strip(' `"[]')) for cell in match["heads"].split(",")]
        for row in _ROW.finditer(text, *match.span("rows")):
            cells = [cell for cell in _CELL.finditer(text, row.start() + 1, row.end() - 1) if cell[0].strip()]
            for found, cell in zip(heads, cells, strict=False):
                if found is not None and cell["quoted"] and _fits(found, cell["quoted"]):
                    yield RedactedSpan(*cell.span("quoted"), RULES[found.kind])


# ---- lists -------------------------------------------------------------------------------------------------------

_NOT_IN_NAME = re.compile(r"[:.=|]")
_ITEM = (
    r"(?:[0-9]{4,10}(?:[ -][0-9]{4,6})?|(?=[A-Za-z-]{0,24}[0-9])[A-Za-z0-9]{3,10}(?:-[A-Za-z0-9]{3,10}){1,4}|"
    r"(?=[A-Za-z]{0,15}[0-9])[A-Za-z0-9]{6,16}|[a-z]{5,8}(?:-[a-z]{5,8})?)"
)
_ITEMS = re.compile(
    rf"[ \t]*(?:[-*•·]|\(?[0-9]{{1,2}}[.):])?[ \t]*{_ITEM}"
    rf"(?:[ \t,;|]+(?:[0-9]{{1,2}}[.):][ \t]*)?{_ITEM}){{0,9}}[ \t]*,?"
)
_ONE = re.compile(rf"(?<![\w-]){_ITEM}(?![\w.):-])")
_MAY_BE_ITEM = re.compile(r"[0-9-]")
_BLANKS, _MAX_ITEMS = 2, 160


def _read_plural(line: str) -> Label | None:
    """Return the label of several codes in a sentence: `Keep these backup codes. Each works once.`"""
    for part in re.split(r"[.:!,(]\s|[.:!]$|\s[(–—-]", line):
        found = find_label(part.strip()[-60:])
        if found is not None and found.kind is LabelKind.CODE and found.term[-1] == "s":
            return found
    return None


def _find_alone(name: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield the only word of the line below a label that has a line to itself."""
    bare = name.strip(" \t*:")
    if not 0 < len(bare) <= _LONGEST_LABEL or _NOT_IN_NAME.search(bare):
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


_LONGEST_LABEL = 40


def _find_list(name: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield the codes in the lines below the name of a list of codes."""
    first = next((line for _, line in below[:_BLANKS] if line.strip()), "")
    if len(first) > _MAX_ITEMS or not _MAY_BE_ITEM.search(first) or not _ITEMS.fullmatch(first.replace("\t", " ")):
        return
    bare = name.rstrip(" \t:")
    found = (find_label(bare[-60:].strip()) if not _NOT_IN_NAME.search(bare) else None) or _read_plural(name)
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
        if not _ITEMS.fullmatch(line):
            return
        for item in _ONE.finditer(line):
            shape = "".join("-" if c == "-" else "x" for c in item[0])
            if any(c.isdigit() for c in item[0]) or shape in shapes:
                items += 1
                shapes.add(shape)
                yield RedactedSpan(start + item.start(), start + item.end(), RULES[found.kind])
