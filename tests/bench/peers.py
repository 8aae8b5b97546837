"""Noticing that a screen changed, and waiting for a text: acud beside its peers and the floor, in one run.

One X server, 1280x720, and one script for all, each alone with it in its turn: single changes of every size, stillness,
and a minute of work at whose end a small lamp turns green. `notice_*_ms`: from the drawing to the moment the watcher's
call returned, for changes that all notice. `missed`: not noticed within 3 s. `cpu_ms_per_minute`: of the watcher with
everything that works for it (acud: all processes of the daemon and its client), and of the X server, drawing included.
`judge_calls`: what a wait for the lamp asks in the minute, `told_ms`: from the lamp to the end of the wait, or null.

mss and python-xlib look ten times a second and compare all bytes, from one call to the next. gptme's
`computer("wait_for_change")` is its own, from the published package. The floor is the X server's own word (DAMAGE) to
a client that does nothing else.

`texts`: acud's `text` wait beside loops that grab with mss and read the whole frame whenever bytes changed, with plain
rapidocr at one thread and with tesseract. `told_*_ms`: from the drawing of the text to the moment the call returned.
`missed`: not told in 12 s. `cpu_s`: of the watcher with everything that works for it, for the whole round. The floor
is rapidocr's recogniser on the text's line alone. ACUD_BENCH_ROUNDS=2 plays fewer changes and texts.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from contextlib import closing
from typing import Any

from tests.bench import _peer_page, _peer_plot
from tests.bench._peer_screen import BETWEEN, KINDS, LAMP, LAMP_GREEN, WORK_S, Change, Screen, changes
from tests.bench._peer_seats import NAMES, READERS, Absent, Seat, seat
from tests.bench._peer_texts import KINDS as TEXT_KINDS
from tests.bench._peer_texts import SLOT_S, Appearance, TextScreen, appearances, line_of
from tests.integration.xserver import XServer
from tests.ocr_set.scores import line_recognizer

_ROUNDS = int(os.environ.get("ACUD_BENCH_ROUNDS", "6"))
_TEXT_ROUNDS = max(1, _ROUNDS // 3)
_TURNS = 2
"""Each watcher has its turn so often, so that a slow moment of the machine does not meet one alone."""
_NOTICE_S = 3.0
_IDLE_S = 10.0
_SETTLE_S = 1.5
_TOLD_S = 12.0

FLOOR = "floor"
plot = _peer_plot.svg
page = _peer_page.page
table = _peer_page.table


def run() -> dict[str, Any]:
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in NAMES}
    absent: dict[str, str] = {}
    loads, commit = [os.getloadavg()[0]], _commit()
    with XServer(1280, 720) as server, closing(Screen(server)) as screen:
        for turn in range(_TURNS):
            for name in (name for name in NAMES if name not in absent):
                try:
                    with seat(name, server) as one:
                        taken[name].append(_turn(one, screen, turn, works=turn == 0 and name != FLOOR))
                except Absent as fault:
                    absent[name] = str(fault)
                loads.append(os.getloadavg()[0])
        texts = _texts(server, absent)
        loads.append(os.getloadavg()[0])
    rows = {name: _row(turns) for name, turns in taken.items() if turns}
    return {
        "machine": f"{os.cpu_count()} cores {platform.machine()}",
        "commit": commit,
        "load": [round(min(loads), 1), round(max(loads), 1)],
        "changes": {kind.name: sum(change.kind == kind for change in changes(_ROUNDS)) for kind in KINDS},
        "peers": rows,
        "ratios": {name: _ratios(row, rows["acud"]) for name, row in rows.items() if name != "acud"},
        "texts": texts,
        "text_ratios": {name: _text_ratios(row, texts["acud"]) for name, row in texts.items() if name != "acud"},
        "text_kinds": dict.fromkeys(TEXT_KINDS, _TEXT_ROUNDS),
        "absent": absent,
    }


def _commit() -> str:
    said = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def _turn(one: Seat, screen: Screen, turn: int, *, works: bool) -> dict[str, Any]:
    """Return what one watcher did in its turn; with the minute of work if it `works`."""
    share = changes(_ROUNDS)
    part = share[turn * len(share) // _TURNS : (turn + 1) * len(share) // _TURNS]
    _noticed(one, screen, part[0])  # the first of everything takes longer
    noticed = [(change.kind.name, _noticed(one, screen, change)) for change in part]
    screen.dark()
    time.sleep(_SETTLE_S)
    figures: dict[str, Any] = {"noticed": noticed, "idle": _idle(one)}
    if works:
        figures["work"] = _work(one, screen)
    return figures


def _noticed(one: Seat, screen: Screen, change: Change) -> float | None:
    """Return after how many seconds the change was noticed, None for not at all."""
    one.order("go_on")
    one.answer()
    if change.kind == BETWEEN:
        painted_s = screen.paint(change.kind)
        time.sleep(change.after_s)
        one.order("watch", timeout_s=_NOTICE_S)
        one.answer()
    else:
        one.order("watch", timeout_s=_NOTICE_S)
        one.answer()
        time.sleep(change.after_s)
        painted_s = screen.paint(change.kind)
    at_s: float | None = one.answer()["noticed"]
    return None if at_s is None else at_s - painted_s


def _idle(one: Seat) -> dict[str, Any]:
    before = one.used_s()
    one.order("idle", s=_IDLE_S)
    looks = one.answer()["looks"]
    own_s, server_s = (after - was for after, was in zip(one.used_s(), before, strict=True))
    return {"own_s": own_s, "server_s": server_s, "s": _IDLE_S, "looks": looks}


def _work(one: Seat, screen: Screen) -> dict[str, Any]:
    before = one.used_s()
    pixel = [LAMP[0] + LAMP[2] // 2, LAMP[1] + LAMP[3] // 2]
    one.order("work", s=WORK_S, pixel=pixel, colour=list(LAMP_GREEN))
    one.answer()
    began_s = time.monotonic()
    lit_s, painted = screen.work(began_s)
    said = one.answer()
    own_s, server_s = (after - was for after, was in zip(one.used_s(), before, strict=True))
    return {
        "own_s": own_s,
        "server_s": server_s,
        "s": time.monotonic() - began_s,
        "painted": painted,
        "judge_calls": said["calls"],
        "looks": said["looks"],
        "told_ms": None if said["told"] is None else round((said["told"] - lit_s) * 1000),
    }


# ---- texts ---------------------------------------------------------------------------------------------------------


def _texts(server: XServer, absent: dict[str, str]) -> dict[str, dict[str, Any]]:
    script = appearances(_TEXT_ROUNDS)
    found = {FLOOR: _text_floor(script)}
    for name in READERS:
        try:
            with seat(name, server) as one, closing(TextScreen(server)) as screen:
                found[name] = _text_row(one, screen, script)
        except Absent as fault:
            absent[name] = str(fault)
    return found


def _text_row(one: Seat, screen: TextScreen, script: list[Appearance]) -> dict[str, Any]:
    _told(one, screen, script[0]._replace(text="Reader 1234 started"))  # the first of everything takes longer
    before_s, began_s = one.used_s()[0], time.monotonic()
    told = [(appeared.kind, _told(one, screen, appeared)) for appeared in script]
    delays = sorted(s * 1000 for _, s in told if s is not None)
    return {
        "told_p50_ms": round(statistics.median(delays)) if delays else None,
        "told_longest_ms": round(delays[-1]) if delays else None,
        "told": len(delays),
        "missed": len(told) - len(delays),
        "missed_by_kind": {kind: sum(1 for name, s in told if name == kind and s is None) for kind in TEXT_KINDS},
        "cpu_s": round(one.used_s()[0] - before_s, 2),
        "s": round(time.monotonic() - began_s, 1),
    }


def _told(one: Seat, screen: TextScreen, appeared: Appearance) -> float | None:
    """Return after how many seconds the text was told, None for not at all; its slot is over then."""
    began_s = time.monotonic()
    one.order("text", text=appeared.text, timeout_s=_TOLD_S + SLOT_S)
    one.answer()
    drawn_s = screen.play(appeared)
    told_s: float | None = one.answer()["told"]
    screen.clear(appeared)
    time.sleep(max(0.0, began_s + SLOT_S - time.monotonic()))
    return None if told_s is None else told_s - drawn_s


def _text_floor(script: list[Appearance]) -> dict[str, Any]:
    """Return what rapidocr's recogniser needs for the lines of the texts alone."""
    read = line_recognizer()
    pictures = [line_of(appeared) for appeared in script]
    read(pictures[0])
    delays, missed = [], dict.fromkeys(TEXT_KINDS, 0)
    used_s = time.process_time()
    for appeared, picture in zip(script, pictures, strict=True):
        began_s = time.monotonic()
        said = read(picture)
        delays.append((time.monotonic() - began_s) * 1000)
        missed[appeared.kind] += "".join(appeared.text.split()) not in "".join(said.split())
    return {
        "told_p50_ms": round(statistics.median(delays)), "told_longest_ms": round(max(delays)), "told": len(delays),
        "missed": sum(missed.values()), "missed_by_kind": missed, "cpu_s": round(time.process_time() - used_s, 2),
        "s": None,
    }  # fmt: skip


