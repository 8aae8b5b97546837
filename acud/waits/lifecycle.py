"""The life of a wait: the table of its states, how it ends, and how many frames no judge saw."""

from __future__ import annotations

from enum import StrEnum

from msgspec.structs import replace

from acud.base.errors import Conflict
from acud.types import Answer, Evidence, Verdict, WaitState, WindowInfo, no
from acud.waits.condition_tree import NOT_JUDGED, NOT_LOCATED
from acud.waits.effects import (
    FleetEnd,
    JobKind,
    WaitCancelled,
    WaitEffect,
    WaitEndedByFleet,
    WaitFailed,
    WaitResolved,
    WaitTimedOut,
)
from acud.waits.model import JobInFlight, JudgeState, OpenRequests, PendingYes, Wait
from acud.waits.presence import find_shown
from acud.waits.stages import begin_stage, is_last_stage
from acud.waits.view_state import ChangeMark

_MOST_NAMED = 5  # new windows that a timeout names, the newest
_TITLE_CHARS = 100


class WaitMove(StrEnum):
    """What ends a wait."""

    RESOLVE = "resolve"
    TIME_OUT = "time out"
    CANCEL = "cancel"
    FAIL = "fail"
    UPDATE = "update"


class IllegalWaitMove(Conflict):
    """A move that the table does not have; `facts` carry the state and the move."""


TRANSITIONS: dict[WaitState, dict[WaitMove, WaitState]] = {
    WaitState.WATCHING: {
        WaitMove.RESOLVE: WaitState.RESOLVED,
        WaitMove.TIME_OUT: WaitState.TIMEOUT,
        WaitMove.CANCEL: WaitState.CANCELLED,
        WaitMove.FAIL: WaitState.FAILED,
        WaitMove.UPDATE: WaitState.WATCHING,
    },
    WaitState.RESOLVED: {},
    WaitState.TIMEOUT: {},
    WaitState.CANCELLED: {},
    WaitState.FAILED: {},
}


def move_wait(state: WaitState, move: WaitMove) -> WaitState:
    """Return the state after `move`. Raises: IllegalWaitMove when the table has no such move; the caller's state is
    untouched.
    """
    after = TRANSITIONS[state].get(move)
    if after is None:
        raise IllegalWaitMove(f"a wait that is {state} cannot {move}", state=str(state), move=str(move))
    return after


def has_ended(state: WaitState) -> bool:
    return not TRANSITIONS[state]


def count_overtaken(wait: Wait, flight: JobInFlight, at: float) -> JudgeState:
    """Return the judge state as `flight` comes back: of the frames that came meanwhile only the newest is judged."""
    judge_state, view_state = wait.judge_state, wait.view_state
    if flight.request.kind is not JobKind.JUDGE or not wait.is_current(flight) or view_state is None:
        return judge_state
    after = max(flight.frame, judge_state.passed_frame)
    taken = {other.frame for other in wait.flights}
    frames = [mark.frame for mark in view_state.marks if mark.frame > after][:-1]
    frames = [frame for frame in frames if frame not in taken]
    if not frames:
        return judge_state
    busy_s = judge_state.busy_s + at - flight.at
    return replace(judge_state, passed=judge_state.passed + len(frames), passed_frame=frames[-1], busy_s=busy_s)


def describe_asking(wait: Wait, at: float) -> str:
    """Return what a judge is asked for this wait now, "" for nothing."""
    since = [flight.at for flight in wait.in_flight(JobKind.JUDGE)]
    if since:
        words = f"a judge is being asked, since {at - min(since):.0f} s"
    elif JobKind.JUDGE in wait.requests.jobs:
        words = "new pixels wait for a free judge"
    else:
        return ""
    unjudged = len(_list_unjudged(wait))
    return f"{words}; {_describe_unjudged(unjudged)}" if unjudged else words


def measure_backlog_s(wait: Wait, at: float) -> float:
    """Return the age of the oldest unjudged pixels while a judge is asked or awaited, 0 for none."""
    asked = JobKind.JUDGE in wait.requests.jobs or any(wait.in_flight(JobKind.JUDGE))
    return max((at - mark.at for mark in _list_unjudged(wait)), default=0.0) if asked else 0.0


def with_backlog(wait: Wait, at: float, queue: str = "") -> Verdict:
    """Return the newest verdict with the number of unjudged frames: an unknown with the last yes or no before it, and
    that of a wait never judged with its place in the `queue`.
    """
    before, verdict = wait.seen_last, wait.verdict
    if verdict.code == NOT_JUDGED.code:
        words = "nobody has judged it" if verdict == NOT_JUDGED else verdict.detail
        verdict = replace(verdict, detail="; ".join(filter(None, (words, queue))))
    if verdict.answer is Answer.UNKNOWN and before is not None:
        seen = f"; before that: {before.answer}" + (f": {before.detail}" if before.detail else "")
        verdict = replace(verdict, detail=f"{verdict.detail}{seen}")
    since = [flight.at for flight in wait.in_flight(JobKind.JUDGE)]
    count = wait.judge_state.passed + (len(_list_unjudged(wait)) if since or JobKind.JUDGE in wait.requests.jobs else 0)
    if not count:
        return verdict
    busy_s = wait.judge_state.busy_s + (at - min(since) if since else 0.0)
    words = f"{_describe_unjudged(count)}, judge busy {busy_s:.0f} s"
    return replace(verdict, detail="; ".join(filter(None, (verdict.detail, words))))


