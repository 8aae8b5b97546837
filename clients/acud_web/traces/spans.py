"""The spans of a wait, from the events that tell of it. Pure.

Ids follow from the wait's id: every span of a wait finds its trace and its parent whoever makes it. So nothing has to
be kept between events, and a web process that is started anew goes on with the same trace.

Attributes hold ids, names of judges and routes, answers and figures; never words from a screen, nor the condition's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from acud.protocol.events import Event
from acud.types import WaitInfo, WaitState, WakeInfo

Value = str | int | float | bool


class Span(Struct, frozen=True):
    """One span; times are UTC seconds. `points`: moments within it, by name.

    `span_id` 0: any will do. `parent_id` 0: it is the trace's root. `failed`: why it counts as an error ("": it does
    not).
    """

    name: str
    trace_id: int
    start_utc_s: float
    end_utc_s: float
    attributes: Mapping[str, Value]
    span_id: int = 0
    parent_id: int = 0
    points: Mapping[str, float] = {}
    failed: str = ""


def trace_id(wait_id: str) -> int:
    """Return the 128-bit id of the wait's trace; never 0, which OpenTelemetry takes for invalid."""
    return int.from_bytes(hashlib.sha256(wait_id.encode()).digest()[:16]) | 1


def root_id(wait_id: str) -> int:
    """Return the 64-bit id of the wait's own span."""
    return int.from_bytes(hashlib.sha256(wait_id.encode()).digest()[16:24]) | 1


def judged(event: Event) -> Span:
    """Return the judge's call that `wait.judged` tells of."""
    data = event.data
    answer = {"acud.answer": data["answer"], "acud.code": data["code"]}
    facts = {"acud.judge": data["judge"], "acud.frame": data["frame"], **answer}
    start_utc_s = event.utc_s - float(data["latency_ms"]) / 1000
    fault = str(data["code"]) if data["answer"] == "unknown" else ""
    return _child("acud.judge", event.subject, start_utc_s, event.utc_s, facts, fault)


def ended(wait: WaitInfo) -> list[Span]:
    """Return the wait's own span, from its arming to its end, and the way from the deciding frame to the verdict."""
    end = wait.ended_utc_s
    root = Span(
        "acud.wait",
        trace_id(wait.wait_id),
        wait.created_utc_s,
        end,
        _facts(wait),
        root_id(wait.wait_id),
        points={"armed": wait.created_utc_s, wait.state.value: end},
        failed=wait.verdict.code or "failed" if wait.state is WaitState.FAILED else "",
    )
    return [root, _verdict(wait)] if wait.state is WaitState.RESOLVED else [root]


def _facts(wait: WaitInfo) -> dict[str, Value]:
    facts: dict[str, Value] = {
        "acud.wait_id": wait.wait_id,
        "acud.state": wait.state.value,
        "acud.display": wait.display,
        "acud.judge": wait.spec.judge.value,
        "acud.frames_seen": wait.frames_seen,
        "acud.judged": wait.judged,
        "acud.judge_calls": wait.judge_calls,
    }
    facts |= {"acud.task_id": wait.spec.task_id} if wait.spec.task_id else {}
    return facts | ({"acud.cost_usd": wait.cost_usd} if wait.cost_usd is not None else {})


def _verdict(wait: WaitInfo) -> Span:
    """A wait that resolved on what was there before it has no deciding change: then the span has no length."""
    since_s = (wait.changed_to_resolved_ms or 0.0) / 1000
    facts: dict[str, Value] = {"acud.answer": wait.verdict.answer.value}
    if wait.evidence is not None:
        facts |= {"acud.frame": wait.evidence.frame, "acud.epoch": wait.evidence.epoch}
    start_utc_s = wait.ended_utc_s - since_s
    made = _child("acud.verdict", wait.wait_id, start_utc_s, wait.ended_utc_s, facts)
    return made if wait.changed_to_resolved_ms is None else replace(made, points={"frame": start_utc_s})


def woken(wake: WakeInfo) -> Span:
    """Return the way of a wake: from its making to a receiver that took it, or to giving up."""
    sent = bool(wake.sent_utc_s)
    facts: dict[str, Value] = {
        "acud.wake_id": wake.wake_id,
        "acud.kind": wake.kind.value,
        "acud.route": wake.sent_by,
        "acud.reminders": wake.reminders,
    }
    end_utc_s = wake.sent_utc_s if sent else wake.created_utc_s
    return _child("acud.wake", wake.wait_id, wake.created_utc_s, end_utc_s, facts, "" if sent else "undelivered")


def _child(
    name: str, wait_id: str, start_utc_s: float, end_utc_s: float, facts: Mapping[str, Value], failed: str = ""
) -> Span:
    start = min(start_utc_s, end_utc_s)
    found = {key: value for key, value in facts.items() if value != ""}
    return Span(name, trace_id(wait_id), start, end_utc_s, found, parent_id=root_id(wait_id), failed=failed)
