"""The displays acud watches: adopted and managed, each with its capture process, windows and state.

A display that died is never shown by its last frame: its sources are lost at once, and its capture process is held
until the X server answers on its socket again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from acud import log
from acud.config import Settings
from acud.errors import AcudError, Conflict, DisplayDown, NotFound, ProtocolError, ShmFull, from_wire
from acud.event_loop import EventLoop, Timer
from acud.paths import Paths
from acud.protocol.bootstrap import CaptureOptions
from acud.protocol.capture import (
    Act,
    Acted,
    Attach,
    Demand,
    DisplayWindows,
    DropActs,
    Follow,
    Notice,
    SourceGone,
    SourceHello,
)
from acud.protocol.children import Heartbeat
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Observers
from acud.types import DisplayInfo, DisplayState, MonitorInfo, WindowInfo, display_name, x_number
from acud.x11 import auth

_LOG = log.logger("screens")
_WINDOW = re.compile(r"\.w[1-9][0-9]{0,9}")
_PROBE_S = 0.5
_PROBE_MAX_S = 5.0
_ROOM_S = 2.0

Outcome = Callable[["WatchedDisplay | AcudError"], None]


class ScreenWatcher(Protocol):
    """Somebody who aims at windows."""

    def windows_seen(self, screen: WatchedDisplay) -> None:
        """The window list of `screen` changed."""
        ...


class Actor(Protocol):
    """Whoever has displays acted on."""

    def acted(self, screen: WatchedDisplay, message: Acted) -> None:
        """An act ended."""
        ...

    def hands_lost(self, screen: WatchedDisplay, reason: str) -> None:
        """The capture process that was to do the acts is gone."""
        ...


class WatchedDisplay:
    """One display."""

    def __init__(self, name: str, number: int, managed: bool, auth_file: str, owner: int = auth.NOBODY_ELSE) -> None:
        self.name = name
        self.number = number
        self.managed = managed
        self.auth_file = auth_file
        self.owner = owner
        self.bus_address = ""
        self.a11y_address = ""
        self.state = DisplayState.STARTING
        self.reason = ""
        self.child: Child | None = None
        self.windows: tuple[WindowInfo, ...] = ()
        self.windows_known = False
        self.is_used = False
        """Whether a window was ever seen on it."""
        self.monitors: tuple[MonitorInfo, ...] = ()
        self.focused = 0
        self.followed: dict[object, tuple[int, ...]] = {}
        self.waiting: list[Outcome] = []
        self.probe: Timer | None = None


class WatchedDisplays:
    """Every display by name. `changed` tells the store and the events; see the wiring."""

    def __init__(
        self,
        keeper: ChildKeeper,
        sources: Sources,
        loop: EventLoop,
        settings: Settings,
        paths: Paths,
        changed: Callable[[WatchedDisplay, str], None],
        on_capture_ended: Callable[[Child], None],
    ) -> None:
        self._keeper = keeper
        self._sources = sources
        self._loop = loop
        self._settings = settings
        self._paths = paths
        self._changed = changed
        self.by_name: dict[str, WatchedDisplay] = {}
        self.watchers = Observers[ScreenWatcher]()
        self.actors = Observers[Actor]()
        self.removed = Observers[Callable[[WatchedDisplay], None]]()
        """Told of each display that is not watched any more: nothing is to be kept of it."""
        self.gone = Observers[Callable[[str, str], None]]()
        """Told the name of each managed display that nothing starts again, and why."""
        self._on_capture_ended = on_capture_ended
        """Called for a capture process that ended unasked while its X server answers."""

    # ---- found -----------------------------------------------------------------------------------------------------

    def numbered(self, number: int) -> WatchedDisplay | None:
        """Return the watched display with this number in the store; names are given again, numbers are not."""
        return next((one for one in self.by_name.values() if number and one.number == number), None)

    def of_server(self, screen: WatchedDisplay) -> list[WatchedDisplay]:
        """Return the watched displays of the same X server, itself among them."""
        number = x_number(screen.name)
        return [one for one in self.by_name.values() if x_number(one.name) == number]

    # ---- asked for -------------------------------------------------------------------------------------------------

    def watch(self, screen: WatchedDisplay, outcome: Outcome | None = None) -> None:
        """Start watching `screen`; `outcome` learns when its first ring is there, or why it cannot be."""
        if screen.name in self.by_name:
            raise Conflict(f"display {screen.name} is watched already", hint="acud display list")
        self.by_name[screen.name] = screen
        if outcome is not None:
            screen.waiting.append(outcome)
        screen.child = Child(screen.name, "capture", "acud.capture", self)
        self._start_capture(screen)

    def unwatch(self, screen: WatchedDisplay) -> None:
        """Stop watching; its sources are lost and its rings unlinked."""
        self.by_name.pop(screen.name, None)
        self._cancel_probe(screen)
        screen.state, screen.reason = DisplayState.ENDED, "removed"
        if screen.child is not None:
            self._keeper.stop(screen.child)
        self._hands_lost(screen, "the display was removed")
        self._lose_sources(screen, "display_down", f"display {screen.name} was removed", forget=True)
        self._changed(screen, "display.ended")
        for told in self.removed:
            told(screen)
        if screen.managed:
            self._tell_gone(screen, "it was removed")

    def get(self, name: str) -> WatchedDisplay:
        """Return the display `name`. Raises: NotFound naming those there are."""
        screen = self.by_name.get(display_name(name))
        if screen is None:
            known = ", ".join(self.by_name) or "none"
            raise NotFound(f"no display {name!r} is watched", hint=f"known: {known}; acud display add {name}")
        return screen

    def follow(self, screen: WatchedDisplay, consumer: object, windows: tuple[int, ...]) -> None:
        """Set the windows that `consumer` wants pixels of; a covered one among them gets a source of its own."""
        before = self._followed(screen)
        if windows:
            screen.followed[consumer] = windows
        else:
            screen.followed.pop(consumer, None)
        if self._followed(screen) != before:
            self._send_follow(screen)

    def order(self, screen: WatchedDisplay, message: Act | DropActs) -> bool:
        """Send `message` to the display's capture process; False when there is none that takes it."""
        return screen.child is not None and self._keeper.send(screen.child, message)

    def _followed(self, screen: WatchedDisplay) -> tuple[int, ...]:
        return tuple(sorted({window for windows in screen.followed.values() for window in windows}))

    def _send_follow(self, screen: WatchedDisplay) -> None:
        if screen.child is not None and screen.state is DisplayState.UP:
            self._keeper.send(screen.child, Follow(self._followed(screen)))

    def end(self, screen: WatchedDisplay, reason: str) -> None:
        """Its X server ended for good: nothing is shown of it any more; it stays listed, with the reason."""
        self._cancel_probe(screen)
        if screen.child is not None:
            self._keeper.stop(screen.child)
        self._hands_lost(screen, reason)
        self._down(screen, DisplayDown(f"display {screen.name} ended: {reason}", hint="acud display create"))
        screen.state = DisplayState.ENDED
        self._tell_gone(screen, reason)

    def _tell_gone(self, screen: WatchedDisplay, reason: str) -> None:
        for told in self.gone:
            told(screen.name, reason)

    # ---- what capture says -----------------------------------------------------------------------------------------

    def child_said(self, child: Child, message: Message) -> None:
        """Handle a capture process's message. Raises: ProtocolError when it tells of another display's, or what cannot
        be.
        """
        screen = self.by_name.get(child.name)
        if screen is None or screen.child is not child:
            return  # removed; its name may have been given anew
        for name in _told_of(message):
            if not _is_of(screen.name, name):
                raise ProtocolError(f"{name[:80]!r} is no source of display {screen.name}")
        if isinstance(message, Notice):
            self._sources.notice(message)
        elif isinstance(message, SourceHello):
            self._hello(screen, message)
        elif isinstance(message, SourceGone):
            self._gone(message)
        elif isinstance(message, DisplayWindows):
            self._windows(screen, message)
        elif isinstance(message, Heartbeat):
            self._sources.beat(message.newest, message.compared)
        elif isinstance(message, Acted):
            for actor in self.actors:
                actor.acted(screen, message)

    def blame(self, name: str) -> bool:
        """End the capture process of the source `name` when its ring holds what cannot be; return whether it does."""
        source = self._sources.by_name.get(name)
        if source is None or not self._sources.is_damaged(source):
            return False
        screen = self.by_name.get(source.display)
        if screen is not None and screen.child is not None:
            _LOG.warning("ring.damaged", source=name)
            self._keeper.kill(screen.child, f"the ring of {name} holds a frame that cannot be")
        return True

    def _hello(self, screen: WatchedDisplay, hello: SourceHello) -> None:
        child = screen.child
        assert child is not None

        def link(message: Attach | Demand) -> bool:
            return self._keeper.send(child, message)

        before = screen.state
        if hello.source == screen.name:
            screen.state, screen.reason = DisplayState.UP, ""  # so that whoever hears of the ring finds the display up
        try:
            self._sources.hello(hello, link)
        except AcudError as fault:
            self._refused(screen, hello, fault, again=before is DisplayState.DOWN)
            return
        if hello.source == screen.name:
            self._up(screen, before is not DisplayState.UP)

    def _refused(self, screen: WatchedDisplay, hello: SourceHello, fault: AcudError, *, again: bool) -> None:
        _LOG.error("source.refused", source=hello.source, fault=fault.message)
        if hello.source != screen.name:
            return
        self._down(screen, fault, again=again)
        if isinstance(fault, ShmFull) and screen.state is DisplayState.DOWN and screen.child is not None:
            self._cancel_probe(screen)
            generation = screen.child.generation
            screen.probe = self._loop.call_later(_ROOM_S, lambda: self._hello_again(screen, hello, generation))

    def _hello_again(self, screen: WatchedDisplay, hello: SourceHello, generation: int) -> None:
        """Its capture process waits for a ring: there may be room now."""
        if screen.child is not None and screen.child.process is not None and screen.child.generation == generation:
            self._hello(screen, hello)

    def _up(self, screen: WatchedDisplay, fresh: bool) -> None:
        self._changed(screen, "display.up" if fresh else "display.geometry")
        if screen.followed:
            self._send_follow(screen)
        waiting, screen.waiting = screen.waiting, []
        for outcome in waiting:
            outcome(screen)

    def _gone(self, message: SourceGone) -> None:
        source = self._sources.by_name.get(message.source)
        if source is not None:
            self._sources.lose(source, "not_viewable", message.reason)
            self._sources.forget(source)

    def _windows(self, screen: WatchedDisplay, message: DisplayWindows) -> None:
        screen.windows, screen.focused, screen.windows_known = message.windows, message.focused, True
        screen.is_used = screen.is_used or any(window.kind != "popup" for window in message.windows)
        screen.monitors = message.monitors
        screen.a11y_address = message.a11y_address
        for watcher in self.watchers:
            watcher.windows_seen(screen)

    # ---- death and return ------------------------------------------------------------------------------------------

    def child_ended(self, child: Child, reason: str) -> None:
        """A capture process is gone: its sources are lost until it, or the X server, is back."""
        screen = self.by_name.get(child.name)
        if screen is None or screen.child is not child or screen.state is DisplayState.ENDED:
            return
        self._hands_lost(screen, reason)
        fault = from_wire(child.fault.code, child.fault.message, child.fault.hint, {}) if child.fault else None
        if isinstance(fault, DisplayDown):
            self._keeper.hold(child)
            self._down(screen, fault)
            self._probe_later(screen, _PROBE_S)
        elif child.state is ChildState.FAILED:
            self._on_capture_ended(child)
            self._down(screen, DisplayDown(f"capture of {screen.name} was given up: {reason}", hint="acud logs"))
        elif fault is not None:
            self._keeper.hold(child)
            self._down(screen, fault)
        else:
            self._lose_sources(screen, "display_down", f"capture of {screen.name} restarts: {reason}")
            self._on_capture_ended(child)

    def _hands_lost(self, screen: WatchedDisplay, reason: str) -> None:
        for actor in self.actors:
            actor.hands_lost(screen, reason)

    def _down(self, screen: WatchedDisplay, fault: AcudError, *, again: bool = False) -> None:
        screen.state, screen.reason = DisplayState.DOWN, str(fault)
        screen.windows, screen.windows_known, screen.focused, screen.monitors = (), False, 0, ()
        self._lose_sources(screen, fault.code, fault.message)
        if not again:
            self._changed(screen, "display.down")
        waiting, screen.waiting = screen.waiting, []
        for outcome in waiting:
            outcome(fault)

    def _lose_sources(self, screen: WatchedDisplay, code: str, reason: str, *, forget: bool = False) -> None:
        for source in [s for s in self._sources.by_name.values() if s.display == screen.name]:
            self._sources.lose(source, code, reason)
            if forget or source.name != screen.name:
                self._sources.forget(source)

    def _probe_later(self, screen: WatchedDisplay, delay_s: float) -> None:
        self._cancel_probe(screen)
        screen.probe = self._loop.call_later(delay_s, lambda: self._probe(screen, delay_s))

    def _probe(self, screen: WatchedDisplay, delay_s: float) -> None:
        fault = self._obstacle(screen)
        if fault is None:
            self._start_capture(screen)
            return
        if fault.message and screen.reason != str(fault):
            self._down(screen, fault)
        self._probe_later(screen, min(_PROBE_MAX_S, delay_s * 1.5))

    def _obstacle(self, screen: WatchedDisplay) -> DisplayDown | None:
        """Return what keeps the display from being watched: without words when nobody serves it."""
        if not server_listens(screen.name):
            return DisplayDown("")
        try:
            check_server(screen)
        except DisplayDown as fault:
            return fault
        return None

    def _cancel_probe(self, screen: WatchedDisplay) -> None:
        if screen.probe is not None:
            screen.probe.cancel()
            screen.probe = None

    def _start_capture(self, screen: WatchedDisplay) -> None:
        assert screen.child is not None
        options = CaptureOptions(
            display=screen.name,
            auth_file=screen.auth_file,
            frames_endpoint=self._paths.frames_endpoint(screen.name),
            slots=self._settings.capture.slots,
            max_fps=self._settings.capture.max_fps,
            floor_s=self._settings.capture.floor_s,
            method=self._settings.capture.method,
            managed=screen.managed,
            owner=screen.owner,
        )
        self._keeper.start(screen.child, options)

    # ---- told ------------------------------------------------------------------------------------------------------

    def info(self, screen: WatchedDisplay, default: str) -> DisplayInfo:
        """Return `screen` as clients see it."""
        source = self._sources.by_name.get(screen.name)
        base = DisplayInfo(
            name=screen.name,
            number=screen.number,
            managed=screen.managed,
            state=screen.state,
            reason=screen.reason,
            windows=screen.windows,
            focused=screen.focused,
            monitors=screen.monitors,
            is_default=screen.name == default,
            auth_file=screen.auth_file,
            bus_address=screen.bus_address,
        )
        return base if source is None else self._with_source(base, screen, source)

    def _with_source(self, base: DisplayInfo, screen: WatchedDisplay, source: Source) -> DisplayInfo:
        return replace(
            base,
            width=source.width,
            height=source.height,
            epoch=source.epoch,
            frame=source.frame,
            frame_age_s=self._sources.age_s(source),
            fps=self._sources.fps(source),
            grab_path=source.method,
            grab_reason=source.method_reason,
        )


def _told_of(message: Message) -> tuple[str, ...]:
    """Return the sources that `message` is about."""
    if isinstance(message, SourceHello):
        return (message.source,) if message.display == message.source.partition(".w")[0] else (message.display,)
    if isinstance(message, Notice | SourceGone):
        return (message.source,)
    if isinstance(message, Heartbeat):
        return (*message.newest, *message.compared)
    return (message.display,) if isinstance(message, DisplayWindows) else ()


def _is_of(display: str, source: str) -> bool:
    """Tell whether `source` is the display itself or a window on it."""
    if not source.startswith(display):
        return False
    window = source.removeprefix(display)
    return not window or bool(_WINDOW.fullmatch(window))


def server_listens(name: str) -> bool:
    """Tell whether something accepts connections on the socket of the local display `name`; never blocks."""
    return auth.is_served(x_number(name))


def check_server(screen: WatchedDisplay) -> None:
    """See that whoever serves the display may be given its cookie. Raises: DisplayDown."""
    auth.check_owner(x_number(screen.name), screen.owner)
