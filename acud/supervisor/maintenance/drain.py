"""Draining: nothing new is taken, what runs finishes, then the daemon ends."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acud import log
from acud.errors import Refused
from acud.event_loop import Timer
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.daemon import DaemonDrain, DaemonDrainReply

if TYPE_CHECKING:
    from acud.supervisor.app import App

_LOG = log.logger("upkeep")
_LOOK_S = 0.25


class Drain:
    """Whether the daemon drains, and until when. It is of this process alone: a kill ends it, and nothing is lost."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.since_utc_s = self.until_utc_s = 0.0
        self._deadline_s = 0.0
        self._keep_displays = False
        self._timer: Timer | None = None

    @property
    def reason(self) -> str:
        """What is going on, "" for nothing."""
        if not self.since_utc_s:
            return ""
        return f"the daemon is draining since {_clock(self.since_utc_s)} and ends by {_clock(self.until_utc_s)}"

    def admit(self, request: str) -> None:
        """Raises: Refused for a request that begins something new, with the reason and when."""
        new = BY_NAME[request].begins
        if new and self.since_utc_s:
            hint = "ask again when it was started anew; acud daemon drain --cancel takes it back"
            raise Refused(f"no new {new}: {self.reason}", hint=hint, until_utc_s=self.until_utc_s)

    def ask(self, request: DaemonDrain) -> DaemonDrainReply:
        """Begin, move the end, or take it back."""
        if request.cancel:
            self._cancel()
        else:
            self._begin(request)
        return self.told()

    def told(self) -> DaemonDrainReply:
        """Return how it stands."""
        waits, tasks, runs = self._at_work()
        return DaemonDrainReply(
            bool(self.since_utc_s), os.getpid(), self.since_utc_s, self.until_utc_s, waits, tasks, runs
        )

    def _begin(self, request: DaemonDrain) -> None:
        now = self._app.clock.instant().utc_s
        self.since_utc_s = self.since_utc_s or now
        self.until_utc_s = now + request.timeout_s
        self._deadline_s = self._app.loop.now_s() + request.timeout_s
        self._keep_displays = request.keep_displays
        self._app.journal.event("daemon.draining", "daemon", until_utc_s=self.until_utc_s)
        _LOG.info("daemon.draining", timeout_s=request.timeout_s)
        self._look_later()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self.since_utc_s:
            self._app.journal.event("daemon.drain_cancelled", "daemon")
        self.since_utc_s = self.until_utc_s = 0.0

    def _look_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._app.loop.call_later(_LOOK_S, self._look)

    def _look(self) -> None:
        waits, tasks, runs = self._at_work()
        if waits + tasks + runs and self._app.loop.now_s() < self._deadline_s:
            self._look_later()
            return
        _LOG.info("daemon.drained", waits=waits, tasks=tasks, runs=runs)
        self._timer = None
        journal, keep = self._app.journal, self._keep_displays
        told = {"keep_displays": keep, "waits": waits, "tasks": tasks, "runs": runs}
        journal.keep(lambda: journal.event("daemon.drained", "daemon", **told), droppable=True)
        self._app.end(keep_displays=keep)

    def _at_work(self) -> tuple[int, int, int]:
        app = self._app
        return len(app.wait_runtime.active), app.at_work("tasks"), app.at_work("agent")


def _clock(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s, UTC).strftime("%H:%M:%S UTC")
