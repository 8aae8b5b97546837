"""What a wait wants now, from its state alone; one plan follows every event.

Each step takes the wait and the basis of the plan and returns the wait after it with the effects. A step with nothing
to add changes nothing, so planning twice is planning once.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from acud.types import (
    Answer,
    Cadence,
    Change,
    Criteria,
    GateKind,
    HostLeaf,
    TileLeaf,
    Verdict,
    Widget,
    WindowTitle,
    unknown,
)
from acud.waits.absence import add_pending_yes
from acud.waits.condition_tree import NOT_JUDGED, NOT_LOCATED, evaluate
from acud.waits.effects import (
    FrameRateDemand,
    GrabRequest,
    JobKind,
    JobRequest,
    JobWithdrawal,
    LeafRequest,
    NoteChanged,
    TextReadRequest,
    TickRequest,
    WaitEffect,
)
from acud.waits.lifecycle import Outcome, fail, resolve, resolve_without_picture, time_out
from acud.waits.local_answers import find_quiet_start, is_of_moment, is_text_leaf, judge_again_on, note_of, read_at
from acud.waits.look_turns import PlanBasis, is_read, make_basis, open_turns
from acud.waits.model import PendingPicture, PendingYes, Wait
from acud.waits.schedule import EVIDENCE_PRIORITY, IDENTITY_PRIORITY, LookTurn, fps_wanted, judgement_priority, next_gap
from acud.waits.stages import read_ahead
from acud.waits.view_state import ViewState

FRESH_S = 0.25
"""A grab this young shows the display as it is; a yes on quiet needs one, or a dead capture would look quiet."""
REGRAB_S = 2.0
"""A grab without an answer is requested again after this."""
PATIENCE_S = 0.25
"""An `event` turn uses the newest frame when its fresh grab takes longer."""
LAST_PICTURE_S = 2.0
"""The longest time that a failing wait waits for its last picture."""
_LACK = "not judged: "
EVIDENCE_PATIENCE_S = 10.0
"""The longest time that a yes is held back for its picture."""


def plan(wait: Wait, at: float) -> Outcome:
    """Return the wait after asking for everything that it wants now, and the effects."""
    effects: list[WaitEffect] = []
    now = make_basis(wait, at)
    state, number = wait.state, wait.stage
    for stage in _STAGES:
        wait, more = stage(wait, now)
        if more:
            effects += more
        if wait.state is not state:  # it has ended
            break
        if wait.stage != number:  # another condition, which this plan does not know
            wait, more = plan(wait, at)
            effects += more
            break
    return wait, tuple(effects)


def _update_note(wait: Wait, now: PlanBasis) -> Outcome:
    text = note_of(wait)
    return (wait, ()) if text == wait.note else (replace(wait, note=text), (NoteChanged(text),))


# ---- grabs ---------------------------------------------------------------------------------------------------------


def _grab_first_look(wait: Wait, now: PlanBasis) -> Outcome:
    """Ask for one frame after each arming and each reconnect."""
    view_state = wait.view_state
    if view_state is None or wait.missing is not None or view_state.grabbed_at >= view_state.since:
        return wait, ()
    if now.at < view_state.since:
        return wait, ()
    after, effects = _ask_grab(wait, view_state.since, now.at)
    if not effects or not any(isinstance(leaf, TileLeaf) for leaf in wait.leaves):
        return after, effects
    # A window's pixels may come from elsewhere later; then only the looks of its tiles show how much of it changed.
    shares = any(isinstance(leaf, Change) and leaf.share for leaf in wait.leaves)
    return after, (GrabRequest(look=True, tiles=shares and wait.spec.target.in_windows),)


def _ask_grab(wait: Wait, since: float, at: float) -> Outcome:
    """Ask for a grab that begins at or after `since`, unless one is on its way."""
    asked = wait.requests.grab_asked
    if asked is not None and asked >= since and at < asked + REGRAB_S:
        return wait, ()
    return replace(wait, requests=replace(wait.requests, grab_asked=at)), (GrabRequest(),)


def _grab_for_quiet(wait: Wait, now: PlanBasis) -> Outcome:
    """Ask for a grab when a quiet span may be over: only a compared grab proves it."""
    view_state = wait.in_view
    if not now.quiet or view_state is None or wait.pending is not None:
        return wait, ()
    over = [since for since in _list_quiet_ends(wait, view_state, now) if view_state.grabbed_at < since <= now.at]
    return _ask_grab(wait, max(over), now.at) if over else (wait, ())


def _list_quiet_ends(wait: Wait, view_state: ViewState, now: PlanBasis) -> list[float]:
    return [find_quiet_start(view_state, wait.leaves[index]) + span for index, span in now.quiet]


# ---- a yes without a judge, and its picture ------------------------------------------------------------------------


def _decide_locally(wait: Wait, now: PlanBasis) -> Outcome:
    """Decide the condition if no judge is needed; a yes needs a fresh grab only for quiet or to confirm."""
    if wait.pending is not None:
        return wait, ()
    if now.asked:
        return _note_unjudged(wait, now), ()
    whole = evaluate(wait.until, now.verdicts)
    decided = replace(wait, verdict=whole)
    if whole.answer is Answer.YES:
        return _take_local_yes(decided, whole, now)
    return (_reset_confirmation(decided) if whole.answer is Answer.NO else decided), ()


def _note_unjudged(wait: Wait, now: PlanBasis) -> Wait:
    """Return the wait with a verdict that shows whether a judge can answer at all."""
    if wait.verdict not in (NOT_LOCATED, NOT_JUDGED) and not wait.verdict.detail.startswith(_LACK):
        return wait
    is_lacking = wait.judges_lack and all(isinstance(wait.leaves[index], Criteria) for index in now.asked)
    verdict = unknown("judge_down", f"{_LACK}{wait.judges_lack}") if is_lacking else NOT_JUDGED
    return wait if wait.verdict == verdict else replace(wait, verdict=verdict)


def _reset_confirmation(wait: Wait) -> Wait:
    return replace(wait, judge_state=replace(wait.judge_state.clear_absences(), yeses=0, confirm_at=None))


def _take_local_yes(wait: Wait, whole: Verdict, now: PlanBasis) -> Outcome:
    judge_state, view_state, at = wait.judge_state, wait.in_view, now.at
    since = judge_state.confirm_at
    if since is None and now.quiet:
        since = at - FRESH_S
    if since is not None and at < since:
        return wait, ()
    if since is not None and view_state is not None and view_state.grabbed_at < since:
        return _ask_grab(wait, since, at)
    if judge_state.yeses + 1 >= wait.spec.policy.confirm:
        return add_pending_yes(wait, _make_pending_yes(wait, whole, now), at), ()
    after = at + wait.spec.policy.min_interval_s
    return replace(wait, judge_state=replace(judge_state, yeses=judge_state.yeses + 1, confirm_at=after)), ()


def _make_pending_yes(wait: Wait, whole: Verdict, now: PlanBasis) -> PendingYes:
    """Return a yes on what is seen now, without its picture yet."""
    view_state = wait.in_view
    if view_state is None:
        return PendingYes(whole, -1, now.at, None, verdicts=now.verdicts)
    changed_at = view_state.changed_at(view_state.frame)
    return PendingYes(whole, view_state.frame, now.at, changed_at, verdicts=now.verdicts, identity=view_state.identity)


def _resolve_on_picture(wait: Wait, now: PlanBasis) -> Outcome:
    """Resolve on a picture of the moment when the yes held; look again where it no longer holds."""
    pending = wait.pending
    if pending is None:
        return wait, ()
    held_back = _hold_back(wait, pending, now)
    if held_back is not None:
        return held_back
    picture = pending.picture
    if picture is None:
        coming = bool(wait.in_flight(JobKind.EVIDENCE)) and now.at < pending.since + EVIDENCE_PATIENCE_S
        return (wait, ()) if pending.frames is None or coming else _drop_yes(wait)
    match is_of_moment(wait, pending, picture.frame):
        case None:
            return wait, ()
        case False:
            return _drop_yes(wait)
    whole = judge_again_on(wait, pending, picture.frame, picture.identity)
    if whole.answer is not Answer.YES:
        return _drop_yes(wait)
    return resolve(wait, replace(pending, verdict=whole), picture.evidence, now.at)


def _hold_back(wait: Wait, pending: PendingYes, now: PlanBasis) -> Outcome | None:
    """Return the next step of a yes that must hold for a time; None if a grab shows that it did, or it need not. While
    the target stands still no judge is asked again.
    """
    if pending.hold_until is None:
        return None
    view_state = wait.in_view
    if all(is_text_leaf(wait, leaf) for leaf in wait.leaves):
        holds = evaluate(wait.until, now.verdicts).answer is Answer.YES
    else:
        holds = view_state is not None and not view_state.touched_within(pending.frame, view_state.frame)
    if not holds:
        return _drop_yes(wait)
    if pending.is_held_back(now.at):
        return wait, ()
    if view_state is None or view_state.grabbed_at >= pending.hold_until:
        return None
    return _ask_grab(wait, pending.hold_until, now.at)


def _drop_yes(wait: Wait) -> Outcome:
    """Drop the yes: it no longer holds, or its picture is of another moment."""
    judge_state = replace(wait.judge_state, yeses=0, yes_turn=-1, confirm_at=None, cover=None)
    return _withdraw_job(replace(wait, pending=None, judge_state=judge_state), JobKind.EVIDENCE)


def _ask_picture(wait: Wait, now: PlanBasis) -> Outcome:
    pending = wait.pending
    if pending is None or pending.frames is not None:
        return wait, ()
    if wait.missing is not None and wait.missing is not NOT_LOCATED:
        if pending.is_held_back(now.at):
            return wait, ()
        return resolve_without_picture(wait, pending, f"no picture: {wait.missing.detail}", now.at)
    if now.at >= pending.since + EVIDENCE_PATIENCE_S and not pending.is_held_back(now.at):
        return resolve_without_picture(
            wait, pending, f"no picture of that moment came within {EVIDENCE_PATIENCE_S:g} s", now.at
        )
    if wait.in_view is None:
        return wait, ()
    if pending.picture is not None or (wait.texts.answers and wait.texts.first is None):
        return _ask_moment(wait, pending.picture, now.at)
    if wait.in_flight(JobKind.EVIDENCE) or JobKind.EVIDENCE in wait.requests.jobs:
        return wait, ()
    return _request_job(wait, _make_request(wait, wait.in_view, JobKind.EVIDENCE))


def _ask_last_picture(wait: Wait, now: PlanBasis) -> Outcome:
    """Ask for the picture that the wait times out or fails with; no picture delays a deadline."""
    view_state = wait.in_view
    ends = wait.is_near_end or wait.failing is not None
    if not ends or wait.pending is not None or wait.last_picture is not None or view_state is None:
        return wait, ()
    if wait.in_flight(JobKind.EVIDENCE) or JobKind.EVIDENCE in wait.requests.jobs:
        return wait, ()
    due = _make_request(wait, view_state, JobKind.EVIDENCE)
    return _request_job(wait, replace(due, is_last_look=True))


def _fail_with_picture(wait: Wait, now: PlanBasis) -> Outcome:
    """Fail once the last picture is there, or is not to be had soon; a yes that comes meanwhile counts."""
    failing = wait.failing
    if failing is None or wait.pending is not None:
        return wait, ()
    late = now.at >= wait.failing_since + LAST_PICTURE_S
    if wait.last_picture is None and wait.in_view is not None and not late:
        return wait, ()
    return fail(replace(wait, verdict=failing), failing.detail, now.at)


def _ask_moment(wait: Wait, picture: PendingPicture | None, at: float) -> Outcome:
    """Ask for a frame after the window list or the picture, then for a reading of terminal and widgets after that."""
    texts = wait.texts
    if texts.first is None or (picture is not None and texts.newest < picture.frame):
        return _ask_grab(wait, texts.since if picture is None else picture.at, at)
    if max(read_at(wait, texts), wait.requests.read_asked) >= texts.newest_at:
        return wait, ()
    return replace(wait, requests=replace(wait.requests, read_asked=at)), (TextReadRequest(),)


# ---- judging -------------------------------------------------------------------------------------------------------


def _ask_judge(wait: Wait, now: PlanBasis) -> Outcome:
    view_state = wait.in_view
    if view_state is None or wait.pending is not None or wait.failing is not None or not now.asked:
        return _withdraw_job(wait, JobKind.JUDGE)
    before = wait.requests.jobs.get(JobKind.JUDGE)
    if before is not None:
        # Replace a request that waits for capacity if it now asks something else; a newer frame is no reason.
        request = _make_judge_request(wait, view_state, now, before.force)
        same = replace(request, min_frame=before.min_frame) == before
        return (wait, ()) if same else _request_job(wait, request)
    due = [turn for turn in open_turns(wait, view_state, now) if turn.at <= now.at]
    return _take_turn(wait, view_state, due, now) if due else (wait, ())


def _take_turn(wait: Wait, view_state: ViewState, due: list[LookTurn], now: PlanBasis) -> Outcome:
    """Ask for the grab that the overdue turns need, then for the judgement, or note that there was nothing new."""
    judge, at = any(turn.judge for turn in due), now.at
    fresh = [turn for turn in due if turn.fresh and view_state.grabbed_at < turn.at]
    quiet = any(now.verdicts[index].answer is Answer.YES for index, _ in now.quiet)
    if fresh or (quiet and view_state.grabbed_at < at - FRESH_S):
        since = max((turn.at for turn in fresh), default=at - FRESH_S)
        hard = quiet or not judge or any(turn.hard for turn in fresh)
        if hard or not _grab_is_slow(wait, since, at):
            return _ask_grab(wait, since, at)
    if wait.texts.answers and wait.texts.first is None and not _grab_is_slow(wait, wait.texts.since, at):
        return _ask_grab(wait, wait.texts.since, at)  # else a yes would rest on windows of another moment
    changing = any(turn.judge and not turn.force for turn in due)
    judge_state = wait.judge_state
    gap = next_gap(judge_state.gap_s, changing) if wait.spec.policy.cadence is Cadence.ADAPTIVE else 0.0
    looked = replace(wait, judge_state=replace(judge_state, last_look=at, gap_s=gap))
    if not judge:
        return looked, ()
    return _request_job(looked, _make_judge_request(wait, view_state, now, any(turn.force for turn in due)))


def _grab_is_slow(wait: Wait, since: float, at: float) -> bool:
    asked = wait.requests.grab_asked
    return asked is not None and asked >= since and at >= asked + PATIENCE_S


def _make_judge_request(wait: Wait, view_state: ViewState, now: PlanBasis, force: bool) -> JobRequest:
    remembers = wait.spec.policy.cadence is not Cadence.FIXED and wait.gate is not GateKind.NONE
    wants = tuple(
        LeafRequest(i, wait.verdict_cache.noes_of(i) if remembers and not force else ()) for i in sorted(now.asked)
    )
    return replace(
        _make_request(wait, view_state, JobKind.JUDGE),
        asks=wants,
        known=now.verdicts,
        gate=str(wait.gate),
        gate_threshold=wait.spec.policy.gate_threshold,
        priority=judgement_priority(wait.spec.policy.priority, force=force),
        keep_evidence=wait.judge_state.yeses + 1 >= wait.spec.policy.confirm,
        force=force,
        local=bool(wait.budget_status.spent),
        ahead=read_ahead(wait) if is_read(wait, now.asked) and wait.in_flight(JobKind.JUDGE) else {},
    )


# ---- comparing -----------------------------------------------------------------------------------------------------


def _ask_identity(wait: Wait, now: PlanBasis) -> Outcome:
    """Ask for the view's identity when tiles alone leave open whether the target changed."""
    view_state = wait.in_view
    by_pixels = any(isinstance(leaf, TileLeaf) for leaf in wait.leaves)
    if view_state is None or not by_pixels or wait.pending is not None or not view_state.needs_identity:
        return _withdraw_job(wait, JobKind.IDENTITY)
    busy = wait.in_flight(JobKind.IDENTITY) or JobKind.IDENTITY in wait.requests.jobs
    if busy or now.at < wait.requests.compare_at:
        return wait, ()
    return _request_job(wait, _make_request(wait, view_state, JobKind.IDENTITY))


