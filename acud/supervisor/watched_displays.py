"""The displays acud watches, adopted and managed, each with its capture process, windows and state.

A dead display's last frame is never shown as present: its sources are lost at once, and its capture process is held
until the X server answers on its socket again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from acud.base import log
from acud.base.errors import AcudError, Conflict, DisplayDown, NotFound, ProtocolError, ShmFull, from_wire
from acud.base.paths import Paths
from acud.config import Settings
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.bootstrap import CaptureOptions
from acud.protocol.capture import (
    Act,
    Acted,
    Attach,
    ClipboardSeen,
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
from acud.supervisor.publisher import DaemonEvents
from acud.types import DisplayInfo, DisplayNotification, DisplayState, MonitorInfo, WindowInfo, display_name, x_number
from acud.x11 import auth

_LOG = log.logger("watched_displays")
_WINDOW = re.compile(r"\.w[1-9][0-9]{0,9}")
_PROBE_S = 0.5
_PROBE_MAX_S = 5.0
_ROOM_S = 2.0

Outcome = Callable[["WatchedDisplay | AcudError"], None]


class WindowListWatcher(Protocol):
    """Is called when the windows of a display change."""

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Handle the changed window list of `watched`."""


class Actor(Protocol):
    """Sends actions to displays."""

    def on_acted(self, watched: WatchedDisplay, message: Acted) -> None:
        """Handle the outcome of an act."""

    def input_lost(self, watched: WatchedDisplay, reason: str) -> None:
        """Handle the loss of the capture process that carries out acts."""


class WatchedDisplay:
    """One display."""

    def __init__(self, name: str, number: int, managed: bool, auth_file: str, owner: int = auth.NOBODY_ELSE) -> None:
        self.name, self.number, self.managed, self.auth_file = name, number, managed, auth_file
        self.owner = owner
        self.bus_address = ""
        self.a11y_address = ""
        self.state = DisplayState.STARTING
        self.reason = ""
        self.child: Child | None = None
        self.windows: tuple[WindowInfo, ...] = ()
        self.windows_known = False
        self.is_used = False  # whether a window was ever seen on it
        self.monitors: tuple[MonitorInfo, ...] = ()
        self.scale_factor = 1.0
        self.notifications: tuple[DisplayNotification, ...] = ()
        self.notifications_fault = ""
        self.focused = 0
        self.followed: dict[object, tuple[int, ...]] = {}
        self.waiting: list[Outcome] = []
        self.probe: Timer | None = None


