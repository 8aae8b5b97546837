"""What comes back from the jobs of a wait: answers, identities, pictures, losses. Results may come out of order."""

from __future__ import annotations

from msgspec.structs import replace

from acud.types import Answer, Evidence, Verdict, unknown
from acud.waits.conditions import evaluate
from acud.waits.effects import BaselineTaken, DueKind, Effect, Evaluated
from acud.waits.events import Dispatched, JobLost, Judged
from acud.waits.lifecycle import Outcome, overtaken, unpictured
from acud.waits.local_answers import known_on, seen_there, with_absence
from acud.waits.model import (
    Flight,
    Judging,
    Memo,
    Pending,
    Picture,
    Wait,
)
from acud.waits.planner import cover_of
from acud.waits.schedule import next_backoff
from acud.waits.view_state import Sight
from acud.waits.view_updates import observed

MOST_GONE = 3
"""Frames overwritten in a row before their loss is treated like any other."""
COMPARE_AGAIN_S = 0.5
"""An identity that told nothing is asked again after this, unless a newer frame has come since it was asked."""
LOST_AGAIN_S = 1.0
"""The same of a job that was lost."""
LEAST_TOLD_S = 0.2
"""However soon a backend says that it is worth asking again, a wait pauses for this."""
MOST_TOLD_S = 60.0
"""However long a backend wants to be left alone, a wait looks again after this."""
MOST_TRIES = 2
"""Evidence jobs lost before a local yes goes without its picture."""


def dispatched(wait: Wait, event: Dispatched) -> Wait:
    """Note that a `Due` left as a job; one withdrawn meanwhile is not ours any more."""
    due = wait.wanted.dues.get(event.kind)
    if due is None or wait.sight is None:
        return wait
    dues = {kind: other for kind, other in wait.wanted.dues.items() if kind is not event.kind}
    judging = wait.judging
    flight = Flight(event.job_id, due, wait.generation, wait.sight.frame, event.at, judging.turn)
    after = replace(wait, flights=(*wait.flights, flight), wanted=replace(wait.wanted, dues=dues))
    return replace(after, judging=_started(judging, flight)) if due.kind is DueKind.JUDGE else after


def _started(judging: Judging, flight: Flight) -> Judging:
    real = flight.at if flight.due.force else judging.last_real
    return replace(judging, turn=flight.turn + 1, last_look=flight.at, last_real=real, retry_at=None)


def judged(wait: Wait, event: Judged) -> Outcome:
    """Take a result; a job that is not ours says nothing."""
    flight = next((f for f in wait.flights if f.job_id == event.job_id), None)
    if flight is None:
        return wait, ()
    landed = _landed(wait, flight, event.at)
    if flight.generation != wait.generation:
        return landed, _stale(landed, event, flight)
    seen, effects = _compared(landed, event)
    match flight.due.kind:
        case DueKind.IDENTITY:
            return _paced(seen, flight, event.at), effects
        case DueKind.EVIDENCE:
            return _pictured(seen, event, flight, effects)
    after, more = _answered(seen, event, flight)
    return after, (*effects, *more)


def _landed(wait: Wait, flight: Flight, at: float) -> Wait:
    rest = tuple(f for f in wait.flights if f is not flight)
    return replace(wait, flights=rest, judging=overtaken(wait, flight, at))


def _stale(wait: Wait, event: Judged, flight: Flight) -> tuple[Effect, ...]:
    """Record an answer on a view that the target has left, or to a condition that was replaced; it decides nothing."""
    if flight.due.kind is not DueKind.JUDGE:
        return ()
    return (_record(event, wait.verdict, gated=event.gated, stale=True),)


def _record(event: Judged, verdict: Verdict, *, gated: bool = False, stale: bool = False) -> Evaluated:
    return Evaluated(event.at, event.job_id, event.epoch, event.frame, event.identity, verdict, gated, stale)


def _compared(wait: Wait, event: Judged) -> Outcome:
    if wait.sight is None or not event.identity or event.epoch != wait.sight.view.epoch:
        return wait, ()
    sight = observed(wait.sight, event.frame, event.identity, event.heard)
    return replace(wait, sight=sight), baselines(wait.sight, sight)