# ---- one look -------------------------------------------------------------------------------------------------------


def _end_single_look(wait: Wait, now: PlanBasis) -> Outcome:
    """End a wait with timeout 0 at its first answer, whichever that is."""
    return time_out(wait, now.at) if wait.spec.timeout_s == 0 and _is_all_known(wait, now) else (wait, ())


def _is_all_known(wait: Wait, now: PlanBasis) -> bool:
    """Return whether the present view is fully known, and its verdicts are together no yes."""
    if wait.pending is not None or wait.judge_state.confirm_at is not None or _is_awaited(wait):
        return False
    view_state = wait.in_view
    if view_state is None:
        return wait.missing is not None
    by_pixels = any(isinstance(leaf, TileLeaf) for leaf in wait.leaves)
    if by_pixels and (view_state.needs_identity or view_state.awaited_baselines):
        return False
    if not now.asked:
        return True
    asking = wait.in_flight(JobKind.JUDGE) or JobKind.JUDGE in wait.requests.jobs
    return wait.judge_state.cover is not None and not asking


def _is_awaited(wait: Wait) -> bool:
    """Return whether the target, or the windows, widgets or files that a part asks for, are not known yet."""
    listless = wait.windows is None and wait.windows_missing is NOT_JUDGED
    unread = any(
        isinstance(leaf, HostLeaf) and index not in wait.host_answers for index, leaf in enumerate(wait.leaves)
    )
    widgetless = wait.missing is None and any(
        isinstance(leaf, Widget) and index not in wait.widgets for index, leaf in enumerate(wait.leaves)
    )
    return (
        wait.missing is NOT_LOCATED
        or unread
        or widgetless
        or wait.coming
        or (listless and any(isinstance(leaf, WindowTitle) for leaf in wait.leaves))
    )


