"""Whatever docs/threats.md says to be shown by something is shown by something that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threats.md").read_text(encoding="utf-8")
FILES = sorted(set(re.findall(r"`((?:tests|conf|scripts)/[\w./@-]+?)(?:::\w+)?`", PAGE)))


def named_tests() -> list[tuple[str, str]]:
    """Return each (file, test) that the page names; `::test_x` alone is of the file named before it."""
    found, file = [], ""
    for path, test in re.findall(r"`(tests/[\w./-]+\.py)?(?:::(\w+))?`", PAGE):
        file = path or file
        if test:
            found.append((file, test))
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_named_is_there(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.parametrize(("file", "test"), named_tests())
def test_a_test_that_is_named_is_there(file: str, test: str) -> None:
    assert re.search(rf"^(?:async )?def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_row_says_by_what_it_is_shown_and_what_is_not_stopped() -> None:
    tables = [block for block in PAGE.split("\n\n") if block.startswith("| can try")]
    assert len(tables) >= 7
    for row in (line for table in tables for line in table.splitlines()[2:]):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 4, row
        assert all(cells), row
