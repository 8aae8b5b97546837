"""The table of a run: what was broken, what was promised, what came of it."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import structs

from tests.soak import calm, oracle
from tests.soak.oracle import WAKING
from tests.soak.plan import KINDS
from tests.soak.rounds import Soak

Figures = dict[str, Any]

_PROMISES = {
    "waits": ("lost wait", "wait without an end", "failed wait", "cancelled by nobody", "end not told once",
              "end told wrong", "forged yes", "did not settle"),
    "wakes": ("wakes committed", "lost wake", "forged wake", "doubled wake"),
    "deadlines": ("late deadline", "early deadline"),
    "answers": ("fault of acud", "error without its fault"),
    "truth": ("stale answer", "error told as absence"),
    "survival": ("not survived", "store damaged", "busy while idle"),
    "rest": ("leaked process", "missing process", "leaked segment", "leaked spool", "leaked zombies",
             "leaked descriptors", "leaked threads", "left behind", "memory grows"),
}  # fmt: skip
"""Which violations break which promise."""


def figures(soak: Soak, *, seed: int, minutes: float, skipped: dict[str, str]) -> Figures:
    """Return everything that a run showed, as plain values."""
    facts, ledger = soak.facts(), soak.ledger
    errors = Counter(one.code for one in facts.asked if one.code)
    return {
        "seed": seed,
        "minutes": round(minutes, 1),
        "rounds": len(soak.rounds),
        "machine": machine(),
        "commit": commit(),
        "faults": _faults(soak),
        "skipped": skipped,
        "waits": _waits(facts),
        "wakes": _wakes(facts),
        "deadlines": _deadlines(facts),
        "requests": {"asked": len(facts.asked), "errors": dict(errors.most_common())},
        "checked": dict(ledger.counts),
        "rest": [structs.asdict(one) for one in soak.rounds],
        "rss_mb": {
            kind: {
                "peak": round(soak.sampling.peaks[kind], 1),
                **structs.asdict(slope),
                "bound": calm.BOUNDS_MB_H.get(kind),
                "verdict": calm.verdict(kind, slope),
            }
            for kind, slope in soak.sampling.slopes().items()
        },
        "calm_minutes": round(soak.sampling.calm_min, 1),
        "stalls_s": round(sum(for_s for _, for_s in facts.stalls), 1),
        "violations": [structs.asdict(one) for one in ledger.violations],
    }


def _deadlines(facts: oracle.Facts) -> dict[str, int | None]:
    due = {armed.wait_id: armed.due_to_s for armed in facts.armed}
    fired = [(due[wait_id], at) for at, topic, wait_id in facts.told if topic == "wait.timeout" and wait_id in due]
    late = [at - due_s for due_s, at in fired]
    return {
        "fired": len(fired),
        "median_ms": _ms(statistics.median(late)) if late else None,
        "worst_ms": _ms(max(late)) if late else None,
        "worst_excused_ms": _ms(max(oracle.late(facts, due_s, at) for due_s, at in fired)) if late else None,
    }


def _ms(seconds: float) -> int:
    return round(1000 * seconds)


def _faults(soak: Soak) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for kind in KINDS:
        made = [one for one in soak.ledger.broken if one.kind == kind]
        if made:
            idle = sum(bool(one.note) for one in made)
            found[kind] = {"injected": len(made) - idle, "survived": sum(b.survived and not b.note for b in made),
                           "nobody_to_hit": idle}  # fmt: skip
    return found


def _waits(facts: oracle.Facts) -> dict[str, Any]:
    ours = {armed.wait_id for armed in facts.armed}
    return {
        "armed": dict(Counter(armed.kind for armed in facts.armed)),
        "ended": dict(Counter(one.state for one in facts.stored if one.wait_id in ours)),
        "in_doubt": len(oracle.in_doubt(facts)),
    }


def _wakes(facts: oracle.Facts) -> dict[str, int]:
    ours = {armed.wait_id for armed in facts.armed}
    mine = [wake for wake in facts.wakes if wake.wait_id in ours]
    ids = {wake.wake_id for wake in mine}
    came = Counter(taken.wake_id for taken in facts.taken if taken.wake_id in ids)
    return {
        "expected": sum(one.state in WAKING for one in facts.stored if one.wait_id in ours),
        "committed": len(mine), "sent": sum(wake.state in ("sent", "seen") for wake in mine), "received": len(came),
        "undelivered": sum(wake.state == "undelivered" for wake in mine),
        "twice": sum(n > 1 for n in came.values()),
    }  # fmt: skip


def machine() -> str:
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())  # fmt: skip
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, load {os.getloadavg()[2]:.1f}"


def commit() -> str:
    asked = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=9"], capture_output=True, text=True)
    return asked.stdout.strip() or "unknown"


def table(found: Figures) -> str:
    lines = [
        f"seed {found['seed']}, {found['minutes']} minutes, {found['rounds']} rounds, commit {found['commit']}",
        f"machine: {found['machine']}; this process was not run for {found['stalls_s']} s in all", "",
        "| fault | injected | survived |", "|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {kind} | {row['injected']} | {row['survived']} |" for kind, row in found["faults"].items()]
    made = [row["injected"] for row in found["faults"].values()]
    lines += [f"| **all** | {sum(made)} | {sum(row['survived'] for row in found['faults'].values())} |", ""]
    lines += [f"skipped: {kind}: {why}" for kind, why in found["skipped"].items()]
    bad = Counter(violation["what"] for violation in found["violations"])
    lines += ["", "| promise | figures | broken |", "|---|---|---|"]
    lines += [_row(what, words, bad, *_PROMISES[what]) for what, words in _words(found).items()]
    lines += [
        "", f"Growth in the calm part, {found['calm_minutes']} minutes after its warm-up:", "",
        "| process | peak RSS, MiB | growth, MiB/h (95 % interval) | points, processes | bound, MiB/h | |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [_memory(kind, row) for kind, row in found["rss_mb"].items()]
    lines += ["", *(line for violation in found["violations"] for line in _violated(violation, found["seed"]))]
    return "\n".join([*lines, f"{len(found['violations'])} violations"])


def _violated(violation: dict[str, Any], seed: int) -> list[str]:
    again = f"step {violation['step']}; again: scripts/soak --seed {seed} --round {violation['round']}"
    first = f"VIOLATION {violation['what']}: {violation['words']} ({again})"
    return [first, *(f"    {line}" for line in violation["known"].splitlines())]


def _words(found: Figures) -> dict[str, str]:
    wakes, due, asked, waits = found["wakes"], found["deadlines"], found["requests"], found["waits"]
    return {
        "waits": f"{sum(waits['armed'].values())} armed; ended: {_told(waits['ended'])}; changes over a death of the "
        f"supervisor with /dev/shm full, whose yes is not judged: {waits['in_doubt']}",
        "wakes": f"expected {wakes['expected']}, committed {wakes['committed']}, sent {wakes['sent']}, received "
        f"{wakes['received']}, listed as undelivered {wakes['undelivered']}, twice after a fault {wakes['twice']}",
        "deadlines": f"{due['fired']} fired; late by {due['median_ms']} ms (median), {due['worst_ms']} ms (worst), "
        f"{due['worst_excused_ms']} ms (worst, without the time in which a fault stopped everybody)",
        "answers": f"{asked['asked']} requests; errors: {_told(asked['errors'])}",
        "truth": _told(found["checked"]),
        "survival": f"{sum(row['injected'] for row in found['faults'].values())} faults",
        "rest": _rest(found["rest"]),
    }


def _row(what: str, words: str, bad: Counter[str], *kinds: str) -> str:
    broken = {kind: bad[kind] for kind in kinds if bad[kind]}
    return f"| {what} | {words} | {_told(broken) if broken else 0} |"


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items()) or "none"


def _rest(rounds: list[dict[str, Any]]) -> str:
    if not rounds:
        return "no round"
    last = rounds[-1]
    fds = [one["supervisor_fds"] for one in rounds]
    return (f"processes {_told(last['processes'])}; rings {last['rings']}, spool {last['spool']}, zombies "
            f"{last['zombies']}; descriptors of the supervisor {min(fds)} to {max(fds)}")  # fmt: skip


def _memory(kind: str, row: dict[str, Any]) -> str:
    growth = "too few points" if row["per_hour"] is None else f"{row['per_hour']} ({row['low']} to {row['high']})"
    bound = "none" if row["bound"] is None else f"{row['bound']:g}"
    return f"| {kind} | {row['peak']} | {growth} | {row['points']}, {row['processes']} | {bound} | {row['verdict']} |"