# ---- figures -------------------------------------------------------------------------------------------------------


def _row(turns: list[dict[str, Any]]) -> dict[str, Any]:
    noticed = [pair for turn in turns for pair in turn["noticed"]]
    large = {kind.name for kind in KINDS if kind.by_all}
    delays = sorted(s * 1000 for name, s in noticed if name in large and s is not None)
    idle_s = sum(turn["idle"]["s"] for turn in turns)
    work = turns[0].get("work")
    missed = {kind.name: sum(1 for name, s in noticed if name == kind.name and s is None) for kind in KINDS}
    return {
        "notice_p50_ms": round(statistics.median(delays), 1),
        "notice_p99_ms": round(delays[int(len(delays) * 0.99)], 1),
        "samples": len(delays),
        "missed": sum(missed.values()),
        "missed_by_kind": missed,
        "idle_cpu_ms_per_minute": {
            who: round(sum(turn["idle"][key] for turn in turns) * 60_000 / idle_s)
            for who, key in (("watcher", "own_s"), ("X server", "server_s"))
        },
        **(_worked(work) if work else {}),
    }


def _worked(work: dict[str, Any]) -> dict[str, Any]:
    return {
        "work_cpu_ms_per_minute": {
            who: round(work[key] * 60_000 / work["s"]) for who, key in (("watcher", "own_s"), ("X server", "server_s"))
        },
        "cpu_ms_per_change": round((work["own_s"] + work["server_s"]) * 1000 / work["painted"], 2),
        "painted": work["painted"],
        "judge_calls": work["judge_calls"],
        "told_ms": work["told_ms"],
    }


def _ratios(row: dict[str, Any], ours: dict[str, Any]) -> dict[str, float]:
    """Return how many times as much a peer (or the floor, which does not work) needs as acud does."""
    both = [name for name in ("idle_cpu_ms_per_minute", "work_cpu_ms_per_minute") if name in row]
    single = ("notice_p50_ms", "notice_p99_ms", "cpu_ms_per_change", "judge_calls")
    found = {name: row[name] / ours[name] for name in single if name in row}
    found |= {name: sum(row[name].values()) / max(1, sum(ours[name].values())) for name in both}
    return {name: round(value, 2) for name, value in found.items()}


def _text_ratios(row: dict[str, Any], ours: dict[str, Any]) -> dict[str, float]:
    """Return how many times as much a reader needs as acud does; nothing of what one of them never did."""
    names = ("told_p50_ms", "told_longest_ms", "cpu_s")
    return {name: round(row[name] / ours[name], 2) for name in names if row[name] is not None and ours[name]}
