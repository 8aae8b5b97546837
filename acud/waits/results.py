"""The results of a wait's jobs: answers, identities, pictures, losses. Results may come out of order."""

from __future__ import annotations

from msgspec.structs import replace

from acud.types import Answer, Criteria, Evidence, Text, Verdict, unknown
from acud.waits.absence import add_pending_yes
from acud.waits.anew import count_anew, describe_presence, find_typed, note_look
from acud.waits.condition_tree import evaluate
from acud.waits.effects import BaselineTaken, EvaluationRecord, JobKind, WaitEffect
from acud.waits.events import JobDispatched, JobDone, JobLost
from acud.waits.lifecycle import Outcome, count_overtaken, resolve_without_picture
from acud.waits.local_answers import judge_locally_on
from acud.waits.look_turns import make_coverage
from acud.waits.model import JobInFlight, JudgeState, LaterReading, PendingPicture, PendingYes, VerdictCache, Wait
from acud.waits.presence import collect_seen, doubt_absences, note_places
from acud.waits.restless_area import RestlessArea
from acud.waits.schedule import next_backoff
from acud.waits.stages import note_later, take_later_yes
from acud.waits.view_state import NEVER, ViewState
from acud.waits.view_updates import apply_identity

UNPARSABLE = "unparsable"
MOST_GONE = 3
"""Frames overwritten in a row before such a loss is treated like any other."""
COMPARE_AGAIN_S = 0.5
"""An identity job that decided nothing is repeated after this, unless a newer frame has come since."""
LOST_AGAIN_S = 1.0
"""The same for a lost job."""
COVERED_AGAIN_S = 30.0
"""A model is asked again about what may be hidden after this, unless windows have moved since."""
LEAST_PAUSE_S = 0.2
"""The shortest pause of a wait, however soon a backend offers a retry."""
MOST_PAUSE_S = 60.0
"""The longest pause of a wait, however long a backend asks it to stay away."""
TYPED_MEANWHILE = unknown("not_judged", "acud typed there while it was read")
NO_PICTURE = Evidence(reason="the evaluator kept no picture")
MOST_TRIES = 2
"""Evidence jobs lost before a yes resolves without its picture."""


def apply_dispatch(wait: Wait, event: JobDispatched) -> Wait:
    """Note that a `JobRequest` left as a job; a request withdrawn meanwhile is ignored."""
    due = wait.requests.jobs.get(event.kind)
    if due is None or wait.view_state is None:
        return wait
    jobs = {kind: other for kind, other in wait.requests.jobs.items() if kind is not event.kind}
    judge_state = wait.judge_state
    frame, windows = wait.view_state.frame, wait.windows
    flight = JobInFlight(event.job_id, due, wait.generation, frame, event.at, judge_state.turn, windows, wait.typed)
    after = replace(wait, flights=(*wait.flights, flight), requests=replace(wait.requests, jobs=jobs))
    return replace(after, judge_state=_note_dispatch(judge_state, flight)) if due.kind is JobKind.JUDGE else after


def _note_dispatch(judge_state: JudgeState, flight: JobInFlight) -> JudgeState:
    real = flight.at if flight.request.force else judge_state.last_real
    return replace(judge_state, turn=flight.turn + 1, last_look=flight.at, last_real=real, retry_at=None)


def apply_result(wait: Wait, event: JobDone) -> Outcome:
    """Apply a result; the result of an unknown job changes nothing."""
    flight = next((f for f in wait.flights if f.job_id == event.job_id), None)
    if flight is None:
        return wait, ()
    landed = _land_flight(wait, flight, event.at)
    if flight.typed != wait.typed:
        event = _doubt_echoes(wait, event, flight)
    if flight.generation != wait.generation:
        return landed, _record_stale(landed, event, flight)
    if flight.request.stage != wait.stage:
        return _apply_earlier_stage(landed, event, flight)
    seen, effects = _learn_identity(landed, event)
    match flight.request.kind:
        case JobKind.IDENTITY:
            return _pace_identity(seen, flight, event.at), effects
        case JobKind.EVIDENCE:
            return _take_picture(seen, event, flight, effects)
    after, more = _apply_answer(seen, event, flight)
    return after, (*effects, *more)


def _doubt_echoes(wait: Wait, event: JobDone, flight: JobInFlight) -> JobDone:
    """Return the result without a yes to words that acud typed after the job left: its evaluator cannot know them."""

    def doubt(index: int, verdict: Verdict) -> Verdict:
        before, now = (find_typed(wait.leaves[index], typed) for typed in (flight.typed, wait.typed))
        return TYPED_MEANWHILE if verdict.answer is Answer.YES and before != now else verdict

    is_of_stage = flight.request.stage == wait.stage
    verdicts = {index: doubt(index, one) for index, one in event.verdicts.items()} if is_of_stage else event.verdicts
    return replace(event, verdicts=verdicts, later={})


