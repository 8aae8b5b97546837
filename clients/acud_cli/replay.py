"""`acud replay`: a condition over a recording, and each judge's verdicts with their times."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from acud.base.errors import Unavailable
from acud.base.extras import require
from acud.base.typed_values import decode_json
from acud.protocol.replay import (
    ReplayAsk,
    ReplayBegan,
    ReplayDone,
    ReplayFault,
    ReplayLine,
    ReplayPair,
    ReplayRow,
    ReplayRun,
)
from acud.types import Budget, JudgeName, Policy
from acud_cli.exit_codes import Exit, of_code
from acud_cli.formatting import FittedTable, count, plain, shorten
from acud_cli.options import BOX, DURATION, boxes, target_of, together
from acud_cli.session import Session, as_json, pass_session, print_table, say, warn
from acud_cli.wait_options import budget_options, condition_options, find_condition, policy_options, replace_given

_MOST_DIFFERENT = 20


_EXITS = {"resolved": Exit.OK, "watching": Exit.TIMEOUT, "timeout": Exit.TIMEOUT, "failed": Exit.FAILED}
_options = together(
    condition_options,
    policy_options,
    budget_options,
    click.option(
        "--judge",
        "judges",
        multiple=True,
        metavar="NAME",
        help="Who answers: auto (default), ocr or a backend by its name; several are compared.",
    ),
    click.option("--target", "-t", default="", metavar="TARGET", help="screen or region:x,y,w,h (default: screen)."),
    click.option("--region", type=BOX, help="Only this part of the picture, in its pixels."),
    click.option("--ignore", type=BOX, multiple=True, help="Ignore changes in this part of the target (a clock)."),
    click.option("--from", "from_s", type=DURATION, default=0.0, help="Begin so far into the recording."),
    click.option("--to", "to_s", type=DURATION, help="End there (default: at its end)."),
    click.option("--timeout", type=DURATION, help="The wait's timeout (default: none but the end; 0: look once)."),
    click.option(
        "--latency",
        type=DURATION,
        default=0.0,
        help="How long an answer takes, in the recording's time (default: none).",
    ),
    click.option("--real-latency", is_flag=True, help="Answers take as long as they take here, now."),
)


@click.command(short_help="Try a condition, judges and a policy on a recording.")
@click.argument("recording")
@click.option("--criteria", default="", metavar="TEXT", help="The sentence to judge.")
@_options
@pass_session
def replay(session: Session, **options: Any) -> int:
    """Run a wait over RECORDING, as if it happened now, and print each verdict with its time.

    RECORDING is an id, its unique ending or beginning, or the path of a recording's file or folder. No daemon is
    needed: an evaluator of its own judges, with the settings, keys, budgets and redaction of acud.toml. Several --judge
    are compared frame by frame.

    \b
      acud replay rec-00t40a --criteria '"Done" is visible'
      acud replay rec-00t40a --change --region 0,0,640,480
      acud replay rec-00t40a --criteria 'the upload failed' --judge ocr --judge ollama --json

    Exit code: 0 it resolved with every judge, 3 it did not, 5 a run failed, 1 the recording is damaged.
    """
    require("record", "acud replay")
    ask = _make_request(options)
    lines: list[ReplayLine] = []
    for line in _read_replay(ask):
        lines.append(line)
        if not session.json:
            _print_line(line, several=len(ask.judges) > 1)
    if session.json:
        say_json(lines)
    else:
        _print_end(lines)
    return _choose_exit(lines)


def _make_request(options: dict[str, Any]) -> ReplayAsk:
    until = find_condition(options)
    if until is None:
        raise click.UsageError("say what to look for: --criteria, --text, --gone, --change or --stable")
    return ReplayAsk(
        options["recording"],
        until,
        target_of(options["target"], options["region"]),
        boxes(options["ignore"]),
        options["judges"] or (JudgeName.AUTO,),
        replace_given(Policy(), options),
        replace_given(Budget(), options),
        options["timeout"],
        options["from_s"],
        options["to_s"],
        None if options["real_latency"] else options["latency"],
        os.getpid(),
    )


def _read_replay(ask: ReplayAsk) -> Iterator[ReplayLine]:
    """Yield the replay's lines. Raises: Unavailable if its process ends before it is through."""
    with _start_process() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(ask))
        process.stdin.close()
        for text in process.stdout:
            line = decode_json(text, ReplayLine)
            if isinstance(line, ReplayDone):
                return
            yield line
        raise Unavailable(f"the replay's process ended with code {process.wait()}", hint="what it said is above")


@contextmanager
def _start_process() -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "acud.features.recording.replay"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def _print_line(line: ReplayLine, *, several: bool) -> None:
    match line:
        case ReplayBegan():
            held = f"{count(line.frames, 'frame')}, {line.seconds:.1f} s, {count(line.segments, 'segment')}"
            say(f"{line.recording_id}: {held}")
            for note in line.notes:
                warn(f"note: {note}")
        case ReplayRow() if not several:
            say(format_row(line))
        case ReplayRun() if not several:
            say(format_ending(line))


