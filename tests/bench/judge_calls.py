"""How many judge calls `event` saves against `fixed`, and what that costs in time: 50 scripted sessions, replayed.

The real machine, real tiles and identities, virtual time. The wait never resolves, so every session lasts its five
minutes. A fact is something the picture says (the 40th character, 61 %, dialog 2); it is seen when a judgement whose
picture shows it comes back. `full_delay_ms`: from a full progress bar to that, mean. `calls_after`: calls of `event` a
session, by what had changed since the picture judged before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from statistics import fmean
from typing import Any

from acud.types import Cadence, Criteria, Policy, Target, WaitSpec
from acud.waits.restless_area import LONGEST_PAUSE_S
from tests.bench._desktop_session import SESSION_S, Session, State
from tests.fixtures.wait_replay import Film, Look, Replay

VARIANTS = 50
JUDGE_S = 0.4
"""What a small hosted vision model takes (200 to 400 ms: Smart Wait's design)."""

_FULL = ("progress", 100)
Fact = tuple[str, int]


def facts(state: State) -> Iterator[Fact]:
    for name in ("typed", "minute", "progress"):
        yield from ((name, count) for count in range(1, getattr(state, name) + 1))
    if state.dialog:
        yield "dialog", state.dialog


def play(film: Film, policy: Policy, judge_s: float = JUDGE_S, *, longest_pause_s: float = LONGEST_PAUSE_S) -> Replay:
    """Return the session played to a wait that never resolves."""
    spec = WaitSpec(Criteria("the backup has finished"), Target(), SESSION_S, policy)
    return Replay(film, spec, lambda: judge_s, longest_pause_s=longest_pause_s).run(SESSION_S)


def seen(played: Replay) -> dict[Fact, float]:
    first: dict[Fact, float] = {}
    for look in sorted(played.looks, key=lambda look: look.answered_at):
        assert isinstance(look.key, State)
        for fact in facts(look.key):
            first.setdefault(fact, look.answered_at)
    return first


def happened(film: Film) -> dict[Fact, float]:
    first: dict[Fact, float] = {}
    for when, state in film.changes:
        for fact in facts(state):
            first.setdefault(fact, when)
    return first


def causes(looks: list[Look]) -> Iterator[str]:
    """Yield for each call what had changed since the picture judged before."""
    shown = [look.key for look in sorted(looks, key=lambda look: look.asked_at)]
    for before, now in pairwise(shown):
        assert isinstance(before, State)
        assert isinstance(now, State)
        fields = ("typed", "progress", "dialog", "minute")
        changed = [name for name in fields if getattr(before, name) != getattr(now, name)]
        yield " and ".join(changed) or ("caret" if before.caret != now.caret else "nothing")


def compared(film: Film, fixed: Replay, event: Replay) -> dict[str, list[float]]:
    """Return the calls of `event`, its lateness against `fixed` per fact, both delays, and facts it missed."""
    true_at, by_fixed, by_event = happened(film), seen(fixed), seen(event)
    both = [fact for fact in by_fixed if fact in by_event]
    return {
        "calls": [len(event.looks)],
        "later": [by_event[fact] - by_fixed[fact] for fact in both],
        "delay": [by_event[fact] - true_at[fact] for fact in both],
        "fixed_delay": [by_fixed[fact] - true_at[fact] for fact in both],
        "full_delay": [by_event[fact] - true_at[fact] for fact in both if fact == _FULL],
        "fixed_full_delay": [by_fixed[fact] - true_at[fact] for fact in both if fact == _FULL],
        "dialog_delay": [by_event[fact] - true_at[fact] for fact in both if fact[0] == "dialog"],
        "fixed_dialog_delay": [by_fixed[fact] - true_at[fact] for fact in both if fact[0] == "dialog"],
        "missed": [1.0 for fact in by_fixed if fact not in by_event],
    }


@cache
def _films(overlap: bool) -> list[tuple[Session, Replay]]:
    sessions = [Session(seed, overlap=overlap) for seed in range(VARIANTS)]
    return [(film, play(film, Policy(cadence=Cadence.FIXED))) for film in sessions]


def measure(policy: Policy, *, overlap: bool = True, longest_pause_s: float = LONGEST_PAUSE_S) -> dict[str, Any]:
    films = _films(overlap)
    events = [play(film, policy, longest_pause_s=longest_pause_s) for film, _ in films]
    parts = [compared(film, fixed, event) for (film, fixed), event in zip(films, events, strict=True)]
    every = {name: [value for part in parts for value in part[name]] for name in parts[0]}
    after = Counter(cause for event in events for cause in causes(event.looks))
    fixed_calls, event_calls = sum(len(fixed.looks) for _, fixed in films), int(sum(every["calls"]))
    return {
        "fixed_calls": fixed_calls,
        "event_calls": event_calls,
        "ratio": round(fixed_calls / event_calls, 2),
        "missed": len(every["missed"]),
        "later_ms_max": round(max(0.0, *every["later"]) * 1000, 1),
        "judge_ms": JUDGE_S * 1000,
        "delay_ms": round(fmean(every["delay"]) * 1000),
        "fixed_delay_ms": round(fmean(every["fixed_delay"]) * 1000),
        "dialog_delay_ms": round(fmean(every["dialog_delay"]) * 1000),
        "fixed_dialog_delay_ms": round(fmean(every["fixed_dialog_delay"]) * 1000),
        "full_delay_ms": round(fmean(every["full_delay"]) * 1000),
        "fixed_full_delay_ms": round(fmean(every["fixed_full_delay"]) * 1000),
        "calls_after": {cause: round(calls / VARIANTS, 1) for cause, calls in after.most_common()},
    }


def run() -> dict[str, Any]:
    """Measure the default policy; then how it does when bar and typing never overlap."""
    apart = measure(Policy(), overlap=False)
    return {
        **measure(Policy()),
        "apart_ratio": apart["ratio"],
        "apart_missed": apart["missed"],
        "apart_later_ms_max": apart["later_ms_max"],
    }


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:>22}  {value}" for name, value in figures.items())


def pauses(spans: tuple[float, ...] = (0.0, 1.5, 2.5, 4.0, 5.0)) -> str:
    return _rows("longest_pause_s", [(span, measure(Policy(), longest_pause_s=span)) for span in spans])


def sweep(spans: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 5.0)) -> str:
    return _rows("min_interval_s", [(span, measure(Policy(min_interval_s=span))) for span in spans])


def _rows(setting: str, rows: list[tuple[float, dict[str, Any]]]) -> str:
    names = ("event_calls", "ratio", "missed", "later_ms_max", "delay_ms", "dialog_delay_ms", "full_delay_ms")
    lines = [f"| {setting} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    return "\n".join([*lines, *(f"| {span} | " + " | ".join(str(m[n]) for n in names) + " |" for span, m in rows)])
