"""The parts of a running supervisor, wired; it decides nothing."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO, Any

import zmq

from acud import api_keys, log
from acud.clock import Clock
from acud.config import CaptureSettings, Settings
from acud.event_loop import EventLoop
from acud.features.actions.supervisor.action_sequence import ActionPorts
from acud.features.agent.supervisor.driver import InstructionStarter, Tools
from acud.features.agent.supervisor.service import Agents
from acud.features.commentary.supervisor.wiring import wired
from acud.features.fleet.supervisor import Fleet
from acud.features.grounding.supervisor import ElementSearch
from acud.features.notifications.supervisor.desktop_notifications import DesktopNotifications
from acud.features.notifications.supervisor.web_push import WebPush, key_pair
from acud.features.recording.supervisor.retention import RecordingRetention
from acud.features.recording.supervisor.service import RecordingService
from acud.features.redaction.supervisor import RedactionPolicy
from acud.features.scene.supervisor.annotations import SceneAnnotations
from acud.features.scene.supervisor.display_elements import ReservedNumbers
from acud.features.scene.supervisor.element_locator import ElementLocator
from acud.features.scene.supervisor.service import Scenes
from acud.features.scene.supervisor.subscriptions import SceneSubscriptions
from acud.features.tasks.supervisor.service import Tasks
from acud.features.tasks.supervisor.task_log import TaskLog
from acud.features.tasks.supervisor.upkeep import DeletedTaskCleanup, StuckAlarms
from acud.metrics.catalogue import QUICK_S
from acud.metrics.tallies import Histogram
from acud.paths import Paths
from acud.protocol import codec
from acud.protocol.events import Event
from acud.store import Store
from acud.supervisor.access_tokens import AccessTokens
from acud.supervisor.children import ChildKeeper
from acud.supervisor.control import Control
from acud.supervisor.daemon_events import DaemonEvents
from acud.supervisor.delivery import DeliveryProcess
from acud.supervisor.display_registry import DisplayRegistry
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_requests import FrameRequests
from acud.supervisor.fresh_frames import FreshFrameResolver
from acud.supervisor.input_dispatcher import InputDispatcher
from acud.supervisor.journal import Journal
from acud.supervisor.listeners import ListenerSockets
from acud.supervisor.live_watches import LiveWatches
from acud.supervisor.maintenance import Upkeep
from acud.supervisor.maintenance.drain import Drain
from acud.supervisor.metrics.judges import JudgeMetrics
from acud.supervisor.observers import Order
from acud.supervisor.orphaned_rings import KEEP_S
from acud.supervisor.program_launcher import ProgramLauncher, inherited_environment
from acud.supervisor.publisher import Publisher
from acud.supervisor.request_digest import RequestDigest
from acud.supervisor.screenshots import Differences, Screenshots
from acud.supervisor.sessions import Sessions
from acud.supervisor.sources import Sources
from acud.supervisor.systemd_notify import SystemdNotifier
from acud.supervisor.takeovers import Takeovers
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.waits.service import EndPolls, Waits
from acud.supervisor.waits.wait_runtime import WaitRuntime
from acud.supervisor.wakes import Wakes
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.supervisor.web import Web
from acud.supervisor.window_list_ready import WindowListReady
from acud.types import WaitInfo

_LOG = log.logger("supervisor")
_END_DEADLINE_S = 10.0
_FPS_PER_CORE = 150.0
"""Half a core: a frame takes 3.3 ms of one in all (`scripts/bench displays`), programs that paint want the rest."""
_PASSES = 16
"""How often one turn may go round: effects of a commit may themselves write (a wait armed and resolved at once)."""


def _total_fps(settings: CaptureSettings) -> float:
    return settings.max_total_fps or _FPS_PER_CORE * len(os.sched_getaffinity(0))


def _turn() -> None:
    """Do nothing: the turn's end is what is wanted."""


