"""Wires the core of a supervisor: frames, windows, jobs, store, displays, waits and wakes. It knows no feature."""

from __future__ import annotations

import os
import secrets
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import IO, Any

import zmq

from acud.base.clock import Clock
from acud.base.paths import Paths
from acud.config import CaptureSettings, Settings, api_keys
from acud.metrics.catalogue import QUICK_S
from acud.metrics.counters import Histogram
from acud.process.event_loop import EventLoop
from acud.process.systemd_notify import SystemdNotifier
from acud.protocol import codec
from acud.store.store import Store
from acud.supervisor.access_tokens import AccessTokens
from acud.supervisor.children import ChildKeeper
from acud.supervisor.control import FaultGuard
from acud.supervisor.delivery import DeliveryProcess
from acud.supervisor.display_notifications import DisplayNotifications
from acud.supervisor.display_registry import DisplayRegistry
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Sources
from acud.supervisor.fresh_frames import FrameRequests, FreshFrameResolver, WindowListReady
from acud.supervisor.host_conditions import ClipboardConditions, HostConditions, ProgramEnds
from acud.supervisor.input_dispatcher import InputDispatcher
from acud.supervisor.journal import Journal
from acud.supervisor.judge_metrics import JudgeMetrics
from acud.supervisor.live_watches import LiveWatches
from acud.supervisor.observers import Order
from acud.supervisor.ports import FeaturePorts
from acud.supervisor.program_launcher import ProgramLauncher, inherited_environment
from acud.supervisor.publisher import DaemonEvents, Publisher
from acud.supervisor.redaction import Redaction
from acud.supervisor.screenshots import Screenshots
from acud.supervisor.takeovers import Takeovers
from acud.supervisor.terminal_sessions import OwnTerminals, Sessions
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.waits.active_waits import ActiveWaits
from acud.supervisor.waits.judge_selection import JudgeSelection
from acud.supervisor.waits.last_pictures import LastPictures
from acud.supervisor.waits.service import Waits
from acud.supervisor.waits.wait_runtime import WaitRuntime
from acud.supervisor.wakes import Wakes
from acud.supervisor.watched_displays import WatchedDisplays
from acud.supervisor.web import ListenerSockets, Web
from acud.types import Evidence, WaitInfo

RedactionMaker = Callable[[Settings, WatchedDisplays, Sources], Redaction]
_FPS_PER_CORE = 150.0
"""Half a core: a frame costs 3.3 ms of one (`scripts/bench displays`); painting programs need the rest."""


def _limit_total_fps(settings: CaptureSettings) -> float:
    return settings.max_total_fps or _FPS_PER_CORE * len(os.sched_getaffinity(0))


