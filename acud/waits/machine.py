"""The rules of one wait: an event with its time in, the next state and effects out.

    step_ = arm(spec, at)                 # -> Step(wait, effects)
    step_ = step(step_.wait, event)       # never changes the wait it is given

Facts that arrive after the end (frames, results, ticks, a deadline) change nothing; `Cancelled` and `Updated` then
raise `IllegalMove`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from acud.types import Verdict, WaitSpec, WaitState
from acud.waits.conditions import NOT_JUDGED
from acud.waits.effects import Effect
from acud.waits.events import Event


class Kept(Struct, frozen=True):
    """What was stored of a `BaselineTaken`, given back after a restart."""

    token: str
    identity: str = ""


class Wait(Struct, frozen=True):
    """One wait. Public for `WaitInfo`: the fields below; the rest is the machine's own."""

    spec: WaitSpec
    armed_at: float
    state: WaitState = WaitState.WATCHING
    verdict: Verdict = NOT_JUDGED
    note: str = ""
    frames_seen: int = 0
    judged: int = 0
    judge_calls: int = 0


class Step(Struct, frozen=True):
    """The wait after an event, and what is to be done, in order."""

    wait: Wait
    effects: tuple[Effect, ...] = ()


def arm(spec: WaitSpec, at: float, kept: Mapping[int, Kept] | None = None) -> Step:
    """Return a new wait (or one taken up after a restart, with its `kept` baselines). `Aimed` comes next."""
    raise NotImplementedError


def step(wait: Wait, event: Event) -> Step:
    """Return the wait after `event`, and the effects.

    Raises: IllegalMove for `Cancelled` and `Updated` on a wait that has ended.
    """
    raise NotImplementedError
