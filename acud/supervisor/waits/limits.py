"""How many waits there may be: in all, on a display, of a task, and in a minute."""

from __future__ import annotations

from collections.abc import Callable

from acud.config import WaitSettings
from acud.errors import Refused
from acud.supervisor.waits.live import Lives
from acud.types import WaitSpec
from acud.waits.budget import MinuteQuota


class WaitLimits:
    """Says no to one wait too many, and which setting says so."""

    def __init__(self, settings: WaitSettings, lives: Lives, monotonic_s: Callable[[], float]) -> None:
        self._settings = settings
        self._lives = lives
        self._now = monotonic_s
        self._quota = MinuteQuota(settings.max_new_per_minute)

    def take(self, spec: WaitSpec, display: str) -> None:
        """Count one more wait on `display`. Raises: Refused naming what is full and the setting."""
        self._check_all()
        self._check_display(display)
        self._check_task(spec.task_id)
        self._check_rate(spec.task_id)
        self._quota.take(spec.task_id, self._now())

    def _check_all(self) -> None:
        if len(self._lives) >= self._settings.max_live:
            raise Refused(f"{len(self._lives)} waits are live already", hint="cancel some, or raise [wait] max_live")

    def _check_display(self, display: str) -> None:
        count = self._lives.count_on(display)
        if count >= self._settings.max_per_display:
            hint = "cancel some, or raise [wait] max_per_display"
            raise Refused(f"{count} live waits look at display {display} already", hint=hint)

    def _check_task(self, task_id: str) -> None:
        count = self._lives.count_of(task_id) if task_id else 0
        if count >= self._settings.max_per_task:
            hint = "cancel some, or raise [wait] max_per_task"
            raise Refused(f"task {task_id} has {count} live waits already", hint=hint)

    def _check_rate(self, task_id: str) -> None:
        free_in_s = self._quota.free_in_s(task_id, self._now())
        if free_in_s > 0:
            who = f"task {task_id}" if task_id else "clients that name no task"
            raise Refused(
                f"{who} made {self._settings.max_new_per_minute} waits in the last minute",
                hint=f"try again in {free_in_s:.0f} s, or raise [wait] max_new_per_minute",
                retry_after_s=round(free_in_s, 1),
            )
