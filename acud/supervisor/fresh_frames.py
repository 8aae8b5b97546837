"""Fresh frames: grabs one now, waits for a display's first window list, and resolves targets to frames."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, DisplayDown, NotFound, Unavailable
from acud.base.ids import new_id
from acud.process.event_loop import EventLoop
from acud.protocol.capture import Notice
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.display_registry import DisplayRegistry
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Order, ParkedCalls
from acud.supervisor.screenshots import ScreenshotTarget
from acud.supervisor.terminal_sessions import Sessions
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import DisplayState, Target, Verdict
from acud.waits.targets import TargetLocation, locate
from acud.waits.terminals import SessionName, SessionSurvey, find_window, parse_session_name, unknown_session

_GRAB_DEADLINE_S = 5.0
_HANGS = "acud doctor; the X server may hang"
_SLOW = "ask again: a busy host takes longer; acud doctor"
_LIST_COMES_S = 5.0  # A capture process that has just started sends its windows within this
_SOURCE_DEADLINE_S = 5.0
_START_S = 15.0
"""How long a display may take until its first frame; well below the time after which clients repeat a request."""
_FOLLOW_S = _SOURCE_DEADLINE_S + 10.0
"""A covered window is followed this long after the call, until its picture is taken, and so that an agent's next call
still finds its pixels and baselines."""


class FreshTarget(Struct, frozen=True):
    """A target with a frame grabbed after the call."""

    watched: WatchedDisplay
    picture: ScreenshotTarget


class _Awaited(NamedTuple):
    target: Target
    watched: WatchedDisplay
    source: str


class FrameRequests:
    """Calls back after a demanded grab; a lost or silent source is an error, never a stale frame."""

    def __init__(self, sources: Sources, loop: EventLoop) -> None:
        self._sources = sources
        self._pending = ParkedCalls[tuple[Source, int], Source | AcudError](loop)
        sources.watchers.add(self, Order.CORE)

    def grab(self, source: Source, on_done: Resume[Source]) -> None:
        """Grab `source` now; `on_done` gets the source once its newest frame was made after this call, or the fault."""
        if source.up:
            late = partial(Unavailable, f"no grab of {source.name} in {_GRAB_DEADLINE_S:.0f} s", hint=_HANGS)
            self._pending.park((source, self._sources.grab_now(source)), on_done, _GRAB_DEADLINE_S, late)
        else:
            on_done(_no_pixels(source))

    def source_up(self, source: Source) -> None:
        """Do nothing: grab numbers continue in a new ring."""

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Serve the calls whose grab was made."""
        self._pending.answer_fitting(lambda wanted: wanted[0] is source and source.grabbed >= wanted[1], source)

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Fail the calls that wait for this source."""
        self._pending.answer_fitting(lambda wanted: wanted[0] is source, _no_pixels(source))


def _no_pixels(source: Source) -> DisplayDown:
    return DisplayDown(f"{source.name} has no pixels now: {source.lost_reason}", hint="acud display list")


class WindowListReady:
    """Calls back once the windows and monitors of a display are known: capture sends them after the first frame."""

    def __init__(self, watched_displays: WatchedDisplays, loop: EventLoop) -> None:
        self._awaited = ParkedCalls[WatchedDisplay, AcudError | None](loop)
        watched_displays.watchers.add(self, Order.CORE)

    def when_known(self, watched: WatchedDisplay, step: Resume[None]) -> None:
        """Call `step` once the windows of `watched` are known (at once if they are), or with the fault."""
        if watched.windows_known:
            step(None)
        elif watched.state is not DisplayState.UP:
            step(_not_up(watched))
        else:
            self._awaited.park(watched, step, _LIST_COMES_S, lambda: self._explain_missing_list(watched))

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Go on with the calls that waited for this list."""
        self._awaited.answer_fitting(lambda one: one is watched, None)

    def _explain_missing_list(self, watched: WatchedDisplay) -> AcudError:
        if watched.state is not DisplayState.UP:
            return _not_up(watched)
        return Unavailable(f"no list of the windows of {watched.name} in {_LIST_COMES_S:.0f} s", hint="acud logs")


