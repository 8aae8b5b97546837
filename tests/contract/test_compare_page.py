"""Every cell of docs/compare.md is backed: by a public page, or by a command or file of this repository."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from acud_cli.app import cli
from tests.bench.__main__ import names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
LINKS = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", PAGE, re.MULTILINE))
OURS = re.compile(r"`((?:scripts|tests|docs|conf)/[^`]+|acud [^`]+|LICENSE|[A-Z]+\.md)`")
TABLES = [block.splitlines() for block in PAGE.split("\n\n") if block.startswith("| |")]


def cells() -> list[tuple[str, str, str]]:
    """Return every cell: the row's name, the column's, the text."""
    found = []
    for head, _, *rows in TABLES:
        columns = _split(head)
        for row in rows:
            name, *rest = _split(row)
            found += [(name, column, text) for column, text in zip(columns[1:], rest, strict=True)]
    return found


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _is_there(name: str) -> bool:
    word, _, rest = name.partition(" ")
    if word == "acud":
        return _is_command(rest.split())
    if word == "scripts/bench" and rest:
        return rest in names()
    return (ROOT / word).exists()


def _is_command(words: list[str]) -> bool:
    command: click.Command | None = cli
    for word in words:
        if not isinstance(command, click.Group):
            return False
        command = command.get_command(click.Context(command), word)
        if command is None:
            return False
    return True


def _cited(text: str) -> list[str]:
    return [*re.findall(r"\]\[([\w-]+)\]", text)]


def test_the_tables_are_read() -> None:
    assert len(TABLES) == 4
    assert len(cells()) > 150


@pytest.mark.parametrize(("row", "column", "text"), cells())
def test_a_cell_is_backed(row: str, column: str, text: str) -> None:
    assert OURS.search(text) or any(name in LINKS for name in _cited(text)), f"{row} / {column}: {text!r}"


@pytest.mark.parametrize("name", sorted(set(OURS.findall(PAGE))))
def test_what_is_named_of_ours_is_there(name: str) -> None:
    assert _is_there(name)


@pytest.mark.parametrize("name", ["scripts/bench nothing", "tests/e2e/test_nothing.py", "acud nothing", "acud wait x"])
def test_what_is_not_there_is_found_out(name: str) -> None:
    assert not _is_there(name)


def test_what_acud_does_is_shown_here() -> None:
    """A cell of acud's own is never backed by a link alone."""
    assert [text for _, column, text in cells() if column == "acud" and not OURS.search(text)] == []


def test_every_link_has_an_address_and_every_address_a_link() -> None:
    assert set(_cited(PAGE)) == set(LINKS)
    assert all(address.startswith("https://") for address in LINKS.values())
