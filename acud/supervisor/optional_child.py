"""A child that the daemon can do without: what a restart at once would not mend is tried again later."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from acud.process.event_loop import EventLoop
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message, Options

_AGAIN_S = 10.0
"""A port that is taken may be free again, a server there; each try costs a process start of 0.3 s."""
_FIX = "acud logs --level error, then acud daemon restart"


class OptionalChild(ABC):
    """Owns one process of `kind`. A child that said itself why it cannot serve, or that was given up, is held and tried
    again; any other end is the keeper's to mend.
    """

    def __init__(
        self,
        keeper: ChildKeeper,
        loop: EventLoop,
        kind: str,
        module: str,
        options: Options,
        on_ended: Callable[[Child], None],
    ) -> None:
        """`on_ended`: called when the process died and is started again at once."""
        self._keeper = keeper
        self._loop = loop
        self._options = options
        self.child = Child("0", kind, module, self)
        self.fault = ""
        """Why it does not serve, and is not simply being started again."""
        self.fix = ""
        self._on_ended = on_ended

    @abstractmethod
    def handle_message(self, child: Child, message: Message) -> None:
        """Handle one decoded message."""

    @abstractmethod
    def lost(self, reason: str) -> None:
        """The process is gone: what it served is not served now."""

    def begin(self) -> None:
        """Start the process."""
        self._keeper.start(self.child, self._options)

    def child_ended(self, child: Child, reason: str) -> None:
        """Try again later what a restart at once would not mend."""
        self.lost(reason)
        if child.state is ChildState.STOPPED:
            return
        if child.fault is None and child.state is not ChildState.FAILED:
            self._on_ended(child)
            return
        self.fault = reason
        self.fix = (child.fault.hint if child.fault is not None else "") or _FIX
        self._keeper.hold(child)
        self._loop.call_later(_AGAIN_S, self._again)

    def _again(self) -> None:
        if self.child.state is ChildState.HELD:
            self.begin()
