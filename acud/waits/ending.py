"""How a wait ends: one move of the table, one last effect."""

from __future__ import annotations

from msgspec.structs import replace

from acud.types import Evidence, Verdict
from acud.waits.backlog import with_backlog
from acud.waits.effects import Effect, Failed, Resolved, TimedOut, WasCancelled
from acud.waits.states import Move, moved
from acud.waits.wait import Pending, Wait, Wanted

Outcome = tuple[Wait, tuple[Effect, ...]]
"""A wait, and what is to be done."""


def resolved(wait: Wait, pending: Pending, evidence: Evidence, at: float) -> Outcome:
    """End with a yes and its picture (or the reason why there is none)."""
    epoch = evidence.epoch or (wait.sight.view.epoch if wait.sight else 0)
    effect = Resolved(at, pending.verdict, evidence, pending.frame, epoch, pending.changed_at)
    return _ended(wait, Move.RESOLVE, pending.verdict, effect)


def unpictured(wait: Wait, pending: Pending, reason: str, at: float) -> Outcome:
    """End with a yes whose picture could not be had."""
    return resolved(wait, pending, Evidence(reason=reason), at)


def timed_out(wait: Wait, at: float) -> Outcome:
    """End at the deadline; a yes that only waits for its picture is still a yes."""
    if wait.pending is not None and wait.pending.frames is None:
        return unpictured(wait, wait.pending, "the deadline passed before the picture was taken", at)
    verdict = with_backlog(wait, at)
    return _ended(wait, Move.TIME_OUT, verdict, TimedOut(at, verdict))


def cancelled(wait: Wait, reason: str, at: float) -> Outcome:
    """End because a client said so. Raises: IllegalMove when it has ended already."""
    return _ended(wait, Move.CANCEL, wait.verdict, WasCancelled(at, reason))


def failed(wait: Wait, reason: str, at: float) -> Outcome:
    """End because it can never be judged."""
    return _ended(wait, Move.FAIL, wait.verdict, Failed(at, reason))


def _ended(wait: Wait, move: Move, verdict: Verdict, effect: Effect) -> Outcome:
    state = moved(wait.state, move)
    after = replace(wait, state=state, verdict=verdict, flights=(), pending=None, wanted=Wanted())
    return after, (effect,)
