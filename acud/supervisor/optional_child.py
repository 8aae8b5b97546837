"""A child that the daemon can do without: faults that an immediate restart does not repair are retried later."""

from __future__ import annotations

from abc import ABC, abstractmethod

from acud.process.event_loop import EventLoop
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message, Options
from acud.supervisor.publisher import DaemonEvents

_AGAIN_S = 10.0  # A taken port may become free, or a server come up; each try costs a process start of 0.3 s
_FIX = "acud logs --level error, then acud daemon restart"


class OptionalChild(ABC):
    """Owns one process of `kind`. A child that reported why it cannot serve, or that was given up, is held and started
    again later; after any other end `ChildKeeper` restarts it.
    """

    def __init__(
        self, keeper: ChildKeeper, loop: EventLoop, kind: str, module: str, options: Options, events: DaemonEvents
    ) -> None:
        self._keeper, self._loop, self._options = keeper, loop, options
        self.child = Child("0", kind, module, self)
        self.fault = ""  # why it does not serve, unless it is just being restarted
        self.fix = ""
        self._events = events

    @abstractmethod
    def handle_message(self, child: Child, message: Message) -> None:
        """Handle one decoded message."""

    @abstractmethod
    def on_lost(self, reason: str) -> None:
        """Note that the process is gone, and serves nothing now."""

    def begin(self) -> None:
        self._keeper.start(self.child, self._options)

    def child_ended(self, child: Child, reason: str) -> None:
        """Hold the child and start it again later, if an immediate restart would not help."""
        self.on_lost(reason)
        if child.state is ChildState.STOPPED:
            return
        if child.fault is None and child.state is not ChildState.FAILED:
            self._events.child_ended(child)
            return
        self.fault = reason
        self.fix = (child.fault.hint if child.fault is not None else "") or _FIX
        self._keeper.hold_back(child)
        self._loop.call_later(_AGAIN_S, self._try_again)

    def _try_again(self) -> None:
        if self.child.state is ChildState.HELD:
            self.begin()