def _land_flight(wait: Wait, flight: JobInFlight, at: float) -> Wait:
    rest = tuple(f for f in wait.flights if f is not flight)
    return replace(wait, flights=rest, judge_state=count_overtaken(wait, flight, at))


def _record_stale(wait: Wait, event: JobDone, flight: JobInFlight) -> tuple[WaitEffect, ...]:
    """Record an answer on a former view or condition; it decides nothing."""
    if flight.request.kind is not JobKind.JUDGE:
        return ()
    return (_make_record(event, wait.verdict, gated=event.gated, stale=True),)


def _apply_earlier_stage(wait: Wait, event: JobDone, flight: JobInFlight) -> Outcome:
    """Apply what a reading for an earlier stage found for the present one."""
    reading = _make_later_reading(event)
    after = take_later_yes(note_later(wait, reading), reading)
    if after.pending is wait.pending:
        return after, _record_stale(after, event, flight)
    return after, (_make_record(event, after.verdict),)


def _make_later_reading(event: JobDone) -> LaterReading:
    return LaterReading(event.frame, event.at, event.identity, event.later, event.evidence)


def _make_record(event: JobDone, verdict: Verdict, *, gated: bool = False, stale: bool = False) -> EvaluationRecord:
    return EvaluationRecord(event.at, event.job_id, event.epoch, event.frame, event.identity, verdict, gated, stale)


def _learn_identity(wait: Wait, event: JobDone) -> Outcome:
    if wait.view_state is None or not event.identity or event.epoch != wait.view_state.view.epoch:
        return wait, ()
    view_state = apply_identity(wait.view_state, event.frame, event.identity, event.heard)
    return replace(wait, view_state=view_state), list_new_baselines(wait.view_state, view_state)


def _pace_identity(wait: Wait, flight: JobInFlight, at: float) -> Wait:
    """Set when to ask for an identity next: at once if this one decided, or a frame has come since its job left.

    So each frame causes at most one prompt job, whatever jobs return, and a screen that stands still costs a bounded
    number of them.
    """
    view_state = wait.view_state
    prompt = view_state is None or not view_state.needs_identity or view_state.touched_frame > flight.frame
    compare_at = at if prompt else at + COMPARE_AGAIN_S
    return replace(wait, requests=replace(wait.requests, compare_at=compare_at, gone=0))


def list_new_baselines(before: ViewState | None, after: ViewState) -> tuple[WaitEffect, ...]:
    """Return the baselines to store: those newly taken or newly identified."""
    old = {} if before is None else {index: change.taken for index, change in before.changes.items()}
    new = {index: change.taken for index, change in after.changes.items() if change.holds_from is None}
    return tuple(
        BaselineTaken(index, taken.token, taken.identity)
        for index, taken in new.items()
        if taken is not None and taken != old.get(index)
    )


def _take_picture(wait: Wait, event: JobDone, flight: JobInFlight, effects: tuple[WaitEffect, ...]) -> Outcome:
    """Keep the picture for the yes that asked for it; the plan decides whether the yes holds on it."""
    if flight.request.is_last_look:
        return replace(wait, last_picture=event.evidence or NO_PICTURE), effects
    if wait.pending is None or flight.at < wait.pending.since:
        return wait, effects
    picture = PendingPicture(event.evidence or NO_PICTURE, event.frame, event.identity, event.at)
    return replace(wait, pending=replace(wait.pending, picture=picture)), effects


# ---- answers -------------------------------------------------------------------------------------------------------


