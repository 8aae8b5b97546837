"""Turns waits into what clients see, rows of the store, facts of events and texts of wakes."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from acud.base.clock import Instant, utc_iso
from acud.base.untrusted_text import with_seen
from acud.protocol.evaluation import Answered
from acud.protocol.requests.waits import Evaluation
from acud.store.waits import StoredWait
from acud.supervisor.waits.active_waits import ActiveWait
from acud.types import ConditionWords, Evidence, Then, Verdict, WaitInfo, WaitState, condition_text
from acud.waits import effects as out
from acud.waits.rearmable import rearmed_text
from acud.waits.stages import count_stages, get_stage
from acud.waits.wake_text import job_text, not_seen_text

_SAME_FIELDS = tuple(name for name in WaitInfo.__struct_fields__ if name in StoredWait.__struct_fields__)


class WaitEnding(msgspec.Struct, frozen=True):
    """How a wait ended."""

    state: WaitState
    message: str
    evidence: Evidence | None = None


def wait_info(stored: StoredWait, now: Instant) -> WaitInfo:
    ended = stored.state is not WaitState.WATCHING
    again = rearmed_text(stored.rearmed) if stored.rearmed is not None else ""
    same = {name: getattr(stored, name) for name in _SAME_FIELDS}
    return WaitInfo(
        **same | {"note": "; ".join(filter(None, (again, stored.note)))},
        created_utc_s=stored.created.utc_s,
        deadline_utc_s=stored.deadline.utc_s,
        remaining_s=0.0 if ended else max(0.0, stored.deadline.remaining_s(now)),
    )


def wait_ending(active: ActiveWait, effect: out.WaitEffect) -> WaitEnding:
    """Return the state and the wake's text for an ending effect; the text stands on its own."""
    display = f"on {active.display}" if active.display else ""
    task = f"task {active.spec.task_id}" if active.spec.task_id else ""
    again = rearmed_text(active.rearmed) if active.rearmed is not None else ""

    def job(outcome: str = "") -> str:
        return job_text(active.wait_id, active.spec, (display, task, again), outcome)

    match effect:
        case out.WaitResolved(verdict=verdict, evidence=evidence):
            text = f"[smart_wait resolved] {job()}."
            return WaitEnding(WaitState.RESOLVED, with_seen(text, verdict.detail), evidence)
        case out.WaitTimedOut(verdict=verdict, evidence=evidence):
            text = f"[smart_wait timeout] {job(not_seen_text(active.spec))}. {_describe_progress(active, verdict)}"
            return WaitEnding(WaitState.TIMEOUT, with_seen(text, verdict.detail), evidence)
        case out.WaitCancelled(reason=reason):
            text = f"[smart_wait cancelled] {job()}{f' — {reason}' if reason else ''}"
            return WaitEnding(WaitState.CANCELLED, text)
        case out.WaitFailed(reason=reason, verdict=verdict, evidence=evidence):
            text = f"[smart_wait failed] {job('not seen')} — {reason}. {_describe_progress(active, verdict)}"
            return WaitEnding(WaitState.FAILED, with_seen(text, verdict.detail), evidence)
        case out.WaitEndedByFleet(end=end, evidence=evidence):
            return WaitEnding(end.state, end.message, evidence)
    raise TypeError(f"{type(effect).__name__} ends no wait")


def _describe_progress(active: ActiveWait, verdict: Verdict) -> str:
    """Describe which stages of a sequence were reached, and which was not; then the last verdict of any wait."""
    until, reached, code = active.spec.until, active.stages, f" ({verdict.code})" if verdict.code else ""
    last = f"Last verdict: {verdict.answer.value}{code}."
    if not isinstance(until, Then):
        return last
    held = (
        f"Stage {at} ({_name_stage(until, at)}) held at {utc_iso(one.utc_s)[11:19]} UTC. "
        for at, one in enumerate(reached, 1)
    )
    missing = len(reached) + 1
    return (
        f"{''.join(held)}Stage {missing} of {len(until.parts)} ({_name_stage(until, missing)}) was not reached. {last}"
    )


def _name_stage(until: Then, number: int) -> str:
    return condition_text(until.parts[number - 1], ConditionWords.BRIEF)


def evaluation_row(effect: out.EvaluationRecord, answered: Answered, utc_s: float) -> Evaluation | None:
    """Return the row of a judged frame; None when no judge worked for it (every answer came from the memo)."""
    judged = [answer for answer in answered.answers if answer.source != "memo"]
    if not judged:
        return None
    picture = answered.picture
    return Evaluation(
        utc_s=utc_s,
        epoch=effect.epoch,
        frame=effect.frame,
        verdict=effect.verdict,
        judge="+".join(sorted({answer.judge for answer in judged})),
        source="judge" if any(answer.source == "judge" for answer in judged) else "cache",
        latency_ms=round(max(answer.latency_ms for answer in judged), 3),
        identity=effect.identity,
        tokens_in=_sum_known([answer.tokens_in for answer in judged]),
        tokens_out=_sum_known([answer.tokens_out for answer in judged]),
        cost_usd=_sum_costs([answer.cost_usd for answer in judged]),
        picture=hashlib.sha256(picture.jpeg).hexdigest()[:32] if picture is not None else "",
        width=picture.width if picture is not None else 0,
        height=picture.height if picture is not None else 0,
    )


def _sum_known(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _sum_costs(costs: list[float | None]) -> float | None:
    """Return the sum; None if one of the costs is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def add_costs(before: float | None, cost: float | None) -> float | None:
    """Return the sum of two costs; unknown is not zero."""
    return before if cost is None else cost + (before or 0.0)


def created_facts(stored: StoredWait) -> dict[str, Any]:
    return {
        "condition": condition_text(stored.spec.until),
        "display": stored.display,
        "timeout_s": stored.spec.timeout_s,
        "label": stored.spec.label,
    } | ({} if stored.rearmed is None else {"rearmed": rearmed_text(stored.rearmed)})


def stage_facts(stored: StoredWait) -> dict[str, Any]:
    """Return the facts of `wait.stage` for the stage reached last."""
    stage, number, until = stored.stages[-1], len(stored.stages), stored.spec.until
    return {
        "stage": number,
        "stages": count_stages(until),
        "condition": condition_text(get_stage(until, number - 1)),
        "label": stored.spec.label,
        "detail": stage.verdict.detail,
        "display": stored.display,
        "frame": stage.evidence.frame,
        "evidence": stage.evidence.name,
        "identity": stage.evidence.identity,
    }


def judged_facts(row: Evaluation) -> dict[str, Any]:
    return {
        "answer": row.verdict.answer.value,
        "detail": row.verdict.detail,
        "code": row.verdict.code,
        "judge": row.judge,
        "frame": row.frame,
        "latency_ms": row.latency_ms,
    }


def ended_facts(stored: StoredWait) -> dict[str, Any]:
    evidence = stored.evidence
    return {
        "message": stored.message,
        "condition": condition_text(stored.spec.until),
        "label": stored.spec.label,
        "answer": stored.verdict.answer.value,
        "detail": stored.verdict.detail,
        "display": stored.display,
        "frame": evidence.frame if evidence is not None else 0,
        "evidence": evidence.name if evidence is not None else "",
        "identity": evidence.identity if evidence is not None else "",
        "judge_calls": stored.judge_calls,
        "changed_to_resolved_ms": stored.changed_to_resolved_ms,
    }
