"""One child slot of the supervisor: what it is, what it may say, and the process that fills it now."""

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
from acud.supervisor.displays.processes import measure_queued_s, waits_for_machine
from acud.supervisor.fork_server import KILLED_S, ForkedChild, ForkServer, reap

Message = FromCapture | FromEvaluator | FromDelivery | FromWeb | FromRecorder | FromFleet
Options = CaptureOptions | EvaluatorOptions | DeliveryOptions | WebOptions | RecorderOptions | FleetOptions

SAYS = {
    "capture": FromCapture,
    "evaluator": FromEvaluator,
    "relay": FromDelivery,
    "web": FromWeb,
    "recorder": FromRecorder,
    "fleet": FromFleet,
}
"""What each kind of child may say."""


class ChildState(StrEnum):
    """The life of a child slot."""

    STARTING = "starting"
    READY = "ready"
    BACKOFF = "backoff"
    HELD = "held"
    """Not restarted until its owner says so (a display that is down)."""
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"


class ChildOwner(Protocol):
    """Who a child works for."""

    def child_said(self, child: Child, message: Message) -> None:
        """Handle one decoded message. Raises: ProtocolError when it cannot be true; its sender is then ended."""
        ...

    def child_ended(self, child: Child, reason: str) -> None:
        """Learn that the process is gone; `child.fault` holds its last words, `child.state` what happens next."""
        ...


class Child:
    """One child slot: its module and options, and the process that fills it now."""

    def __init__(self, name: str, kind: str, module: str, owner: ChildOwner) -> None:
        self.name = name
        self.kind = kind
        self.module = module
        self.owner = owner
        self.options: Options | None = None
        self.passed_fds: tuple[int, ...] = ()
        """Descriptors of ours that it inherits, under the same numbers."""
        self.state = ChildState.STOPPED
        self.process: subprocess.Popen[bytes] | ForkedChild | None = None
        self.pidfd = -1
        self.generation = 0
        self.restarts = 0
        self.deaths: deque[float] = deque()
        self.last_beat_s = 0.0
        """When it was last heard."""
        self.silent_from_s = 0.0
        """From when on its silence counts: one that rests has said how much later its next heartbeat may come."""
        self.queued_from: tuple[float, float] | None = None
        """When its silence began to be looked into, and how long its threads had stood in the run queue by then."""
        self.unserved_s = 0.0
        """How much of its present silence the machine gave it no processor for."""
        self.beat: Heartbeat | None = None
        self.totals = Totals()
        """What its heartbeats count, over restarts."""
        self.fault: Fault | None = None
        self.reason = ""
        self.ending = ""
        """Why the present process was killed by us."""
        self.lied = False
        """Whether it said what cannot be: nothing more of the present process is heard."""
        self.timer: Timer | None = None

    @property
    def identity(self) -> bytes:
        """The routing id of the present process; a dead predecessor's late words carry another."""
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
"""Between heartbeats of a child to which nothing happens, or half of `child_silent_s` if that is less. 18 children take
1.2 % of a core at 1 Hz, mostly the wake-ups of them and of the supervisor."""
_NICE = {"evaluator": 5, "recorder": 5}
_NICE_OTHERS = 2
"""How far children stand behind the supervisor in the run queue, so that no load of theirs delays its deadlines."""
_TURN_S = 0.002
"""So long one turn hears children (seconds): what the first of many answers ends is committed and told before the last
one is read.
"""
_LAST_WORDS = 10_000
"""Messages of children heard at once; a child's queue holds 1,000."""
_FORKED = {"acud.capture": True, "acud.evaluator": False}
"""Modules of which there are many processes, forked from one that has imported everything; and whether that one stays:
captures come with each display, in a hurry, and evaluators all at once.
"""
_THREADS = {"OPENBLAS_NUM_THREADS": "1"}
"""numpy's OpenBLAS starts a thread for each core as it is imported, in each of our processes; none multiplies matrices.
The environment wins."""
_LOG = log.logger("children")