def _apply_answer(wait: Wait, event: JobDone, flight: JobInFlight) -> Outcome:
    wait = note_places(wait, event.verdicts, flight.windows)
    covered = _update_cover(wait, event, flight)
    if event.gated:
        return covered, (_make_record(event, wait.verdict, gated=True),)
    newest = flight.turn > wait.judge_state.answered_turn
    looked = (
        note_look(wait, _select_counts(wait, event), is_of_arming=_is_of_arming(wait, event.frame)) if newest else wait
    )
    covered = replace(covered, standing=looked.standing)
    anew = count_anew(looked, {**judge_locally_on(wait, flight, event.frame), **event.verdicts})
    answers = describe_presence(looked, {index: anew[index] for index in event.verdicts})
    verdicts = {**anew, **doubt_absences(wait, answers, flight.windows, wait.windows)}
    whole = evaluate(wait.until, verdicts)
    judge_state = replace(covered.judge_state, restless=_update_restless(wait, event, flight, whole))
    judged = replace(
        covered,
        judged=wait.judged + 1,
        judge_calls=wait.judge_calls + sum(index not in event.memoed for index in event.verdicts),
        verdict_cache=_remember_noes(wait.verdict_cache, event),
        leaves_seen=collect_seen(wait, event.verdicts),
        verdict=whole if newest or whole.answer is Answer.YES else wait.verdict,
        judge_state=_note_judgement(judge_state, event, flight),
    )
    judged = note_later(judged, _make_later_reading(event))
    after, effects = _act_on_verdict(judged, whole, event, flight, verdicts)
    return after, (_make_record(event, whole), *effects)


def _update_restless(wait: Wait, event: JobDone, flight: JobInFlight, whole: Verdict) -> RestlessArea:
    """Return the restless area after this answer; `wait` is the state before it."""
    judge_state, view_state = wait.judge_state, wait.view_state
    paid = any(index not in event.memoed for index in event.verdicts)
    newest = flight.turn > judge_state.answered_turn
    if whole.answer is not Answer.NO or not (paid and newest) or judge_state.cover is None or view_state is None:
        return judge_state.restless
    if not wait.paces_restless:
        return RestlessArea()
    frames = judge_state.cover.frame, event.frame
    return judge_state.restless.apply_no(view_state, *frames, wait.longest_pause_s, moves=_needs_sight(wait, flight))


def _needs_sight(wait: Wait, flight: JobInFlight) -> bool:
    """Return whether all asked leaves are sentences, which OCR cannot answer."""
    return all(isinstance(wait.leaves[want.index], Criteria) for want in flight.request.asks)


def _select_counts(wait: Wait, event: JobDone) -> dict[int, Verdict]:
    """Return the answers that count places: a remembered no to a text that must be there several times does not."""
    counts = {index for index, leaf in enumerate(wait.leaves) if isinstance(leaf, Text) and leaf.count > 1}
    return {index: verdict for index, verdict in event.verdicts.items() if index not in event.memoed & counts}


def _is_of_arming(wait: Wait, frame: int) -> bool:
    """Return whether a frame shows the target as its first look did."""
    view_state = wait.view_state
    first = view_state.marks[0] if view_state is not None and view_state.marks else None
    if view_state is None or first is None or first.since != -NEVER:
        return False
    return not view_state.touched_within(first.frame, frame)


def _update_cover(wait: Wait, event: JobDone, flight: JobInFlight) -> Wait:
    cover = make_coverage(flight.request, event.frame)
    old = wait.judge_state.cover
    newer = old is None or flight.turn >= wait.judge_state.answered_turn
    return replace(wait, judge_state=replace(wait.judge_state, cover=cover, gone=0)) if newer else wait


def _note_judgement(judge_state: JudgeState, event: JobDone, flight: JobInFlight) -> JudgeState:
    worked = any(index not in event.memoed for index in event.verdicts)
    return replace(
        judge_state,
        last_start=max(judge_state.last_start, flight.at) if worked else judge_state.last_start,
        last_real=max(judge_state.last_real, flight.at) if worked else judge_state.last_real,
        answered_turn=max(judge_state.answered_turn, flight.turn),
    )


def _remember_noes(cache: VerdictCache, event: JobDone) -> VerdictCache:
    for index, verdict in event.verdicts.items():
        known_no = verdict.answer is Answer.NO and event.identity
        cache = cache.add_no(index, event.identity) if known_no else cache.drop_no(index, event.identity)
    return cache


def _act_on_verdict(
    wait: Wait, whole: Verdict, event: JobDone, flight: JobInFlight, verdicts: dict[int, Verdict]
) -> Outcome:
    match whole.answer:
        case Answer.YES:
            return _on_yes(wait, whole, event, flight, verdicts), ()
        case Answer.NO:
            return replace(wait, judge_state=_on_no(wait.judge_state, flight)), ()
    pause_s = event.retry_after_s
    if whole.code == "covered" and _needs_sight(wait, flight):
        pause_s = COVERED_AGAIN_S
    judge_state = _on_unknown(wait.judge_state, event.at, pause_s)
    unreadable = judge_state.unreadable + (whole.code == UNPARSABLE)
    return replace(wait, judge_state=replace(judge_state, unreadable=unreadable)), ()


