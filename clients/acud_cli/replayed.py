"""A replay in words: its rows, how it ended, and several judges side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.protocol.replay import ReplayPair, ReplayRow, ReplayRun
from acud_cli.plain import plain, shortened
from acud_cli.render import bare_table
from acud_cli.words import count

if TYPE_CHECKING:
    from rich.table import Table

_MOST_DIFFERENT = 20


def row_line(row: ReplayRow) -> str:
    """Return one verdict as a line."""
    judge = f" {row.judge}" if row.judge else ""
    spent = f" {row.latency_ms / 1000:.2f} s" if row.gate in ("judged", "forced") else ""
    code = f" ({row.verdict.code})" if row.verdict.code else ""
    words = shortened(row.verdict.detail, 200)
    return (
        f"{row.at_s:9.3f}  frame {row.frame:<7} {row.gate:<6}{judge}{spent}  {row.verdict.answer.value}{code}: {words}"
    )


def ending_line(run: ReplayRun) -> str:
    """Return how a run ended, and what it cost."""
    when = f"resolved at {run.at_s:.3f} s on frame {run.frame}" if run.state == "resolved" else _open(run)
    cost = "cost not known" if run.cost_usd is None else f"${run.cost_usd:.6f}"
    tokens = f"{run.tokens_in} tokens in, {run.tokens_out} out"
    looked = f"{run.touching} of {count(run.frames, 'frame')} touched the target"
    kept = f"{run.judged} judged ({count(run.judge_calls, 'call')}, {run.memo} remembered, {run.held} held back)"
    note = f"; {run.note}" if run.note else ""
    return f"{run.judge}: {when}; {looked}, {kept}; {tokens}, {cost}{note}"


def _open(run: ReplayRun) -> str:
    words = {"watching": "not resolved by the end", "timeout": "timed out", "failed": "failed"}[run.state]
    return f"{words}, at {run.at_s:.3f} s"


def side_by_side(runs: list[ReplayRun], rows: list[ReplayRow]) -> Table:
    """Return what each run first said of each frame that was judged, one frame a row."""
    judges = [f"{run.judge} #{run.run + 1}" for run in runs]
    table = bare_table("at", "frame", *judges, flexible=tuple(judges))
    told: dict[tuple[int, int], dict[int, ReplayRow]] = {}
    for row in rows:
        told.setdefault((row.epoch, row.frame), {}).setdefault(row.run, row)
    for found in sorted(told.values(), key=lambda one: min(row.at_s for row in one.values())):
        first = next(iter(found.values()))
        cells = (_cell(found.get(run.run)) for run in runs)
        table.add_row(f"{first.at_s:.3f}", str(first.frame), *cells)
    return table


def _cell(row: ReplayRow | None) -> str:
    if row is None:
        return "-"
    return plain(f"{row.verdict.answer.value}{_mark(row)}: {shortened(row.verdict.detail, 80)}")


def _mark(row: ReplayRow) -> str:
    return "" if row.gate in ("judged", "tiles") else f" [{row.gate}]"


def agreement_lines(pair: ReplayPair, runs: list[ReplayRun]) -> list[str]:
    """Return how far two runs agree."""
    names = " and ".join(f"{runs[run].judge} #{run + 1}" for run in pair.runs)
    if not pair.both:
        return [f"{names} judged no frame in common"]
    lines = [f"{names} agree on {pair.same} of {count(pair.both, 'frame')} ({pair.same / pair.both:.0%})"]
    if pair.differ:
        shown = ", ".join(map(str, pair.differ[:_MOST_DIFFERENT]))
        lines.append(f"they differ on {shown}{' …' if len(pair.differ) > _MOST_DIFFERENT else ''}")
    return lines
