"""docs/promises.md has a line for each promise that can be listed, and each line names tests that are there."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.contract.test_named_things import ROOT, functions_of

DOCS = ROOT / "docs"
PAGE = (DOCS / "promises.md").read_text(encoding="utf-8")
_TEST = re.compile(r"`(tests/[\w./-]+\.py)?(?:::(\w+))?`")
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)


def sections() -> dict[str, list[tuple[str, str]]]:
    """Return the rows of each section: the promise, and what it names as its tests."""
    parts = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)[1:]
    return {
        title: [row for row in _ROW.findall(text) if row[0] != "promise" and not row[0].startswith("---")]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


SECTIONS = sections()
_THREATS = (DOCS / "threats.md").read_text(encoding="utf-8")
THREATS = [
    (cells[0], cells[2])
    for table in re.findall(r"^\| can try \|.*\n\|[-|]+\n((?:\|.*\n)+)", _THREATS, re.MULTILINE)
    for cells in (line.strip("| ").split(" | ") for line in table.splitlines())
]
"""The site lists each attempt of docs/threats.md with its test; these are the rows."""
ROWS = [(title, *row) for title, rows in {**SECTIONS, "Threats": THREATS}.items() for row in rows]


def wrong_tests(named: str, *, whole_files: bool) -> list[str]:
    """Return what is wrong with the tests in a cell: none, one that is not there, a file where a test is meant."""
    found, file, wrong = 0, "", []
    for path, test in _TEST.findall(named):
        file = path or file
        if not file or (not test and not whole_files):
            wrong.append(f"{path}: no test")
        elif not (ROOT / file).exists() or (test and test not in functions_of(file)):
            wrong.append(f"{file}::{test}: not there")
        found += bool(file)
    return wrong or ([] if found else [f"{named}: no test at all"])


@pytest.mark.parametrize(("section", "promise", "named"), ROWS, ids=lambda value: value[:60])
def test_a_promise_names_tests_that_are_there(section: str, promise: str, named: str) -> None:
    # A threat may be shown by all tests of a file; a promise is held by those that fail when it breaks.
    assert wrong_tests(named, whole_files=section == "Threats") == []


def test_what_is_not_there_is_found() -> None:
    assert wrong_tests("`tests/e2e/test_soak.py::test_a_lost_wait_is_found`", whole_files=False) == []
    assert wrong_tests("`tests/e2e/test_soak.py::test_nothing`", whole_files=False)
    assert wrong_tests("`tests/e2e/test_soak.py`", whole_files=False)
    assert wrong_tests("`tests/e2e/test_nothing_of_that_name.py`", whole_files=True)
    assert wrong_tests("see the code", whole_files=True)


def test_no_promise_is_there_twice() -> None:
    assert [promise for promise, times in Counter((row[0], row[1]) for row in ROWS).items() if times > 1] == []


# ---- the pages that make them --------------------------------------------------------------------------------------


def first_cells(page: str, head: str) -> list[str]:
    """Return the first cell of every row of the tables of a page whose first column is `head`."""
    text = (DOCS / page).read_text(encoding="utf-8")
    tables = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [line.split(" | ")[0].removeprefix("| ") for table in tables for line in table.splitlines()]


def test_every_fault_has_its_line() -> None:
    faults = Counter(first_cells("faults.md", "fault"))
    assert sum(faults.values()) >= 45
    assert Counter(promise.removesuffix(" (recordings)") for promise, _ in SECTIONS["Faults"]) == faults


def test_every_threat_has_its_line() -> None:
    assert len(THREATS) == len(first_cells("threats.md", "can try")) >= 30


def test_everything_that_the_soak_judges_has_its_line() -> None:
    assert [promise for promise, _ in SECTIONS["The soak"]] == first_cells("soak.md", "promise")[:7]


def test_what_wakes_promise_has_its_line() -> None:
    text = (DOCS / "wakes.md").read_text(encoding="utf-8").split("## What is promised")[1].split("\n## ")[0]
    heads = re.findall(r"^- (\*\*.+?\*\*)", text, re.MULTILINE)
    assert len(heads) >= 3
    assert all(any(promise.startswith(head) for promise, _ in SECTIONS["Wakes"]) for head in heads)


def test_what_the_first_page_claims_has_its_line() -> None:
    claims = re.findall(r"^- \*\*(.+?)\.?\*\*", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(claims) >= 5
    assert all(any(promise.startswith(one) for promise, _ in SECTIONS["What acud is for"]) for one in claims)


def test_every_page_that_promises_is_named() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", PAGE))
    promising = {
        "waiting.md", "wakes.md", "faults.md", "threats.md", "soak.md", "acting.md", "grounding.md", "agent.md",
        "tasks.md", "redaction.md", "scene.md", "recordings.md", "operations.md", "settings.md", "index.md",
    }  # fmt: skip
    assert promising <= linked
    assert all((DOCS / name).exists() for name in linked)