def _on_yes(wait: Wait, whole: Verdict, event: JobDone, flight: JobInFlight, verdicts: dict[int, Verdict]) -> Wait:
    judge_state = replace(wait.judge_state, retry_at=None, backoff_s=0.0, unreadable=0)
    if judge_state.confirm_at is not None and flight.at < judge_state.confirm_at:
        return replace(wait, judge_state=judge_state)
    if judge_state.yeses + 1 >= wait.spec.policy.confirm:
        changed_at = wait.view_state.changed_at(event.frame) if wait.view_state else None
        picture = PendingPicture(event.evidence, event.frame, event.identity, event.at) if event.evidence else None
        pending = PendingYes(
            whole, event.frame, event.at, changed_at, verdicts=verdicts, identity=event.identity, picture=picture
        )
        return add_pending_yes(replace(wait, judge_state=judge_state), pending, flight.at)
    due_at = max(event.at, flight.at + wait.spec.policy.min_interval_s)
    return replace(
        wait, judge_state=replace(judge_state, yeses=judge_state.yeses + 1, yes_turn=flight.turn, confirm_at=due_at)
    )


def _on_no(judge_state: JudgeState, flight: JobInFlight) -> JudgeState:
    """Start confirmation anew, unless the no is older than the newest yes that counted."""
    calm = replace(judge_state.clear_absences(), retry_at=None, backoff_s=0.0, unreadable=0)
    return calm if flight.turn < judge_state.yes_turn else replace(calm, yeses=0, yes_turn=-1, confirm_at=None)


def _on_unknown(judge_state: JudgeState, at: float, retry_after_s: float = 0.0) -> JudgeState:
    # Keep the time that the backend named: later it gives the place away.
    pause = (
        min(max(retry_after_s, LEAST_PAUSE_S), MOST_PAUSE_S)
        if retry_after_s > 0
        else next_backoff(judge_state.backoff_s)
    )
    judge_state = judge_state.clear_absences()
    if judge_state.confirm_at is not None:
        return replace(judge_state, backoff_s=pause, confirm_at=at + pause)
    return replace(judge_state, backoff_s=pause, retry_at=at + pause)


# ---- losses --------------------------------------------------------------------------------------------------------


def apply_loss(wait: Wait, event: JobLost) -> Outcome:
    """Apply a loss: an overwritten frame is asked anew at once, a few times; any other is `unknown` and backs off."""
    flight = next((f for f in wait.flights if f.job_id == event.job_id), None)
    if flight is None:
        return wait, ()
    landed = _land_flight(wait, flight, event.at)
    if not wait.is_current(flight):
        return landed, ()
    match flight.request.kind:
        case JobKind.IDENTITY:
            return _lose_identity(landed, event), ()
        case JobKind.EVIDENCE:
            return _lose_evidence(landed, event, flight)
    return _lose_judgement(landed, event, flight)


def _lose_identity(wait: Wait, event: JobLost) -> Wait:
    gone = min(wait.requests.gone + 1, MOST_GONE + 1) if event.code == "frame_gone" else 0
    pause = 0.0 if 0 < gone <= MOST_GONE else LOST_AGAIN_S
    return replace(wait, requests=replace(wait.requests, compare_at=event.at + pause, gone=gone))


def _lose_evidence(wait: Wait, event: JobLost, flight: JobInFlight) -> Outcome:
    if flight.request.is_last_look:
        return replace(wait, last_picture=Evidence(reason=f"the last picture was lost: {event.reason}")), ()
    if wait.pending is None:
        return wait, ()
    tried = replace(wait.pending, tries=wait.pending.tries + 1)
    if tried.frames is not None:
        return replace(wait, pending=tried), ()  # the plan sees that no picture will come
    if tried.tries >= MOST_TRIES and not tried.is_held_back(event.at):
        return resolve_without_picture(wait, tried, f"the picture was lost twice: {event.reason}", event.at)
    return replace(wait, pending=tried), ()


def _lose_judgement(wait: Wait, event: JobLost, flight: JobInFlight) -> Outcome:
    judge_state = wait.judge_state
    if event.code == "frame_gone" and judge_state.gone < MOST_GONE:
        return replace(wait, judge_state=replace(judge_state, gone=judge_state.gone + 1, retry_at=event.at)), ()
    verdict = unknown(event.code, event.reason)
    spent = replace(judge_state, cover=make_coverage(flight.request, flight.frame), gone=0, last_start=flight.at)
    after = replace(wait, verdict=verdict, judge_state=_on_unknown(spent, event.at))
    return after, (EvaluationRecord(event.at, event.job_id, flight.request.epoch, flight.frame, "", verdict),)
