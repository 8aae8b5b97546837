"""One child slot of the supervisor: what it is, what it may say, and the process that fills it now."""

from __future__ import annotations

import subprocess
from collections import deque
from enum import StrEnum
from typing import Protocol

from acud.event_loop import Timer
from acud.metrics.tallies import Totals
from acud.protocol.bootstrap import (
    CaptureOptions,
    EvaluatorOptions,
    FleetOptions,
    RecorderOptions,
    RelayOptions,
    WebOptions,
)
from acud.protocol.capture import FromCapture
from acud.protocol.children import Fault, Heartbeat
from acud.protocol.evaluation import FromEvaluator
from acud.protocol.fleet import FromFleet
from acud.protocol.recordings import FromRecorder
from acud.protocol.relay import FromRelay
from acud.protocol.serving import FromWeb
from acud.supervisor.forking import Forked

Message = FromCapture | FromEvaluator | FromRelay | FromWeb | FromRecorder | FromFleet
Options = CaptureOptions | EvaluatorOptions | RelayOptions | WebOptions | RecorderOptions | FleetOptions

SAYS = {
    "capture": FromCapture,
    "evaluator": FromEvaluator,
    "relay": FromRelay,
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
        self.process: subprocess.Popen[bytes] | Forked | None = None
        self.pidfd = -1
        self.generation = 0
        self.restarts = 0
        self.deaths: deque[float] = deque()
        self.last_beat_s = 0.0
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