class WatchedDisplays:
    """Every display by name. `events` records each change of a display's state."""

    def __init__(
        self,
        keeper: ChildKeeper,
        sources: Sources,
        loop: EventLoop,
        settings: Settings,
        paths: Paths,
        events: DaemonEvents,
    ) -> None:
        self._keeper, self._sources, self._loop, self._settings = keeper, sources, loop, settings
        self._paths, self._events = paths, events
        self.by_name: dict[str, WatchedDisplay] = {}
        self.watchers = Observers[WindowListWatcher]()
        self.actors = Observers[Actor]()
        self.clipboard_seen = Observers[Callable[[WatchedDisplay, ClipboardSeen | None], None]]()
        """Called with each report on a clipboard that is followed, and with None when it cannot be read any more."""
        self.with_clipboard: set[str] = set()
        """The displays whose clipboard waits ask about, by name."""
        self.removed = Observers[Callable[[WatchedDisplay], None]]()
        """Called with each display that is not watched any more: drop what belongs to it."""
        self.gone = Observers[Callable[[str, str], None]]()
        """Called with the name of each managed display that nothing starts again, and why, before its frames go."""

    # ---- finding ---------------------------------------------------------------------------------------------------

    def find_by_number(self, number: int) -> WatchedDisplay | None:
        """Return the watched display with this number in the store; unlike names, numbers are never reused."""
        return next((one for one in self.by_name.values() if number and one.number == number), None)

    def of_server(self, watched: WatchedDisplay) -> list[WatchedDisplay]:
        """Return the watched displays of the same X server, the given display among them."""
        number = x_number(watched.name)
        return [one for one in self.by_name.values() if x_number(one.name) == number]

    # ---- requests --------------------------------------------------------------------------------------------------

    def watch(self, watched: WatchedDisplay, outcome: Outcome | None = None) -> None:
        """Start watching `watched`; `outcome` gets it once its first ring is there, or the fault."""
        if watched.name in self.by_name:
            raise Conflict(f"display {watched.name} is watched already", hint="acud display list")
        self.by_name[watched.name] = watched
        if outcome is not None:
            watched.waiting.append(outcome)
        watched.child = Child(watched.name, "capture", "acud.capture", self)
        self._start_capture(watched)

    def unwatch(self, watched: WatchedDisplay) -> None:
        """Stop watching; its sources are lost and its rings unlinked."""
        self.by_name.pop(watched.name, None)
        self._cancel_probe(watched)
        if watched.managed:
            self._notify_gone(watched, "it was removed")
        watched.state, watched.reason = DisplayState.ENDED, "removed"
        if watched.child is not None:
            self._keeper.stop(watched.child)
        self._input_lost(watched, "the display was removed")
        self._lose_sources(watched, "display_down", f"display {watched.name} was removed", forget=True)
        for observer in self.removed:
            observer(watched)

    def get(self, name: str) -> WatchedDisplay:
        """Return the display `name`. Raises: NotFound naming the others."""
        watched = self.by_name.get(display_name(name))
        if watched is None:
            known = ", ".join(self.by_name) or "none"
            raise NotFound(f"no display {name!r} is watched", hint=f"known: {known}; acud display add {name}")
        return watched

    def follow(self, watched: WatchedDisplay, consumer: object, windows: tuple[int, ...]) -> None:
        """Set the windows that `consumer` needs pixels of; a covered one among them gets a source of its own."""
        before = self._collect_followed(watched)
        if windows:
            watched.followed[consumer] = windows
        else:
            watched.followed.pop(consumer, None)
        if self._collect_followed(watched) != before:
            self._send_follow(watched)

    def follow_clipboard(self, name: str, *, is_wanted: bool) -> None:
        """Have the clipboard of the display `name` read from now on, or no more."""
        if is_wanted is not (name in self.with_clipboard):
            self.with_clipboard ^= {name}
            if name in self.by_name:
                self._send_follow(self.by_name[name])

    def order(self, watched: WatchedDisplay, message: Act | DropActs) -> bool:
        """Send `message` to the display's capture process; return False if it cannot be sent."""
        return watched.child is not None and self._keeper.send(watched.child, message)

    def _collect_followed(self, watched: WatchedDisplay) -> tuple[int, ...]:
        return tuple(sorted({window for windows in watched.followed.values() for window in windows}))

    def _send_follow(self, watched: WatchedDisplay) -> None:
        if watched.child is not None and watched.state is DisplayState.UP:
            order = Follow(self._collect_followed(watched), clipboard=watched.name in self.with_clipboard)
            self._keeper.send(watched.child, order)

    def end(self, watched: WatchedDisplay, reason: str) -> None:
        """End a display whose X server ended for good; it stays listed, with the reason, and without pixels."""
        self._cancel_probe(watched)
        self._notify_gone(watched, reason)
        if watched.child is not None:
            self._keeper.stop(watched.child)
        self._input_lost(watched, reason)
        self._mark_down(watched, DisplayDown(f"display {watched.name} ended: {reason}", hint="acud display create"))
        watched.state = DisplayState.ENDED

    def _notify_gone(self, watched: WatchedDisplay, reason: str) -> None:
        for observer in self.gone:
            observer(watched.name, reason)

    # ---- messages of capture processes -----------------------------------------------------------------------------

    def handle_message(self, child: Child, message: Message) -> None:
        """Handle a capture process's message. Raises: ProtocolError for one of another display's source, or an
        impossible one.
        """
        watched = self.by_name.get(child.name)
        if watched is None or watched.child is not child:
            return  # removed; its name may be in use again
        for name in _name_sources(message):
            if not _is_of(watched.name, name):
                raise ProtocolError(f"{name[:80]!r} is no source of display {watched.name}")
        if isinstance(message, Notice):
            self._sources.notice(message)
        elif isinstance(message, SourceHello):
            self._handle_hello(watched, message)
        elif isinstance(message, SourceGone):
            self._handle_gone(message)
        elif isinstance(message, DisplayWindows):
            self._handle_windows(watched, message)
        elif isinstance(message, Heartbeat):
            self._sources.compare_heartbeat(message.newest, message.compared)
        elif isinstance(message, Acted):
            for actor in self.actors:
                actor.on_acted(watched, message)
        elif isinstance(message, ClipboardSeen):
            for observer in self.clipboard_seen:
                observer(watched, message)

    def end_damaged(self, name: str) -> bool:
        """End the capture process of the source `name` if its ring is damaged; return whether it is."""
        source = self._sources.by_name.get(name)
        if source is None or not self._sources.is_damaged(source):
            return False
        watched = self.by_name.get(source.display)
        if watched is not None and watched.child is not None:
            _LOG.warning("ring.damaged", source=name)
            self._keeper.kill(watched.child, f"the ring of {name} holds a frame that cannot be")
        return True

    def _handle_hello(self, watched: WatchedDisplay, hello: SourceHello) -> None:
        child = watched.child
        assert child is not None

        def link(message: Attach | Demand) -> bool:
            return self._keeper.send(child, message)

        before = watched.state
        if hello.source == watched.name:
            watched.state, watched.reason = DisplayState.UP, ""  # before watchers of the ring read it
        try:
            self._sources.hello(hello, link)
        except AcudError as fault:
            self._handle_refusal(watched, hello, fault, again=before is DisplayState.DOWN)
            return
        if hello.source == watched.name:
            self._mark_up(watched, before is not DisplayState.UP)

    def _handle_refusal(self, watched: WatchedDisplay, hello: SourceHello, fault: AcudError, *, again: bool) -> None:
        _LOG.error("source.refused", source=hello.source, fault=fault.message)
        if hello.source != watched.name:
            return
        self._mark_down(watched, fault, again=again)
        if isinstance(fault, ShmFull) and watched.state is DisplayState.DOWN and watched.child is not None:
            self._cancel_probe(watched)
            generation = watched.child.generation
            watched.probe = self._loop.call_later(_ROOM_S, lambda: self._hello_again(watched, hello, generation))

    def _hello_again(self, watched: WatchedDisplay, hello: SourceHello, generation: int) -> None:
        """Try again to make the ring that the capture process waits for: there may be room now."""
        if watched.child is not None and watched.child.process is not None and watched.child.generation == generation:
            self._handle_hello(watched, hello)

    def _mark_up(self, watched: WatchedDisplay, fresh: bool) -> None:
        self._record_change(watched, "display.up" if fresh else "display.geometry")
        if watched.followed or watched.name in self.with_clipboard:
            self._send_follow(watched)
        waiting, watched.waiting = watched.waiting, []
        for outcome in waiting:
            outcome(watched)

    def _record_change(self, watched: WatchedDisplay, topic: str) -> None:
        self._events.display_changed(topic, watched.name, watched.reason)

    def _handle_gone(self, message: SourceGone) -> None:
        source = self._sources.by_name.get(message.source)
        if source is not None:
            self._sources.mark_lost(source, "not_viewable", message.reason)
            self._sources.forget(source)

    def _handle_windows(self, watched: WatchedDisplay, message: DisplayWindows) -> None:
        watched.windows, watched.focused, watched.windows_known = message.windows, message.focused, True
        watched.is_used = watched.is_used or any(window.kind != "popup" for window in message.windows)
        watched.monitors, watched.scale_factor = message.monitors, message.scale_factor
        watched.a11y_address = message.a11y_address
        for watcher in self.watchers:
            watcher.windows_seen(watched)

    # ---- death and return ------------------------------------------------------------------------------------------

    def child_ended(self, child: Child, reason: str) -> None:
        """Lose the sources of a capture process that ended, until it, or the X server, is back."""
        watched = self.by_name.get(child.name)
        if watched is None or watched.child is not child or watched.state is DisplayState.ENDED:
            return
        self._input_lost(watched, reason)
        fault = from_wire(child.fault.code, child.fault.message, child.fault.hint, {}) if child.fault else None
        if isinstance(fault, DisplayDown):
            self._keeper.hold_back(child)
            self._mark_down(watched, fault)
            self._probe_later(watched, _PROBE_S)
        elif child.state is ChildState.FAILED:
            self._events.child_ended(child)
            self._mark_down(watched, DisplayDown(f"capture of {watched.name} was given up: {reason}", hint="acud logs"))
        elif fault is not None:
            self._keeper.hold_back(child)
            self._mark_down(watched, fault)
        else:
            self._lose_sources(watched, "display_down", f"capture of {watched.name} restarts: {reason}")
            self._events.child_ended(child)

    def _input_lost(self, watched: WatchedDisplay, reason: str) -> None:
        for actor in self.actors:
            actor.input_lost(watched, reason)
        for observer in self.clipboard_seen:
            observer(watched, None)

    def _mark_down(self, watched: WatchedDisplay, fault: AcudError, *, again: bool = False) -> None:
        watched.state, watched.reason = DisplayState.DOWN, str(fault)
        watched.windows, watched.windows_known, watched.focused, watched.monitors = (), False, 0, ()
        watched.scale_factor = 1.0
        self._lose_sources(watched, fault.code, fault.message)
        if not again:
            self._record_change(watched, "display.down")
        waiting, watched.waiting = watched.waiting, []
        for outcome in waiting:
            outcome(fault)

    def _lose_sources(self, watched: WatchedDisplay, code: str, reason: str, *, forget: bool = False) -> None:
        for source in [s for s in self._sources.by_name.values() if s.display == watched.name]:
            self._sources.mark_lost(source, code, reason)
            if forget or source.name != watched.name:
                self._sources.forget(source)

    def _probe_later(self, watched: WatchedDisplay, delay_s: float) -> None:
        self._cancel_probe(watched)
        watched.probe = self._loop.call_later(delay_s, lambda: self._probe_server(watched, delay_s))

    def _probe_server(self, watched: WatchedDisplay, delay_s: float) -> None:
        fault = self._find_obstacle(watched)
        if fault is None:
            self._start_capture(watched)
            return
        if fault.message and watched.reason != str(fault):
            self._mark_down(watched, fault)
        self._probe_later(watched, min(_PROBE_MAX_S, delay_s * 1.5))

    def _find_obstacle(self, watched: WatchedDisplay) -> DisplayDown | None:
        """Return why the display cannot be watched; with an empty text when no server answers."""
        if not server_listens(watched.name):
            return DisplayDown("")
        try:
            check_server(watched)
        except DisplayDown as fault:
            return fault
        return None

    def _cancel_probe(self, watched: WatchedDisplay) -> None:
        if watched.probe is not None:
            watched.probe.cancel()
            watched.probe = None

    def _start_capture(self, watched: WatchedDisplay) -> None:
        assert watched.child is not None
        options = CaptureOptions(
            display=watched.name,
            auth_file=watched.auth_file,
            frames_endpoint=self._paths.frames_endpoint(watched.name),
            slots=self._settings.capture.slots,
            max_fps=self._settings.capture.max_fps,
            floor_s=self._settings.capture.floor_s,
            method=self._settings.capture.method,
            managed=watched.managed,
            owner=watched.owner,
        )
        self._keeper.start(watched.child, options)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def info(self, watched: WatchedDisplay, default: str) -> DisplayInfo:
        source = self._sources.by_name.get(watched.name)
        base = DisplayInfo(
            name=watched.name,
            number=watched.number,
            managed=watched.managed,
            state=watched.state,
            reason=watched.reason,
            windows=watched.windows,
            focused=watched.focused,
            monitors=watched.monitors,
            is_default=watched.name == default,
            auth_file=watched.auth_file,
            bus_address=watched.bus_address,
            notifications=watched.notifications,
            notifications_fault=watched.notifications_fault,
        )
        return base if source is None else self._with_source(base, watched, source)

    def _with_source(self, base: DisplayInfo, watched: WatchedDisplay, source: Source) -> DisplayInfo:
        return replace(
            base,
            width=source.width,
            height=source.height,
            epoch=source.epoch,
            frame=source.frame,
            frame_age_s=self._sources.age_s(source),
            fps=self._sources.measure_fps(source),
            grab_path=source.method,
            grab_reason=source.method_reason,
        )


def _name_sources(message: Message) -> tuple[str, ...]:
    """Return the names of the sources (or displays) that `message` is about."""
    if isinstance(message, SourceHello):
        return (message.source,) if message.display == message.source.partition(".w")[0] else (message.display,)
    if isinstance(message, Notice | SourceGone):
        return (message.source,)
    if isinstance(message, Heartbeat):
        return (*message.newest, *message.compared)
    return (message.display,) if isinstance(message, DisplayWindows | ClipboardSeen) else ()


def _is_of(display: str, source: str) -> bool:
    """Return whether `source` is the display itself or a window on it."""
    if not source.startswith(display):
        return False
    window = source.removeprefix(display)
    return not window or bool(_WINDOW.fullmatch(window))


def server_listens(name: str) -> bool:
    """Return whether a server accepts connections on the socket of the local display `name`; never blocks."""
    return auth.is_served(x_number(name))


def check_server(watched: WatchedDisplay) -> None:
    """Raise DisplayDown unless the display's server may get its cookie."""
    auth.check_owner(x_number(watched.name), watched.owner)
