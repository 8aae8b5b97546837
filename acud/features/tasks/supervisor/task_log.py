"""What acud itself does for a task, logged there: waits from arming to end, looks, blocked calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from acud.errors import AcudError, NotFound
from acud.features.tasks.rules import has_task_ended, move_action
from acud.features.tasks.tables import ActionTable, TaskTable
from acud.ids import new_id
from acud.store import StoredWait
from acud.supervisor.journal import Journal
from acud.types import WaitState, condition_text
from acud.types.tasks import (
    Action,
    ActionLog,
    ActionStatus,
    ActionType,
    Message,
    Task,
)

_ENDS = {
    WaitState.RESOLVED: ActionStatus.COMPLETED,
    WaitState.TIMEOUT: ActionStatus.FAILED,
    WaitState.FAILED: ActionStatus.FAILED,
    WaitState.CANCELLED: ActionStatus.CANCELLED,
}


class TaskLog:
    """Writes actions in acud's name. A task that was deleted meanwhile is told nothing."""

    def __init__(self, journal: Journal, utc_s: Callable[[], float], monotonic_s: Callable[[], float]) -> None:
        self._journal = journal
        self._tasks, self._actions = TaskTable(journal.store), ActionTable(journal.store)
        self._utc_s = utc_s
        self._now = monotonic_s

    # ---- waits: in the transaction that stores their state ---------------------------------------------------------

    def wait_recorded(self, stored: StoredWait) -> None:
        """A wait of a task was armed or has ended."""
        if not stored.spec.task_id:
            return
        if stored.state is WaitState.WATCHING:
            self._armed(stored)
        else:
            self._ended(stored)

    def _armed(self, stored: StoredWait) -> None:
        task = self._tasks.get(stored.spec.task_id)
        action = Action(
            action_id=new_id("action"),
            action_type=ActionType.WAIT,
            summary=f"wait: {stored.spec.label or condition_text(stored.spec.until)}",
            created_at=stored.created.utc_s,
            status=ActionStatus.STARTED,
            ordinal=self._tasks.active_ordinal(task.task_id),
            input_data={"display": stored.display, "timeout_s": stored.spec.timeout_s},
            subject=stored.wait_id,
        )
        self._actions.add(task.task_id, action)
        self._touch(task)

    def _ended(self, stored: StoredWait) -> None:
        action = self._actions.of_subject(stored.wait_id)
        if action is None:
            return
        judged = self._journal.store.evaluations.newest(stored.wait_id, 1)
        moved = replace(
            move_action(action, _ENDS[stored.state], stored.ended_utc_s),
            output_data={"state": stored.state.value, "judge_calls": stored.judge_calls},
            judge=judged[0].judge if judged else "",
            cost_usd=stored.cost_usd,
        )
        self._actions.update(moved)
        self._actions.add_log(action.action_id, ActionLog("result", stored.message, stored.ended_utc_s))
        task = self._tasks.get(stored.spec.task_id)
        self._tasks.add_message(task.task_id, Message("system", stored.message, "wait", stored.ended_utc_s))
        self._touch(task)

    def _touch(self, task: Task) -> None:
        if not has_task_ended(task.status):
            self._tasks.update(replace(task, updated_at=self._utc_s()))

    # ---- what others did for a task --------------------------------------------------------------------------------

    def log_action(self, task_id: str, action: Action, lines: Iterable[ActionLog] = ()) -> None:
        """Log an action that has ended, under the task's active item; nothing for a task that is gone."""
        try:
            task = self._tasks.get(task_id)
        except NotFound:
            return
        ordinal = self._tasks.active_ordinal(task.task_id)
        self._actions.add(task.task_id, replace(action, ordinal=ordinal))
        for line in lines:
            self._actions.add_log(action.action_id, line)
        self._touch(task)

    # ---- pictures and blocked calls --------------------------------------------------------------------------------

    def begin_action(self, task_id: str, kind: ActionType, summary: str) -> Callable[[AcudError | None, Any], None]:
        """Return what to call with the fault (or None) and the output of something that begins now."""
        began_s = self._now()

        def done(fault: AcudError | None, output: Any) -> None:
            if task_id:
                took_ms = round((self._now() - began_s) * 1000, 1)
                self._journal.keep(lambda: self._did(task_id, kind, summary, took_ms, fault, output))

        return done

    def _did(
        self, task_id: str, kind: ActionType, summary: str, took_ms: float, fault: AcudError | None, output: Any
    ) -> None:
        action = Action(
            action_id=new_id("action"),
            action_type=kind,
            summary=summary,
            created_at=self._utc_s(),
            status=ActionStatus.COMPLETED if fault is None else ActionStatus.FAILED,
            output_data=output if fault is None else {"error": fault.code, "message": fault.message},
            duration_ms=took_ms,
        )
        self.log_action(task_id, action)