# ---- asking --------------------------------------------------------------------------------------------------------


def _make_request(wait: Wait, view_state: ViewState, kind: JobKind) -> JobRequest:
    view, is_evidence = view_state.view, kind is JobKind.EVIDENCE
    return JobRequest(
        kind,
        view.source,
        view.crop,
        view.ignore,
        view.epoch,
        view_state.frame,
        stage=wait.stage,
        priority=EVIDENCE_PRIORITY if is_evidence else IDENTITY_PRIORITY,
        keep_evidence=is_evidence,
        changed_from=_find_first_change(view_state) if is_evidence else None,
    )


def _find_first_change(view_state: ViewState) -> int | None:
    """Return the first frame on which a change held, if one did."""
    held = (change.holds_from for change in view_state.changes.values())
    return min((frame for frame in held if frame is not None), default=None)


def _request_job(wait: Wait, due: JobRequest) -> Outcome:
    jobs = {**wait.requests.jobs, due.kind: due}
    return replace(wait, requests=replace(wait.requests, jobs=jobs)), (due,)


def _withdraw_job(wait: Wait, kind: JobKind) -> Outcome:
    if kind not in wait.requests.jobs:
        return wait, ()
    jobs = {other: due for other, due in wait.requests.jobs.items() if other is not kind}
    return replace(wait, requests=replace(wait.requests, jobs=jobs)), (JobWithdrawal(kind),)


