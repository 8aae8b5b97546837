"""The supervisor's child processes: starts, watches, restarts and ends them, and receives their messages."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import IO, Protocol

import msgspec
import zmq

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, ProtocolError
from acud.config import DaemonSettings
from acud.metrics.counters import Tally, Totals
from acud.process.child_process import EXIT_FAULT
from acud.process.event_loop import EventLoop, Timer
from acud.protocol import codec
from acud.protocol.bootstrap import (
    Bootstrap,
    CaptureOptions,
    DeliveryOptions,
    EvaluatorOptions,
    FleetOptions,
    RecorderOptions,
    WebOptions,
)
from acud.protocol.capture import FromCapture
from acud.protocol.children import Fault, FromWeb, Heartbeat, Stop
from acud.protocol.delivery import FromDelivery
from acud.protocol.evaluation import FromEvaluator
from acud.protocol.fleet import FromFleet
from acud.protocol.recordings import FromRecorder
from acud.supervisor.displays.proc_files import measure_queued_s, waits_for_machine
from acud.supervisor.fork_server import KILLED_S, ForkedChild, ForkServer, reap

Message = FromCapture | FromEvaluator | FromDelivery | FromWeb | FromRecorder | FromFleet
Options = CaptureOptions | EvaluatorOptions | DeliveryOptions | WebOptions | RecorderOptions | FleetOptions

MESSAGES = {
    "capture": FromCapture,
    "evaluator": FromEvaluator,
    "relay": FromDelivery,
    "web": FromWeb,
    "recorder": FromRecorder,
    "fleet": FromFleet,
}
"""The messages that each kind of child may send."""


class ChildState(StrEnum):
    """The life of a child slot."""

    STARTING = "starting"
    READY = "ready"
    BACKOFF = "backoff"
    HELD = "held"
    """Not restarted until its owner starts it (a display that is down)."""
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"


class ChildOwner(Protocol):
    """The part of the supervisor that a child works for."""

    def handle_message(self, child: Child, message: Message) -> None:
        """Handle one decoded message. Raises: ProtocolError when it cannot be true; the child is then ended."""

    def child_ended(self, child: Child, reason: str) -> None:
        """Handle the end of the process; `child.fault` is the fault it reported, `child.state` what happens next."""


class Child:
    """One child slot: its module and options, and the process in it now."""

    def __init__(self, name: str, kind: str, module: str, owner: ChildOwner) -> None:
        self.name, self.kind, self.module, self.owner = name, kind, module, owner
        self.options: Options | None = None
        self.passed_fds: tuple[int, ...] = ()  # descriptors of the supervisor that it inherits, under the same numbers
        self.state = ChildState.STOPPED
        self.process: subprocess.Popen[bytes] | ForkedChild | None = None
        self.pidfd = -1
        self.generation = 0
        self.restarts = 0
        self.deaths: deque[float] = deque()
        self.last_beat_s = 0.0  # when it last sent a message
        self.silent_from_s = 0.0
        """From when on its silence counts: an idle child announces how much later its next heartbeat may come."""
        self.queued_from: tuple[float, float] | None = None
        """When its silence was first examined, and how long its threads had waited in the run queue by then."""
        self.unserved_s = 0.0  # for how much of its present silence it waited for a processor
        self.beat: Heartbeat | None = None
        self.totals = Totals()  # the counters of its heartbeats, summed over restarts
        self.fault: Fault | None = None
        self.reason = ""
        self.ending = ""  # why the supervisor killed the present process
        self.is_untrusted = False
        """Whether it sent something impossible: further messages of the present process are ignored."""
        self.timer: Timer | None = None

    @property
    def identity(self) -> bytes:
        """The routing id of the present process; late messages of a dead predecessor carry another."""
        return f"{self.kind}/{self.name}/{self.generation}".encode()

    @property
    def pid(self) -> int:
        """The process id, 0 when none runs."""
        return self.process.pid if self.process is not None else 0


_BACKOFF_FIRST_S = 0.1
_BACKOFF_MAX_S = 10.0
_STOP_DEADLINE_S = 3.0
_CHECK_S = 1.0
_REST_BEAT_S = 5.0
"""Between heartbeats of an idle child, or half of `child_silent_s` if that is less. 18 children at 1 Hz take 1.2 % of a
core, mostly for waking up them and the supervisor."""
_NICE = {"evaluator": 5, "recorder": 5}
_NICE_OTHERS = 2
"""How far children stand behind the supervisor in the run queue, so that no load of theirs delays its deadlines."""
_TURN_S = 0.002  # of receiving messages, so that effects of the first of many are committed before the last is read
_LAST_WORDS = 10_000  # messages of children received at once; a child's queue holds 1,000
_FORKED = {"acud.capture": True, "acud.evaluator": False}
"""Modules with many processes, which are forked from one that has imported everything; and whether that one stays:
captures are needed at once with each display, evaluators all at the start.
"""
_THREADS = {"OPENBLAS_NUM_THREADS": "1"}
"""numpy's OpenBLAS starts a thread for each core on import, in each of our processes; none multiplies matrices. The
environment wins."""
_LOG = log.logger("children")


class ChildKeeper:
    """Owns the `children` socket and every child process.

    `stderr` is the log file that children write to. Nothing here blocks: ends arrive as readable pidfds.
    `forks`: captures and evaluators are forked (`fork_server`); this process must then be a subreaper. `known_pids`: of
    processes that other parts of the supervisor reap.
    """

    def __init__(
        self,
        socket: zmq.Socket[bytes],
        loop: EventLoop,
        settings: DaemonSettings,
        stderr: IO[bytes],
        endpoint: str,
        *,
        forks: bool = False,
        known_pids: Callable[[], set[int]],
    ) -> None:
        self._socket, self._loop = socket, loop
        self._now = loop.now_s
        self._settings, self._stderr, self._endpoint = settings, stderr, endpoint
        self._env = _THREADS | os.environ
        self.forking = {
            module: ForkServer(loop, module, stderr, self._env, settings.child_start_s, stays=stays)
            for module, stays in (_FORKED if forks else {}).items()
        }
        self._children: dict[bytes, Child] = {}
        self._generations = itertools.count(1)
        self.slots: dict[str, Child] = {}
        self.restarts = Tally()  # restarts by kind of child
        self.unsent = Tally()  # messages that could not be sent, by kind of child
        self._known_pids = known_pids
        self.on_absence: list[Callable[[float], None]] = []
        """Called with a time (seconds) in which this process did not run, so that it received no messages."""
        self._checked_s = loop.now_s()
        loop.watch(socket, self._receive_some)
        loop.call_each(_CHECK_S, self._check_silence)

    # ---- life ------------------------------------------------------------------------------------------------------

    def start(self, child: Child, options: Options) -> None:
        """Start `child` with `options`, also in a slot that failed or was held."""
        child.options = options
        self.slots[f"{child.kind}/{child.name}"] = child
        child.deaths.clear()
        self._spawn_process(child)

    def stop(self, child: Child, within_s: float = _STOP_DEADLINE_S) -> None:
        """Ask `child` to end; kill it when it has not ended after `within_s`."""
        self._cancel_timer(child)
        if child.process is None:
            self._forget_child(child)
            return
        child.state = ChildState.STOPPING
        self.send(child, Stop())
        child.timer = self._loop.call_later(within_s, lambda: self._kill_process(child))

    def hold_back(self, child: Child) -> None:
        """Do not restart `child` when it ends, nor while it waits for a restart."""
        self._cancel_timer(child)
        child.state = ChildState.HELD

    def kill(self, child: Child, reason: str) -> None:
        """Kill a child that hangs or misbehaves; it is restarted like a child that died."""
        child.ending = reason
        self._kill_process(child)

    def kill_all(self) -> None:
        """Kill and reap every child now, at the supervisor's end."""
        for server in self.forking.values():
            server.close()
        for child in list(self.slots.values()):
            self._cancel_timer(child)
            if child.process is not None:
                child.process.kill()
                reap(child.process, KILLED_S)
                self._close_process(child)

    def send(self, child: Child, message: msgspec.Struct) -> bool:
        """Send `message` without blocking; False when the child is not there or its queue is full."""
        try:
            self._socket.send_multipart([child.identity, codec.encode(message)], zmq.NOBLOCK)
        except zmq.ZMQError as fault:  # EHOSTUNREACH (ROUTER_MANDATORY) or EAGAIN
            self.unsent.add(child.kind)
            _LOG.debug("child.unsent", child=child.name, message=type(message).__name__, errno=fault.errno)
            return False
        child.silent_from_s = min(child.silent_from_s, self._now())  # it is idle no more
        return True

    # ---- messages --------------------------------------------------------------------------------------------------

    def _receive_some(self) -> None:
        self.receive_all(_TURN_S)

    def receive_all(self, most_s: float = math.inf) -> bool:
        """Receive the children's messages for `most_s` seconds; return False when there are more. Silence is judged
        only after this: messages that came while this process was busy count.
        """
        until_s = self._now() + most_s
        for _ in range(_LAST_WORDS):
            if self._now() > until_s:
                return False
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return True
            child = self._children.get(parts[0])
            if child is not None and len(parts) == 2 and not child.is_untrusted:
                self._handle_message(child, parts[1])
        return False

    def _handle_message(self, child: Child, data: bytes) -> None:
        try:
            message: Message = codec.decode(data, MESSAGES[child.kind])  # type: ignore[arg-type]  # a union is a type
        except InvalidRequest as fault:
            self._end_untrusted(child, fault)
            return
        child.last_beat_s = child.silent_from_s = self._now()
        if isinstance(message, Heartbeat):
            child.silent_from_s += message.rests_s
            child.beat = message
            child.totals.note_counters(message.counters)
        elif isinstance(message, Fault):
            child.fault = message
        if child.state is ChildState.STARTING:
            child.state = ChildState.READY
        try:
            child.owner.handle_message(child, message)
        except ProtocolError as fault:
            self._end_untrusted(child, fault)

    def _end_untrusted(self, child: Child, fault: AcudError) -> None:
        """Kill a child that sent something impossible, and ignore its further messages; it is then restarted."""
        child.is_untrusted = True
        _LOG.warning("child.malformed", child=child.name, fault=fault.message)
        self.kill(child, f"it said what cannot be and was killed: {fault.message}")

    # ---- spawn, death, restart -------------------------------------------------------------------------------------

    def _spawn_process(self, child: Child) -> None:
        assert child.options is not None
        child.timer = None
        # Counted over all children: a removed display's capture may still be ending when its name is used again.
        child.generation = next(self._generations)
        child.fault = None
        child.ending, child.is_untrusted = "", False
        child.beat, child.queued_from = None, None
        child.totals.restart()
        child.state = ChildState.STARTING
        child.last_beat_s = child.silent_from_s = self._now()
        self._children[child.identity] = child
        if not self._fork_process(child):
            self._begin_process(child)

    def _fork_process(self, child: Child) -> bool:
        server, generation = self.forking.get(child.module), child.generation
        if server is None:
            return False
        return server.fork(self._build_bootstrap(child), lambda pid: self._on_born(child, generation, pid))

    def _on_born(self, child: Child, generation: int, pid: int) -> None:
        wanted = child.generation == generation and child.state is not ChildState.STOPPED
        if wanted:
            self._begin_process(child, pid)
        elif pid:
            ForkedChild(pid).kill()  # it was stopped before it was forked; it is reaped with the orphans

    def _begin_process(self, child: Child, forked_pid: int = 0) -> None:
        """Watch the forked process, or execute one; a refusal (no more processes or descriptors) counts as a death."""
        try:
            if forked_pid:
                self._watch_process(child, ForkedChild(forked_pid))
            else:
                self._execute_process(child)
        except OSError as fault:
            reason, generation = f"it could not be started: {fault.strerror or fault}", child.generation
            # Later: the caller has not finished its own bookkeeping for the child yet.
            child.timer = self._loop.call_later(0.0, lambda: self._on_start_failed(child, generation, reason))

    def _on_start_failed(self, child: Child, generation: int, reason: str) -> None:
        if child.generation == generation:
            child.timer = None
            self._children.pop(child.identity, None)
            self._handle_end(child, reason)

    def _execute_process(self, child: Child) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", child.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            env=self._env,
            pass_fds=child.passed_fds,
        )
        self._watch_process(child, process)
        assert process.stdin is not None
        try:
            # A few kilobytes: less than a pipe holds, so this cannot block (pipe(7)).
            process.stdin.write(self._build_bootstrap(child))
            process.stdin.close()
        except BrokenPipeError:
            _LOG.warning("child.died_at_birth", child=child.name)

    def _watch_process(self, child: Child, process: subprocess.Popen[bytes] | ForkedChild) -> None:
        try:
            pidfd = os.pidfd_open(process.pid)
        except OSError:
            process.kill()
            reap(process, KILLED_S)
            raise
        child.process, child.pidfd = process, pidfd
        # The time to start counts from now, however long the fork took.
        child.last_beat_s = child.silent_from_s = self._now()
        self._loop.watch(child.pidfd, lambda: self._on_exit(child))

    def _build_bootstrap(self, child: Child) -> bytes:
        assert child.options is not None
        bootstrap = Bootstrap(
            endpoint=self._endpoint,
            identity=child.identity.decode(),
            parent_pid=os.getpid(),
            heartbeat_s=self._settings.heartbeat_s,
            nice=_NICE.get(child.kind, _NICE_OTHERS),
            rests_s=max(0.0, min(_REST_BEAT_S, self._settings.child_silent_s / 2) - self._settings.heartbeat_s),
            debug=self._settings.debug,
            options=child.options,
        )
        return codec.encode(bootstrap)

    def _on_exit(self, child: Child) -> None:
        assert child.process is not None
        code = reap(child.process)
        self.receive_all()  # its last messages may still be queued
        self._close_process(child)
        reported = child.fault.message if child.fault is not None else ""
        self._handle_end(child, child.ending or reported or _describe_end(code))

    def _handle_end(self, child: Child, reason: str) -> None:
        child.reason = reason
        wanted = child.state not in (ChildState.STOPPING, ChildState.STOPPED, ChildState.HELD)
        if wanted:
            self._plan_restart(child)
        elif child.state is ChildState.STOPPING:
            self._cancel_timer(child)
            self._forget_child(child)
        log_end = _LOG.warning if wanted else _LOG.info
        log_end("child.ended", child=child.name, reason=reason)
        child.owner.child_ended(child, reason)

    def _close_process(self, child: Child) -> None:
        self._children.pop(child.identity, None)
        self._loop.unwatch(child.pidfd)
        os.close(child.pidfd)
        child.pidfd, child.process = -1, None

    def _forget_child(self, child: Child) -> None:
        child.state = ChildState.STOPPED
        self._children.pop(child.identity, None)
        slot = f"{child.kind}/{child.name}"
        if self.slots.get(slot) is child:
            del self.slots[slot]

    def _plan_restart(self, child: Child) -> None:
        now = self._now()
        child.deaths.append(now)
        while child.deaths and child.deaths[0] < now - self._settings.restart_window_s:
            child.deaths.popleft()
        if len(child.deaths) > self._settings.restart_limit:
            child.state = ChildState.FAILED
            return
        child.restarts += 1
        self.restarts.add(child.kind)
        child.state = ChildState.BACKOFF
        delay_s = min(_BACKOFF_MAX_S, _BACKOFF_FIRST_S * 2.0 ** (len(child.deaths) - 1))
        child.timer = self._loop.call_later(delay_s, lambda: self._spawn_process(child))

    def _check_silence(self) -> None:
        self._discount_absence()
        if not self.receive_all():
            return  # with messages left unread, silence cannot be judged yet
        for child in list(self.slots.values()):
            if child.process is None or child.ending:
                continue  # a killed child keeps the reason given when it was killed
            silent_s = self._now() - child.last_beat_s
            self._measure_unserved(child, silent_s)
            if silent_s - child.unserved_s > self.patience_s(child) and not self._is_excused(child):
                _LOG.warning("child.silent", child=child.name, silent_s=round(silent_s, 1))
                self.kill(child, f"it was silent for {silent_s:.0f} s and was killed")
        self._reap_orphans()

    def _measure_unserved(self, child: Child, silent_s: float) -> None:
        """Measure for how much of its silence `child` waited in the run queue. Begins after half of its patience, so
        that healthy children cost nothing.
        """
        now_s = self._now()
        if silent_s < self.patience_s(child) / 2:
            child.queued_from, child.unserved_s = None, 0.0
            return
        queued_s = measure_queued_s(child.pid)
        from_s, before_s = child.queued_from = child.queued_from or (now_s, queued_s)
        child.unserved_s = max(0.0, min(queued_s - before_s, now_s - from_s))

    def _is_excused(self, child: Child) -> bool:
        """Return whether an idle `child` is late only as it waits for a processor: a loaded machine, no hung child."""
        late_s = self._now() - child.silent_from_s
        return late_s <= self.patience_s(child) and waits_for_machine(child.pid)

    def _discount_absence(self) -> None:
        """Do not count time in which the machine or the daemon stood still as silence."""
        now_s = self._now()
        away_s, self._checked_s = now_s - self._checked_s - _CHECK_S, now_s
        if away_s < _CHECK_S:
            return
        _LOG.warning("supervisor.away", seconds=round(away_s, 1))
        for child in self.slots.values():
            child.last_beat_s = min(now_s, child.last_beat_s + away_s)
            child.silent_from_s = max(child.silent_from_s, min(now_s, child.silent_from_s + away_s))
        for observer in self.on_absence:
            observer(away_s)

    def patience_s(self, child: Child) -> float:
        """Return for how long `child` may be silent; a starting one has its own deadline."""
        is_starting = child.state is ChildState.STARTING
        return self._settings.child_start_s if is_starting else self._settings.child_silent_s

    def _reap_orphans(self) -> None:
        # We are a subreaper and inherit helpers of dead session buses. Peek first, so that no Popen loses its status.
        if any(server.has_pending for server in self.forking.values()):
            return  # a forked child may have ended before its pid is known
        # Not the slots: of two children of one name, one may still be ending.
        ours = {child.pid for child in self._children.values()} | self._known_pids()
        ours |= {server.pid for server in self.forking.values()}
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if found is None or found.si_pid in ours:
                return
            os.waitpid(found.si_pid, os.WNOHANG)

    def _kill_process(self, child: Child) -> None:
        if child.process is not None:
            child.process.kill()

    def _cancel_timer(self, child: Child) -> None:
        if child.timer is not None:
            child.timer.cancel()
            child.timer = None


def _describe_end(code: int | None) -> str:
    if code is None:
        return "ended, traced by another process, which holds its status"
    if code < 0:
        return f"killed by signal {-code}"
    if code == EXIT_FAULT:
        return "ended with a fault it could not report"
    return f"exit code {code}, see the log"
