"""`scripts/bench all`: each target names a figure that its benchmark prints, and one that fails is told by name."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.bench import all as bench_all
from tests.bench.__main__ import names


def test_every_target_is_of_a_benchmark_that_is_there() -> None:
    assert {target.bench for target in bench_all.TARGETS} <= set(names())


def test_a_cheap_benchmark_gives_its_rows_and_one_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    fails = bench_all.Target("nothing", "x", 1, "nothing")
    missing = bench_all.Target("encode", "no.such_key", 1, "nothing")
    targets = tuple(one for one in bench_all.TARGETS if one.bench == "picture")
    monkeypatch.setattr(bench_all, "TARGETS", (*targets, fails, missing))
    figures = bench_all.run()
    assert [(row["bench"], row["key"]) for row in figures["rows"]] == [("picture", "png_x")]
    assert figures["rows"][0]["value"] > 0
    assert set(figures["failed"]) == {"nothing", "encode"}
    assert "no" in figures["failed"]["encode"]
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
