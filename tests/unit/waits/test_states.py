"""The transition table: what is not in it raises and changes nothing."""

import itertools

import pytest

from acud.types import WaitState, unknown, yes
from acud.waits import effects as out
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


@pytest.mark.parametrize("state", [WaitState.TIMEOUT, WaitState.FAILED])
def test_what_the_fleet_told_of_a_lost_host_stands_whatever_is_known_here_by_now(state: WaitState) -> None:
    rig = Rig(spec()).start()
    rig.judge(yes("it is there"))  # and its picture is on its way
    verdict, end = unknown("host_lost", "host h1 is lost"), out.FleetEnd(state, 5.0, "told", sent=True, seen=False)
    rig.tell(happened.FleetEnded(rig.now, verdict, end))
    assert (rig.wait.state, rig.wait.verdict) == (state, verdict)
    assert [effect.end for effect in rig.asked(out.WaitEndedByFleet)] == [end]
    ended = rig.wait
    rig.tell(happened.DeadlinePassed(rig.now))
    rig.tell(happened.FleetEnded(rig.now, verdict, end))
    assert (rig.wait, rig.last) == (ended, ())


@pytest.mark.parametrize("event", [happened.CancelRequested(101.0), happened.SpecUpdated(101.0, spec())])
def test_an_illegal_move_changes_nothing(event: happened.WaitEvent) -> None:
    rig = Rig(spec()).start()
    rig.tell(happened.DeadlinePassed(rig.now))
    before = rig.wait
    with pytest.raises(IllegalWaitMove, match="a wait that is timeout cannot"):
        step(rig.wait, event)
    assert rig.wait == before
