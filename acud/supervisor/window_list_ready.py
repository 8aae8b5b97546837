"""The first list of a display's windows: capture tells it after the first frame, so who needs it may have to wait."""

from __future__ import annotations

from collections.abc import Callable

from acud.errors import AcudError, DisplayDown, Unavailable
from acud.event_loop import EventLoop, Timer
from acud.supervisor.observers import Order
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import DisplayState

_LIST_COMES_S = 5.0
"""A capture process that has just started has sent no windows yet."""

Listed = Callable[[AcudError | None], None]


class _Awaited:
    """A caller that waits for the list of `watched`."""

    def __init__(self, watched: WatchedDisplay, step: Listed) -> None:
        self.watched = watched
        self.step = step
        self.timer: Timer | None = None


class WindowListReady:
    """Goes on with callers once the windows and monitors of their display are known."""

    def __init__(self, watched_displays: WatchedDisplays, loop: EventLoop) -> None:
        self._loop = loop
        self._awaited: list[_Awaited] = []
        watched_displays.watchers.add(self, Order.CORE)

    def when_known(self, watched: WatchedDisplay, step: Listed) -> None:
        """Call `step` once the windows of `watched` are known, at once if they are, or with the fault."""
        if watched.windows_known:
            step(None)
        elif watched.state is not DisplayState.UP:
            step(_unknown(watched))
        else:
            awaited = _Awaited(watched, step)
            awaited.timer = self._loop.call_later(_LIST_COMES_S, lambda: self._end(awaited, _unknown(watched)))
            self._awaited.append(awaited)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Go on with those who waited for this list."""
        for awaited in [a for a in self._awaited if a.watched is watched]:
            self._end(awaited, None)

    def _end(self, awaited: _Awaited, fault: AcudError | None) -> None:
        self._awaited.remove(awaited)
        if awaited.timer is not None:
            awaited.timer.cancel()
        awaited.step(fault)


def _unknown(watched: WatchedDisplay) -> AcudError:
    if watched.state is DisplayState.UP:
        return Unavailable(f"no list of the windows of {watched.name} in {_LIST_COMES_S:.0f} s", hint="acud logs")
    reason = watched.reason or "its first frame is still to come"
    return DisplayDown(f"display {watched.name} is {watched.state.value}: {reason}", hint="acud display list")
