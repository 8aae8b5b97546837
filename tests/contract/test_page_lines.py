"""Lines of the pages' sources have at most 120 characters: they are read in editors, diffs and terminals too.

A row of a table, the address of a link and what `scripts/docs` writes cannot be broken, or are no source.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 120
_GENERATED_PART = re.compile(r"^<!-- generated: .*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
_CANNOT_BE_BROKEN = re.compile(r"\s*\||\[[\w-]+\]: ")
PAGES = [
    *(ROOT / name for name in ("AGENTS.md", "CHANGELOG.md", "README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
    *sorted((ROOT / "acud").rglob("*.md")),
    *sorted((ROOT / "clients").rglob("*.md")),
]


def too_long(text: str) -> list[str]:
    # What is generated keeps its line breaks, so that the numbers are right.
    own = _GENERATED_PART.sub(lambda found: "\n" * found[0].count("\n"), text)
    return [
        f"{number}: {line}"
        for number, line in enumerate(own.splitlines(), start=1)
        if len(line) > LONGEST and not _CANNOT_BE_BROKEN.match(line)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_is_too_long(page: Path) -> None:
    assert too_long(page.read_text(encoding="utf-8")) == []


def test_a_long_line_is_found() -> None:
    long, row = "x" * (LONGEST + 1), f"| {'x' * LONGEST} |"
    assert too_long(f"{row}\n[a]: https://{long}\n<!-- generated: a -->\n{long}\n<!-- end -->\nshort\n") == []
    assert too_long(f"short\n<!-- generated: a -->\n\n<!-- end -->\n{long}\n") == [f"5: {long}"]