def _paced(wait: Wait, flight: Flight, at: float) -> Wait:
    """Say when an identity may be asked for next: at once where this one told, or a frame has come since it left.

    So there is at most one prompt job for each frame that the wait is told of, whatever jobs tell, and a screen that
    stands still costs a bounded number of them.
    """
    sight = wait.sight
    prompt = sight is None or not sight.compares or sight.touched_frame > flight.frame
    compare_at = at if prompt else at + COMPARE_AGAIN_S
    return replace(wait, wanted=replace(wait.wanted, compare_at=compare_at, gone=0))


def baselines(before: Sight | None, after: Sight) -> tuple[Effect, ...]:
    """Return the baselines to store: newly taken, or newly identified."""
    old = {} if before is None else {index: change.taken for index, change in before.changes.items()}
    new = {index: change.taken for index, change in after.changes.items() if change.held is None}
    return tuple(
        BaselineTaken(index, taken.token, taken.identity)
        for index, taken in new.items()
        if taken is not None and taken != old.get(index)
    )


def _pictured(wait: Wait, event: Judged, flight: Flight, effects: tuple[Effect, ...]) -> Outcome:
    """Take a picture for the yes that it was asked for; whether that holds on it is decided by the plan."""
    if wait.pending is None or flight.at < wait.pending.since:
        return wait, effects
    evidence = event.evidence or Evidence(reason="the evaluator kept no picture")
    picture = Picture(evidence, event.frame, event.identity, event.at)
    return replace(wait, pending=replace(wait.pending, picture=picture)), effects


# ---- answers -------------------------------------------------------------------------------------------------------


def _answered(wait: Wait, event: Judged, flight: Flight) -> Outcome:
    covered = _with_cover(wait, event, flight)
    if event.gated:
        return covered, (_record(event, wait.verdict, gated=True),)
    verdicts = {**known_on(wait, flight, event.frame), **_with_absences(wait, event.verdicts)}
    whole = evaluate(wait.spec.until, verdicts)
    newest = flight.turn > wait.judging.answered_turn
    told = replace(
        covered,
        judged=wait.judged + 1,
        judge_calls=wait.judge_calls + sum(index not in event.memoed for index in event.verdicts),
        memo=_remembered(wait.memo, event),
        there=seen_there(wait, event.verdicts),
        verdict=whole if newest or whole.answer is Answer.YES else wait.verdict,
        judging=_real(covered.judging, event, flight),
    )
    after, effects = _concluded(told, whole, event, flight, verdicts)
    return after, (_record(event, whole), *effects)


def _with_absences(wait: Wait, verdicts: dict[int, Verdict]) -> dict[int, Verdict]:
    return {index: with_absence(wait, index, verdict) for index, verdict in verdicts.items()}


def _with_cover(wait: Wait, event: Judged, flight: Flight) -> Wait:
    cover = cover_of(flight.due, event.frame)
    old = wait.judging.cover
    newer = old is None or flight.turn >= wait.judging.answered_turn
    return replace(wait, judging=replace(wait.judging, cover=cover, gone=0)) if newer else wait


def _real(judging: Judging, event: Judged, flight: Flight) -> Judging:
    worked = any(index not in event.memoed for index in event.verdicts)
    return replace(
        judging,
        last_start=max(judging.last_start, flight.at) if worked else judging.last_start,
        last_real=max(judging.last_real, flight.at) if worked else judging.last_real,
        answered_turn=max(judging.answered_turn, flight.turn),
    )


def _remembered(memo: Memo, event: Judged) -> Memo:
    for index, verdict in event.verdicts.items():
        known_no = verdict.answer is Answer.NO and event.identity
        memo = memo.said_no(index, event.identity) if known_no else memo.forgot(index, event.identity)
    return memo


def _concluded(wait: Wait, whole: Verdict, event: Judged, flight: Flight, verdicts: dict[int, Verdict]) -> Outcome:
    match whole.answer:
        case Answer.YES:
            return _on_yes(wait, whole, event, flight, verdicts), ()
        case Answer.NO:
            return replace(wait, judging=_on_no(wait.judging, flight)), ()
    return replace(wait, judging=_on_unknown(wait.judging, event.at, event.retry_after_s)), ()


