"""The rules of one wait: a timed event in, the next state and effects out.

    armed = arm(spec, at)                     # a `WaitStep`; `TargetLocated` or `TargetLost` comes next
    after = step(armed.wait, event)           # the wait given is never changed

Facts that arrive after the end (frames, results, ticks, a deadline) change nothing; `CancelRequested` and `SpecUpdated`
then raise `IllegalWaitMove`. An ended wait wants nothing: its frame rate, tick and undispatched `JobRequest`s are void.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from acud.types import Answer, Change, Verdict, WaitSpec, unknown
from acud.waits import view_updates
from acud.waits.anew import add_typed, note_absent_target
from acud.waits.baselines import apply_baseline_identity
from acud.waits.blinks import BlinkWatch
from acud.waits.budget import BudgetStatus
from acud.waits.condition_tree import NOT_JUDGED, NOT_LOCATED, find_sentences, leaves
from acud.waits.effects import JobWithdrawal, WaitEffect
from acud.waits.events import (
    Acting,
    BaselineIdentified,
    BudgetChecked,
    CancelRequested,
    DeadlineNear,
    DeadlinePassed,
    FleetEnded,
    FrameSeen,
    FramesSeen,
    HostSeen,
    JobDispatched,
    JobDone,
    JobLost,
    JudgesChecked,
    SourceLost,
    SpecUpdated,
    TargetLocated,
    TargetLost,
    TerminalSeen,
    Tick,
    Typed,
    WaitBroken,
    WaitEvent,
    WidgetsRead,
    WindowsSeen,
)
from acud.waits.frame_coalescing import apply_frames
from acud.waits.lifecycle import (
    Outcome,
    WaitMove,
    cancel,
    end_by_fleet,
    fail,
    has_ended,
    move_wait,
    note_windows,
    time_out,
)
from acud.waits.local_answers import apply_texts, find_scrolled_off, reset_texts, update_texts
from acud.waits.model import JudgeState, Places, VerdictCache, Wait
from acud.waits.planner import plan
from acud.waits.presence import has_cover_changed, note_places
from acud.waits.restless_area import LONGEST_PAUSE_S, RestlessArea
from acud.waits.results import apply_dispatch, apply_loss, apply_result, list_new_baselines
from acud.waits.schedule import JUDGE_FPS, ignores_blinking
from acud.waits.stages import get_stage
from acud.waits.terminals import parse_session_name
from acud.waits.view_state import ChangeState, StoredBaseline, make_view

_NOT_THERE = frozenset({"window_missing", "session_missing", "monitor_missing"})
__all__ = ["StoredBaseline", "Wait", "WaitStep", "arm", "step"]


class WaitStep(Struct, frozen=True):
    """The wait after an event, and the effects to carry out in order."""

    wait: Wait
    effects: tuple[WaitEffect, ...] = ()


def arm(
    spec: WaitSpec,
    at: float,
    baselines: Mapping[int, StoredBaseline] | None = None,
    *,
    is_new: bool = True,
    longest_pause_s: float = LONGEST_PAUSE_S,
    stage: int = 0,
    places: Places = (),
) -> WaitStep:
    """Return a new wait, or one resumed after a restart in `stage`, with its stored `baselines` and the `places`
    where it saw things.
    """
    found = leaves(get_stage(spec.until, stage))
    wait = Wait(spec, at, found, dict(baselines or {}), is_new, longest_pause_s=longest_pause_s, stage=stage)
    wait = replace(wait, places=dict(places))
    if spec.target.pty and parse_session_name(spec.target.pty).since is not None:
        wait = note_absent_target(wait)  # only what comes after a mark is looked at
    return WaitStep(*plan(wait, at))


def step(wait: Wait, event: WaitEvent) -> WaitStep:
    """Return the wait after `event`, and the effects. Raises: IllegalWaitMove for `CancelRequested` and `SpecUpdated`
    on a wait that has ended.
    """
    if has_ended(wait.state) and not isinstance(event, CancelRequested | SpecUpdated):
        return WaitStep(wait)
    after, effects = _apply_event(wait, event)
    if has_ended(after.state):
        return WaitStep(after, effects)
    planned, more = plan(after, event.at)
    if planned.verdict.answer is not Answer.UNKNOWN and planned.verdict is not planned.seen_last:
        planned = replace(planned, seen_last=planned.verdict)
    return WaitStep(planned, (*effects, *more))


def _apply_event(wait: Wait, event: WaitEvent) -> Outcome:
    match event:
        case TargetLocated():
            return _show_target(wait, event)
        case BaselineIdentified():
            return _apply_baseline(wait, event)
        case TargetLost():
            return _lose_target(wait, event.verdict, was_hidden=True, coming=event.coming)
        case SourceLost():
            return _lose_source(wait, event)
        case FrameSeen():
            return _apply_frame(wait, event)
        case FramesSeen():
            return _apply_held_frames(wait, event.frames)
        case WindowsSeen():
            return _apply_windows(wait, event), ()
        case TerminalSeen():
            return _apply_terminal_text(wait, event), ()
        case Acting():
            return _note_action(wait, event), ()
        case Typed():
            return apply_texts(replace(wait, typed=add_typed(wait.typed, event.text)), event.at), ()
        case WidgetsRead():
            return _apply_widgets(wait, event), ()
        case HostSeen():
            answers = {**wait.host_answers, **event.verdicts}
            return apply_texts(replace(wait, host_answers=answers), event.at), ()
        case JobDispatched():
            return apply_dispatch(wait, event), ()
        case JobDone():
            return apply_result(wait, event)
        case JobLost():
            return apply_loss(wait, event)
        case Tick():
            return wait, ()
        case SpecUpdated():
            return _apply_spec(wait, event)
        case BudgetChecked():
            return _apply_budget(wait, event)
        case JudgesChecked(lack=lack):
            return _apply_judges_lack(wait, lack, event.at), ()
        case DeadlineNear():
            return replace(wait, is_near_end=True), ()
        case DeadlinePassed():
            return time_out(wait, event.at, event.queue)
        case FleetEnded():
            return end_by_fleet(wait, event.verdict, event.end, event.at)
        case CancelRequested():
            return cancel(wait, event.reason, event.at)
        case WaitBroken():
            return fail(wait, event.reason, event.at, event.evidence)
    assert_never(event)


def _apply_windows(wait: Wait, event: WindowsSeen) -> Wait:
    """Note the windows; if they hide a place, or no longer hide it, judge it again."""
    judge_state = wait.judge_state
    if wait.verdict.code == "covered" and has_cover_changed(wait, event.windows):
        judge_state = replace(judge_state, retry_at=event.at, backoff_s=0.0)
    return apply_texts(note_windows(replace(wait, judge_state=judge_state), event.windows), event.at)


def _note_action(wait: Wait, event: Acting) -> Wait:
    view_state = wait.view_state if wait.missing is None else None
    if not event.is_over:
        looked = view_state is not None and view_state.looked
        return replace(wait, is_acting=True, acted_from=view_state.frame if view_state is not None and looked else None)
    after = replace(view_state, acted_at=event.at) if view_state is not None else wait.view_state
    return replace(wait, is_acting=False, view_state=after)


def _apply_terminal_text(wait: Wait, event: TerminalSeen) -> Wait:
    texts = replace(wait.texts, read_at=event.read_at)
    scrolled_off = wait.scrolled_off if event.text is None else find_scrolled_off(wait, event.text, event.written)
    return apply_texts(replace(wait, terminal_text=event.text, scrolled_off=scrolled_off, texts=texts), event.at)


def _apply_widgets(wait: Wait, event: WidgetsRead) -> Wait:
    wait = note_places(wait, event.verdicts, wait.windows)
    texts = replace(wait.texts, widgets_at=event.read_at)
    return apply_texts(replace(wait, widgets=event.verdicts, texts=texts), event.at)


def _show_target(wait: Wait, event: TargetLocated) -> Outcome:
    before = wait.view_state
    if before is not None and wait.missing is None and before.view == make_view(event):
        return wait, ()
    after = view_updates.show_view(before, _make_change_states(wait), event)
    if ignores_blinking(wait.leaves) and after.blinks is None:
        after = replace(after, blinks=BlinkWatch())
    same_picture = before is not None and before.view.same_shape(after.view)
    cache = wait.verdict_cache if same_picture else VerdictCache()
    undemanded = replace(wait.requests, fps=0.0)
    wait = replace(wait, view_state=after, missing=None, coming=False, verdict_cache=cache, requests=undemanded)
    return _start_generation(wait if same_picture else replace(wait, acted_from=None))


def _apply_baseline(wait: Wait, event: BaselineIdentified) -> Outcome:
    if wait.view_state is None:
        return wait, ()
    view_state = apply_baseline_identity(wait.view_state, event)
    return replace(wait, view_state=view_state), list_new_baselines(wait.view_state, view_state)


def _make_change_states(wait: Wait) -> dict[int, ChangeState]:
    found = ((index, leaf) for index, leaf in enumerate(wait.leaves) if isinstance(leaf, Change))
    return {index: ChangeState(leaf, wait.stored.get(index)) for index, leaf in found}


def _start_generation(wait: Wait) -> Outcome:
    """Void all requests for the old view or condition; jobs in flight come back stale."""
    effects = tuple(JobWithdrawal(kind) for kind in wait.requests.jobs)
    wanted = replace(wait.requests, jobs={}, grab_asked=None)
    judge_state = replace(wait.judge_state, cover=None, yeses=0, yes_turn=-1, confirm_at=None, restless=RestlessArea())
    judge_state = judge_state.clear_absences()
    after = replace(wait, generation=wait.generation + 1, requests=wanted, judge_state=judge_state)
    return replace(after, texts=reset_texts(wait.texts)), effects


def _lose_target(wait: Wait, verdict: Verdict, *, was_hidden: bool, coming: bool = False) -> Outcome:
    if wait.missing == verdict:
        return replace(wait, coming=coming), ()
    if verdict.code in _NOT_THERE and not coming:
        wait = note_absent_target(wait)
    view_state = view_updates.hide_view(wait.view_state, was_hidden=was_hidden) if wait.view_state else None
    lost = replace(wait, view_state=view_state, missing=verdict, coming=coming, widgets={}, acted_from=None)
    return _start_generation(lost)


def _lose_source(wait: Wait, event: SourceLost) -> Outcome:
    verdict = unknown(event.code, event.reason)
    unknown_now = replace(wait, windows=None, windows_missing=verdict, terminal_text=None)
    return _lose_target(apply_texts(unknown_now, event.at), verdict, was_hidden=False)


def _apply_frame(wait: Wait, event: FrameSeen) -> Outcome:
    before = wait.view_state
    if before is None or wait.missing is not None:
        return wait, ()
    after = view_updates.apply_frame(before, event, every_tile=wait.gate == "none", hidden_s=1 / JUDGE_FPS)
    after = view_updates.apply_look(after, event)
    asked = wait.requests.grab_asked
    answered = asked is not None and after.grabbed_at >= asked
    wanted = replace(wait.requests, grab_asked=None) if answered else wait.requests
    texts = update_texts(wait, event)
    return replace(wait, view_state=after, requests=wanted, texts=texts), list_new_baselines(before, after)


def _apply_held_frames(wait: Wait, frames: tuple[FrameSeen, ...]) -> Outcome:
    """Apply frames that were held back; none of them answers a requested grab."""
    before = wait.view_state
    if before is None or wait.missing is not None:
        return wait, ()
    after = apply_frames(before, frames, every_tile=wait.gate == "none", hidden_s=1 / JUDGE_FPS)
    texts = update_texts(wait, frames[-1]) if frames else wait.texts
    return replace(wait, view_state=after, texts=texts), list_new_baselines(before, after)


def _apply_spec(wait: Wait, event: SpecUpdated) -> Outcome:
    """Apply a client's new terms. A new condition starts over: `TargetLocated` (or `TargetLost`) and `BudgetChecked`
    must follow.
    """
    state = move_wait(wait.state, WaitMove.UPDATE)
    if event.spec.until == wait.spec.until:
        yeses = min(wait.judge_state.yeses, event.spec.policy.confirm - 1)
        judge_state = replace(wait.judge_state, yeses=yeses, gap_s=0.0, retry_at=None)
        later = replace(wait, is_near_end=False, last_picture=None)
        return replace(later, state=state, spec=event.spec, judge_state=judge_state), ()
    found = leaves(get_stage(event.spec.until, 0))
    anew = replace(wait, state=state, spec=event.spec, leaves=found, stored={}, view_state=None, stage=0)
    clean = replace(
        anew,
        is_new=True,
        leaves_seen=frozenset(),
        standing={},
        scrolled_off={},
        widgets={},
        host_answers={},
        stage_frame=-1,
        later=(),
        holding_ahead=frozenset(),
        seen_before=frozenset(),
        budget_status=BudgetStatus(),
        unaffordable=frozenset(),
        missing=NOT_LOCATED,
        verdict=NOT_JUDGED,
        verdict_cache=VerdictCache(),
        judge_state=JudgeState(),
        pending=None,
        is_near_end=False,
        last_picture=None,
        seen_last=None,
        failing=None,
    )
    return _start_generation(apply_texts(clean, event.at))


def _apply_judges_lack(wait: Wait, lack: str, at: float) -> Wait:
    """Note why no judge can answer; the first judge that can is asked at once."""
    is_back = bool(wait.judges_lack) and not lack
    judge_state = replace(wait.judge_state, retry_at=at, backoff_s=0.0) if is_back else wait.judge_state
    return replace(wait, judges_lack=lack, judge_state=judge_state)


def _apply_budget(wait: Wait, event: BudgetChecked) -> Outcome:
    """Apply the state of the budgets. A yes that waits for its picture stays a yes; answers in flight still count."""
    word = event.status
    fails = bool(word.spent) and word.fail and wait.pending is None
    failing = (wait.failing or unknown("budget", word.spent)) if fails else None
    since = wait.failing_since if wait.failing else event.at
    wait = replace(wait, failing=failing, failing_since=since)
    after = replace(wait, budget_status=word, unaffordable=find_sentences(wait.leaves) if word.spent else frozenset())
    if word.spent or not wait.budget_status.spent:
        return after, ()
    # There is money again: ask anew about what OCR answered no.
    return replace(after, verdict_cache=VerdictCache(), judge_state=replace(wait.judge_state, cover=None)), ()
