"""A worked example: one wait, six frames, and the state after each. It runs; docs/waiting-example.md shows the result.

    python -c 'from acud.waits.example import table; print(table())'

The wait asks for the text "Done" in the left half of a display of 64 x 32 px: 4 x 2 tiles of 16 px, numbered from the
top left; tiles 0, 1, 4 and 5 are the target's. Frames, jobs and answers are made up; what the wait asks for and its
state come from the machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from acud.types import Evidence, Policy, Rect, Target, Text, Verdict, WaitSpec, no, yes
from acud.waits.effects import (
    EvaluationRecord,
    FrameRateDemand,
    GrabRequest,
    JobKind,
    JobRequest,
    TickRequest,
    WaitEffect,
    WaitResolved,
)
from acud.waits.events import FrameSeen, JobDispatched, JobDone, TargetLocated, Tick, WaitEvent
from acud.waits.frame_coalescing import is_relevant
from acud.waits.machine import arm, step
from acud.waits.model import Wait

SPEC = WaitSpec(Text("Done"), Target(":1", region=Rect(0, 0, 32, 32)), 60.0, Policy())
_LOCATED = TargetLocated(0.0, ":1", 1, "server", 64, 32, crop=Rect(0, 0, 32, 32))
_LEFT, _RIGHT = 0b0011, 0b1100
"""Tiles 0 and 1, in the target; tiles 2 and 3, outside it."""


class ExampleRow(Struct, frozen=True):
    """One event: when, what happened, what the wait asked for then, and the wait after it."""

    at: float
    happened: str
    asked: str
    after: str


def rows() -> Iterator[ExampleRow]:
    """Yield the example row by row, each made by the machine from the wait after the one before."""
    armed = arm(SPEC, 0.0)
    wait = armed.wait
    yield ExampleRow(0.0, "the wait is armed", _describe_effects(armed.effects), _describe_wait(wait))
    for happened, event in _list_events():
        if isinstance(event, FrameSeen) and wait.requests.grab_asked is None and not is_relevant(wait, event):
            yield ExampleRow(event.at, happened, "nothing: the supervisor does not pass it on", _describe_wait(wait))
            continue
        taken = step(wait, event)
        wait = taken.wait
        yield ExampleRow(event.at, happened, _describe_effects(taken.effects), _describe_wait(wait))


def _list_events() -> Iterator[tuple[str, WaitEvent]]:
    yield "its target is found on display `:1`", _LOCATED
    yield "**frame 1**: the first look, a progress bar", FrameSeen(0.1, 1, 1, None, grabbed_at=0.05)
    yield from _judge_frame(0.1, 0.4, 1, "bar-10", no("no text matches"))
    yield "**frame 2**: a clock beside the target", FrameSeen(0.5, 1, 2, _RIGHT, grabbed_at=0.5)
    yield "**frame 3**: the bar moves", FrameSeen(0.7, 1, 3, _LEFT, grabbed_at=0.7)
    yield "the tick: a second is over", Tick(1.0)
    yield "the grab: nothing new, frame 3 is of now", FrameSeen(1.1, 1, 3, 0, grabbed_at=1.0)
    yield from _dispatch_job(1.1, "job-3")
    yield "**frame 4**: the bar moves while the judge works", FrameSeen(1.3, 1, 4, _LEFT, grabbed_at=1.3)
    yield _answer_job(1.5, "job-3", 3, "bar-40", no("no text matches"))
    yield "**frame 5**: the bar is gone", FrameSeen(1.7, 1, 5, _LEFT, grabbed_at=1.7)
    yield "the tick: another second is over", Tick(2.0)
    yield "the grab: nothing new, frame 5 is of now", FrameSeen(2.1, 1, 5, 0, grabbed_at=2.0)
    yield from _judge_frame(2.1, 2.4, 5, "empty", no("no text matches"))
    yield '**frame 6**: "Done" appears', FrameSeen(3.6, 1, 6, _LEFT, grabbed_at=3.6)
    yield "the tick", Tick(4.0)
    yield "the grab: nothing new, frame 6 is of now", FrameSeen(4.1, 1, 6, 0, grabbed_at=4.0)
    yield from _judge_frame(4.1, 4.4, 6, "done", yes('"Done" is there'), picture=True)


def _judge_frame(
    left: float, back: float, frame: int, identity: str, verdict: Verdict, *, picture: bool = False
) -> Iterator[tuple[str, WaitEvent]]:
    yield from _dispatch_job(left, f"job-{frame}")
    yield _answer_job(back, f"job-{frame}", frame, identity, verdict, picture=picture)


def _dispatch_job(at: float, job_id: str) -> Iterator[tuple[str, WaitEvent]]:
    yield f"{job_id} leaves for an evaluator", JobDispatched(at, job_id, JobKind.JUDGE)


def _answer_job(
    at: float, job_id: str, frame: int, identity: str, verdict: Verdict, *, picture: bool = False
) -> tuple[str, WaitEvent]:
    evidence = Evidence(f"{job_id}.png", epoch=1, frame=frame) if picture else None
    words = f"{job_id} is back: {verdict.answer.value} on frame {frame}"
    return words, JobDone(at, job_id, 1, frame, identity, {0: verdict}, evidence=evidence)


# ---- in words ------------------------------------------------------------------------------------------------------


def _describe_effects(effects: tuple[WaitEffect, ...]) -> str:
    return "; ".join(filter(None, map(_describe_effect, effects))) or "nothing"


def _describe_effect(effect: WaitEffect) -> str:
    match effect:
        case JobRequest(kind=kind, min_frame=frame):
            return f"a {kind.value} job, on frame {frame} or newer"
        case GrabRequest():
            return "a frame now"
        case FrameRateDemand(fps=fps):
            return f"at most {fps:g} frames a second"
        case TickRequest(at=at):
            return f"a tick at {at:.1f} s" if at is not None else ""
        case EvaluationRecord(verdict=verdict):
            return f"a record: {verdict.answer.value}"
        case WaitResolved(frame=frame):
            return f"its end, with the picture of frame {frame}"
    return type(effect).__name__


def _describe_wait(wait: Wait) -> str:
    view = wait.view_state
    seen = f", newest change in frame {view.touched_frame}" if view is not None and view.looked else ""
    jobs = ", ".join(job.job_id for job in wait.flights)
    return f"{wait.state.value}, {wait.verdict.answer.value}{seen}" + (f", {jobs} under way" if jobs else "")


def table() -> str:
    lines = ["| s | what happens | what the wait asks for | the wait after it |", "|---|---|---|---|"]
    lines += [f"| {row.at:.1f} | {row.happened} | {row.asked} | {row.after} |" for row in rows()]
    return "\n".join(lines)
