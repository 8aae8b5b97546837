"""Tasks on a real daemon: a display each, waits that live and end with them, pausing, races, restarts, stuck agents."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from acud.base.errors import AcudError, Conflict, DisplayDown, InvalidRequest, NotFound
from acud.types import AnyOf, Change, Rect, Stable, Text, WaitState, WindowTitle
from acud.types.tasks import ActionStatus, ActionType, Detail, ItemStatus, Task, TaskStatus, TaskView
from acud_client import Client
from tests.e2e import faults
from tests.e2e.desktop import PATIENCE_S, Desk, ended, judged, shown, titled, until
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
NEVER = WindowTitle("nowhere to be seen")


@pytest.fixture(scope="module")
def own() -> Iterator[Daemon]:
    """A daemon whose displays are small and bare."""
    with Daemon(settings=faults.settings(tasks={"stuck_detection": False})) as running:
        yield running


@pytest.fixture
def acud(own: Daemon) -> Iterator[Client]:
    """Its client; tasks that a test leaves are deleted."""
    yield own.client
    for view in own.client.task_list(ended=True, limit=200).tasks:
        own.client.task_delete(view.task.task_id)


def _desk(client: Client, task: Task) -> Desk:
    display = next(one for one in client.display_list().displays if one.name == task.display)
    return Desk(display.name, display.auth_file)


def _view(client: Client, task: Task) -> TaskView:
    view = client.task_summary(task.task_id, as_data=True).view
    assert view is not None
    return view


def _displays(client: Client) -> set[str]:
    return {one.name for one in client.display_list().displays}


def _gone(client: Client, display: str) -> None:
    number = display.lstrip(":")
    until(lambda: display not in _displays(client), f"{display} unwatched")
    until(lambda: not Path(f"/tmp/.X11-unix/X{number}").exists(), f"the X server of {display} gone")


# ---- from begin to end -----------------------------------------------------------------------------------------------


def test_a_task_from_begin_to_end(acud: Client) -> None:
    reply = acud.task_register("Book", ["open", "pay"], metadata={"ticket": 7}, agent_id="main", display_width=320)
    task = reply.view.task
    assert (task.status, task.agent_id, task.name) == (TaskStatus.ACTIVE, "main", "Book")
    assert [item.number for item in reply.view.items] == [1, 2]
    number = int(task.display.lstrip(":"))
    assert task.metadata == {
        "ticket": 7, "display": task.display, "display_num": number, "display_resolution": "320x480",
    }  # fmt: skip
    acud.task_item_update(task.task_id, 1, ItemStatus.ACTIVE, note="begun")
    wait = acud.wait_create(NEVER, timeout_s=LONG_S, task_id=task.task_id).wait
    picture = acud.look(task_id=task.task_id)
    assert (wait.display, picture.display, picture.width) == (task.display, task.display, 320)
    acud.task_log_action(task.task_id, ActionType.GUI, "clicked Search", input_data={"x": 4}, duration_ms=12.5)
    assert _view(acud, task).live_waits == 1

    done = acud.task_update(task.task_id, message="booked", status=TaskStatus.COMPLETED)
    assert done.view.task.ended_at is not None
    assert done.notes == ("completed with open plan items: 1, 2",)
    cancelled = acud.wait_show(wait.wait_id).wait
    assert cancelled.state is WaitState.CANCELLED
    assert 'task "Book" is completed' in cancelled.message
    _gone(acud, task.display)

    drilled = acud.task_drill_down(task.task_id, 1)
    assert drilled.item.actions == 3
    assert [(one.action.action_type, one.action.status) for one in drilled.actions] == [
        (ActionType.WAIT, ActionStatus.CANCELLED),
        (ActionType.VISION, ActionStatus.COMPLETED),
        (ActionType.GUI, ActionStatus.COMPLETED),
    ]
    assert drilled.actions[0].action.subject == wait.wait_id
    assert drilled.actions[0].logs[0].content == cancelled.message
    assert all(one.action.duration_ms for one in drilled.actions)
    thread = [message.content for message in acud.task_thread(task.task_id).messages]
    assert thread == ["item 1 active: begun", "booked", "active → completed", cancelled.message]
    full = acud.task_summary(task.task_id, detail_level=Detail.FULL, max_tokens=5000)
    assert "clicked Search" in full.summary
    assert full.left_out == {}


def test_nothing_is_done_for_an_ended_task(acud: Client) -> None:
    task = acud.task_register("Ended", ["a"], isolated_display=False).view.task
    assert (task.display, task.metadata) == ("", {})
    acud.task_update(task.task_id, status=TaskStatus.FAILED)
    for refused in (
        lambda: acud.wait_create(NEVER, task_id=task.task_id),
        lambda: acud.look(task_id=task.task_id),
        lambda: acud.wait_for_change(task_id=task.task_id),
        lambda: acud.task_item_update(task.task_id, 1, ItemStatus.ACTIVE),
        lambda: acud.task_plan_append(task.task_id, ["b"]),
        lambda: acud.task_log_action(task.task_id, ActionType.CLI, "ls"),
        lambda: acud.task_update(task.task_id, status=TaskStatus.ACTIVE),
    ):
        with pytest.raises(Conflict, match=r"is failed"):
            refused()
    acud.task_update(task.task_id, message="a last word")


def test_a_wait_that_resolves_is_told_in_its_task(acud: Client) -> None:
    task = acud.task_register("Window").view.task
    with _desk(acud, task) as desk:
        wait = acud.wait_create(WindowTitle("Checkout"), timeout_s=LONG_S, task_id=task.task_id).wait
        changed = acud.wait_create(Change(), "region:0,0,64,64", timeout_s=LONG_S, task_id=task.task_id).wait
        desk.window(Rect(100, 100, 50, 50), title="Checkout")
        done = ended(acud, wait.wait_id)
        desk.fill(Rect(0, 0, 32, 32), 0xFF0000)
        assert ended(acud, changed.wait_id).state is WaitState.RESOLVED
    assert done.state is WaitState.RESOLVED
    assert done.message in [message.content for message in acud.task_thread(task.task_id).messages]
    told = acud.task_update(task.task_id, query="where are we?")
    assert wait.wait_id in told.answer


def test_a_deleted_task_takes_waits_and_display(acud: Client) -> None:
    task = acud.task_register("Deleted").view.task
    wait = acud.wait_create(NEVER, timeout_s=LONG_S, task_id=task.task_id).wait
    gone = acud.task_delete(task.task_id)
    assert (gone.task_id, gone.waits_cancelled) == (task.task_id, 1)
    until(lambda: faults.refused(lambda: acud.wait_show(wait.wait_id)) is not None, "its wait is forgotten")
    _gone(acud, task.display)
    with pytest.raises(NotFound):
        acud.task_summary(task.task_id)


def test_nothing_that_was_judged_for_a_deleted_task_is_kept(own: Daemon, acud: Client) -> None:
    task = acud.task_register("Payroll of Gwendolyn").view.task
    with _desk(acud, task) as desk:
        wait = acud.wait_create(Change(), timeout_s=LONG_S, task_id=task.task_id).wait.wait_id
        desk.fill(Rect(1, 1, 40, 40), 0xFFFFFF)
        done = ended(acud, wait)
    other = acud.wait_create(NEVER, timeout_s=0.1).wait.wait_id
    assert done.evidence is not None
    picture = own.paths.home / "evidence" / done.evidence.name
    assert picture.is_file()
    before = acud.events_since(0, limit=1000)
    assert any(event.subject == wait for event in before.events)
    acud.task_delete(task.task_id)
    until(lambda: faults.refused(lambda: acud.wait_show(wait)) is not None, "its wait is forgotten")
    until(lambda: not picture.exists(), "its picture is removed")
    after = acud.events_since(0, limit=1000)
    assert [event.n for event in before.events] == [event.n for event in after.events][: len(before.events)]
    told = [event for event in after.events if task.task_id in str(event) or wait in str(event)]
    assert {event.topic for event in told} <= {"task.deleted", "recording.deleted"}
    assert "Gwendolyn" not in str(after.events)
    assert acud.wait_show(other).wait.wait_id == other


def test_the_default_display_is_never_a_tasks(acud: Client) -> None:
    task = acud.task_register("Mine").view.task
    assert acud.look().display != task.display


def test_a_display_that_died_is_not_replaced_by_its_namesake(acud: Client) -> None:
    task = acud.task_register("Dead display").view.task
    acud.display_remove(task.display)
    for _ in range(2):
        with pytest.raises(DisplayDown, match="has ended"):
            acud.look(task_id=task.task_id)
        made = acud.display_create(320, 240).display  # it may be given the same name
    assert acud.look(display=made.name, task_id=task.task_id).image


def test_usage_is_of_a_task(acud: Client) -> None:
    task = acud.task_register("Cost").view.task
    wait = acud.wait_create(Text("never"), timeout_s=LONG_S, task_id=task.task_id, judge="ocr").wait
    judged(acud, wait.wait_id)
    used = acud.usage(task_id=task.task_id)
    assert {row.task_id for row in used.rows} == {task.task_id}
    assert (used.cost_usd, used.unpriced, used.evaluations >= 1) == (0.0, 0, True)


# ---- pausing ---------------------------------------------------------------------------------------------------------


def test_pausing_stops_judging_and_deadlines_run_on(acud: Client) -> None:
    task = acud.task_register("Pause").view.task
    with _desk(acud, task) as desk:
        title = acud.wait_create(WindowTitle("Late"), timeout_s=LONG_S, task_id=task.task_id).wait.wait_id
        change = acud.wait_create(Change(), "region:0,0,64,64", timeout_s=LONG_S, task_id=task.task_id).wait.wait_id
        short = acud.wait_create(Text("never"), timeout_s=LONG_S, task_id=task.task_id, judge="ocr").wait.wait_id
        judged(acud, short, "no")  # nothing is in the air
        acud.task_update(task.task_id, status=TaskStatus.PAUSED)
        acud.wait_update(short, timeout_s=1.0)
        before = shown(acud, short).judge_calls
        desk.window(Rect(100, 100, 50, 50), title="Late")
        desk.fill(Rect(0, 0, 32, 32), 0xFF0000)
        titled(acud, task.display, "Late")
        late = acud.wait_create(AnyOf((WindowTitle("Late"), Stable(0.1))), timeout_s=LONG_S, task_id=task.task_id)
        assert any("paused" in note for note in late.notes)
        over = ended(acud, short)
        assert (over.state, over.verdict.code, over.judge_calls) == (WaitState.TIMEOUT, "paused", before)
        for wait_id in (title, change, late.wait.wait_id):
            now = shown(acud, wait_id)
            assert (now.state, now.verdict.code) == (WaitState.WATCHING, "paused")
        acud.task_update(task.task_id, status=TaskStatus.ACTIVE)
        for wait_id in (title, change, late.wait.wait_id):
            assert ended(acud, wait_id).state is WaitState.RESOLVED


def test_what_did_not_change_while_paused_is_no_change(acud: Client) -> None:
    task = acud.task_register("Quiet pause").view.task
    wait = acud.wait_create(Change(), timeout_s=3.0, task_id=task.task_id).wait.wait_id
    acud.task_update(task.task_id, status=TaskStatus.PAUSED)
    acud.task_update(task.task_id, status=TaskStatus.ACTIVE)
    assert ended(acud, wait).state is WaitState.TIMEOUT


# ---- bad input and races ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "strange", ["/tmp", "../..", "/abs/dir", "%2Fabs", "task-", ".", "task-0000", "'; DROP TABLE tasks;"]
)
def test_ids_that_look_like_paths_find_nothing(acud: Client, strange: str, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")
    asks = [
        lambda name: acud.task_update(name, status=TaskStatus.FAILED),
        acud.task_delete,
        acud.task_summary,
        acud.task_thread,
        lambda name: acud.task_drill_down(name, 1),
        lambda name: acud.look(task_id=name),
        lambda name: acud.wait_create(NEVER, task_id=name),
    ]
    for ask in asks:
        for name in {strange, str(tmp_path)[:64]}:
            with pytest.raises(NotFound, match="no task"):
                ask(name)
    assert (tmp_path / "kept").read_text() == "x"


def test_bad_values(acud: Client) -> None:
    task = acud.task_register("Bad", ["a"], isolated_display=False).view.task
    for bad in (
        lambda: acud.task_register(""),
        lambda: acud.task_register("x", ["ok", ""]),
        lambda: acud.task_register("x", metadata={"big": "x" * 100_000}),
        lambda: acud.task_update(task.task_id),
        lambda: acud.task_update(task.task_id, status="scrapped"),  # type: ignore[arg-type]
        lambda: acud.task_item_update(task.task_id, 0, ItemStatus.ACTIVE),
        lambda: acud.task_log_action(task.task_id, "dance", "x"),  # type: ignore[arg-type]
        lambda: acud.task_log_action(task.task_id, ActionType.CLI, "x", output_data="x" * 100_000),
        lambda: acud.task_summary(task.task_id, max_tokens=1),
    ):
        with pytest.raises(InvalidRequest):
            bad()
    assert acud.task_list(ended=True).total == 1


def test_two_clients_racing_end_a_task_once(own: Daemon, acud: Client) -> None:
    task = acud.task_register("Race", [str(n) for n in range(4)]).view.task
    wait = acud.wait_create(NEVER, timeout_s=LONG_S, task_id=task.task_id).wait

    def end(status: TaskStatus) -> str:
        with Client(own.paths, timeout_s=PATIENCE_S) as other:
            try:
                return other.task_update(task.task_id, status=status).view.task.status.value
            except AcudError as fault:
                return fault.code

    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(end, [TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.FAILED])
        )
    assert results.count("conflict") == 3
    assert acud.task_summary(task.task_id).status.value in results
    assert len(faults.events(own, "wait.cancelled", wait.wait_id)) == 1
    assert len(faults.events(own, "task.ended", task.task_id)) == 1


# ---- restarts --------------------------------------------------------------------------------------------------------


def test_a_kill_in_the_middle_changes_nothing_and_a_display_without_its_task_is_swept(
    own: Daemon, acud: Client
) -> None:
    daemon = own
    task = acud.task_register("Survivor", ["a", "b"]).view.task
    paused = acud.task_register("Paused", isolated_display=False).view.task
    wait = acud.wait_create(WindowTitle("Back"), timeout_s=LONG_S, task_id=task.task_id).wait
    held = acud.wait_create(WindowTitle("Back"), display=task.display, timeout_s=LONG_S, task_id=paused.task_id).wait
    acud.task_item_update(task.task_id, 1, ItemStatus.ACTIVE)
    acud.task_update(paused.task_id, status=TaskStatus.PAUSED)
    daemon.kill()
    daemon.start()
    view = _view(acud, task)
    assert (view.task.display, view.live_waits, view.items[0].status) == (task.display, 1, ItemStatus.ACTIVE)
    with _desk(acud, task) as desk:
        desk.window(Rect(0, 0, 50, 50), title="Back again")
        assert ended(acud, wait.wait_id).state is WaitState.RESOLVED
        assert judged(acud, held.wait_id, "unknown", "paused").state is WaitState.WATCHING
        acud.task_update(paused.task_id, status=TaskStatus.ACTIVE)
        assert ended(acud, held.wait_id).state is WaitState.RESOLVED
    assert acud.look(task_id=task.task_id).display == task.display
    acud.task_update(task.task_id, status=TaskStatus.COMPLETED)
    _gone(acud, task.display)
    lost = acud.task_register("Lost").view.task
    daemon.kill()
    with closing(sqlite3.connect(daemon.paths.database)) as database, database:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("DELETE FROM tasks WHERE task_id = ?", (lost.task_id,))
    daemon.start()
    _gone(acud, lost.display)


# ---- stuck -----------------------------------------------------------------------------------------------------------

STUCK = {"stuck_check_s": 0.2, "stuck_after_s": 1.0, "stuck_cooldown_s": 600}


def test_stuck_is_told_once_also_over_a_restart() -> None:
    with Daemon(settings=faults.settings(tasks=STUCK | {"stuck_detection": False})) as daemon:
        acud = daemon.client
        display = acud.display_create(320, 240).display
        waiting = acud.task_register("Waiting", isolated_display=False).view.task
        acud.wait_create(NEVER, display=display.name, timeout_s=600, task_id=waiting.task_id)
        task = acud.task_register("Silent", ["a", "b"], agent_id="main", isolated_display=False).view.task
        acud.task_item_update(task.task_id, 1, ItemStatus.ACTIVE, note="let us go")
        acud.task_log_action(task.task_id, ActionType.CLI, "make")
        daemon.kill()  # nobody looks before all is as it should be, however long that took
        daemon.paths.config.write_text(faults.settings(tasks=STUCK), encoding="utf-8")
        daemon.start()
        event = faults.event(daemon, "task.stuck", task.task_id)
        assert (event.data["name"], event.data["agent_id"], event.data["idle_s"] >= 1) == ("Silent", "main", True)
        assert event.data["active_item"]["actions"][0]["summary"] == "make"
        assert event.data["messages"][0]["content"] == "item 1 active: let us go"
        daemon.kill()
        daemon.start()
        time.sleep(1.5)
        assert len(faults.events(daemon, "task.stuck")) == 1
        assert json.dumps(event.data)


def test_the_cooldown_over_it_is_told_again_and_not_after_a_sign_of_life() -> None:
    with Daemon(settings=faults.settings(tasks=STUCK | {"stuck_cooldown_s": 0.5})) as daemon:
        task = daemon.client.task_register("Again", isolated_display=False).view.task
        until(lambda: len(faults.events(daemon, "task.stuck", task.task_id)) >= 2, "a second alarm")
        daemon.client.task_update(task.task_id, status=TaskStatus.PAUSED)
        told = len(faults.events(daemon, "task.stuck"))
        time.sleep(1.0)
        assert len(faults.events(daemon, "task.stuck")) == told
