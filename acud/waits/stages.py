"""The stages of a `then`: which is watched now, what is read ahead for later ones, and how the next one begins.

A wait watches one stage as if it were the whole condition; any other condition is one stage. A stage begins after the
frame that the former stage held on: its changes and quiet count from there, and its yes is of a later look.

Texts of later stages that come and go while an older frame is still being read are not missed: readings behind that one
read for later stages too (`JobRequest.ahead`), and keep a picture where these begin to hold (`LaterReading`).
"""

from __future__ import annotations

from msgspec.structs import replace

from acud.types import Answer, Change, Evidence, Text, TextLeaf, Then, Until, no, yes
from acud.waits.anew import count_anew, describe_presence
from acud.waits.baselines import make_token
from acud.waits.blinks import BlinkWatch
from acud.waits.condition_tree import NOT_LOCATED, evaluate, find_sentences, leaves
from acud.waits.effects import BaselineTaken, JobKind, JobWithdrawal, StageReached, WaitEffect
from acud.waits.local_answers import apply_texts
from acud.waits.model import JudgeState, LaterReading, PendingPicture, PendingYes, TextSnapshot, VerdictCache, Wait
from acud.waits.presence import ask_presence, doubt_absences
from acud.waits.schedule import ignores_blinking
from acud.waits.view_state import ChangeState, StoredBaseline, ViewState

MOST_AHEAD = 8
"""Readings kept for later stages: as many as the engine holds frames."""


def get_stage(until: Until, stage: int) -> Until:
    return until.parts[stage] if isinstance(until, Then) else until


def count_stages(until: Until) -> int:
    return len(until.parts) if isinstance(until, Then) else 1


def is_last_stage(wait: Wait) -> bool:
    """Return whether the wait's present stage is its last."""
    return wait.stage + 1 >= count_stages(wait.spec.until)


# ---- reading ahead -------------------------------------------------------------------------------------------------


def read_ahead(wait: Wait) -> dict[int, bool]:
    """Return the later stages to read ahead, and whether to keep a picture where one holds.

    They end before the first stage that text alone does not answer, or that holds over an empty screen: the next look
    finds that as well. A stage known to hold needs no further picture.
    """
    if wait.spec.policy.confirm > 1:
        return {}
    ahead: dict[int, bool] = {}
    for stage in range(wait.stage + 1, count_stages(wait.spec.until)):
        if not _is_read_ahead(get_stage(wait.spec.until, stage)):
            break
        ahead[stage] = stage not in wait.holding_ahead
    return ahead


def _is_read_ahead(until: Until) -> bool:
    found = leaves(until)
    nothing = {index: (yes("") if isinstance(leaf, Text) and leaf.gone else no("")) for index, leaf in enumerate(found)}
    return all(isinstance(leaf, TextLeaf) for leaf in found) and evaluate(until, nothing).answer is not Answer.YES


def note_later(wait: Wait, reading: LaterReading) -> Wait:
    """Keep the result of reading ahead, while an older frame is still being read."""
    if not reading.verdicts:
        return wait
    holding = {
        stage
        for stage, verdicts in reading.verdicts.items()
        if evaluate(get_stage(wait.spec.until, stage), verdicts).answer is Answer.YES
    }
    ahead = (wait.holding_ahead - reading.verdicts.keys()) | holding
    kept = (*wait.later, reading) if reading.evidence is not None else wait.later
    asking = (flight for flight in wait.flights if flight.request.kind is JobKind.JUDGE)
    oldest = min((flight.frame for flight in asking if flight.generation == wait.generation), default=None)
    behind = sorted((one for one in kept if oldest is not None and one.frame > oldest), key=lambda one: one.frame)
    return replace(wait, holding_ahead=frozenset(ahead), later=tuple(behind[-MOST_AHEAD:]))


