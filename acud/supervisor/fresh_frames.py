"""Fresh frames: grabs one now, waits for a display's first window list, and resolves targets to frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, DisplayDown, NotFound, Unavailable
from acud.base.ids import new_id
from acud.process.event_loop import EventLoop
from acud.protocol.capture import Notice
from acud.supervisor.display_registry import DisplayRegistry
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Order, ParkedCalls
from acud.supervisor.screenshots import ScreenshotTarget
from acud.supervisor.terminal_sessions import Sessions
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import DisplayState, Rect, Target, Verdict
from acud.waits.targets import TargetLocation, locate, parse_target
from acud.waits.terminals import SessionSurvey, find_window, parse_session_name, unknown_session

_GRAB_DEADLINE_S = 5.0
_HANGS = "acud doctor; the X server may hang"
_SLOW = "ask again: a busy host takes longer; acud doctor"
_LIST_COMES_S = 5.0
"""A capture process that has just started sends its windows within this."""
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


Done = Callable[[FreshTarget | AcudError], None]
OnGrab = Callable[[Source | Unavailable], None]


class _Awaited(NamedTuple):
    target: Target
    watched: WatchedDisplay
    source: str


class _Ask:
    """One call that is being resolved."""

    def __init__(self, target: Target, done: Done) -> None:
        self.key = new_id("aim")
        self.target = target
        self.done = done
        self.again = False


class FrameRequests:
    """Calls back after a demanded grab; a lost or silent source is an error, never a stale frame."""

    def __init__(self, sources: Sources, loop: EventLoop) -> None:
        self._sources = sources
        self._pending = ParkedCalls[tuple[Source, int], Source | Unavailable](loop)
        sources.watchers.add(self, Order.CORE)

    def grab(self, source: Source, done: OnGrab) -> None:
        """Grab `source` now; `done` gets the source once its newest frame was made after this call, or the fault."""
        if source.up:
            late = partial(Unavailable, f"no grab of {source.name} in {_GRAB_DEADLINE_S:.0f} s", hint=_HANGS)
            self._pending.park((source, self._sources.grab_now(source)), done, _GRAB_DEADLINE_S, late)
        else:
            done(_no_pixels(source))

    def source_up(self, source: Source) -> None:
        """Do nothing: grab numbers continue in a new ring."""

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Serve the calls whose grab was made."""
        self._pending.end(lambda wanted: wanted[0] is source and source.grabbed >= wanted[1], source)

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Fail the calls that wait for this source."""
        self._pending.end(lambda wanted: wanted[0] is source, _no_pixels(source))


def _no_pixels(source: Source) -> DisplayDown:
    return DisplayDown(f"{source.name} has no pixels now: {source.lost_reason}", hint="acud display list")


class WindowListReady:
    """Calls back once the windows and monitors of a display are known: capture sends them after the first frame."""

    def __init__(self, watched_displays: WatchedDisplays, loop: EventLoop) -> None:
        self._awaited = ParkedCalls[WatchedDisplay, AcudError | None](loop)
        watched_displays.watchers.add(self, Order.CORE)

    def when_known(self, watched: WatchedDisplay, step: Callable[[AcudError | None], None]) -> None:
        """Call `step` once the windows of `watched` are known (at once if they are), or with the fault."""
        if watched.windows_known:
            step(None)
        elif watched.state is not DisplayState.UP:
            step(_not_up(watched))
        else:
            self._awaited.park(watched, step, _LIST_COMES_S, lambda: self._explain_missing_list(watched))

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Go on with the calls that waited for this list."""
        self._awaited.end(lambda one: one is watched, None)

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
        self._displays = displays
        self._watched_displays = watched_displays
        self._sources = sources
        self._frame_requests = frame_requests
        self._loop = loop
        self._sessions = sessions
        self._window_list_ready = window_list_ready
        self._awaited = ParkedCalls[_Awaited, AcudError | None](loop)
        """Calls that wait for a source: of a covered window, or of a display that starts."""
        sources.watchers.add(self, Order.CORE)
        watched_displays.watchers.add(self, Order.CORE)

    def resolve(self, target: str, display: str, ignore: tuple[Rect, ...], done: Done) -> None:
        """Call `done` with the target and a frame grabbed from now on, or the fault.

        Raises: InvalidRequest for a malformed target; NotFound for an unknown display.
        """
        self.resolve_target(parse_target(target, display, ignore), done)

    def resolve_target(self, target: Target, done: Done) -> None:
        """Do the same for a parsed target."""
        ask = _Ask(target, done)
        self._displays.with_display(ask.target.display, lambda outcome: self._on_display(ask, outcome))

    def _on_display(self, ask: _Ask, outcome: WatchedDisplay | AcudError) -> None:
        if isinstance(outcome, AcudError):
            ask.done(outcome)
            return
        if outcome.state is DisplayState.STARTING:
            # Wait for the first frame, so that what the caller paints after the reply counts as a change.
            self._await(ask, outcome, outcome.name, _START_S)
            return
        display = self._sources.by_name.get(outcome.name)
        if display is None or outcome.state is not DisplayState.UP:
            ask.done(_not_up(outcome))
            return
        if ask.target.in_windows and not outcome.windows_known:
            # An adopted display's first list comes after its first frame: until then no window can be called missing.
            self._window_list_ready.when_known(outcome, lambda fault: self._on_display(ask, fault or outcome))
        elif ask.target.pty:
            self._find_terminal(ask, outcome)
        else:
            self._on_location(ask, outcome, self._locate(ask.target, outcome, display))

    def _locate(
        self, target: Target, watched: WatchedDisplay, display: Source, terminal: Verdict | int | None = None
    ) -> TargetLocation:
        size = display.width, display.height
        return locate(target, watched.name, *size, watched.windows, monitors=watched.monitors, shown_in=terminal)

    def _find_terminal(self, ask: _Ask, watched: WatchedDisplay) -> None:
        name = parse_session_name(ask.target.pty)

        def on_survey(survey: SessionSurvey) -> None:
            where = find_window(name, survey, watched.windows)
            display = self._sources.by_name.get(watched.name)
            if isinstance(where, Verdict) and where.code == "session_missing":
                ask.done(unknown_session(name, survey, watched.windows))
            elif display is None or not display.up:
                ask.done(DisplayDown(f"display {watched.name} went away", hint="acud display list"))
            elif isinstance(where, int):
                ask.target = replace(ask.target, pty="", window=str(where))
                self._on_location(ask, watched, self._locate(ask.target, watched, display))
            else:
                self._on_location(ask, watched, self._locate(ask.target, watched, display, where))

        self._sessions.survey(name, on_survey)

    def check_detached(self, pty: str, done: Callable[[bool], None]) -> None:
        """Call `done` with whether `pty` is an existing tmux session without an attached client."""
        name = parse_session_name(pty)

        def on_survey(survey: SessionSurvey) -> None:
            found = survey.session(name.name) if name.kind == "tmux" else None
            done(found is not None and not found.chains)

        self._sessions.survey(name, on_survey)

    def check_session(self, target: Target, watched: WatchedDisplay, done: Callable[[AcudError | None], None]) -> None:
        """Call `done` with the fault if `target` is a terminal session that does not exist, listing the others."""
        if not target.pty:
            done(None)
            return
        name = parse_session_name(target.pty)

        def on_survey(survey: SessionSurvey) -> None:
            where = find_window(name, survey, watched.windows)
            gone = isinstance(where, Verdict) and where.code == "session_missing"
            done(unknown_session(name, survey, watched.windows) if gone else None)

        self._sessions.survey(name, on_survey)

    def _on_location(self, ask: _Ask, watched: WatchedDisplay, found: TargetLocation) -> None:
        if found.missing is not None:
            named = [repr(window.title) for window in watched.windows if window.kind != "popup"]
            titles = ", ".join(named[:8]) or "none"
            ask.done(NotFound(found.missing.detail, hint=f"windows there: {titles}"))
            return
        source = self._sources.by_name.get(found.source)
        if source is not None and source.up:
            self._grab(ask, watched, found, source)
        else:
            self._await(ask, watched, found.source, _SOURCE_DEADLINE_S)
            self._follow(ask, watched, found.window_id)

    def _await(self, ask: _Ask, watched: WatchedDisplay, source: str, for_s: float) -> None:
        def late() -> AcudError:
            if watched.state is not DisplayState.UP:
                return _not_up(watched)
            return Unavailable(f"no pixels of {source} in {for_s:.0f} s", hint=_SLOW)

        awaited = _Awaited(ask.target, watched, source)
        self._awaited.park(awaited, lambda fault: self._on_display(ask, fault or watched), for_s, late)

    def _grab(self, ask: _Ask, watched: WatchedDisplay, found: TargetLocation, source: Source) -> None:
        def on_grab(outcome: Source | Unavailable) -> None:
            if isinstance(outcome, Unavailable) and source.window_id and not ask.again:
                ask.again = True  # the window was mapped again, uncovered or closed at this moment
                self._on_display(ask, watched)
            elif isinstance(outcome, Unavailable):
                ask.done(outcome)
            else:
                ask.done(FreshTarget(watched, self._build_picture(watched, found, outcome)))

        if source.window_id:
            self._follow(ask, watched, found.window_id)
        self._frame_requests.grab(source, on_grab)

    def _build_picture(self, watched: WatchedDisplay, found: TargetLocation, source: Source) -> ScreenshotTarget:
        display = self._sources.by_name.get(watched.name)
        size = (display.width, display.height) if display is not None else (0, 0)
        covered = found.window_id if source.window_id else 0
        place = next((w.bounds for w in watched.windows if covered and w.window_id == covered), None)
        return ScreenshotTarget(source, found.crop, found.ignore, size, place)

    def _follow(self, ask: _Ask, watched: WatchedDisplay, window: int) -> None:
        if ask.key not in watched.followed:
            self._watched_displays.follow(watched, ask.key, (window,))
            self._loop.call_later(_FOLLOW_S, lambda: self._watched_displays.follow(watched, ask.key, ()))

    # ---- events of sources and displays ----------------------------------------------------------------------------

    def source_up(self, source: Source) -> None:
        """Go on with the calls that waited for this source."""
        self._awaited.end(lambda awaited: awaited.source == source.name, None)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Locate again the covered windows that were uncovered or closed: their own source will never come."""

        def is_elsewhere(awaited: _Awaited) -> bool:
            if awaited.watched is not watched or awaited.source == watched.name:
                return False
            display = self._sources.by_name.get(watched.name)
            return display is None or self._locate(awaited.target, watched, display).source != awaited.source

        self._awaited.end(is_elsewhere, None)

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Do nothing: `FrameRequests` handles frames."""

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Do nothing: a lost source may come back within the deadline."""


def _not_up(watched: WatchedDisplay) -> DisplayDown:
    reason = watched.reason or "its first frame is still to come"
    return DisplayDown(f"display {watched.name} is {watched.state.value}: {reason}", hint="acud display list")
