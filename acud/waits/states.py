"""The life of a wait as a table: what is not in it cannot happen."""

from __future__ import annotations

from enum import StrEnum

from acud.errors import Conflict
from acud.types import WaitState


class Move(StrEnum):
    """What ends a wait."""

    RESOLVE = "resolve"
    TIME_OUT = "time out"
    CANCEL = "cancel"
    FAIL = "fail"
    UPDATE = "update"


class IllegalMove(Conflict):
    """A move that the table does not have; `facts` carry the state and the move."""


TRANSITIONS: dict[WaitState, dict[Move, WaitState]] = {
    WaitState.WATCHING: {
        Move.RESOLVE: WaitState.RESOLVED,
        Move.TIME_OUT: WaitState.TIMEOUT,
        Move.CANCEL: WaitState.CANCELLED,
        Move.FAIL: WaitState.FAILED,
        Move.UPDATE: WaitState.WATCHING,
    },
    WaitState.RESOLVED: {},
    WaitState.TIMEOUT: {},
    WaitState.CANCELLED: {},
    WaitState.FAILED: {},
}


def moved(state: WaitState, move: Move) -> WaitState:
    """Return the state after `move`.

    Raises: IllegalMove when the table has no such move; the caller's state is untouched.
    """
    after = TRANSITIONS[state].get(move)
    if after is None:
        raise IllegalMove(f"a wait that is {state} cannot {move}", state=str(state), move=str(move))
    return after


def ended(state: WaitState) -> bool:
    """Tell whether no move leads out of `state`."""
    return not TRANSITIONS[state]


def diagram() -> str:
    """Return the table as a Mermaid state diagram; `docs/waiting.md` holds a copy, and a test compares them."""
    lines = ["stateDiagram-v2", "    [*] --> watching"]
    for state, moves in TRANSITIONS.items():
        lines += [f"    {state} --> {after}: {move}" for move, after in moves.items()]
        lines += [] if moves else [f"    {state} --> [*]"]
    return "\n".join(lines)
