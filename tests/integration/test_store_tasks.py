"""The task memory on a real file."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from acud.base.errors import NotFound
from acud.base.ids import new_id
from acud.config import StoreSettings
from acud.features.tasks.tables import ActionTable, DeletedTasks, ForgottenRows, TaskTable
from acud.protocol.requests.daemon import Purpose
from acud.store.retention import trim
from acud.store.store import Store
from acud.store.waits import StoredWait, UsageEntry
from acud.types import Text, WaitState, WakeInfo, WakeKind, WakeState, no
from acud.types.tasks import Action, ActionStatus, ActionType, ItemStatus, PlanItem, Task, TaskStatus
from tests.integration.store_support import DAY_S, NOW_S, evaluation, picture, wait


def _task(store: Store, *plan: str, status: TaskStatus = TaskStatus.ACTIVE) -> Task:
    task = Task(
        new_id("task"), "Book", status, NOW_S, NOW_S, "main", {"a": [1, "x"], "display": ":100"}, None, ":100", 7
    )
    TaskTable(store).insert(task)
    TaskTable(store).append_items(task.task_id, plan)
    return task


def _action(store: Store, task: Task, item: int | None, status: ActionStatus = ActionStatus.COMPLETED) -> Action:
    action = Action(new_id("action"), ActionType.CLI, "ls", NOW_S, status, item, {"cmd": "ls"}, ["a", 1], 3.5)
    ActionTable(store).add(task.task_id, action)
    return action


def test_item_numbers_go_on_and_are_never_reused(store: Store) -> None:
    one, other = _task(store, "only"), _task(store)
    assert [item.number for item in TaskTable(store).append_items(one.task_id, ("x", "y"))] == [2, 3]
    assert [item.number for item in TaskTable(store).append_items(other.task_id, ("z",))] == [1]
    assert [item.number for item in TaskTable(store).append_items(one.task_id, ("w",))] == [4]
    with pytest.raises(NotFound):
        TaskTable(store).append_items("task-none", ("w",))


def test_the_action_of_a_wait(store: Store) -> None:
    task = _task(store)
    action = replace(_action(store, task, None), action_id=new_id("action"), subject="wait-1")
    ActionTable(store).add(task.task_id, action)
    ended = replace(action, status=ActionStatus.FAILED, judge="ocr", cost_usd=0.25, output_data={"state": "timeout"})
    ActionTable(store).update(ended)
    assert ActionTable(store).of_subject("wait-1") == ended
    assert ActionTable(store).of_subject("wait-2") is None


def test_the_waits_of_a_task_live_ones_first(store: Store) -> None:
    waits = [wait() for _ in range(4)]
    waits = [replace(one, spec=replace(one.spec, task_id="task-1" if n else "")) for n, one in enumerate(waits)]
    for one in waits:
        store.waits.insert(one)
    store.waits.update(replace(waits[3], state="cancelled", ended_utc_s=NOW_S))
    assert [one.wait_id for one in store.waits.of_task("task-1", 10)] == [waits[n].wait_id for n in (2, 1, 3)]
    assert store.waits.of_task("task-2", 10) == ()


def test_old_ended_tasks_are_forgotten(store: Store) -> None:
    old, live = _task(store, "a"), _task(store, "b")
    _action(store, old, 1)
    TaskTable(store).update(replace(old, status=TaskStatus.COMPLETED, ended_at=NOW_S))
    assert trim(store, StoreSettings(), NOW_S + 31 * DAY_S).features["tasks"] == 1
    assert TaskTable(store).newest((), 10).tasks == (live,)


def test_usage_by_day_judge_and_task(store: Store) -> None:
    waits = [replace(one, spec=replace(one.spec, task_id=task)) for one, task in ((wait(), ""), (wait(), "task-1"))]
    for one in waits:
        store.waits.insert(one)
    store.evaluations.add(waits[0].wait_id, evaluation(NOW_S, cost_usd=0.25))
    store.evaluations.add(waits[1].wait_id, replace(evaluation(NOW_S, cost_usd=0.5), tokens_in=10, tokens_out=2))
    store.evaluations.add(waits[1].wait_id, evaluation(NOW_S))
    store.evaluations.add(waits[1].wait_id, evaluation(NOW_S - 2 * DAY_S))
    store.evaluations.add(waits[1].wait_id, evaluation(NOW_S - 9 * DAY_S))
    rows = store.usage.rows(NOW_S - 3 * DAY_S, "")
    assert [(row.task_id, row.evaluations, row.tokens_in, row.cost_usd, row.unpriced) for row in rows] == [
        ("", 1, None, 0.25, 0),
        ("task-1", 2, 10, 0.5, 1),
        ("task-1", 1, None, None, 1),
    ]
    assert rows[0].day == rows[1].day > rows[2].day
    assert store.usage.rows(NOW_S - 3 * DAY_S, "task-1") == rows[1:]


def test_what_was_asked_for_anything_else_stands_beside_the_evaluations_of_waits(store: Store) -> None:
    one = wait()
    store.waits.insert(one)
    store.evaluations.add(one.wait_id, evaluation(NOW_S, cost_usd=0.25))
    store.usage.add(UsageEntry(NOW_S, Purpose.FIND, "claude", "big", "task-1", 900, 30, 0.5))
    store.usage.add(UsageEntry(NOW_S, Purpose.FIND, "claude", "big", "task-1", 100, None, None))
    store.usage.add(UsageEntry(NOW_S, Purpose.COMMENTARY, "vllm", "small", tokens_in=5, cost_usd=0.125))
    store.usage.add(UsageEntry(NOW_S - 9 * DAY_S, Purpose.AGENT, "claude", cost_usd=64.0))
    rows = {(row.purpose, row.judge, row.model): row for row in store.usage.rows(NOW_S - 3 * DAY_S, "")}
    assert len(rows) == 3
    assert sum(row.evaluations for row in rows.values()) == 4
    found = rows["find", "claude", "big"]
    assert (found.evaluations, found.tokens_in, found.tokens_out, found.cost_usd) == (2, 1000, 30, 0.5)
    assert (found.unpriced, found.task_id) == (1, "task-1")
    assert [row.purpose for row in store.usage.rows(NOW_S - 3 * DAY_S, "task-1")] == ["find"]
    assert store.usage.cost_usd_since(NOW_S - DAY_S) == 0.875
    assert store.usage.cost_usd_since(NOW_S + 1) is None
    assert store.usage.trim(NOW_S - DAY_S) == 1
    assert store.usage.trim(NOW_S - DAY_S) == 0


def test_the_active_item_is_the_one_started_last(store: Store) -> None:
    task = _task(store, "a", "b", "c")
    assert TaskTable(store).active_item(task.task_id) is None
    for number, at in ((2, NOW_S + 5), (1, NOW_S), (3, NOW_S + 1)):
        TaskTable(store).update_item(task.task_id, PlanItem(number, "x", ItemStatus.ACTIVE, at))
    assert TaskTable(store).active_item(task.task_id) == 2


def _forget(store: Store) -> list[ForgottenRows]:
    """Forget in steps of two rows until a step finds no more; return the steps."""
    steps = []
    while True:
        with store.turn():
            steps.append(DeletedTasks(store).delete_step(store.events.newest(), 2))
        if not steps[-1].more:
            return steps


def _of(task: Task, state: WaitState = WaitState.RESOLVED) -> StoredWait:
    one = wait(state, ended_utc_s=NOW_S if state is not WaitState.WATCHING else 0.0)
    return replace(one, spec=replace(one.spec, task_id=task.task_id, until=Text("Gwendolyn")))


def test_a_deleted_task_leaves_nothing_not_even_in_free_pages(store: Store, tmp_path: Path) -> None:
    task, other = _task(store), _task(store)
    names = [picture(tmp_path), picture(tmp_path)]
    for number, owner in enumerate((task, other)):
        one = _of(owner)
        store.waits.insert(one)
        for _ in range(5):
            store.evaluations.add(one.wait_id, evaluation(verdict=no("Gwendolyn earns 7,001")))
        store.evidence.add(names[0], one.wait_id, "", NOW_S)  # one picture proves both
        if number == 0:
            store.evidence.add(names[1], one.wait_id, "", NOW_S)
        store.outbox.insert(
            WakeInfo(new_id("wake"), WakeKind.RESOLVED, "Gwendolyn", one.wait_id, owner.task_id, state=WakeState.SEEN)
        )
        store.events.append("wait.resolved", one.wait_id, {"detail": "Gwendolyn"}, NOW_S)
        store.events.append("usage.counted", "", {"wait_id": one.wait_id, "detail": "Gwendolyn"}, NOW_S)
    for gone in (task, other):
        with store.turn():
            DeletedTasks(store).record_task(gone.task_id)
            TaskTable(store).delete(gone.task_id)
        files = {name for step in _forget(store) for name in step.files}
        assert files == ({names[1]} if gone is task else {names[0]})  # the shared one with its last wait
        shown = store.waits.newest(tuple(WaitState), 10).waits
        assert {one.spec.task_id for one in shown} == ({other.task_id} if gone is task else set())
    events = store.events.since(0, "", 10).events
    assert [(event.n, event.subject, event.data) for event in events] == [(n, "", {}) for n in range(1, 5)]
    assert store.outbox.newest(tuple(WakeState), 10).total == 0
    store.close()
    assert b"Gwendolyn" not in (tmp_path / "data.db").read_bytes()


@pytest.mark.parametrize("open_one", ["wait", "wake"])
def test_what_has_not_ended_is_forgotten_when_it_has(store: Store, open_one: str) -> None:
    task = _task(store)
    one = _of(task, WaitState.WATCHING if open_one == "wait" else WaitState.RESOLVED)
    store.waits.insert(one)
    state = WakeState.PENDING if open_one == "wake" else WakeState.SEEN
    wake = WakeInfo(new_id("wake"), WakeKind.RESOLVED, "x", one.wait_id, task.task_id, state=state)
    store.outbox.insert(wake)
    with store.turn():
        DeletedTasks(store).record_task(task.task_id)
        TaskTable(store).delete(task.task_id)
    assert [step.left for step in _forget(store)][-1]
    assert store.waits.find(one.wait_id) == one
    with store.turn():
        if open_one == "wait":
            store.waits.update(replace(one, state=WaitState.CANCELLED, ended_utc_s=NOW_S))
        else:
            store.outbox.update(replace(wake, state=WakeState.SEEN))
    assert not [step.left for step in _forget(store)][-1]
    with pytest.raises(NotFound):
        store.waits.find(one.wait_id)
    assert _forget(store) == [ForgottenRows()]
