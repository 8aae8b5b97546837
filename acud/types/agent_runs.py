"""A run of the agent: its request, limits, steps and end, and its life as a table of moves."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from acud.base.errors import Conflict
from acud.types import JudgeChoice, JudgeName, ShortText, Until, WakeAddress


class RunState(StrEnum):
    """The life of a run; the transition table is in `acud.types.agent_runs`."""

    RUNNING = "running"
    DONE = "done"
    """The result was seen on the screen."""
    ESCALATED = "escalated"
    """The task could not be done or verified, for the `reason`; the screen is left as it is."""
    CANCELLED = "cancelled"


class RunLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a run may go; None: no limit of that kind. A call is one question to a model: the chat model, one that
    finds places or one that judges. Their costs are added up; a model without a known price ends a run with
    `max_cost_usd`.
    """

    max_steps: Annotated[int, Meta(ge=1, le=200)] = 25
    max_time_s: Annotated[float, Meta(gt=0, le=86_400)] = 600.0
    max_calls: Annotated[int, Meta(ge=1, le=10_000)] | None = 100
    max_cost_usd: Annotated[float, Meta(ge=0, le=10_000)] | None = None


class RunSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The request. `expect`: the condition that proves success (None: the model names one, which is judged all the
    same). `backend`: the vision backend with the chat model that plans; `model` "": that backend's own.
    """

    instruction: ShortText
    target: str = "screen"
    expect: Until | None = None
    backend: str = ""
    model: str = ""
    judge: JudgeChoice = JudgeName.AUTO
    limits: RunLimits = RunLimits()
    task_id: str = ""
    wake: WakeAddress = WakeAddress()


class RunStep(Struct, frozen=True, forbid_unknown_fields=True):
    """One step. `kind`: the tool that the model called (`do`, `wait`, `done`, `escalate`), or `thought` for an answer
    without a usable call. `outcome`: `verified`, `unverified`, `not_found` …, as in `gui_do`; `reason`: in words.
    """

    number: int
    kind: str
    said: str
    outcome: str = ""
    reason: str = ""
    at_s: float = 0.0
    """Seconds since the run began."""


class RunSpent(Struct, frozen=True, forbid_unknown_fields=True):
    """What was spent so far: calls of models, their known costs, and how many have no known cost."""

    calls: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def plus(self, calls: int, cost_usd: float | None) -> RunSpent:
        """Return the sum after `calls` more calls that cost `cost_usd` together (None: not known)."""
        unpriced = self.unpriced + (calls if cost_usd is None else 0)
        return RunSpent(self.calls + calls, self.cost_usd + (cost_usd or 0.0), unpriced)


class RunInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A run as clients see it and the store keeps it. `evidence`: what proved its success."""

    run_id: str
    state: RunState
    spec: RunSpec
    display: str
    created_utc_s: float
    steps: tuple[RunStep, ...] = ()
    spent: RunSpent = RunSpent()
    reason: str = ""
    evidence: str = ""
    ended_utc_s: float = 0.0


MOVES: dict[RunState, tuple[RunState, ...]] = {
    RunState.RUNNING: (RunState.DONE, RunState.ESCALATED, RunState.CANCELLED),
    RunState.DONE: (),
    RunState.ESCALATED: (),
    RunState.CANCELLED: (),
}


def check_move(run_id: str, now: RunState, to: RunState) -> None:
    """Raises: Conflict when the table has no move from `now` to `to`."""
    if to not in MOVES[now]:
        raise Conflict(f"run {run_id} is {now.value}; it cannot become {to.value}", hint="acud agent show tells how")