class Core(ABC):
    """The parts that a feature may use. It takes those that it needs once, when it starts."""

    def __init__(
        self,
        settings: Settings,
        paths: Paths,
        clock: Clock,
        env: Mapping[str, str],
        log_file: IO[bytes],
        sockets: dict[str, socket.socket],
        redaction: RedactionMaker,
    ) -> None:
        self.settings, self.paths, self.clock = settings, paths, clock
        self._env = env
        self.started = clock.instant()
        self.server_start = secrets.token_hex(4)
        self.notifier = SystemdNotifier(env)
        self.keys = api_keys.read_all(settings.backends, env)
        self.turns_s = Histogram(QUICK_S)
        self.loop = EventLoop(clock.monotonic_s, self._after_turn, self.turns_s.observe)
        self.listeners = ListenerSockets(sockets, paths.handover, self.loop, self.notifier)
        self._context: zmq.Context[Any] = zmq.Context()
        self.store = Store(paths.database, paths.evidence, settings.store, self.started.utc_s)
        self.journal = Journal(self.store, self.loop, clock)
        self.publisher = Publisher(paths.run / "events", self.loop, clock, self.journal)
        self.daemon_events = DaemonEvents(self.journal, self.publisher, clock)
        self.usage_log = UsageLog(self.journal, clock)
        self.faults = FaultGuard()
        self.ports = FeaturePorts()
        self.active_waits = ActiveWaits()
        self._wire_children(log_file, env, redaction)
        self._wire_deliveries()
        self._wire_views()

    @abstractmethod
    def _after_turn(self) -> None:
        """Send jobs, commit, then send replies and events; called at the end of each turn of the loop."""

    def _wire_children(self, log_file: IO[bytes], env: Mapping[str, str], redaction: RedactionMaker) -> None:
        settings, paths, loop = self.settings, self.paths, self.loop
        children = self._bind_children()
        endpoint = paths.endpoint("children")
        self.keeper = ChildKeeper(
            children, loop, settings.daemon, log_file, endpoint, forks=True, known_pids=self.display_pids
        )
        grabbed = settings.capture
        self.sources = Sources(
            paths.shm, grabbed.slots, self.clock, _limit_total_fps(grabbed), self.server_start, grabbed.max_megapixels
        )
        events = self.daemon_events
        self.watched_displays = WatchedDisplays(self.keeper, self.sources, loop, settings, paths, events)
        self.redaction = redaction(settings, self.watched_displays, self.sources)
        input_dispatcher = self.input_dispatcher = InputDispatcher(self.watched_displays, loop)
        self.takeovers = Takeovers(self.journal, loop, self.clock, input_dispatcher, self.watched_displays)
        self.notifications = DisplayNotifications(
            self.journal, loop, self.clock, self.redaction, is_enabled=settings.display.notifications
        )
        self.watched_displays.removed.add(self.notifications.forget, Order.CORE)
        self.displays = DisplayRegistry(
            self.watched_displays,
            self.notifications,
            self.journal,
            loop,
            self.clock,
            paths,
            settings,
            env,
            takeovers=self.takeovers,
            active_waits=self.active_waits,
        )
        self.judge_metrics = JudgeMetrics()
        self.pool = EvaluatorPool(
            self.keeper,
            loop,
            settings,
            paths,
            len(os.sched_getaffinity(0)),
            self.keys,
            events=events,
            judge_metrics=self.judge_metrics,
            sources=self.sources,
            watched_displays=self.watched_displays,
        )

    def _wire_deliveries(self) -> None:
        settings, loop = self.settings, self.loop
        self.delivery = DeliveryProcess(self.keeper, loop, settings, self.daemon_events)
        self.wakes = Wakes(self.journal, loop, self.clock, settings, self.delivery, self.redaction)
        self.access_tokens = AccessTokens(self.journal, self.clock, settings.web.session_days)
        self.web = Web(
            self.keeper, loop, settings, self.paths.home, self.listeners, self._end_sessions, self.daemon_events
        )

    def _wire_views(self) -> None:
        managed, log_path = self.displays.managed, self.paths.programs_log
        inherited = inherited_environment(self._env, self.settings.display.environment)
        self.program_launcher = ProgramLauncher(self.loop, inherited, managed, log_path)
        self.terminals = OwnTerminals(self.loop, self.paths.terminals_socket, self.settings.pty, inherited)
        self.host_conditions = HostConditions(
            self.loop,
            self.clock,
            self._env.get("HOME", "/nonexistent"),
            self.settings.host_conditions.paths,
            ProgramEnds(self.program_launcher, self.terminals),
            self.notifications,
            ClipboardConditions(self.watched_displays, self.clock, self.redaction),
        )
        self.sessions = Sessions(self.loop, self.settings.pty, self._env, self.paths.terminals_socket)
        self.wait_runtime = WaitRuntime(
            self.journal,
            self.loop,
            self.clock,
            self.settings,
            self.pool,
            self.watched_displays,
            self.sources,
            self.wakes,
            self.sessions,
            self.host_conditions,
            self.redaction,
            self.usage_log,
            self.active_waits,
            JudgeSelection(self.settings, self.pool, self.keys),
        )
        last_pictures = LastPictures(self.pool, self.sources, self.redaction, self.loop)
        self.waits = Waits(
            self.wait_runtime,
            self.wakes,
            last_pictures,
            self.journal,
            self.loop,
            self.clock,
            self.settings,
            self.host_conditions,
        )
        self.frame_requests = FrameRequests(self.sources, self.loop)
        self.screenshots = Screenshots(
            self.pool, self.paths.spool, self.waits.targets, self.sources, self.redaction, self.loop
        )
        self.window_list_ready = WindowListReady(self.watched_displays, self.loop)
        self.fresh_frames = FreshFrameResolver(
            self.displays,
            self.watched_displays,
            self.sources,
            self.frame_requests,
            self.loop,
            self.sessions,
            self.window_list_ready,
        )
        self.live_watches = LiveWatches(self.sources, self.redaction, self.loop, self.clock, self.publisher)
        self.pool.judges_changed.add(self.wait_runtime.judges_changed, Order.WAITS)
        self.watched_displays.gone.add(self.waits.display_gone, Order.WAITS)
        self.watched_displays.removed.add(self.waits.display_removed, Order.WAITS)

    def _bind_children(self) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
        socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_MESSAGE_BYTES)
        socket.setsockopt(zmq.LINGER, 500)
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a child reports its fault over a second socket of its name
        socket.bind(self.paths.endpoint("children"))
        (self.paths.run / "children").chmod(0o600)
        return socket

    # ---- for other parts ---------------------------------------------------------------------------------------------

    def utc_s(self) -> float:
        """Return the time of day, in seconds since 1970."""
        return self.clock.instant().utc_s

    def display_pids(self) -> set[int]:
        """Return the processes of managed displays, and those that were launched on displays."""
        displays = {process.pid for display in self.displays.managed.living for process in display.watched_processes}
        return displays.union(self.program_launcher.pids)

    def stage_paths(self, info: WaitInfo) -> tuple[str, ...]:
        return tuple(self.evidence_path(stage.evidence) for stage in info.stages)

    def evidence_path(self, evidence: Evidence | None) -> str:
        """Return the path of the wait's picture, "" for none."""
        return str(self.paths.evidence / evidence.name) if evidence and evidence.name else ""

    def _end_sessions(self) -> None:
        self.journal.keep(self._revoke_sessions)

    def _revoke_sessions(self) -> None:
        self.access_tokens.revoke("", "session")
