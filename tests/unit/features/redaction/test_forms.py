"""Forms and tables as an engine reads them: the cells of secrets are hidden, and no other cell."""

from collections.abc import Sequence
from pathlib import Path

from acud.features.redaction.screen_boxes import ReadLine, redact_rows
from acud.features.redaction.text_rules import ALL
from acud.types import Rect

LETTER, HIGH, GAP = 8, 16, 4
FORMS = Path(__file__).with_name("forms.txt").read_text(encoding="utf-8")
"""A name and a value per line, or `TABLE` and its rows; `*` stands before each secret. The values are made up."""


def _line(x: int, y: int, text: str) -> ReadLine:
    return ReadLine(text, Rect(x, y, LETTER * len(text), HIGH))


def _left(rows: Sequence[Sequence[str]]) -> list[list[ReadLine]]:
    return [[_line(20 + 280 * n, 40 + 30 * at, cell) for n, cell in enumerate(row)] for at, row in enumerate(rows)]


def _above(rows: Sequence[Sequence[str]]) -> list[list[ReadLine]]:
    return [
        [_line(20 + 4 * n, 40 + 50 * at + 20 * n, cell)] for at, row in enumerate(rows) for n, cell in enumerate(row)
    ]


def _table(rows: Sequence[Sequence[str]]) -> list[list[ReadLine]]:
    wide = [LETTER * (max(map(len, column)) + GAP) for column in zip(*rows, strict=True)]
    return [
        [_line(20 + sum(wide[:n]), 40 + 24 * at, cell) for n, cell in enumerate(row)] for at, row in enumerate(rows)
    ]


def test_the_secrets_of_a_form_are_hidden_and_no_other_cell() -> None:
    wrong = []
    for form in FORMS.strip().split("\n\n"):
        lines = form.split("\n")
        is_table = lines[0] == "TABLE"
        cells = [[cell.strip() for cell in line.split("|")] for line in lines[is_table:]]
        plain = [[cell.lstrip("*") for cell in row] for row in cells]
        secret = [cell.startswith("*") for row in cells for cell in row]
        for layout in (_table,) if is_table else (_left, _above):
            hidden = [one.rule != "" for one in redact_rows(layout(plain), ALL)]
            if hidden != secret:
                wrong.append((layout.__name__, form))
    assert wrong == []
