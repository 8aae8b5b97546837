"""The transition table: what is not in it raises and changes nothing."""

from __future__ import annotations

import itertools

import pytest

from acud.types import WaitState
from acud.waits import events as happened
from acud.waits.lifecycle import TRANSITIONS, IllegalWaitMove, WaitMove, has_ended, move_wait
from acud.waits.machine import step
from tests.fixtures.state_diagrams import labelled, state_diagram
from tests.unit.waits.rig import Rig, spec


@pytest.mark.parametrize(("state", "move"), list(itertools.product(WaitState, WaitMove)))
def test_every_pair_moves_or_raises(state: WaitState, move: WaitMove) -> None:
    if move in TRANSITIONS[state]:
        assert move_wait(state, move) is TRANSITIONS[state][move]
    else:
        with pytest.raises(IllegalWaitMove) as caught:
            move_wait(state, move)
        assert caught.value.facts == {"state": state.value, "move": move.value}


def test_every_state_is_in_the_table_and_only_watching_lives() -> None:
    assert [state for state in WaitState if not has_ended(state)] == [WaitState.WATCHING]
    diagram = state_diagram("watching", labelled(TRANSITIONS))
    assert all(f"{state} --> [*]" in diagram for state in WaitState if has_ended(state))


@pytest.mark.parametrize("event", [happened.CancelRequested(101.0), happened.SpecUpdated(101.0, spec())])
def test_an_illegal_move_changes_nothing(event: happened.WaitEvent) -> None:
    rig = Rig(spec()).start()
    rig.tell(happened.DeadlinePassed(rig.now))
    before = rig.wait
    with pytest.raises(IllegalWaitMove, match="a wait that is timeout cannot"):
        step(rig.wait, event)
    assert rig.wait == before