def _print_end(lines: list[ReplayLine]) -> None:
    runs = [line for line in lines if isinstance(line, ReplayRun)]
    if len(runs) > 1:
        print_table(compare_runs(runs, [line for line in lines if isinstance(line, ReplayRow)]))
        for run in runs:
            say(format_ending(run))
    for pair in lines:
        if isinstance(pair, ReplayPair):
            for words in format_agreement(pair, runs):
                say(words)
    for fault in lines:
        if isinstance(fault, ReplayFault):
            warn(f"acud: {fault.message}" + (f" ({fault.hint})" if fault.hint else ""))


def say_json(lines: list[ReplayLine]) -> None:
    """Print everything as one document."""
    kinds = {ReplayRow: "rows", ReplayRun: "runs", ReplayPair: "pairs"}
    told: dict[str, Any] = {"recording": None, "rows": [], "runs": [], "pairs": [], "error": None}
    for line in lines:
        if isinstance(line, ReplayBegan | ReplayFault):
            told["recording" if isinstance(line, ReplayBegan) else "error"] = line
        elif type(line) in kinds:
            told[kinds[type(line)]].append(line)
    print(as_json(told), flush=True)


def _choose_exit(lines: list[ReplayLine]) -> Exit:
    faults = [line for line in lines if isinstance(line, ReplayFault)]
    if faults:
        return of_code(faults[0].code)
    return max((_EXITS[line.state] for line in lines if isinstance(line, ReplayRun)), default=Exit.ERROR)


def format_row(row: ReplayRow) -> str:
    judge = f" {row.judge}" if row.judge else ""
    spent = f" {row.latency_ms / 1000:.2f} s" if row.gate in ("judged", "forced") else ""
    code = f" ({row.verdict.code})" if row.verdict.code else ""
    words = shorten(row.verdict.detail, 200)
    return (
        f"{row.at_s:9.3f}  frame {row.frame:<7} {row.gate:<6}{judge}{spent}  {row.verdict.answer.value}{code}: {words}"
    )


def format_ending(run: ReplayRun) -> str:
    when = f"resolved at {run.at_s:.3f} s on frame {run.frame}" if run.state == "resolved" else _describe_end(run)
    cost = "cost not known" if run.cost_usd is None else f"${run.cost_usd:.6f}"
    tokens = f"{run.tokens_in} tokens in, {run.tokens_out} out"
    looked = f"{run.touching} of {count(run.frames, 'frame')} touched the target"
    kept = f"{run.judged} judged ({count(run.judge_calls, 'call')}, {run.memo} remembered, {run.held} held back)"
    note = f"; {run.note}" if run.note else ""
    return f"{run.judge}: {when}; {looked}, {kept}; {tokens}, {cost}{note}"


def _describe_end(run: ReplayRun) -> str:
    words = {"watching": "not resolved by the end", "timeout": "timed out", "failed": "failed"}[run.state]
    return f"{words}, at {run.at_s:.3f} s"


def compare_runs(runs: list[ReplayRun], rows: list[ReplayRow]) -> FittedTable:
    """Return the first verdict of each run on each frame that was judged, one frame a row."""
    judges = [f"{run.judge} #{run.run + 1}" for run in runs]
    table = FittedTable(", ".join(["at", "frame", *(f"{judge}+" for judge in judges)]))
    told: dict[tuple[int, int], dict[int, ReplayRow]] = {}
    for row in rows:
        told.setdefault((row.epoch, row.frame), {}).setdefault(row.run, row)
    for found in sorted(told.values(), key=lambda one: min(row.at_s for row in one.values())):
        first = next(iter(found.values()))
        cells = (_format_cell(found.get(run.run)) for run in runs)
        table.add_row(f"{first.at_s:.3f}", str(first.frame), *cells)
    return table


def _format_cell(row: ReplayRow | None) -> str:
    if row is None:
        return "-"
    return plain(f"{row.verdict.answer.value}{_format_mark(row)}: {shorten(row.verdict.detail, 80)}")


def _format_mark(row: ReplayRow) -> str:
    return "" if row.gate in ("judged", "tiles") else f" [{row.gate}]"


def format_agreement(pair: ReplayPair, runs: list[ReplayRun]) -> list[str]:
    """Return how far two runs agree."""
    names = " and ".join(f"{runs[run].judge} #{run + 1}" for run in pair.runs)
    if not pair.both:
        return [f"{names} judged no frame in common"]
    lines = [f"{names} agree on {pair.same} of {count(pair.both, 'frame')} ({pair.same / pair.both:.0%})"]
    if pair.differ:
        shown = ", ".join(map(str, pair.differ[:_MOST_DIFFERENT]))
        lines.append(f"they differ on {shown}{' …' if len(pair.differ) > _MOST_DIFFERENT else ''}")
    return lines