def _on_yes(wait: Wait, whole: Verdict, event: Judged, flight: Flight, verdicts: dict[int, Verdict]) -> Wait:
    judging = replace(wait.judging, retry_at=None, backoff_s=0.0)
    if judging.confirm_at is not None and flight.at < judging.confirm_at:
        return replace(wait, judging=judging)
    if judging.yeses + 1 >= wait.spec.policy.confirm:
        return replace(wait, judging=judging, pending=_pending(wait, whole, event, verdicts))
    due_at = max(event.at, flight.at + wait.spec.policy.min_interval_s)
    return replace(wait, judging=replace(judging, yeses=judging.yeses + 1, yes_turn=flight.turn, confirm_at=due_at))


def _pending(wait: Wait, whole: Verdict, event: Judged, verdicts: dict[int, Verdict]) -> Pending:
    changed_at = wait.sight.changed_at(event.frame) if wait.sight else None
    picture = Picture(event.evidence, event.frame, event.identity, event.at) if event.evidence else None
    return Pending(
        whole, event.frame, event.at, changed_at, verdicts=verdicts, identity=event.identity, picture=picture
    )


def _on_no(judging: Judging, flight: Flight) -> Judging:
    """Start confirmation anew, unless the no is older than the newest yes that counted."""
    calm = replace(judging, retry_at=None, backoff_s=0.0)
    return calm if flight.turn < judging.yes_turn else replace(calm, yeses=0, yes_turn=-1, confirm_at=None)


def _on_unknown(judging: Judging, at: float, told_s: float = 0.0) -> Judging:
    # Whoever was told when its turn comes keeps that time: later the place is given away.
    pause = min(max(told_s, LEAST_TOLD_S), MOST_TOLD_S) if told_s > 0 else next_backoff(judging.backoff_s)
    if judging.confirm_at is not None:
        return replace(judging, backoff_s=pause, confirm_at=at + pause)
    return replace(judging, backoff_s=pause, retry_at=at + pause)


# ---- losses --------------------------------------------------------------------------------------------------------


def job_lost(wait: Wait, event: JobLost) -> Outcome:
    """Take a loss: an overwritten frame is asked anew at once, a few times; all else is `unknown` and backs off."""
    flight = next((f for f in wait.flights if f.job_id == event.job_id), None)
    if flight is None:
        return wait, ()
    landed = _landed(wait, flight, event.at)
    if flight.generation != wait.generation:
        return landed, ()
    match flight.due.kind:
        case DueKind.IDENTITY:
            return _identity_lost(landed, event), ()
        case DueKind.EVIDENCE:
            return _evidence_lost(landed, event)
    return _judgement_lost(landed, event, flight)


def _identity_lost(wait: Wait, event: JobLost) -> Wait:
    gone = min(wait.wanted.gone + 1, MOST_GONE + 1) if event.code == "frame_gone" else 0
    pause = 0.0 if 0 < gone <= MOST_GONE else LOST_AGAIN_S
    return replace(wait, wanted=replace(wait.wanted, compare_at=event.at + pause, gone=gone))


def _evidence_lost(wait: Wait, event: JobLost) -> Outcome:
    if wait.pending is None:
        return wait, ()
    tried = replace(wait.pending, tries=wait.pending.tries + 1)
    if tried.frames is not None:
        return replace(wait, pending=tried), ()  # the plan sees that no picture comes any more
    if tried.tries >= MOST_TRIES:
        return unpictured(wait, tried, f"the picture was lost twice: {event.reason}", event.at)
    return replace(wait, pending=tried), ()


def _judgement_lost(wait: Wait, event: JobLost, flight: Flight) -> Outcome:
    judging = wait.judging
    if event.code == "frame_gone" and judging.gone < MOST_GONE:
        return replace(wait, judging=replace(judging, gone=judging.gone + 1, retry_at=event.at)), ()
    verdict = unknown(event.code, event.reason)
    spent = replace(judging, cover=cover_of(flight.due, flight.frame), gone=0, last_start=flight.at)
    after = replace(wait, verdict=verdict, judging=_on_unknown(spent, event.at))
    return after, (Evaluated(event.at, event.job_id, flight.due.epoch, flight.frame, "", verdict),)
