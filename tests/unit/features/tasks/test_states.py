"""The tables: what is not in them raises, naming what led there, and changes nothing."""

import itertools
from pathlib import Path

import pytest

from acud.features.tasks.rules import (
    ACTION_MOVES,
    ITEM_MOVES,
    TASK_MOVES,
    IllegalTaskMove,
    has_task_ended,
    move_action,
    move_item,
    move_task,
)
from acud.types.tasks import Action, ActionStatus, ActionType, ItemStatus, PlanItem, TaskStatus
from tests.fixtures.state_diagrams import state_diagram
from tests.unit.features.tasks.trees import NOW, task

PAGE = Path(__file__).parents[4] / "docs" / "tasks.md"


@pytest.mark.parametrize(("status", "to"), list(itertools.product(TaskStatus, TaskStatus)))
def test_every_pair_of_a_task(status: TaskStatus, to: TaskStatus) -> None:
    before = task(status)
    if to in TASK_MOVES[status]:
        after = move_task(before, to, NOW)
        assert (after.status, after.updated_at) == (to, NOW)
        assert after.ended_at == (NOW if has_task_ended(to) else None)
    else:
        with pytest.raises(
            IllegalTaskMove, match=f'"Book the flight" is {status} since 2023-11-14T22:13:20Z'
        ) as caught:
            move_task(before, to, NOW)
        assert caught.value.facts == {"status": status.value, "move": to.value}


@pytest.mark.parametrize(("status", "to"), list(itertools.product(ItemStatus, ItemStatus)))
def test_every_pair_of_an_item(status: ItemStatus, to: ItemStatus) -> None:
    before = PlanItem(4, "pay", status)
    if to in ITEM_MOVES[status]:
        assert move_item(before, to, NOW).status is to
    else:
        with pytest.raises(IllegalTaskMove, match=f'item 4 "pay" is {status}'):
            move_item(before, to, NOW)


@pytest.mark.parametrize(("status", "to"), list(itertools.product(ActionStatus, ActionStatus)))
def test_every_pair_of_an_action(status: ActionStatus, to: ActionStatus) -> None:
    before = Action("action-1", ActionType.WAIT, "a wait", NOW - 2, status)
    if to in ACTION_MOVES[status]:
        after = move_action(before, to, NOW)
        assert (after.status, after.duration_ms) == (to, 2000.0)
    else:
        with pytest.raises(IllegalTaskMove):
            move_action(before, to, NOW)


def test_the_times_of_an_item() -> None:
    begun = move_item(PlanItem(1, "a"), ItemStatus.ACTIVE, NOW)
    again = move_item(begun, ItemStatus.ACTIVE, NOW + 5)
    done = move_item(again, ItemStatus.COMPLETED, NOW + 30)
    assert (done.started_at, done.completed_at, done.duration_seconds) == (NOW, NOW + 30, 30.0)
    at_once = move_item(PlanItem(1, "a"), ItemStatus.COMPLETED, NOW)
    assert (at_once.started_at, at_once.duration_seconds) == (NOW, 0.0)
    skipped = move_item(PlanItem(1, "a"), ItemStatus.SKIPPED, NOW)
    assert (skipped.started_at, skipped.completed_at, skipped.duration_seconds) == (None, NOW, None)


def test_the_page_holds_the_diagrams() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for first, table in (("active: new task", TASK_MOVES), ("pending: new item", ITEM_MOVES)):
        arrows = {status: [to for to in moves if to is not status] for status, moves in table.items()}
        assert state_diagram(first, arrows) in page
