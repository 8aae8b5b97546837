"""Maintenance of a running daemon: drains it, restarts its evaluators, reloads its settings and trims its store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from acud import config
from acud.base import log
from acud.base.errors import AcudError, Conflict, Refused, Unavailable
from acud.config import Settings
from acud.config.backends import PREDEFINED
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.requests.command import Command
from acud.protocol.requests.daemon import DaemonDrain, DaemonDrainReply, DaemonReloadReply, EvaluatorRestarted
from acud.store.retention import STEP_ROWS, TrimResult, trim
from acud.supervisor.children import ChildKeeper, ChildState
from acud.supervisor.coroutines import sleep
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.job_queues import Worker

if TYPE_CHECKING:
    from acud.supervisor.app import App


_LOG = log.logger("maintenance")
_LOOK_S = 0.25
_TRIM_S = 600.0
_TRIM_MORE_S = 0.1
_RENEWAL_LOOK_S = 0.05
_FINISH_S = 10.0  # the time for jobs under way: an OCR takes seconds; another evaluator repeats a slow model's call
_READY_S = 60.0  # A new evaluator is ready within a second, on a loaded machine within this

LIVE = frozenset(
    {
        "daemon.log_max_mb",
        "daemon.log_files",
        "store.keep_days",
        "store.keep_evaluations_days",
        "store.keep_evaluations",
        "store.keep_actions",
        "store.keep_events",
        "store.evidence_max_mb",
        "wait.timeout_s",
        "host_conditions.paths",
    }
).union(config.LIVE_OF_FEATURES)
"""Settings that are looked up at each use, or set anew by a reload, by one part each: nothing under way is affected."""


class Drain:
    """Whether the daemon drains, and until when. It belongs to this process: a restart ends it, and nothing is lost."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.since_utc_s = self.until_utc_s = 0.0
        self._deadline_s = 0.0
        self._keep_displays = False
        self._timer: Timer | None = None

    @property
    def reason(self) -> str:
        """Why new work is refused, "" while the daemon does not drain."""
        if not self.since_utc_s:
            return ""
        return f"the daemon is draining since {_utc_text(self.since_utc_s)} and ends by {_utc_text(self.until_utc_s)}"

    def admit(self, command: Command, request: Struct) -> None:
        """Raise Refused for a request that begins something new, with the reason and the time of the end."""
        new = command.begun_by(request)
        if new and self.since_utc_s:
            hint = "ask again when it was started anew; acud daemon drain --cancel takes it back"
            raise Refused(f"no new {new}: {self.reason}", hint=hint, until_utc_s=self.until_utc_s)

    def ask(self, request: DaemonDrain) -> DaemonDrainReply:
        if request.cancel:
            self._cancel_drain()
        else:
            self._begin_drain(request)
        waits, tasks, runs = self._count_work()
        return DaemonDrainReply(
            bool(self.since_utc_s), os.getpid(), self.since_utc_s, self.until_utc_s, waits, tasks, runs
        )

    def _begin_drain(self, request: DaemonDrain) -> None:
        now = self._app.clock.instant().utc_s
        self.since_utc_s = self.since_utc_s or now
        self.until_utc_s = now + request.timeout_s
        self._deadline_s = self._app.loop.now_s() + request.timeout_s
        self._keep_displays = request.keep_displays
        self._app.journal.event("daemon.draining", "daemon", until_utc_s=self.until_utc_s)
        _LOG.info("daemon.draining", timeout_s=request.timeout_s)
        self._look_later()

    def _cancel_drain(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self.since_utc_s:
            self._app.journal.event("daemon.drain_cancelled", "daemon")
        self.since_utc_s = self.until_utc_s = 0.0

    def _look_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._app.loop.call_later(_LOOK_S, self._check_drained)

    def _check_drained(self) -> None:
        waits, tasks, runs = self._count_work()
        if waits + tasks + runs and self._app.loop.now_s() < self._deadline_s:
            self._look_later()
            return
        _LOG.info("daemon.drained", waits=waits, tasks=tasks, runs=runs)
        self._timer = None
        journal, keep = self._app.journal, self._keep_displays
        facts = {"keep_displays": keep, "waits": waits, "tasks": tasks, "runs": runs}
        journal.keep(lambda: journal.event("daemon.drained", "daemon", **facts), droppable=True)
        self._app.end(keep_displays=keep)

    def _count_work(self) -> tuple[int, int, int]:
        app = self._app
        return len(app.wait_runtime.active), app.at_work("tasks"), app.at_work("agent")


def _utc_text(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s, UTC).strftime("%H:%M:%S UTC")


class StoreTrim:
    """Deletes some rows that are older than the settings keep; goes on soon while there are more, else later."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._result: TrimResult | None = None

    def trim_some(self) -> None:
        """Delete some rows in this turn."""
        self._app.journal.keep(self._trim_store, self._finish_trim)

    def _trim_store(self) -> None:
        app = self._app
        self._result = trim(app.store, app.settings.store, app.clock.instant().utc_s, STEP_ROWS)

    def _finish_trim(self) -> None:
        result, self._result = self._result, None
        has_more = result is not None and result.more
        self._app.loop.call_later(_TRIM_MORE_S if has_more else _TRIM_S, self.trim_some)
        self._app.store.evidence.remove_files(result.files if result is not None else ())


class RollingRestart:
    """Restarts the evaluators one after the other; at most one such restart at a time."""

    def __init__(self, pool: EvaluatorPool, keeper: ChildKeeper, loop: EventLoop) -> None:
        self._pool, self._keeper, self._loop = pool, keeper, loop
        self._going = False

    async def run(self) -> tuple[EvaluatorRestarted, ...]:
        """Restart every evaluator. Raises: Conflict during such a restart; Unavailable for one that did not get ready
        again, which leaves the others alone.
        """
        if self._going:
            raise Conflict("the evaluators are being restarted already", hint="wait for that restart")
        self._going = True
        try:
            return tuple([await self._restart_worker(worker) for worker in list(self._pool.workers)])
        finally:
            self._going = False

    async def _restart_worker(self, worker: Worker) -> EvaluatorRestarted:
        child = worker.child
        old_pid = child.pid
        self._pool.retire(worker)
        await self._wait_until(lambda: not worker.running, _FINISH_S)
        handed = self._pool.hand_over(worker)
        _LOG.info("evaluator.retired", evaluator=child.name, handed_over=handed)
        self._keeper.stop(child)
        await self._wait_until(lambda: child.process is None, _READY_S)
        self._pool.restart_worker(worker)
        await self._wait_until(lambda: worker.ready or worker.child.state is ChildState.FAILED, _READY_S)
        if not worker.ready:
            fault = f"evaluator {child.name} did not get ready again: {child.reason or 'it said nothing'}"
            raise Unavailable(fault, hint="acud logs --level error; the others were left alone")
        return EvaluatorRestarted(child.name, old_pid, child.pid, handed)

    async def _wait_until(self, holds: Callable[[], bool], within_s: float) -> None:
        """Return as soon as `holds` returns True, or after `within_s`."""
        end_s = self._loop.now_s() + within_s
        while not holds() and self._loop.now_s() < end_s:
            await sleep(self._loop, _RENEWAL_LOOK_S)


class SettingsReload:
    """Reads the settings file of `app` again."""

    def __init__(self, app: App) -> None:
        self._app = app

    def reload(self) -> DaemonReloadReply:
        """Apply the settings that can change now; return them, and those that need a restart. Raises: ConfigError,
        before any is applied.
        """
        app = self._app
        found = config.load(app.paths.config, os.environ)
        differing = list(_find_differences(app.settings, found))
        if app.settings.daemon.debug:  # perhaps from the command line of this start, and so not in the file
            differing = [name for name in differing if name != "daemon.debug"]
        taken = tuple(name for name in differing if name in LIVE)
        self._apply_settings(found, taken)
        restart = tuple(name for name in differing if name not in LIVE)
        _LOG.info("settings.reloaded", taken=list(taken), restart=list(restart))
        app.journal.event("daemon.reloaded", "daemon", taken=taken, restart=restart)
        return DaemonReloadReply(taken, restart)

    def _apply_settings(self, new_settings: Settings, names: tuple[str, ...]) -> None:
        settings = self._app.settings
        for name in names:
            section, key = name.split(".")
            group = msgspec.structs.replace(
                getattr(settings, section), **{key: getattr(getattr(new_settings, section), key)}
            )
            settings = msgspec.structs.replace(settings, **{section: group})
        self._app.settings = settings
        self._app.host_conditions.allow(settings.host_conditions.paths)
        for running in self._app.features.values():
            running.reload(settings)

    def on_signal(self) -> None:
        """Reload on SIGHUP; a fault is only logged."""
        self._app.journal.keep(self._reload_if_valid, droppable=True)

    def _reload_if_valid(self) -> None:
        try:
            self.reload()
        except AcudError as fault:
            _LOG.error("settings.refused", fault=str(fault))


def _find_differences(old: Settings, new: Settings) -> Iterator[str]:
    """Yield the names (`section.key`, `backends.name`, `prices`) of differing settings; no values: some are secret."""
    for section in config.SECTIONS:
        before, after = old.table(section.name), new.table(section.name)
        for key in before.__struct_fields__:
            if getattr(before, key) != getattr(after, key):
                yield f"{section.name}.{key}"
    named = {name: (old.backends.get(name), new.backends.get(name)) for name in {**old.backends, **new.backends}}
    yield from (f"backends.{name}" for name, (was, now) in named.items() if name not in PREDEFINED and was != now)
    if old.prices != new.prices:
        yield "prices"