def take_later_yes(wait: Wait, reading: LaterReading) -> Wait:
    """Return the wait with a yes on its present stage, if a reading for an earlier stage found one."""
    verdicts = reading.verdicts.get(wait.stage)
    is_later = reading.frame > wait.stage_frame and wait.pending is None and wait.missing is None
    if verdicts is None or reading.evidence is None or not is_later:
        return wait
    judged = doubt_absences(wait, describe_presence(wait, count_anew(wait, verdicts)), wait.windows)
    whole = evaluate(wait.until, judged)
    if whole.answer is not Answer.YES:
        return wait
    picture = PendingPicture(reading.evidence, reading.frame, reading.identity, reading.at)
    pending = PendingYes(
        whole, reading.frame, reading.at, None, verdicts=judged, identity=reading.identity, picture=picture
    )
    return replace(wait, pending=pending, verdict=whole)


# ---- the next stage ------------------------------------------------------------------------------------------------


def begin_stage(wait: Wait, pending: PendingYes, evidence: Evidence, at: float) -> tuple[Wait, tuple[WaitEffect, ...]]:
    """Return the wait as its next stage begins, and the record of the reached one. Spending, counts and the pace of
    judging go on. Readings in flight for the old stage may be of later frames: their results still count.
    """
    stage = wait.stage + 1
    withdrawn = tuple(JobWithdrawal(kind) for kind in wait.requests.jobs)
    begun = replace(wait, stage=stage, stage_frame=pending.frame, leaves=leaves(get_stage(wait.spec.until, stage)))
    stored = _make_baselines(begun, pending)
    judge_state = replace(
        JudgeState(),
        last_start=wait.judge_state.last_start,
        last_look=wait.judge_state.last_look,
        turn=wait.judge_state.turn,
        answered_turn=wait.judge_state.turn - 1,
        last_real=at,
    )
    named = (ask_presence(wait.leaves[index]) for index in wait.leaves_seen)
    seen = wait.seen_before | {one for one in named if one is not None}
    after = replace(
        begun,
        stored=stored,
        is_new=True,
        seen_before=seen,
        standing={},
        leaves_seen=frozenset(index for index, leaf in enumerate(begun.leaves) if ask_presence(leaf) in seen),
        view_state=_begin_view(begun, pending.frame, stored, at),
        texts=TextSnapshot(read_at=wait.texts.read_at, widgets_at=wait.texts.widgets_at),
        scrolled_off={},
        widgets={},
        host_answers={},
        verdict=NOT_LOCATED,
        seen_last=None,
        verdict_cache=VerdictCache(),
        judge_state=judge_state,
        pending=None,
        unaffordable=find_sentences(begun.leaves) if wait.budget_status.spent else frozenset(),
        last_picture=None,
        requests=replace(wait.requests, jobs={}, grab_asked=None, compare_at=float("-inf"), gone=0, fps=-1.0),
    )
    after = apply_texts(after, at)
    for reading in wait.later:
        after = take_later_yes(after, reading)
    reached = StageReached(at, wait.stage, pending.verdict, evidence)
    taken = (BaselineTaken(index, one.token, one.identity) for index, one in stored.items())
    return after, (*withdrawn, reached, *taken)


def _make_baselines(wait: Wait, pending: PendingYes) -> dict[int, StoredBaseline]:
    """Return the baselines of the stage's changes: the frame that the former stage held on."""
    view_state = wait.view_state
    if view_state is None or wait.missing is not None or pending.frame < 0:
        return {}
    taken = StoredBaseline(make_token(view_state.view, pending.frame), pending.identity)
    return {index: taken for index, leaf in enumerate(wait.leaves) if isinstance(leaf, Change)}


def _begin_view(wait: Wait, frame: int, baselines: dict[int, StoredBaseline], at: float) -> ViewState | None:
    """Return the view as the stage begins: not looked at yet, with the changes after `frame`."""
    before = wait.view_state
    if before is None:
        return None
    changes = {
        index: ChangeState(leaf, baselines.get(index))
        for index, leaf in enumerate(wait.leaves)
        if isinstance(leaf, Change)
    }
    touched = {one.token: before.tiles_within(frame, before.frame) for one in baselines.values()}
    blinks = BlinkWatch() if ignores_blinking(wait.leaves) else None
    return ViewState(before.view, at, changes, touched, was_hidden=before.was_hidden, blinks=blinks)
