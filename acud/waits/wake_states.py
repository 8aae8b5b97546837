"""The table of a wake's states: what may happen to it in each."""

from __future__ import annotations

from enum import StrEnum

from acud.errors import Conflict
from acud.types import WakeState


class Move(StrEnum):
    """What changes a wake's state."""

    DELIVER = "deliver"
    GIVE_UP = "give up"
    SEE = "see"
    REMIND = "remind"
    RETRY = "retry"


TRANSITIONS: dict[WakeState, dict[Move, WakeState]] = {
    WakeState.PENDING: {
        Move.DELIVER: WakeState.SENT,
        Move.GIVE_UP: WakeState.UNDELIVERED,
        Move.SEE: WakeState.SEEN,
        Move.RETRY: WakeState.PENDING,
    },
    WakeState.SENT: {
        Move.DELIVER: WakeState.SENT,
        Move.REMIND: WakeState.REMINDING,
        Move.SEE: WakeState.SEEN,
        Move.RETRY: WakeState.REMINDING,
    },
    WakeState.REMINDING: {
        Move.DELIVER: WakeState.SENT,
        Move.GIVE_UP: WakeState.SENT,
        Move.SEE: WakeState.SEEN,
        Move.RETRY: WakeState.REMINDING,
    },
    WakeState.UNDELIVERED: {
        Move.DELIVER: WakeState.SENT,
        Move.SEE: WakeState.SEEN,
        Move.RETRY: WakeState.PENDING,
    },
    WakeState.SEEN: {},
}

TRYING = (WakeState.PENDING, WakeState.REMINDING)


class IllegalMove(Conflict):
    """A move that the table does not have; `facts` carry the state and the move."""


def moved(state: WakeState, move: Move) -> WakeState:
    """Return the state after `move`. Raises: IllegalMove; the caller's state is untouched."""
    after = TRANSITIONS[state].get(move)
    if after is None:
        raise IllegalMove(f"a wake that is {state} cannot {move}", state=str(state), move=str(move))
    return after


def diagram() -> str:
    """Return the table as a Mermaid state diagram; `docs/wakes.md` holds a copy, and a test compares them."""
    lines = ["stateDiagram-v2", "    [*] --> pending"]
    for state, moves in TRANSITIONS.items():
        lines += [f"    {state} --> {after}: {move}" for move, after in moves.items()]
        lines += [] if moves else [f"    {state} --> [*]"]
    return "\n".join(lines)