class App:
    """Every part of one supervisor. Made once; `start`, then `loop.run`, then `close`."""

    def __init__(
        self,
        settings: Settings,
        paths: Paths,
        clock: Clock,
        env: Mapping[str, str],
        log_file: IO[bytes],
        inherited: dict[str, socket.socket],
        handlers: Mapping[str, Any],
        instruction_starter: Callable[[App], InstructionStarter],
    ) -> None:
        """`handlers`: by the request's name. `instruction_starter` makes what does one thing in words for a run of the
        agent; both need the whole app.
        """
        self.settings, self.paths, self.clock = settings, paths, clock
        self._env = env
        self.started = clock.instant()
        self.server_start = secrets.token_hex(4)
        self.notifier = SystemdNotifier(env)
        self.keys = api_keys.read_all(settings.backends(), env)
        self.turns_s = Histogram(QUICK_S)
        self.loop = EventLoop(clock.monotonic_s, self._after_turn, self.turns_s.observe)
        self.listeners = ListenerSockets(inherited, paths.handover, self.loop, self.notifier)
        self._context: zmq.Context[Any] = zmq.Context()
        self.store = Store(paths.database, paths.evidence, settings.store, self.started.utc_s)
        self.publisher = Publisher(paths.run / "events", self.loop, self._utc_s, self._newest)
        self.journal = Journal(self.store, self.loop, self._utc_s, self._tell)
        self.daemon_events = DaemonEvents(self.journal, self.publisher, self._utc_s)
        self.usage_log = UsageLog(self.journal, self._utc_s)
        self._wire_children(log_file, env)
        self._wire_views(handlers)
        self._wire_recordings()
        self._wire_actions(env, instruction_starter(self))
        self.upkeep = Upkeep(self)
        self._newest_told = self.store.events.newest()

    def _wire_children(self, log_file: IO[bytes], env: Mapping[str, str]) -> None:
        settings, paths, loop, now = self.settings, self.paths, self.loop, self.clock.monotonic_s
        children = self._bind_children()
        endpoint = paths.endpoint("children")
        self.keeper = ChildKeeper(
            children, loop, now, settings.daemon, log_file, endpoint, forks=True, known_pids=self._display_pids
        )
        grabbed = settings.capture
        self.sources = Sources(
            paths.shm, grabbed.slots, now, _total_fps(grabbed), self.server_start, grabbed.max_megapixels
        )
        self.watched_displays = WatchedDisplays(
            self.keeper,
            self.sources,
            loop,
            settings,
            paths,
            self.daemon_events.screen_changed,
            self.daemon_events.child_ended,
        )
        input_dispatcher = self.input_dispatcher = InputDispatcher(self.watched_displays, loop)
        self.takeovers = Takeovers(self.journal, loop, self.clock, input_dispatcher, self.watched_displays)
        self.displays = DisplayRegistry(
            self.watched_displays,
            self.journal,
            loop,
            self.clock,
            paths,
            settings,
            env,
            taken=self.takeovers.of,
            wanted_names=self._names_waited_for,
        )
        self.judge_metrics = JudgeMetrics()
        self.pool = EvaluatorPool(
            self.keeper,
            loop,
            now,
            settings,
            paths,
            len(os.sched_getaffinity(0)),
            self.keys,
            on_judges_changed=self._judges_changed,
            on_worker_ended=self.daemon_events.child_ended,
            on_result=self.judge_metrics.heard,
            believes=self.sources.believes,
            blame=self.watched_displays.blame,
        )
        push_keys = key_pair(settings.notify, paths)
        self.delivery = DeliveryProcess(self.keeper, loop, now, settings, push_keys[0], self.daemon_events.child_ended)
        self.redaction = RedactionPolicy(settings.redaction, self.watched_displays, self.sources)
        self.wakes = Wakes(self.journal, loop, self.clock, settings, self.delivery, self.redaction.quoted)
        self.desktop_notifications = DesktopNotifications(
            self.delivery, loop, now, settings.notify, self.redaction.written
        )
        self.web_push = WebPush(
            self.journal, self.delivery, loop, (self._utc_s, now), settings.notify, push_keys, self.redaction.written
        )
        self.access_tokens = AccessTokens(self.journal, self._utc_s, settings.web.session_days)
        self.web = Web(
            self.keeper, loop, settings, paths.home, self.listeners, self._end_sessions, self.daemon_events.child_ended
        )
        self.fleet = Fleet(self.keeper, loop, settings, paths.home, self.delivery, self.daemon_events.child_ended)

    def _wire_views(self, handlers: Mapping[str, Any]) -> None:
        self.sessions = Sessions(self.loop, self.clock.monotonic_s, self.settings.pty, self._env)
        self.task_log = TaskLog(self.journal, self._utc_s, self.clock.monotonic_s)
        polls = EndPolls(self.loop, self.clock, self.wakes)
        # Waits are told of a frame before those who asked for it: a baseline on that frame must know what it changed.
        self.wait_runtime = WaitRuntime(
            self.journal,
            self.loop,
            self.clock,
            self.settings,
            self.pool,
            self.watched_displays,
            self.sources,
            self.paths.evidence,
            self.wakes,
            self.sessions,
            self.redaction,
            self.usage_log,
            self.keys,
            self.task_log.wait_recorded,
            polls.ended,
        )
        self.waits = Waits(self.wait_runtime, polls, self.journal, self.loop, self.clock, self.settings)
        self.frame_requests = FrameRequests(self.sources, self.loop)
        token = self.waits.targets.token
        self.screenshots = Screenshots(
            self.pool, self.paths.spool, token, self.sources.age_s, self.redaction, self.loop
        )
        self._wire_scenes()
        self.differences = Differences(self.pool, self.paths.spool)
        self.element_search = ElementSearch(self.pool, self.redaction, self.settings, self.elements, self.usage_log)
        self.stuck_alarms = StuckAlarms(
            self.journal, self.loop, self.clock, self.waits, self.settings.tasks, self.wakes.stuck
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

        limit, request_digest = self.settings.daemon.max_parked_replies, RequestDigest(self.paths.request_key)
        self.drain = Drain(self)
        self.control = Control(
            self.paths.run / "control",
            self.loop,
            self.journal,
            limit,
            self._utc_s,
            request_digest,
            {name: partial(handler, self) for name, handler in handlers.items()},
            self.drain.admit,
        )

    def _wire_scenes(self) -> None:
        numbers = ReservedNumbers(self.journal)
        self.annotations = SceneAnnotations(
            self.waits.targets, numbers, self.pool, self.redaction, self.settings, self.usage_log
        )
        displays = (self.pool, self.redaction, self.watched_displays, self.watched_displays.numbered)
        self.commentary, reading = wired(self.settings, self.journal, self.usage_log, self.loop, self.clock, *displays)
        self.scenes = Scenes(
            self.pool,
            self.watched_displays,
            self.sources,
            self.frame_requests,
            self.displays,
            self.redaction,
            self.journal,
            self.clock,
            self.settings.scene,
            self._display_pids,
            numbers,
            self.annotations,
            (self.daemon_events.scene_made, reading.shown),
        )
        self.subscriptions = SceneSubscriptions(
            self.scenes, self.watched_displays, self.sources, self.loop, self.settings.scene, self.clock.monotonic_s
        )
        self.live_watches = LiveWatches(
            self.watched_displays,
            self.sources,
            self.redaction,
            self.loop,
            self.clock.monotonic_s,
            self._utc_s,
            self.publisher.tell,
        )
        self.watched_displays.gone.add(self.waits.display_gone, Order.WAITS)
        self.watched_displays.removed.add(self.annotations.forget, Order.FEATURES)
        self.watched_displays.removed.add(reading.forget, Order.FEATURES)
        self.watched_displays.removed.add(self.waits.display_removed, Order.WAITS)
        self.elements = ElementLocator(self.scenes, self.watched_displays.numbered, self._follow_windows)

    def _follow_windows(self, screen: WatchedDisplay) -> None:
        self.watched_displays.follow(screen, "handles", (0,))  # no window's own pixels, but its place before each frame

    def _wire_recordings(self) -> None:
        self.recordings = RecordingService(
            self.keeper,
            self.sources,
            self.frame_requests,
            self.loop,
            self.journal,
            self._utc_s,
            self.watched_displays,
            self.settings,
            self.paths,
            self.daemon_events.child_ended,
        )
        self.task_cleanup = DeletedTaskCleanup(self.journal, self.loop)
        self.recording_retention = RecordingRetention(
            self.recordings, self.journal, self.loop, self._utc_s, self.settings.recording
        )

    def _wire_actions(self, env: Mapping[str, str], do_instruction: InstructionStarter) -> None:
        managed, log_path = self.displays.managed, self.paths.programs_log
        given = (managed.living_by_name, log_path, managed.resources.check_room)
        self.program_launcher = ProgramLauncher(self.loop, self._inherited(env), *given)
        self.tools = Tools(
            self.loop,
            self.clock.monotonic_s,
            self.settings,
            self.fresh_frames,
            self.pool,
            self.waits,
            self.redaction,
            self.usage_log,
            do_instruction,
        )
        self.agents = Agents(self.tools, self.journal, self._utc_s, self.task_log, self.wakes)
        self.takeovers.taken.add(self.agents.taken, Order.FEATURES)
        self.tasks = Tasks(
            self.journal,
            self._utc_s,
            self.waits,
            self.displays,
            self.watched_displays,
            on_begun=self.recordings.begin_task,
            on_stopped=self.agents.end_task,
            on_ended=self.recordings.end_task,
            on_deleted=self.recordings.delete_task,
            on_forgotten=self.task_cleanup.soon,
        )
        self.action_ports = ActionPorts(
            self.loop,
            self.sources,
            self.input_dispatcher,
            self.takeovers,
            self.program_launcher,
            self.waits,
            self.elements,
            self.window_list_ready,
        )

    def _bind_children(self) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
        socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_MESSAGE_BYTES)
        socket.setsockopt(zmq.LINGER, 500)
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a child's last words come over a second socket of its name
        socket.bind(self.paths.endpoint("children"))
        (self.paths.run / "children").chmod(0o600)
        return socket

    # ---- life ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take up what a former supervisor left, start the children, and answer requests."""
        self.store.evidence.sweep()
        self.task_cleanup.soon()
        self.displays.resume()
        self.takeovers.resume()
        if self.settings.wake.routes or self.settings.notify.wanted:
            self.delivery.start()
        self.wakes.resume()
        self.tasks.hold_paused()
        self.waits.resume()
        for name, reason in self.displays.lost:
            self.waits.display_gone(name, reason)
        self.agents.resume()
        self.tasks.sweep()
        self.recordings.resume()
        self.recording_retention.start()
        self.stuck_alarms.start()
        self.commentary.start()
        self.pool.start()
        self.web.start()
        self.listeners.start()
        self.fleet.start()
        self.upkeep.retention.go()
        self.loop.call_later(KEEP_S, self.sources.orphaned_rings.clear)
        self._tell_loss()
        self.journal.keep(lambda: self.journal.event("daemon.started", "daemon", pid=os.getpid()))
        self._after_turn()
        self.notifier.ready("answering requests")
        if self.notifier.watchdog_s:
            self._feed()
        _LOG.info("daemon.ready", pid=os.getpid(), home=str(self.paths.home))

    def _tell_loss(self) -> None:
        lost = self.store.lost
        if lost is None:
            return
        told = {
            "reason": lost.loss.reason,
            "commits": lost.loss.commits,
            "pages": lost.loss.frames,
            "folder": lost.folder,
        }
        _LOG.error("store.damaged", **told)
        self.journal.keep(lambda: self.journal.event("store.damaged", "store", **told))

    def end(self, *, keep_displays: bool) -> None:
        """End in good order: deliveries, children, then the managed displays (or leave those for a successor)."""
        self.notifier.stopping()
        _LOG.info("daemon.stopping", keep_displays=keep_displays)
        self.delivery.settle(lambda: self._end_others(keep_displays))
        self.loop.call_later(_END_DEADLINE_S, self.loop.stop)

    def _end_others(self, keep_displays: bool) -> None:
        for child in list(self.keeper.slots.values()):
            self.keeper.stop(child)
        if keep_displays:
            self.loop.call_later(0.0, self._release)
        else:
            self.displays.managed.end_all(self._displays_ended)

    def _release(self) -> None:
        self.displays.managed.release()
        self.loop.stop()

    def _displays_ended(self) -> None:
        self.displays.all_ended()
        self.loop.call_later(0.0, self.loop.stop)

    def close(self) -> None:
        """Kill what is left of the children and let go of store and sockets."""
        try:
            self._after_turn()
        finally:
            self.keeper.kill_all()
            self.listeners.close()
            self.store.close()
            self.control.server.shut()
            self.publisher.server.shut()
            self._context.destroy(linger=500)

    # ---- the end of a turn -----------------------------------------------------------------------------------------

    def _after_turn(self) -> None:
        """Send jobs, commit, then let replies and events leave; until nothing more follows from that."""
        for _ in range(_PASSES):
            self.pool.dispatch()
            self.sources.flush()
            fault = self.journal.end_turn()
            if fault is not None:
                self.control.flush_failed(self._newest_told, fault)
            if not self.journal.dirty and not self.pool.sendable:
                break
        self._newest_told = self.journal.newest
        self.control.flush(self._newest_told)
        if self.journal.dirty:
            self.loop.call_later(0.0, _turn)  # a reply that left may itself be worth a record

    def _newest(self) -> int:
        return self._newest_told

    def _utc_s(self) -> float:
        return self.clock.instant().utc_s

    # ---- told ------------------------------------------------------------------------------------------------------

    def evidence_path(self, info: WaitInfo) -> str:
        """Return where the wait's picture lies on this host, "" for none."""
        return str(self.paths.evidence / info.evidence.name) if info.evidence and info.evidence.name else ""

    def _tell(self, event: Event) -> None:
        self.publisher.tell(event)
        self.desktop_notifications.heard(event)
        self.web_push.heard(event)

    # ---- asked by parts that are made before the part that answers ---------------------------------------------------

    def _names_waited_for(self) -> set[str]:
        return self.waits.displays()

    def _judges_changed(self) -> None:
        if self.daemon_events.judges_changed(self.pool.judges()):
            self.wait_runtime.judges_changed()

    def _end_sessions(self) -> None:
        def ended() -> None:
            self.access_tokens.revoke("", "session")

        self.journal.keep(ended)

    def _inherited(self, env: Mapping[str, str]) -> dict[str, str]:
        return inherited_environment(env, self.settings.display.environment)

    def _display_pids(self) -> set[int]:
        displays = {process.pid for display in self.displays.managed.living for process in display.watched()}
        return displays.union(self.program_launcher.pids)

    def _feed(self) -> None:
        self.notifier.alive()
        self.loop.call_later(self.notifier.watchdog_s / 2, self._feed)
