"""The life of a run as a table: what is not in it cannot happen."""

from __future__ import annotations

from acud.agent.nouns import RunState
from acud.errors import Conflict

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