def _demand_frame_rate(wait: Wait, now: PlanBasis) -> Outcome:
    fps = fps_wanted(wait)
    if fps == wait.requests.fps:
        return wait, ()
    return replace(wait, requests=replace(wait.requests, fps=fps)), (FrameRateDemand(fps),)


def _request_tick(wait: Wait, now: PlanBasis) -> Outcome:
    wake_at = min((time for time in _list_wake_times(wait, now) if time > now.at), default=None)
    if wake_at == wait.requests.wake_at:
        return wait, ()
    return replace(wait, requests=replace(wait.requests, wake_at=wake_at)), (TickRequest(wake_at),)


def _list_wake_times(wait: Wait, now: PlanBasis) -> Iterator[float]:
    """Yield the times at which a plan may want something new without any event."""
    if wait.requests.grab_asked is not None:
        yield from (wait.requests.grab_asked + PATIENCE_S, wait.requests.grab_asked + REGRAB_S)
    if wait.pending is not None:
        yield wait.pending.since + EVIDENCE_PATIENCE_S
        yield wait.pending.hold_until or 0.0
    if wait.judge_state.confirm_at is not None:
        yield wait.judge_state.confirm_at
    if wait.failing is not None:
        yield wait.failing_since + LAST_PICTURE_S
    yield wait.requests.compare_at
    if wait.view_state is not None and wait.missing is None:
        yield wait.view_state.since
    view_state = wait.in_view
    if view_state is None or wait.pending is not None:
        return
    yield from _list_quiet_ends(wait, view_state, now)
    if now.asked and JobKind.JUDGE not in wait.requests.jobs:
        yield from (turn.at for turn in open_turns(wait, view_state, now))


_STAGES = (
    _update_note,
    _grab_first_look,
    _resolve_on_picture,
    _decide_locally,
    _update_note,  # after the verdict, which may be the note
    _ask_picture,
    _ask_last_picture,
    _fail_with_picture,
    _grab_for_quiet,
    _ask_judge,
    _ask_identity,
    _end_single_look,
    _demand_frame_rate,
    _request_tick,
)
