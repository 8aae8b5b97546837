"""The figures of `scripts/bench peers` as a table for a person, and as the part of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    return "\n".join([head(figures), *_rows(figures), *_kinds(figures), *_ratios(figures), *absent_lines(figures)])


def page(figures: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    parts = [_rows(figures), _kinds(figures), _ratios(figures), absent_lines(figures)]
    return "\n\n".join([head(figures), *("\n".join(lines) for part in parts if (lines := list(part)))])


def head(figures: dict[str, Any]) -> str:
    low, high = figures["load"]
    return (
        f"{figures['machine']}, commit {figures['commit']}, load average {low} to {high} while it ran; "
        f"{_changes(figures)} changes and one minute of work for each."
    )


def _changes(figures: dict[str, Any]) -> int:
    return sum(figures["changes"].values())


def _line(cells: list[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _rows(figures: dict[str, Any]) -> Iterator[str]:
    peers = figures["peers"]
    yield _line(["", *peers])
    yield "|---" * (len(peers) + 1) + "|"
    rows = {
        f"from drawing to noticed, p50 / p99 of {_samples(peers)}, ms": _delays,
        f"changes missed, of {_changes(figures)}": lambda row: row["missed"],
        "CPU of a still minute, ms: watcher + X server": lambda row: _sum(row["idle_cpu_ms_per_minute"]),
        "CPU of a working minute, ms: watcher + X server": lambda row: _sum(row["work_cpu_ms_per_minute"]),
        "CPU per change painted in it, ms": lambda row: row["cpu_ms_per_change"],
        "judge calls in it": lambda row: row["judge_calls"],
        "from the lamp at its end to told, ms": lambda row: "never" if row["told_ms"] is None else row["told_ms"],
    }
    for name, cell in rows.items():
        yield _line([name, *(cell(row) for row in peers.values())])


def _samples(peers: dict[str, Any]) -> str:
    counts = sorted({row["samples"] for row in peers.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _delays(row: dict[str, Any]) -> str:
    return f"{row['notice_p50_ms']} / {row['notice_p99_ms']}"


def _sum(parts: dict[str, int]) -> str:
    return f"{parts['watcher']:,} + {parts['X server']:,}"


def _kinds(figures: dict[str, Any]) -> Iterator[str]:
    peers = figures["peers"]
    yield _line(["missed", "of", *peers])
    yield "|---" * (len(peers) + 2) + "|"
    for kind, count in figures["changes"].items():
        yield _line([kind, count, *(row["missed_by_kind"][kind] for row in peers.values())])


def _ratios(figures: dict[str, Any]) -> Iterator[str]:
    ratios = figures["ratios"]
    if not ratios:
        return
    yield _line(["times what acud needs", *ratios])
    yield "|---" * (len(ratios) + 1) + "|"
    names = {
        "notice_p50_ms": "delay, p50",
        "notice_p99_ms": "delay, p99",
        "idle_cpu_ms_per_minute": "CPU, still",
        "work_cpu_ms_per_minute": "CPU, working",
        "judge_calls": "judge calls",
    }
    for key, name in names.items():
        yield _line([name, *(row[key] for row in ratios.values())])


def absent_lines(figures: dict[str, Any]) -> Iterator[str]:
    for name, why in figures["absent"].items():
        yield f"Not measured: {name}: {why}"
