"""A running supervisor: the core and its enabled features, their start, their end and the end of each turn."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping
from functools import partial
from threading import Thread
from typing import IO

from acud.base import log
from acud.base.clock import Clock
from acud.base.extras import is_feature_installed
from acud.base.paths import Paths
from acud.config import Settings
from acud.protocol.requests import REQUESTS
from acud.supervisor.control import Control
from acud.supervisor.core import Core, RedactionMaker
from acud.supervisor.coroutines import Callback, run_steps
from acud.supervisor.feature import Feature, Handler, RunningFeature, handlers_of
from acud.supervisor.maintenance import Drain, RollingRestart, SettingsReload, StoreTrim
from acud.supervisor.orphaned_rings import KEEP_S
from acud.supervisor.replies import RequestDigest
from acud.waits.sentence_grammar import grammar

_LOG = log.logger("supervisor")
_SETTLE_S = 10.0
"""At the end, the last pictures of waits on managed displays and the wakes under way get at most this time."""
_END_DEADLINE_S = 25.0  # displays that have not ended by then are killed. The systemd units give a stop 60 s.
_HOME_S = 5.0
_STOPPED = "the daemon was stopped"
_GRAMMAR_S = 30.0
"""The grammar of sentences is compiled this long after the start, or with the first sentence: a tenth of a second in a
thread, which a daemon started for one command never needs."""
_PASSES = 16
"""How many commits one turn may have: effects of a commit may write again (a wait armed and resolved at once)."""


def _do_nothing() -> None:
    """Do nothing: only the end of another turn is needed."""


class App(Core):
    """Every part of one supervisor. Made once; `start`, then `loop.run`, then `close`."""

    def __init__(
        self,
        settings: Settings,
        paths: Paths,
        clock: Clock,
        env: Mapping[str, str],
        log_file: IO[bytes],
        sockets: dict[str, socket.socket],
        handlers: Mapping[str, Handler],
        features: Iterable[Feature],
        redaction: RedactionMaker,
    ) -> None:
        """`handlers`: of the core's requests, by name. `features` start in this order, each after those it needs."""
        super().__init__(settings, paths, clock, env, log_file, sockets, redaction)
        self.features: dict[str, RunningFeature] = {}
        self.switched_off: list[str] = []
        self._is_ending = self._is_ending_children = False
        answering: dict[str, Handler] = {
            command.name: partial(handlers[command.name], self) for command in REQUESTS if not command.feature
        }
        for feature in features:
            is_on = getattr(settings.features, feature.name) and is_feature_installed(feature.name)
            running = feature.start(self) if is_on else None
            answering |= handlers_of(feature.name, running)
            if running is not None:
                self.features[feature.name] = running
            elif not getattr(settings.features, feature.name):
                self.switched_off.append(feature.name)
        self.drain = Drain(self)
        self.control = Control(
            paths.run / "control",
            self.loop,
            self.journal,
            settings.daemon.max_parked_replies,
            clock,
            RequestDigest(paths.request_key),
            answering,
            self.drain.admit,
            self.faults,
        )
        self.rolling_restart = RollingRestart(self.pool, self.keeper, self.loop)
        self.settings_reload = SettingsReload(self)

    # ---- life ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Resume what a former supervisor left, start the children, and answer requests."""
        self.store.evidence.remove_orphans()
        self.displays.resume()
        self.takeovers.resume()
        self.terminals.resume()
        if self.settings.wake.routes:
            self.delivery.start()
        self.wakes.resume()
        for running in self.features.values():
            running.resume_first()
        self.waits.resume()
        for name, reason in self.displays.find_lost(self.active_waits.name_displays()):
            self.waits.display_gone(name, reason)
        for running in self.features.values():
            running.start()
        self.pool.start()
        self.web.start()
        self.listeners.start()
        self._home = self.paths.home.stat()
        self.loop.call_each(_HOME_S, self._check_home)
        StoreTrim(self).trim_some()
        self.loop.call_later(KEEP_S, self.sources.orphaned_rings.clear)
        # In a thread, and only after the other parts have begun: it would slow down every start.
        self.loop.call_later(_GRAMMAR_S, Thread(target=grammar, name="grammar", daemon=True).start)
        self._report_loss()
        self.journal.keep(lambda: self.journal.event("daemon.started", "daemon", pid=os.getpid()))
        self._after_turn()
        self.notifier.ready("answering requests")
        if self.notifier.watchdog_s:
            self._feed_watchdog()
        _LOG.info("daemon.ready", pid=os.getpid(), home=str(self.paths.home))

    def _report_loss(self) -> None:
        lost = self.store.lost
        if lost is None:
            return
        facts = {
            "reason": lost.loss.reason,
            "commits": lost.loss.commits,
            "pages": lost.loss.frames,
            "folder": lost.folder,
        }
        _LOG.error("store.damaged", **facts)
        self.journal.keep(lambda: self.journal.event("store.damaged", "store", **facts))

    def _check_home(self) -> None:
        """End if the daemon's folder was removed: no client finds this daemon, and what it stores is lost."""
        try:
            is_gone = not os.path.samestat(self.paths.home.stat(), self._home)
        except FileNotFoundError:
            is_gone = True
        except OSError as fault:  # it cannot be read now, but may exist
            _LOG.warning("daemon.home_unread", fault=str(fault))
            return
        if is_gone:
            _LOG.error("daemon.home_gone", home=str(self.paths.home))
            self.end(keep_displays=False)

    def end(self, *, keep_displays: bool) -> None:
        """End in good order: the waits on managed displays, deliveries, children, then these displays (or leave them
        for a successor).

        The first call wins: a later SIGTERM of the service manager ends no display that is to be kept.
        """
        if self._is_ending:
            return
        self._is_ending = True
        self.notifier.stopping()
        _LOG.info("daemon.stopping", keep_displays=keep_displays)
        # Even if the deliveries never settle, the displays end in good order.
        self._end_timer = self.loop.call_later(_SETTLE_S, lambda: self._end_children(keep_displays))
        if not keep_displays:
            self.waits.is_stopping = True
            for name in self.displays.managed_names():
                self.waits.display_gone(name, _STOPPED)
        run_steps(self._end_in_order(keep_displays))

    async def _end_in_order(self, keep_displays: bool) -> None:
        await Callback(self.waits.when_broken)
        await Callback(self.delivery.finish_deliveries)
        self._end_children(keep_displays)

    def _end_children(self, keep_displays: bool) -> None:
        if self._is_ending_children:
            return
        self._is_ending_children = True
        self._end_timer.cancel()
        for child in list(self.keeper.slots.values()):
            self.keeper.stop(child)
        if keep_displays:
            self.loop.call_later(0.0, self._release_displays)
        else:
            run_steps(self.displays.managed.end_all(), lambda _: self._finish_stop())
            self.loop.call_later(_END_DEADLINE_S - _SETTLE_S, self._kill_displays)

    def _kill_displays(self) -> None:
        self.displays.managed.kill_all()
        self._finish_stop()

    def _finish_stop(self) -> None:
        # Last: the fleet process has ended by now, so it does not withdraw the recipes of these displays.
        self.displays.record_ends(_STOPPED)
        self.loop.call_later(0.0, self.loop.stop)

    def _release_displays(self) -> None:
        self.displays.managed.stop_watching()
        self.loop.stop()

    def close(self) -> None:
        """Kill the remaining children and close store and sockets."""
        try:
            self._after_turn()
        finally:
            self.keeper.kill_all()
            self.listeners.close()
            self.host_conditions.close()
            self.store.close()
            self.control.server.shut()
            self.publisher.server.shut()
            self._context.destroy(linger=500)

    # ---- the end of a turn -----------------------------------------------------------------------------------------

    def _after_turn(self) -> None:
        """Send jobs, commit, then send replies and events; repeat until nothing more follows."""
        for _ in range(_PASSES):
            self.pool.dispatch()
            self.sources.flush()
            fault = self.journal.end_turn()
            if fault is not None:
                self.control.flush_failed(self.journal.newest, fault)
            if not self.journal.dirty and not self.pool.sendable:
                break
        self.control.flush(self.journal.newest)
        if self.journal.dirty:
            self.loop.call_later(0.0, _do_nothing)  # a reply that left may itself be worth a record

    # ---- for handlers ------------------------------------------------------------------------------------------------

    def status_of(self, feature: str) -> dict[str, str]:
        """Return a feature's status; empty when the feature is off."""
        return self.features[feature].status() if feature in self.features else {}

    def at_work(self, feature: str) -> int:
        """Return how many activities of a feature a draining daemon waits for."""
        return self.features[feature].at_work() if feature in self.features else 0

    def _feed_watchdog(self) -> None:
        self.notifier.alive()
        self.loop.call_later(self.notifier.watchdog_s / 2, self._feed_watchdog)
