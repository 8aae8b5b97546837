"""docs/benchmarks.md holds what `scripts/bench … --page` writes, and only benchmarks that are there; each target
names a figure that its benchmark prints, and `scripts/bench all` tells one that fails by name.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from tests.bench import _peer_page, _peer_seats
from tests.bench import all as bench_all
from tests.bench.__main__ import names, refreshed
from tests.bench._peer_screen import KINDS
from tests.bench._peer_seats import NAMES, READERS
from tests.bench._peer_texts import KINDS as TEXT_KINDS

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
    assert [name for name in (*NAMES, *READERS) if name not in part] == []
    assert [kind for kind in (*(kind.name for kind in KINDS), *TEXT_KINDS) if f"| {kind} |" not in part] == []


def test_a_peer_that_cannot_take_part_is_said_by_name_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_peer_seats.shutil, "which", lambda name: None)
    with pytest.raises(_peer_seats.Absent, match="scrot") as fault:
        _peer_seats.gptme_folder()
    figures = {
        "machine": "m", "commit": "c", "load": [0.1, 0.2], "changes": {}, "text_kinds": {}, "peers": {}, "ratios": {},
        "absent": {"gptme": str(fault.value)},
    }  # fmt: skip
    assert f"Not measured: gptme: {fault.value}" in _peer_page.head(figures) + "\n".join(
        _peer_page.absent_lines(figures)
    )


def test_every_benchmark_that_is_named_is_there() -> None:
    assert [name for name in re.findall(r"`scripts/bench (\w+)", PAGE) if name not in (*names(), "NAME")] == []


def test_every_target_is_of_a_benchmark_that_is_there() -> None:
    assert {target.bench for target in bench_all.TARGETS} <= set(names())


def test_a_cheap_benchmark_gives_its_rows_and_one_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    fails = bench_all.Target("nothing", "x", 1, "nothing")
    targets = tuple(one for one in bench_all.TARGETS if one.bench == "picture")
    monkeypatch.setattr(bench_all, "TARGETS", (*targets, fails))
    figures = bench_all.run()
    assert [(row["bench"], row["key"]) for row in figures["rows"]] == [("picture", "png_x")]
    assert figures["rows"][0]["value"] > 0
    assert set(figures["failed"]) == {"nothing"}
    with pytest.raises(KeyError, match="no"):
        bench_all.compared(bench_all.Target("picture", "no.such_key", 1, "nothing"), {}, 18, 15)
    lines = bench_all.table(figures).splitlines()
    assert any(line.startswith("nothing: FAILED: ") for line in lines)
    assert max(len(line) for line in lines if "FAILED" not in line) <= 66


def test_a_time_is_put_over_the_machines_speed() -> None:
    target = bench_all.Target("b", "a.ms", 36, "a PNG", "ms")
    quick = bench_all.compared(target, {"a": {"ms": 20.0}}, png_ms=9.0, bare_mb=15)
    slow = bench_all.compared(target, {"a": {"ms": 40.0}}, png_ms=36.0, bare_mb=15)
    assert (quick.ok, slow.ok) == (False, True)
    assert quick.limit == slow.limit == 2


def test_more_is_better_where_a_target_says_so() -> None:
    target = bench_all.Target("b", "recall", 90, "words", least=True)
    found = [bench_all.compared(target, {"recall": value}, 18, 15).ok for value in (89, 91)]
    assert found == [False, True]


def test_a_benchmark_that_hangs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(command: list[str], **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(bench_all, "TARGETS", bench_all.TARGETS[:1])
    monkeypatch.setattr(subprocess, "run", hangs)
    assert bench_all.run()["failed"] == {"wait": "not done after 240 s"}
