"""Tasks for tests of the rules."""

from acud.features.tasks.summary import TaskTree
from acud.types.tasks import (
    Action,
    ActionLog,
    ActionStatus,
    ActionType,
    ActionView,
    ItemStatus,
    Message,
    PlanItem,
    Task,
    TaskStatus,
)

NOW = 1_700_000_000.0


def task(status: TaskStatus = TaskStatus.ACTIVE, *, silent_s: float = 0.0, stuck_s: float | None = None) -> Task:
    """Return a task without a sign of life for `silent_s`, last told of `stuck_s` ago."""
    stuck_at = None if stuck_s is None else NOW - stuck_s
    return Task("task-1", "Book the flight", status, NOW - 1000, NOW - silent_s, "agent", stuck_at=stuck_at)


def view(number: int, item: int | None = 2, words: str = "clicked the button") -> ActionView:
    action = Action(
        f"action-{number}", ActionType.GUI, f"{words} {number}", NOW, ActionStatus.COMPLETED, item, {"x": 1}, "fine"
    )
    return ActionView(action, (ActionLog("result", f"log of {number}", NOW), ActionLog("note", words, NOW)))


def tree(actions: int = 3, messages: int = 8, words: str = "clicked the button") -> TaskTree:
    """Return a task with three items, the second active, with actions under it and one under none."""
    items = (
        PlanItem(1, "open the site", ItemStatus.COMPLETED, NOW - 90, NOW - 60, 30.0),
        PlanItem(2, "choose a date", ItemStatus.ACTIVE, NOW - 60, actions=actions),
        PlanItem(3, "pay"),
    )
    done = (*(view(number, words=words) for number in range(actions)), view(99, None))
    thread = tuple(Message("agent", f"message {number}", "text", NOW) for number in range(messages))
    return TaskTree(task(), items, done, thread)
