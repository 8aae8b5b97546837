"""The first list of a display's windows: capture tells it after the first frame, so who needs it may have to wait."""

from __future__ import annotations

from collections.abc import Callable

from acud.errors import AcudError, DisplayDown, Unavailable
from acud.event_loop import EventLoop, Timer
from acud.supervisor.observers import Order
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import DisplayState

_LIST_COMES_S = 5.0
"""A capture process that was just started has told of no windows yet."""

Listed = Callable[[AcudError | None], None]


class _Awaited:
    """A caller that waits for the list of `screen`."""

    def __init__(self, screen: WatchedDisplay, step: Listed) -> None:
        self.screen = screen
        self.step = step
        self.timer: Timer | None = None


class WindowListReady:
    """Goes on with callers once the windows and monitors of their display are known."""

    def __init__(self, watched_displays: WatchedDisplays, loop: EventLoop) -> None:
        self._loop = loop
        self._awaited: list[_Awaited] = []
        watched_displays.watchers.add(self, Order.CORE)

    def when_known(self, screen: WatchedDisplay, step: Listed) -> None:
        """Call `step` once the windows of `screen` are known, at once if they are, or with the fault."""
        if screen.windows_known:
            step(None)
        elif screen.state is not DisplayState.UP:
            step(_unknown(screen))
        else:
            awaited = _Awaited(screen, step)
            awaited.timer = self._loop.call_later(_LIST_COMES_S, lambda: self._end(awaited, _unknown(screen)))
            self._awaited.append(awaited)

    def windows_seen(self, screen: WatchedDisplay) -> None:
        """Go on with those who waited for this list."""
        for awaited in [a for a in self._awaited if a.screen is screen]:
            self._end(awaited, None)

    def _end(self, awaited: _Awaited, fault: AcudError | None) -> None:
        self._awaited.remove(awaited)
        if awaited.timer is not None:
            awaited.timer.cancel()
        awaited.step(fault)


def _unknown(screen: WatchedDisplay) -> AcudError:
    if screen.state is DisplayState.UP:
        return Unavailable(f"no list of the windows of {screen.name} in {_LIST_COMES_S:.0f} s", hint="acud logs")
    reason = screen.reason or "its first frame is still to come"
    return DisplayDown(f"display {screen.name} is {screen.state.value}: {reason}", hint="acud display list")
