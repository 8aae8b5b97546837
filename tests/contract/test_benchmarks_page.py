"""docs/benchmarks.md holds what `scripts/bench … --page` writes, and only benchmarks that are there."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tests.bench import _peer_page, _peer_seats
from tests.bench.__main__ import names, refreshed
from tests.bench._peer_screen import KINDS
from tests.bench._peer_seats import NAMES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
MARKED = re.findall(r"<!-- scripts/bench (\w+) -->", PAGE)


def test_what_is_marked_can_be_refreshed() -> None:
    assert MARKED == ["peers"]
    for name in MARKED:
        new = refreshed(PAGE, name, "figures of today")
        assert new.count("figures of today") == 1
        assert refreshed(new, name, "x") == refreshed(PAGE, name, "x")
        assert new.split("<!-- ")[0] == PAGE.split("<!-- ")[0]
        assert new.split("bench peers -->")[-1] == PAGE.split("bench peers -->")[-1]


def test_a_page_without_the_marks_is_refused() -> None:
    with pytest.raises(click.UsageError, match="no lines <!-- scripts/bench peers -->"):
        refreshed("# Nothing\n", "peers", "figures")


def test_no_peer_and_no_kind_of_change_is_left_out() -> None:
    """A peer that could not take part is named with the reason."""
    part = PAGE.partition("<!-- scripts/bench peers -->")[2].partition("<!-- end")[0]
    assert [name for name in NAMES if name not in part] == []
    assert [kind.name for kind in KINDS if f"| {kind.name} |" not in part] == []


def test_a_peer_that_cannot_take_part_is_said_by_name_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_peer_seats.shutil, "which", lambda name: None)
    with pytest.raises(_peer_seats.Absent, match="scrot") as fault:
        _peer_seats.gptme_folder()
    figures = {
        "machine": "m",
        "commit": "c",
        "load": [0.1, 0.2],
        "changes": {},
        "peers": {},
        "ratios": {},
        "absent": {"gptme": str(fault.value)},
    }
    assert f"Not measured: gptme: {fault.value}" in _peer_page.head(figures) + "\n".join(
        _peer_page.absent_lines(figures)
    )


def test_every_benchmark_that_is_named_is_there() -> None:
    assert [name for name in re.findall(r"`scripts/bench (\w+)", PAGE) if name not in (*names(), "NAME")] == []