def _list_unjudged(wait: Wait) -> list[ChangeMark]:
    """Return the frames that changed the target after the newest frame that a judge got."""
    frames = [flight.frame for flight in wait.in_flight(JobKind.JUDGE)]
    frames += [
        wait.judge_state.passed_frame,
        wait.judge_state.cover.frame if wait.judge_state.cover is not None else -1,
    ]
    newest = max(frames)
    return [mark for mark in wait.view_state.marks if mark.frame > newest] if wait.view_state is not None else []


def _describe_unjudged(count: int) -> str:
    return f"{count} {'frame' if count == 1 else 'frames'} unjudged"


Outcome = tuple[Wait, tuple[WaitEffect, ...]]
"""A wait, and the effects to carry out."""


def resolve(wait: Wait, pending: PendingYes, evidence: Evidence, at: float) -> Outcome:
    """End with a yes and its picture, or begin the next stage. `evidence` may give a reason why there is no picture."""
    if not is_last_stage(wait):
        return begin_stage(wait, pending, evidence, at)
    epoch = evidence.epoch or (wait.view_state.view.epoch if wait.view_state else 0)
    effect = WaitResolved(at, pending.verdict, evidence, pending.frame, epoch, pending.changed_at)
    return _end_wait(wait, WaitMove.RESOLVE, pending.verdict, effect)


def resolve_without_picture(wait: Wait, pending: PendingYes, reason: str, at: float) -> Outcome:
    """End with a yes for which no picture could be taken."""
    return resolve(wait, pending, Evidence(reason=reason), at)


def time_out(wait: Wait, at: float, queue: str = "") -> Outcome:
    """End at the deadline. A yes that only waits for its picture stays a yes, and a wait about to fail fails. `queue`:
    as in `with_backlog`.
    """
    if wait.pending is not None and wait.pending.is_held_back(at):
        words = f"{wait.verdict.detail}; but for less than {wait.spec.policy.hold_s:g} s (hold_s)"
        wait = replace(wait, pending=None, verdict=no(words, wait.verdict.boxes))
    if wait.pending is not None and wait.pending.frames is None:
        after, effects = resolve_without_picture(
            wait, wait.pending, "the deadline passed before the picture was taken", at
        )
        if has_ended(after.state):
            return after, effects
        ended, more = time_out(after, at)
        return ended, (*effects, *more)
    if wait.failing is not None:
        return fail(replace(wait, verdict=wait.failing), wait.failing.detail, at)
    verdict = with_backlog(wait, at, queue)
    came = _describe_new_windows(wait)
    verdict = replace(verdict, detail=f"{verdict.detail}; {came}") if came else verdict
    return _end_wait(wait, WaitMove.TIME_OUT, verdict, WaitTimedOut(at, verdict, _get_last_picture(wait)))


def end_by_fleet(wait: Wait, verdict: Verdict, end: FleetEnd, at: float) -> Outcome:
    """End as the fleet did while the host was lost, whatever is known here by now."""
    move = WaitMove.TIME_OUT if end.state is WaitState.TIMEOUT else WaitMove.FAIL
    return _end_wait(wait, move, verdict, WaitEndedByFleet(at, verdict, end, _get_last_picture(wait)))


def _get_last_picture(wait: Wait) -> Evidence | None:
    """Return the last picture of a wait that ends without a yes, or why there is none."""
    if wait.last_picture is None and wait.missing is not None and wait.missing is not NOT_LOCATED:
        return Evidence(reason=f"no picture: {wait.missing.detail}")
    return wait.last_picture


def cancel(wait: Wait, reason: str, at: float) -> Outcome:
    """End at a client's request. Raises: IllegalWaitMove when it has ended already."""
    return _end_wait(wait, WaitMove.CANCEL, wait.verdict, WaitCancelled(at, reason))


def fail(wait: Wait, reason: str, at: float, evidence: Evidence | None = None) -> Outcome:
    """End the wait because no judge can ever answer, with `evidence` or else its last picture."""
    verdict = with_backlog(wait, at)
    return _end_wait(wait, WaitMove.FAIL, verdict, WaitFailed(at, reason, verdict, evidence or _get_last_picture(wait)))


def _end_wait(wait: Wait, move: WaitMove, verdict: Verdict, effect: WaitEffect) -> Outcome:
    state = move_wait(wait.state, move)
    after = replace(wait, state=state, verdict=verdict, flights=(), pending=None, requests=OpenRequests())
    return after, (effect,)


# ---- windows that came meanwhile -----------------------------------------------------------------------------------


def note_windows(wait: Wait, windows: tuple[WindowInfo, ...]) -> Wait:
    """Return the wait after a list of its display's windows; those of the first list were there before."""
    listed = {one.window_id: one for one in windows if one.kind != "popup" and one.title.strip()}
    if wait.first_windows is None:
        first = frozenset(one.window_id for one in windows)
        return replace(wait, windows=windows, first_windows=first, first_shown=find_shown(windows))
    came = {one.window_id: listed.get(one.window_id, one) for one in wait.new_windows}
    came |= {number: one for number, one in listed.items() if number not in wait.first_windows}
    return replace(wait, windows=windows, new_windows=tuple(came.values())[-_MOST_NAMED:])


def _describe_new_windows(wait: Wait) -> str:
    """Return the windows and dialogs that came meanwhile in words, the newest last; "" for none."""
    here = {one.window_id for one in wait.windows or ()}
    named = [
        f'{one.kind if one.kind == "dialog" else "window"} "{one.title[:_TITLE_CHARS]}"'
        + ("" if one.window_id in here else " (gone again)")
        for one in wait.new_windows
    ]
    return f"meanwhile came {', '.join(named)}" if named else ""
