"""When a wait's view is looked at and judged: pure arithmetic on times.

A turn is a moment at which to look. `event` judges new pixels at min(last start + min_interval_s, the next tick of
armed_at + k * interval_s after they came), at once when that has passed: never later than `fixed`, which grabs and
judges at every tick. Changes of a restless area alone (`acud.waits.restless_area`) wait for its pause too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from acud.types import Cadence, Change, GateKind, Leaf, Policy, Priority, TileLeaf, Widget
from acud.waits.condition_tree import is_local
from acud.waits.effects import JobKind, JobRequest
from acud.waits.model import Wait

JUDGE_FPS = 5.0
"""Frames a second for a judge: it judges at most once a min_interval_s, and ticks grab by themselves."""
QUIET_FPS = 10.0
"""For stable_s and settle_s: the time of the last change is known to 0.1 s."""
CHANGE_FPS = 20.0
"""For `change`: a first repaint comes some 76 ms after a click, so 0.05 s is the most a rate cap may add."""
BLINK_FPS = 20.0
"""To recognise blinking: see `acud.waits.blinks.LEAST_LOOK_S`."""
LOSSY = frozenset({GateKind.RATIO, GateKind.TILE_MAX, GateKind.DHASH, GateKind.BLOCKS, GateKind.SSIM})
CHANGING_S = (1.0, 2.0)
STATIC_S = (5.0, 10.0)
"""Bounds of the gaps of `adaptive`, as in its original."""
GROWTH = 1.25
BACKOFF_S = (1.0, 30.0)
EVIDENCE_PRIORITY, IDENTITY_PRIORITY, HIGH_PRIORITY, NORMAL_PRIORITY, LOW_PRIORITY = 0, 1, 2, 4, 6
UNWANTED_PRIORITY = 9
"""The rank of a job that is no longer wanted."""
BEHIND = 10
"""Added to the rank of a further reading of a view: views that are not being read go first."""
URGENT_S = 5.0
"""A wait is urgent this long before its deadline: two looks of the default cadence, and a reading."""
_JUDGE = {Priority.HIGH: HIGH_PRIORITY, Priority.NORMAL: NORMAL_PRIORITY, Priority.LOW: LOW_PRIORITY}


class LookTurn(Struct, frozen=True):
    """A moment to look. `fresh`: a grab begun at or after `at` is needed first. `hard`: however long that takes.
    `paused`: a restless area delayed it.
    """

    at: float
    judge: bool
    fresh: bool = False
    hard: bool = False
    force: bool = False
    paused: bool = False


def next_tick(armed_at: float, interval_s: float, after: float) -> float:
    """Return the first of armed_at, armed_at + interval_s, … that is later than `after`."""
    if after < armed_at:
        return armed_at
    count = math.floor((after - armed_at) / interval_s) + 1
    tick = armed_at + count * interval_s
    return tick if tick > after else armed_at + (count + 1) * interval_s


def list_turns(
    wait: Wait, grabbed_at: float, unjudged_since: float | None, *, pause_end: float | None = None
) -> list[LookTurn]:
    """Return the turns to come or overdue.

    `grabbed_at`: newest grab. `unjudged_since`: when the newest unjudged pixels came at the earliest (None: all
    judged). `pause_end`: they are changes of the restless area alone, and wait until then.
    """
    if wait.judge_state.confirm_at is not None:
        return [LookTurn(wait.judge_state.confirm_at, judge=True, fresh=True, hard=True, force=True)]
    return [*_plan_cadence(wait, grabbed_at, unjudged_since, pause_end), *_plan_forced(wait), *_plan_retry(wait)]


def _plan_cadence(wait: Wait, grabbed_at: float, since: float | None, pause_end: float | None) -> Iterator[LookTurn]:
    policy, judge_state, unjudged = wait.spec.policy, wait.judge_state, since is not None
    match policy.cadence:
        case Cadence.EVENT if pause_end is not None and since is not None:
            usual = next(_plan_event(wait.armed_at, policy, wait.last_judgement_start, grabbed_at, since)).at
            yield LookTurn(max(usual, pause_end), judge=True, fresh=True, paused=pause_end > usual)
            yield from _plan_event(wait.armed_at, policy, wait.last_judgement_start, grabbed_at, None)
        case Cadence.EVENT:
            yield from _plan_event(wait.armed_at, policy, wait.last_judgement_start, grabbed_at, since)
        case Cadence.FIXED:
            tick = next_tick(wait.armed_at, policy.interval_s, judge_state.last_look)
            yield LookTurn(tick, judge=unjudged or wait.gate is GateKind.NONE, fresh=True, hard=True)
        case Cadence.ADAPTIVE:
            look = max(wait.armed_at, judge_state.last_look + judge_state.gap_s)
            yield LookTurn(look, judge=unjudged, fresh=True, hard=True)


def _plan_event(
    armed_at: float, policy: Policy, last_start: float, grabbed_at: float, since: float | None
) -> Iterator[LookTurn]:
    """Yield the turn of unjudged pixels, and the look at a tick at which the rate cap may still hide a change. A tick
    grabs, as `fixed` does: a change of the last millisecond must not wait for the next tick.
    """
    if since is not None:
        tick, soonest = next_tick(armed_at, policy.interval_s, since), last_start + policy.min_interval_s
        yield LookTurn(min(soonest, tick), judge=True, fresh=tick <= soonest)
    tick = next_tick(armed_at, policy.interval_s, grabbed_at)
    if tick - grabbed_at < 1 / JUDGE_FPS:
        yield LookTurn(tick, judge=since is not None, fresh=True)


def _plan_forced(wait: Wait) -> Iterator[LookTurn]:
    policy = wait.spec.policy
    if policy.cadence is not Cadence.FIXED or wait.gate is not GateKind.NONE:
        last = max(wait.judge_state.last_real, wait.armed_at)
        yield LookTurn(last + policy.force_after_s, judge=True, fresh=True, force=True)


def _plan_retry(wait: Wait) -> Iterator[LookTurn]:
    if wait.judge_state.retry_at is not None:
        yield LookTurn(wait.judge_state.retry_at, judge=True, force=wait.gate in LOSSY)


def next_gap(gap_s: float, changing: bool) -> float:
    """Return the next gap of `adaptive`: it starts short and grows while the screen keeps changing, or keeps still."""
    low, high = CHANGING_S if changing else STATIC_S
    return min(gap_s * GROWTH, high) if low <= gap_s <= high else low


def next_backoff(backoff_s: float) -> float:
    """Return the pause before the next try after an unknown: 1, 2, 4 … 30 s."""
    low, high = BACKOFF_S
    return min(max(low, backoff_s * 2), high)


def fps_wanted(wait: Wait) -> float:
    """Return the frame rate that the wait wants of its source now; 0 without a target, or if ticks suffice."""
    if wait.missing is not None:
        return 0.0
    judged = any(not is_local(leaf) for leaf in wait.leaves)
    rates = [JUDGE_FPS if judged and wait.spec.policy.cadence is Cadence.EVENT else 0.0]
    # Not every toolkit reports each change: widgets are read again where pixels changed.
    rates.append(JUDGE_FPS if any(isinstance(leaf, Widget) for leaf in wait.leaves) else 0.0)
    for index, leaf in enumerate(wait.leaves):
        waiting = wait.view_state is None or (
            isinstance(leaf, Change) and wait.view_state.changes[index].holds_from is None
        )
        rates.append(CHANGE_FPS if isinstance(leaf, Change) and waiting else 0.0)
        rates.append(QUIET_FPS if leaf.quiet_s else 0.0)
    rates.append(BLINK_FPS if ignores_blinking(wait.leaves) else 0.0)
    return max(rates)


def asks_quiet(wait: Wait) -> bool:
    return any(leaf.quiet_s for leaf in wait.leaves)


def ignores_blinking(leaves: Sequence[Leaf]) -> bool:
    """Return whether a leaf asks for quiet apart from blinking."""
    return any(isinstance(leaf, TileLeaf) and leaf.ignore_blinking for leaf in leaves)


def judgement_priority(priority: Priority, *, force: bool) -> int:
    return _JUDGE[priority] + force


def job_priority(due: JobRequest, remaining_s: float) -> int:
    """Return the rank of `due` of a wait that ends in `remaining_s`."""
    urgent = due.kind is JobKind.JUDGE and remaining_s <= URGENT_S
    return min(due.priority, HIGH_PRIORITY) if urgent else due.priority
