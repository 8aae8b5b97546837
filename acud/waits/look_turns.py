"""What a plan starts from, and the turns at which its wait may be judged."""

from __future__ import annotations

from msgspec import Struct

from acud.types import JudgeName, PixelLeaf, Verdict
from acud.waits.condition_tree import may_ask_model, open_leaves
from acud.waits.effects import JobKind, JobRequest
from acud.waits.local_answers import judge_now, list_quiet_spans
from acud.waits.model import Coverage, JudgeState, Wait
from acud.waits.schedule import LookTurn, list_turns
from acud.waits.view_state import ViewState

MOST_FLIGHTS = 2
"""Judge calls in flight: the second keeps a slow judge from holding back newer pixels."""
MOST_READINGS = 4
"""The same where OCR and the image search answer everything: they are free, and what comes and goes during a reading is
read later.
"""


class PlanBasis(Struct):
    """What a plan starts from; no step changes it.

    `verdicts`: known without a judge. `asked`: the leaves to ask a judge about. `quiet`: the leaves that ask for quiet,
    with its length in seconds. `turns`: cached for `judge_state`, the one part of a wait that they depend on and steps
    change.
    """

    at: float
    verdicts: dict[int, Verdict]
    asked: frozenset[int]
    quiet: tuple[tuple[int, float], ...]
    judge_state: JudgeState | None = None
    turns: list[LookTurn] = []


def make_basis(wait: Wait, at: float) -> PlanBasis:
    verdicts = judge_now(wait)
    return PlanBasis(at, verdicts, open_leaves(wait.until, verdicts), tuple(list_quiet_spans(wait)))


def open_turns(wait: Wait, view_state: ViewState, now: PlanBasis) -> list[LookTurn]:
    """Return the turns that may be taken; none judges while enough judgements, or a confirming one, are in flight."""
    if now.judge_state is not wait.judge_state:
        now.judge_state, now.turns = wait.judge_state, _list_open_turns(wait, view_state, now)
    return now.turns


def _list_open_turns(wait: Wait, view_state: ViewState, now: PlanBasis) -> list[LookTurn]:
    in_flight = wait.in_flight(JobKind.JUDGE)
    # Before its deadline a wait must know the newest frame, which evaluators read before older ones.
    most = MOST_READINGS + wait.is_near_end if is_read(wait, now.asked) else MOST_FLIGHTS
    full = len(in_flight) >= most
    confirm_at = wait.judge_state.confirm_at
    confirming = confirm_at is not None and any(flight.at >= confirm_at for flight in in_flight)
    since = None if full else _find_unjudged_since(wait, view_state, now)
    pause_end = None if since is None else _find_pause_end(wait, view_state)
    found = list_turns(wait, view_state.grabbed_at, since, pause_end=pause_end)
    return [turn for turn in found if not ((turn.judge or turn.hard) and (full or confirming))]


def is_read(wait: Wait, asked: frozenset[int]) -> bool:
    """Return whether evaluators answer all asked leaves without a vision judge."""
    found = (wait.leaves[index] for index in asked)
    return wait.spec.judge == JudgeName.OCR or all(isinstance(o, PixelLeaf) and not may_ask_model(o) for o in found)


def _find_unjudged_since(wait: Wait, view_state: ViewState, now: PlanBasis) -> float | None:
    """Return since when there may be pixels unjudged for the asked leaves; None when there are none. A local answer
    that turned asks anew about the same pixels: then return the start of the last judgement.
    """
    covers = _list_covers(wait)
    answers = {index: verdict.answer for index, verdict in now.verdicts.items()}
    frames = [c.frame for c in covers if c is not None]
    fitting = [c.frame for c in covers if c is not None and now.asked <= c.asked and answers == c.known]
    if max(fitting, default=-1) >= view_state.touched_frame:
        return None
    pixels_known = max(frames, default=-1) >= view_state.touched_frame
    return wait.last_judgement_start if pixels_known else view_state.touched_since(max(frames, default=-1))


def has_unjudged(wait: Wait, at: float, shown_at: float) -> bool:
    """Return whether, at `at`, pixels that the target may have shown at `shown_at` are still to be judged."""
    view_state, now = wait.in_view, make_basis(wait, at)
    if view_state is None or wait.pending is not None or wait.failing is not None or not now.asked:
        return False
    since = _find_unjudged_since(wait, view_state, now)
    return since is not None and since <= shown_at


def _list_covers(wait: Wait) -> list[Coverage | None]:
    return [wait.judge_state.cover, *(make_coverage(f.request, f.frame) for f in wait.in_flight(JobKind.JUDGE))]


def _find_pause_end(wait: Wait, view_state: ViewState) -> float | None:
    """Return until when the changes after the newest judged frame may wait; None where they may not."""
    if not wait.judge_state.restless.is_known:
        return None
    judged = max((cover.frame for cover in _list_covers(wait) if cover is not None), default=-1)
    if not wait.paces_restless or judged >= view_state.touched_frame:
        return None
    return wait.judge_state.restless.find_pause_end(view_state, judged, wait.last_judgement_start)


def make_coverage(due: JobRequest, frame: int) -> Coverage:
    """Return what a job on `frame` covers."""
    answers = {index: verdict.answer for index, verdict in due.known.items()}
    return Coverage(frame, frozenset(want.index for want in due.asks), answers)