class FreshFrameResolver:
    """Resolves targets for blocking calls; a covered window is followed for the call and a little longer."""

    def __init__(
        self,
        displays: DisplayRegistry,
        watched_displays: WatchedDisplays,
        sources: Sources,
        frame_requests: FrameRequests,
        loop: EventLoop,
        sessions: Sessions,
        window_list_ready: WindowListReady,
    ) -> None:
        self._displays, self._watched_displays, self._sources = displays, watched_displays, sources
        self._frame_requests, self._loop, self._sessions = frame_requests, loop, sessions
        self._window_list_ready = window_list_ready
        self._awaited = ParkedCalls[_Awaited, AcudError | None](loop)
        """Calls that wait for a source: of a covered window, or of a display that starts."""
        sources.watchers.add(self, Order.CORE)
        watched_displays.watchers.add(self, Order.CORE)

    async def find(self, target: Target) -> FreshTarget:
        """Return `target` with a frame grabbed from now on. Raises: NotFound, DisplayDown, Unavailable."""
        watched = await self._displays.find_display(target.display)
        key, is_again = new_id("aim"), False
        while True:
            target, found = await self._locate_on(watched, target)
            source = self._sources.by_name.get(found.source)
            if source is None or not source.up:
                self._follow_window(key, watched, found.window_id)
                await self._await_source(target, watched, found.source, _SOURCE_DEADLINE_S)
                continue
            if source.window_id:
                self._follow_window(key, watched, found.window_id)
            try:
                grabbed = await Callback[Source](partial(self._frame_requests.grab, source))
            except Unavailable:
                if not source.window_id or is_again:
                    raise
                is_again = True  # the window was mapped again, uncovered or closed at this moment
            else:
                return FreshTarget(watched, self._build_picture(watched, found, grabbed))

    async def _locate_on(self, watched: WatchedDisplay, target: Target) -> tuple[Target, TargetLocation]:
        """Return where `target` is once that can be known, with the window that shows it in place of its session."""
        while True:
            if watched.state is DisplayState.STARTING:
                # Wait for the first frame, so that what the caller paints after the reply counts as a change.
                await self._await_source(target, watched, watched.name, _START_S)
                continue
            display = self._sources.by_name.get(watched.name)
            if display is None or watched.state is not DisplayState.UP:
                raise _not_up(watched)
            if watched.windows_known or not target.in_windows:
                break
            # An adopted display's first list comes after its first frame: until then no window can be called missing.
            await Callback[None](partial(self._window_list_ready.when_known, watched))
        terminal: Verdict | int | None = None
        if target.pty:
            terminal = await self._find_terminal(target.pty, watched)
            display = self._sources.by_name.get(watched.name)
            if display is None or not display.up:
                raise DisplayDown(f"display {watched.name} went away", hint="acud display list")
            if isinstance(terminal, int):
                target, terminal = replace(target, pty="", window=str(terminal)), None
        found = self._locate_target(target, watched, display, terminal)
        if found.missing is not None:
            named = [repr(window.title) for window in watched.windows if window.kind != "popup"]
            raise NotFound(found.missing.detail, hint=f"windows there: {', '.join(named[:8]) or 'none'}")
        return target, found

    def _locate_target(
        self, target: Target, watched: WatchedDisplay, display: Source, terminal: Verdict | int | None = None
    ) -> TargetLocation:
        size = display.width, display.height
        return locate(target, watched.name, *size, watched.windows, monitors=watched.monitors, shown_in=terminal)

    async def _survey_session(self, pty: str) -> tuple[SessionName, SessionSurvey]:
        name = parse_session_name(pty)
        return name, await Callback[SessionSurvey](partial(self._sessions.survey, name))

    async def is_detached(self, pty: str) -> bool:
        """Return whether `pty` is an existing tmux session without an attached client."""
        name, survey = await self._survey_session(pty)
        found = survey.session(name.name) if name.kind == "tmux" else None
        return found is not None and not found.chains

    async def check_session(self, target: Target, watched: WatchedDisplay) -> None:
        """Raise NotFound if `target` is a terminal session that does not exist, listing the others."""
        if target.pty:
            await self._find_terminal(target.pty, watched)

    async def _find_terminal(self, pty: str, watched: WatchedDisplay) -> Verdict | int:
        name, survey = await self._survey_session(pty)
        found = find_window(name, survey, watched.windows)
        if isinstance(found, Verdict) and found.code == "session_missing":
            raise unknown_session(name, survey, watched.windows)
        return found

    async def _await_source(self, target: Target, watched: WatchedDisplay, source: str, for_s: float) -> None:
        """Wait until the source comes, or the target is elsewhere."""
        late = partial(_explain_late, watched, source, for_s)
        awaited = _Awaited(target, watched, source)
        await Callback[None](lambda resume: self._awaited.park(awaited, resume, for_s, late))

    def _build_picture(self, watched: WatchedDisplay, location: TargetLocation, source: Source) -> ScreenshotTarget:
        display = self._sources.by_name.get(watched.name)
        size = (display.width, display.height) if display is not None else (0, 0)
        covered = location.window_id if source.window_id else 0
        place = next((w.bounds for w in watched.windows if covered and w.window_id == covered), None)
        return ScreenshotTarget(source, location.crop, location.ignore, size, place)

    def _follow_window(self, key: str, watched: WatchedDisplay, window: int) -> None:
        if key not in watched.followed:
            self._watched_displays.follow(watched, key, (window,))
            self._loop.call_later(_FOLLOW_S, lambda: self._watched_displays.follow(watched, key, ()))

    # ---- events of sources and displays ----------------------------------------------------------------------------

    def source_up(self, source: Source) -> None:
        """Go on with the calls that waited for this source."""
        self._awaited.answer_fitting(lambda awaited: awaited.source == source.name, None)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Locate again the covered windows that were uncovered or closed: their own source will never come."""
        self._awaited.answer_fitting(partial(self._is_elsewhere, watched), None)

    def _is_elsewhere(self, watched: WatchedDisplay, waiter: _Awaited) -> bool:
        if waiter.watched is not watched or waiter.source == watched.name:
            return False
        display = self._sources.by_name.get(watched.name)
        return display is None or self._locate_target(waiter.target, watched, display).source != waiter.source

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Do nothing: `FrameRequests` handles frames."""

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Do nothing: a lost source may come back within the deadline."""


def _not_up(watched: WatchedDisplay) -> DisplayDown:
    reason = watched.reason or "its first frame is still to come"
    return DisplayDown(f"display {watched.name} is {watched.state.value}: {reason}", hint="acud display list")


def _explain_late(watched: WatchedDisplay, source: str, for_s: float) -> AcudError:
    if watched.state is not DisplayState.UP:
        return _not_up(watched)
    return Unavailable(f"no pixels of {source} in {for_s:.0f} s", hint=_SLOW)