class ChildKeeper:
    """Owns the `children` socket and every child process.

    `stderr` is the log file that children write to. Nothing here blocks: deaths arrive as readable pidfds.
    `forks`: captures and evaluators are forked (`fork_server`); this process must be a subreaper then.
    """

    def __init__(
        self,
        socket: zmq.Socket[bytes],
        loop: EventLoop,
        monotonic_s: Callable[[], float],
        settings: DaemonSettings,
        stderr: IO[bytes],
        endpoint: str,
        *,
        forks: bool = False,
        known_pids: Callable[[], set[int]],
    ) -> None:
        """`known_pids`: of processes that other parts of this process wait for."""
        self._socket = socket
        self._loop = loop
        self._now = monotonic_s
        self._settings = settings
        self._stderr = stderr
        self._endpoint = endpoint
        self._env = _THREADS | os.environ
        self.forking = {
            module: ForkServer(loop, module, stderr, self._env, settings.child_start_s, stays=stays)
            for module, stays in (_FORKED if forks else {}).items()
        }
        self._children: dict[bytes, Child] = {}
        self._generations = itertools.count(1)
        self.slots: dict[str, Child] = {}
        self.restarts = Tally()
        """Restarts by kind of child."""
        self.unsent = Tally()
        """Messages that could not be sent, by kind of child."""
        self._known_pids = known_pids
        self.was_away: list[Callable[[float], None]] = []
        """Told of times (seconds) in which this process came to nothing, so that nobody could be heard."""
        self._checked_s = monotonic_s()
        loop.watch(socket, self._hear_some)
        loop.call_each(_CHECK_S, self._check)

    # ---- life ------------------------------------------------------------------------------------------------------

    def start(self, child: Child, options: Options) -> None:
        """Start `child` with `options`; a slot that ran, failed or was held starts afresh."""
        child.options = options
        self.slots[f"{child.kind}/{child.name}"] = child
        child.deaths.clear()
        self._spawn(child)

    def stop(self, child: Child, within_s: float = _STOP_DEADLINE_S) -> None:
        """Ask `child` to end; it is killed when it has not `within_s`."""
        self._cancel_timer(child)
        if child.process is None:
            self._forget(child)
            return
        child.state = ChildState.STOPPING
        self.send(child, Stop())
        child.timer = self._loop.call_later(within_s, lambda: self._kill(child))

    def hold(self, child: Child) -> None:
        """Do not restart `child` when it ends, nor while it waits for a restart."""
        self._cancel_timer(child)
        child.state = ChildState.HELD

    def kill(self, child: Child, reason: str) -> None:
        """Kill a child that does not end by itself any more; it is started again like any that died."""
        child.ending = reason
        self._kill(child)

    def kill_all(self) -> None:
        """Kill and reap every child now; for the very end."""
        for server in self.forking.values():
            server.close()
        for child in list(self.slots.values()):
            self._cancel_timer(child)
            if child.process is not None:
                child.process.kill()
                reap(child.process, KILLED_S)
                self._close(child)

    def send(self, child: Child, message: msgspec.Struct) -> bool:
        """Send `message` without blocking; False when the child is not there or its queue is full."""
        try:
            self._socket.send_multipart([child.identity, codec.encode(message)], zmq.NOBLOCK)
        except zmq.ZMQError as fault:  # EHOSTUNREACH (ROUTER_MANDATORY) or EAGAIN
            self.unsent.add(child.kind)
            _LOG.debug("child.unsent", child=child.name, message=type(message).__name__, errno=fault.errno)
            return False
        child.silent_from_s = min(child.silent_from_s, self._now())  # it has something to do: it rests no more
        return True

    # ---- messages --------------------------------------------------------------------------------------------------

    def _hear_some(self) -> None:
        self.hear(_TURN_S)

    def hear(self, most_s: float = math.inf) -> bool:
        """Take in what children have said, for `most_s` seconds; False when there is more. Silence is judged after this
        alone: what came while this process was at something else is no silence.
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
            if child is not None and len(parts) == 2 and not child.lied:
                self._receive(child, parts[1])
        return False

    def _receive(self, child: Child, data: bytes) -> None:
        try:
            message: Message = codec.decode(data, SAYS[child.kind])  # type: ignore[arg-type]  # a union is a type
        except InvalidRequest as fault:
            self._disbelieve(child, fault)
            return
        child.last_beat_s = child.silent_from_s = self._now()
        if isinstance(message, Heartbeat):
            child.silent_from_s += message.rests_s
            child.beat = message
            child.totals.take(message.counters)
        elif isinstance(message, Fault):
            child.fault = message
        if child.state is ChildState.STARTING:
            child.state = ChildState.READY
        try:
            child.owner.child_said(child, message)
        except ProtocolError as fault:
            self._disbelieve(child, fault)

    def _disbelieve(self, child: Child, fault: AcudError) -> None:
        """End a child that said what cannot be; it is started again like any that died. What else it says is not to be
        trusted either, and nobody but it loses anything.
        """
        child.lied = True
        _LOG.warning("child.malformed", child=child.name, fault=fault.message)
        self.kill(child, f"it said what cannot be and was killed: {fault.message}")

    # ---- spawn, death, restart -------------------------------------------------------------------------------------

    def _spawn(self, child: Child) -> None:
        assert child.options is not None
        child.timer = None
        # Counted over all children: a removed display's capture may still be ending when its name is used again.
        child.generation = next(self._generations)
        child.fault = None
        child.ending = ""
        child.lied = False
        child.beat, child.queued_from = None, None
        child.totals.restart()
        child.state = ChildState.STARTING
        child.last_beat_s = child.silent_from_s = self._now()
        self._children[child.identity] = child
        if not self._fork(child):
            self._begin(child, lambda: self._execute(child))

    def _fork(self, child: Child) -> bool:
        server = self.forking.get(child.module)
        if server is None:
            return False
        generation = child.generation
        return server.fork(self._bootstrap(child), lambda pid: self._born(child, generation, pid))

    def _born(self, child: Child, generation: int, pid: int) -> None:
        wanted = child.generation == generation and child.state is not ChildState.STOPPED
        if wanted and pid:
            self._begin(child, lambda: self._watch(child, ForkedChild(pid)))
        elif wanted:
            self._begin(child, lambda: self._execute(child))
        elif pid:
            ForkedChild(pid).kill()  # it was stopped before it was born; it is reaped with the orphans

    def _begin(self, child: Child, begin: Callable[[], None]) -> None:
        """Have a process by `begin`; where the machine refuses one (of processes, descriptors) it counts as a death."""
        try:
            begin()
        except OSError as fault:
            reason, generation = f"it could not be started: {fault.strerror or fault}", child.generation
            # Later: who starts a child has not yet noted all that its end concerns.
            child.timer = self._loop.call_later(0.0, lambda: self._unstarted(child, generation, reason))

    def _unstarted(self, child: Child, generation: int, reason: str) -> None:
        if child.generation == generation:
            child.timer = None
            self._children.pop(child.identity, None)
            self._lost(child, reason)

    def _execute(self, child: Child) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", child.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            env=self._env,
            pass_fds=child.passed_fds,
        )
        self._watch(child, process)
        assert process.stdin is not None
        try:
            # A few kilobytes: less than a pipe holds, so this cannot block (pipe(7)).
            process.stdin.write(self._bootstrap(child))
            process.stdin.close()
        except BrokenPipeError:
            _LOG.warning("child.died_at_birth", child=child.name)

    def _watch(self, child: Child, process: subprocess.Popen[bytes] | ForkedChild) -> None:
        try:
            pidfd = os.pidfd_open(process.pid)
        except OSError:
            process.kill()
            reap(process, KILLED_S)
            raise
        child.process, child.pidfd = process, pidfd
        # It has its whole time to start, however long it was waited for.
        child.last_beat_s = child.silent_from_s = self._now()
        self._loop.watch(child.pidfd, lambda: self._ended(child))

    def _bootstrap(self, child: Child) -> bytes:
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

    def _ended(self, child: Child) -> None:
        assert child.process is not None
        code = reap(child.process)
        self.hear()  # its last words may still be queued
        self._close(child)
        self._lost(child, child.ending or (child.fault.message if child.fault is not None else _ending(code)))

    def _lost(self, child: Child, reason: str) -> None:
        child.reason = reason
        wanted = child.state not in (ChildState.STOPPING, ChildState.STOPPED, ChildState.HELD)
        if wanted:
            self._plan_restart(child)
        elif child.state is ChildState.STOPPING:
            self._cancel_timer(child)
            self._forget(child)
        tell = _LOG.warning if wanted else _LOG.info
        tell("child.ended", child=child.name, reason=reason)
        child.owner.child_ended(child, reason)

    def _close(self, child: Child) -> None:
        self._children.pop(child.identity, None)
        self._loop.unwatch(child.pidfd)
        os.close(child.pidfd)
        child.pidfd, child.process = -1, None

    def _forget(self, child: Child) -> None:
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
        child.timer = self._loop.call_later(delay_s, lambda: self._spawn(child))

    def _check(self) -> None:
        self._reckon_absence()
        if not self.hear():
            return  # so much is said that silence cannot be told: the next look may
        for child in list(self.slots.values()):
            if child.process is None or child.ending:
                continue  # one that was killed ends for the reason of then
            silent_s = self._now() - child.last_beat_s
            self._measure_unserved(child, silent_s)
            if silent_s - child.unserved_s > self.patience_s(child) and not self._is_excused(child):
                _LOG.warning("child.silent", child=child.name, silent_s=round(silent_s, 1))
                self.kill(child, f"it was silent for {silent_s:.0f} s and was killed")
        self._reap_orphans()

    def _measure_unserved(self, child: Child, silent_s: float) -> None:
        """Learn how much of its silence `child` stood in the run queue; the first half of its patience is not looked
        into, so that children that are heard cost nothing.
        """
        now_s = self._now()
        if silent_s < self.patience_s(child) / 2:
            child.queued_from, child.unserved_s = None, 0.0
            return
        queued_s = measure_queued_s(child.pid)
        from_s, before_s = child.queued_from = child.queued_from or (now_s, queued_s)
        child.unserved_s = max(0.0, min(queued_s - before_s, now_s - from_s))

    def _is_excused(self, child: Child) -> bool:
        """Whether `child`, silent too long, rested and was only not served: a loaded machine is not a hung child."""
        late_s = self._now() - child.silent_from_s
        return late_s <= self.patience_s(child) and waits_for_machine(child.pid)

    def _reckon_absence(self) -> None:
        """A machine or daemon that stood still makes no child silent: that time does not count."""
        now_s = self._now()
        away_s, self._checked_s = now_s - self._checked_s - _CHECK_S, now_s
        if away_s < _CHECK_S:
            return
        _LOG.warning("supervisor.away", seconds=round(away_s, 1))
        for child in self.slots.values():
            child.last_beat_s = min(now_s, child.last_beat_s + away_s)
            child.silent_from_s = max(child.silent_from_s, min(now_s, child.silent_from_s + away_s))
        for told in self.was_away:
            told(away_s)

    def patience_s(self, child: Child) -> float:
        """Return for how long `child` may be silent: one that only starts has its own deadline."""
        starting = child.state is ChildState.STARTING
        return self._settings.child_start_s if starting else self._settings.child_silent_s

    def _reap_orphans(self) -> None:
        # We are a subreaper: helpers of a dead session bus come to us. Peek first, so that no Popen loses its status.
        if any(server.is_bearing for server in self.forking.values()):
            return  # a child of ours may have ended before we know its pid
        # Not the slots: of two children of one name, one may still be ending.
        ours = {child.pid for child in self._children.values()} | self._known_pids() | self._forker_pids
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if found is None or found.si_pid in ours:
                return
            os.waitpid(found.si_pid, os.WNOHANG)

    @property
    def _forker_pids(self) -> set[int]:
        return {server.pid for server in self.forking.values()}

    def _kill(self, child: Child) -> None:
        if child.process is not None:
            child.process.kill()

    def _cancel_timer(self, child: Child) -> None:
        if child.timer is not None:
            child.timer.cancel()
            child.timer = None


def _ending(code: int | None) -> str:
    if code is None:
        return "ended, traced by another process, which holds its status"
    if code < 0:
        return f"killed by signal {-code}"
    if code == EXIT_FAULT:
        return "ended with a fault it could not report"
    return f"exit code {code}, see the log"
