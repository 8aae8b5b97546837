"""The figures of `scripts/bench peers` as a table for a person, and as the part of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_RATIOS = {
    "notice_p50_ms": "delay, p50", "notice_p99_ms": "delay, p99", "idle_cpu_ms_per_minute": "CPU, still",
    "work_cpu_ms_per_minute": "CPU, working", "judge_calls": "judge calls",
}  # fmt: skip
_TEXT_RATIOS = {"told_p50_ms": "delay, p50", "told_longest_ms": "delay, longest", "cpu_s": "CPU"}


def table(figures: dict[str, Any]) -> str:
    return "\n".join([head(figures), *(line for part in _parts(figures) for line in part)])


def page(figures: dict[str, Any]) -> str:
    parts = _parts(figures | {"ratios": {}, "text_ratios": {}})
    return "\n\n".join([head(figures), *("\n".join(lines) for part in parts if (lines := list(part)))])


def _parts(figures: dict[str, Any]) -> list[Iterator[str]]:
    return [
        _rows(figures),
        _kinds(figures["changes"], figures["peers"]),
        _ratios(figures["ratios"], _RATIOS),
        _texts(figures["texts"]),
        _kinds(figures["text_kinds"], figures["texts"]),
        _ratios(figures["text_ratios"], _TEXT_RATIOS),
        absent_lines(figures),
    ]


def head(figures: dict[str, Any]) -> str:
    low, high = figures["load"]
    return (
        f"{figures['machine']}, commit {figures['commit']}, load average {low} to {high} while it ran; "
        f"{_changes(figures)} changes, a minute of work, {sum(figures['text_kinds'].values())} texts."
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
        "from the lamp at its end to answer, ms": lambda row: "never" if row["told_ms"] is None else row["told_ms"],
    }
    for name, cell in rows.items():
        of_work = name in list(rows)[-4:]
        yield _line([name, *("" if of_work and "judge_calls" not in row else cell(row) for row in peers.values())])


def _texts(texts: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield _line(["waiting for a text", *texts])
    yield "|---" * (len(texts) + 1) + "|"
    count = next(iter(texts.values()))
    rows = {
        "from drawing to answer, p50 / longest, ms": _told,
        f"missed, of {count['told'] + count['missed']}": lambda row: row["missed"],
        "CPU for the round, s": lambda row: row["cpu_s"],
        "the round took, s": lambda row: "" if row["s"] is None else row["s"],
    }
    for name, cell in rows.items():
        yield _line([name, *(cell(row) for row in texts.values())])


def _told(row: dict[str, Any]) -> str:
    return " / ".join("never" if row[key] is None else f"{row[key]:,}" for key in ("told_p50_ms", "told_longest_ms"))


def _samples(peers: dict[str, Any]) -> str:
    counts = sorted({row["samples"] for row in peers.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _delays(row: dict[str, Any]) -> str:
    return f"{row['notice_p50_ms']} / {row['notice_p99_ms']}"


def _sum(parts: dict[str, int]) -> str:
    return f"{parts['watcher']:,} + {parts['X server']:,}"


def _kinds(kinds: dict[str, int], peers: dict[str, Any]) -> Iterator[str]:
    yield _line(["missed", "of", *peers])
    yield "|---" * (len(peers) + 2) + "|"
    for kind, count in kinds.items():
        yield _line([kind, count, *(row["missed_by_kind"][kind] for row in peers.values())])


def _ratios(ratios: dict[str, dict[str, float]], names: dict[str, str]) -> Iterator[str]:
    if not ratios:
        return
    yield _line(["times what acud needs", *ratios])
    yield "|---" * (len(ratios) + 1) + "|"
    for key, name in names.items():
        yield _line([name, *(row.get(key, "") for row in ratios.values())])


def absent_lines(figures: dict[str, Any]) -> Iterator[str]:
    for name, why in figures["absent"].items():
        yield f"Not measured: {name}: {why}"
