"""Stuck detection: an agent whose task lies still is told to take it up again."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from acud import log
from acud.clock import Clock
from acud.config import TasksSettings
from acud.event_loop import EventLoop
from acud.supervisor.journal import Journal
from acud.supervisor.waits.service import Waits
from acud.tasks.packet import ACTIONS, MESSAGES, packet, text
from acud.tasks.stuck import Facts, Rule, Steady, stuck
from acud.tasks.tree import Tree
from acud.tasks.words import focus
from acud.types.tasks import Message, TaskStatus

_LOG = log.logger("tasks")
_WAITS = 10


class Alarms:
    """Looks at the active tasks every `stuck_check_s`. The time of an alarm is stored with it, so that a restart does
    not repeat it.

    `on_stuck` gets the task's id and the wake's text, inside the transaction of the alarm: what it stores is kept if,
    and only if, the alarm is.
    """

    def __init__(
        self,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        waits: Waits,
        settings: TasksSettings,
        on_stuck: Callable[[str, str], None],
    ) -> None:
        self._journal = journal
        self._loop = loop
        self._clock = clock
        self._waits = waits
        self._settings = settings
        self._steady = Steady()
        self._rule = Rule(settings.stuck_after_s, settings.stuck_cooldown_s)
        self._unwritten = False
        self._on_stuck = on_stuck

    def start(self) -> None:
        """Begin to look, unless the settings say not to."""
        if self._settings.stuck_detection:
            self._loop.call_later(self._settings.stuck_check_s, self._check)

    def _check(self) -> None:
        self._loop.call_later(self._settings.stuck_check_s, self._check)
        if not self._unwritten:  # a full disk must not pile up checks
            self._unwritten = True
            self._journal.keep(self._alarm_all, self._written)

    def _written(self) -> None:
        self._unwritten = False

    def _alarm_all(self) -> None:
        waiting, now = self._waits.by_task(), self._clock.instant()
        active = self._journal.store.tasks.all_in(TaskStatus.ACTIVE)
        nows = self._steady.nows(active, now.utc_s, now.boot_s)
        for task_id in stuck([Facts(task, waiting.get(task.task_id, 0)) for task in active], nows, self._rule):
            self._alarm(task_id, now.utc_s, nows[task_id])

    def _alarm(self, task_id: str, now: float, steady_s: float) -> None:
        tree = self._tree(task_id)
        self._journal.store.tasks.update(replace(tree.task, stuck_at=now))
        idle_s = round(steady_s - tree.task.updated_at)
        told = Message("system", f"nothing happened for {idle_s} s: the agent is told to go on", "stuck", now)
        self._journal.store.tasks.add_message(task_id, told)
        self._journal.event("task.stuck", task_id, **packet(tree, now))
        self._on_stuck(task_id, text(tree, now))
        _LOG.info("task.stuck", task=task_id)

    def _tree(self, task_id: str) -> Tree:
        store = self._journal.store
        items = store.tasks.items(task_id)
        active = focus(items)
        actions = store.actions.newest_of_item(task_id, active.ordinal, ACTIONS) if active is not None else ()
        waits = tuple(self._waits.of_task(task_id, _WAITS))
        return Tree(store.tasks.get(task_id), items, actions, store.tasks.messages(task_id, MESSAGES), waits)
