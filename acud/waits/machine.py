"""The rules of one wait: an event with its time in, the next state and effects out.

    armed = arm(spec, at)                     # -> Step(wait, effects); `Aimed` or `AimLost` comes next
    after = step(armed.wait, event)           # the wait given is never changed

Facts that arrive after the end (frames, results, ticks, a deadline) change nothing; `Cancelled` and `Updated` then
raise `IllegalMove`. An ended wait wants nothing: its demand, tick and undispatched `Due`s are void.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from acud.types import Change, Criteria, Verdict, WaitSpec, unknown
from acud.waits import view_updates
from acud.waits.baselines import baseline_looked
from acud.waits.budget import Word
from acud.waits.conditions import NOT_JUDGED, leaves
from acud.waits.effects import Effect, Withdrawn
from acud.waits.events import (
    Aimed,
    AimLost,
    BaselineLooked,
    Broken,
    Budgeted,
    Cancelled,
    Deadline,
    Dispatched,
    Event,
    FrameSeen,
    FramesSeen,
    JobLost,
    Judged,
    SourceLost,
    TerminalSeen,
    Tick,
    Updated,
    WindowsSeen,
)
from acud.waits.frame_coalescing import caught_up
from acud.waits.lifecycle import (
    Outcome,
    WaitMove,
    cancelled,
    ended,
    failed,
    move_wait,
    timed_out,
)
from acud.waits.local_answers import elsewhere, framed, told_anew
from acud.waits.model import AIMING, Judging, Memo, Wait
from acud.waits.ocr_criteria import plain
from acud.waits.planner import plan
from acud.waits.results import baselines, dispatched, job_lost, judged
from acud.waits.schedule import JUDGE_FPS
from acud.waits.view_state import Changing, Kept, view_of

__all__ = ["Kept", "Step", "Wait", "arm", "step"]


class Step(Struct, frozen=True):
    """The wait after an event, and what is to be done, in order."""

    wait: Wait
    effects: tuple[Effect, ...] = ()


def arm(spec: WaitSpec, at: float, kept: Mapping[int, Kept] | None = None, *, is_new: bool = True) -> Step:
    """Return a new wait, or one taken up after a restart with its `kept` baselines."""
    wait = Wait(spec, at, leaves(spec.until), dict(kept or {}), is_new)
    return Step(*plan(wait, at))


def step(wait: Wait, event: Event) -> Step:
    """Return the wait after `event`, and the effects.

    Raises: IllegalMove for `Cancelled` and `Updated` on a wait that has ended.
    """
    if ended(wait.state) and not isinstance(event, Cancelled | Updated):
        return Step(wait)
    after, effects = _taken(wait, event)
    if ended(after.state):
        return Step(after, effects)
    planned, more = plan(after, event.at)
    return Step(planned, (*effects, *more))


def _taken(wait: Wait, event: Event) -> Outcome:
    match event:
        case Aimed():
            return _aimed(wait, event)
        case BaselineLooked():
            return _looked(wait, event)
        case AimLost():
            return _lost(wait, event.verdict, unseen=True, coming=event.coming)
        case SourceLost():
            return _source_lost(wait, event)
        case FrameSeen():
            return _frame_seen(wait, event)
        case FramesSeen():
            return _frames_seen(wait, event.frames)
        case WindowsSeen():
            return told_anew(replace(wait, windows=event.windows), event.at), ()
        case TerminalSeen():
            return _read(wait, event), ()
        case Dispatched():
            return dispatched(wait, event), ()
        case Judged():
            return judged(wait, event)
        case JobLost():
            return job_lost(wait, event)
        case Tick():
            return wait, ()
        case Updated():
            return _updated(wait, event)
        case Budgeted():
            return _budgeted(wait, event)
        case Deadline():
            return timed_out(wait, event.at)
        case Cancelled():
            return cancelled(wait, event.reason, event.at)
        case Broken():
            return failed(wait, event.reason, event.at)
    assert_never(event)


def _read(wait: Wait, event: TerminalSeen) -> Wait:
    listing = replace(wait.listing, read_at=event.read_at)
    return told_anew(replace(wait, pane=event.text, listing=listing), event.at)


def _aimed(wait: Wait, event: Aimed) -> Outcome:
    before = wait.sight
    if before is not None and wait.missing is None and before.view == view_of(event):
        return wait, ()
    after = view_updates.aimed(before, _changes(wait), event)
    same_picture = before is not None and before.view.same_shape(after.view)
    memo = wait.memo if same_picture else Memo()
    undemanded = replace(wait.wanted, fps=0.0)
    return _regenerated(replace(wait, sight=after, missing=None, coming=False, memo=memo, wanted=undemanded))


def _looked(wait: Wait, event: BaselineLooked) -> Outcome:
    if wait.sight is None:
        return wait, ()
    sight = baseline_looked(wait.sight, event)
    return replace(wait, sight=sight), baselines(wait.sight, sight)


def _changes(wait: Wait) -> dict[int, Changing]:
    found = ((index, leaf) for index, leaf in enumerate(wait.leaves) if isinstance(leaf, Change))
    return {index: Changing(leaf, wait.kept.get(index)) for index, leaf in found}


def _regenerated(wait: Wait) -> Outcome:
    """Void what was asked of the old view or condition; jobs in the air come back stale."""
    effects = tuple(Withdrawn(kind) for kind in wait.wanted.dues)
    wanted = replace(wait.wanted, dues={}, grab_asked=None)
    judging = replace(wait.judging, cover=None, yeses=0, yes_turn=-1, confirm_at=None)
    after = replace(wait, generation=wait.generation + 1, wanted=wanted, judging=judging)
    return replace(after, listing=elsewhere(wait.listing)), effects


def _lost(wait: Wait, verdict: Verdict, *, unseen: bool, coming: bool = False) -> Outcome:
    if wait.missing == verdict:
        return replace(wait, coming=coming), ()
    sight = view_updates.lost(wait.sight, unseen=unseen) if wait.sight else None
    return _regenerated(replace(wait, sight=sight, missing=verdict, coming=coming))


def _source_lost(wait: Wait, event: SourceLost) -> Outcome:
    verdict = unknown(event.code, event.reason)
    unknown_now = replace(wait, windows=None, windows_missing=verdict, pane=None)
    return _lost(told_anew(unknown_now, event.at), verdict, unseen=False)


def _frame_seen(wait: Wait, event: FrameSeen) -> Outcome:
    before = wait.sight
    if before is None or wait.missing is not None:
        return wait, ()
    after = view_updates.seen(before, event, every_tile=wait.gate == "none", hidden_s=1 / JUDGE_FPS)
    asked = wait.wanted.grab_asked
    answered = asked is not None and after.grabbed_at >= asked
    wanted = replace(wait.wanted, grab_asked=None) if answered else wait.wanted
    listing = framed(wait, event)
    return replace(wait, sight=after, wanted=wanted, listing=listing), baselines(before, after)


def _frames_seen(wait: Wait, frames: tuple[FrameSeen, ...]) -> Outcome:
    """Take in frames that were held back; none was asked for, so no grab is answered by them."""
    before = wait.sight
    if before is None or wait.missing is not None:
        return wait, ()
    after = caught_up(before, frames, every_tile=wait.gate == "none", hidden_s=1 / JUDGE_FPS)
    listing = framed(wait, frames[-1]) if frames else wait.listing
    return replace(wait, sight=after, listing=listing), baselines(before, after)


def _updated(wait: Wait, event: Updated) -> Outcome:
    """Take the new terms; a new condition starts anew, and `Aimed` (or `AimLost`) and `Budgeted` must follow."""
    state = move_wait(wait.state, WaitMove.UPDATE)
    if event.spec.until == wait.spec.until:
        yeses = min(wait.judging.yeses, event.spec.policy.confirm - 1)
        judging = replace(wait.judging, yeses=yeses, gap_s=0.0, retry_at=None)
        return replace(wait, state=state, spec=event.spec, judging=judging), ()
    anew = replace(wait, state=state, spec=event.spec, leaves=leaves(event.spec.until), kept={}, sight=None)
    clean = replace(
        anew,
        is_new=True,
        there=frozenset(),
        word=Word(),
        beyond=frozenset(),
        missing=AIMING,
        verdict=NOT_JUDGED,
        memo=Memo(),
        judging=Judging(),
        pending=None,
    )
    return _regenerated(told_anew(clean, event.at))


def _budgeted(wait: Wait, event: Budgeted) -> Outcome:
    """Take what the budgets say. A yes that only waits for its picture is still one; answers in the air still count."""
    word = event.word
    if word.spent and word.fail and wait.pending is None:
        return failed(replace(wait, verdict=unknown("budget", word.spent)), word.spent, event.at)
    told = replace(wait, word=word, beyond=_unread(wait) if word.spent else frozenset())
    if word.spent or not wait.word.spent:
        return told, ()
    # There is money again: what OCR said no to is asked anew.
    return replace(told, memo=Memo(), judging=replace(wait.judging, cover=None)), ()


def _unread(wait: Wait) -> frozenset[int]:
    sentences = ((index, leaf) for index, leaf in enumerate(wait.leaves) if isinstance(leaf, Criteria))
    return frozenset(index for index, leaf in sentences if plain(leaf.criteria).leaf is None)
