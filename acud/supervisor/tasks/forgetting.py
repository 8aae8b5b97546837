"""Forgets what belonged to deleted tasks, a step's worth at a time, as soon as it has ended."""

from __future__ import annotations

from acud.event_loop import EventLoop, Timer
from acud.store import STEP_ROWS, ForgottenRows
from acud.supervisor.journal import Journal

_MORE_S = 0.05
_LEFT_S = 30.0
"""Wakes are delivered and runs end in their own time."""


class DeletedTaskCleanup:
    """Begins with `go`: at the start of the supervisor, and after each deletion."""

    def __init__(self, journal: Journal, loop: EventLoop) -> None:
        self._journal = journal
        self._loop = loop
        self._timer: Timer | None = None

    def go(self) -> None:
        """Forget a step's worth, and go on: soon while there is more, later while something has not ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        done: list[ForgottenRows] = []

        def step() -> None:
            done[:] = [self._journal.store.deleted_tasks.step(self._journal.store.events.newest(), STEP_ROWS)]

        def after() -> None:
            found = done[0] if done else ForgottenRows(left=True)
            if found.more or found.left:
                self._timer = self._loop.call_later(_MORE_S if found.more else _LEFT_S, self.go)
            self._journal.store.evidence.remove_files(found.files)

        self._journal.keep(step, after)

    def soon(self) -> None:
        """Begin once what ends with this turn has been written."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(_MORE_S, self.go)
