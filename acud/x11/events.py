"""The X server's reports, as values of ours: paint, geometry, pointer shape, windows."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from Xlib import X

from acud.types import Rect
from acud.x11.connection import Connection
from acud.x11.window_tree import resource_id

_RANDR = "RANDR"
_SCREEN_CHANGES = 1  # RRScreenChangeNotifyMask, randrproto section 7
_DAMAGE = "DAMAGE"
_XFIXES = "XFIXES"
_XKB = "XKEYBOARD"
_SAVER = "MIT-SCREEN-SAVER"


class Painted(Struct, frozen=True):
    """`box` (relative to the window's inside) was painted in the window that the damage `damage` watches.

    `time_ms`: by the X server's clock.
    """

    damage: int
    box: Rect
    time_ms: int


class Resized(Struct, frozen=True):
    """The screen may have another geometry; ask for it."""


class Shape(Struct, frozen=True):
    """The pointer has another shape."""

    serial: int


class WindowTouched(Struct, frozen=True):
    """A window came, went, moved, changed size, title, stacking or focus; its off-screen pixmap may have changed."""

    window: int
    renewed: bool
    """Whether it was mapped or configured: then the X server may have given it a new pixmap."""


class FocusMoved(Struct, frozen=True):
    """A window got or lost the focus. `is_grabbed`: a program took the whole keyboard, or gave it back (None: no)."""

    window: int
    is_grabbed: bool | None


class WindowMade(Struct, frozen=True):
    """A program made a child of the root that a window manager may touch; it is not mapped yet."""

    window: int


class KeymapChanged(Struct, frozen=True):
    """The keysyms of `count` keycodes from `first` on changed, or which keys are modifiers."""

    first: int
    count: int


class Ponged(Struct, frozen=True):
    """A program answered the ping `number` (see `window_verbs.Ping`)."""

    number: int


class SelectionAsked(Struct, frozen=True):
    """A program requests a selection of ours, as `property` on its window `requestor`."""

    requestor: int
    selection: int
    target: int
    property: int
    time_ms: int


class SelectionGiven(Struct, frozen=True):
    """A selection's owner answered `requestor`, a window of ours; `property` 0: it refused."""

    requestor: int
    selection: int
    target: int
    property: int
    time_ms: int


class SelectionLost(Struct, frozen=True):
    """Another program owns the selection now."""

    selection: int


class SelectionTaken(Struct, frozen=True):
    """A followed selection has another `owner` (0: none)."""

    owner: int
    time_ms: int


class PropertyTouched(Struct, frozen=True):
    """A property of a followed window (`Translator.follow`) was set or deleted."""

    window: int
    property: int
    time_ms: int
    is_deleted: bool


SelectionEvent = SelectionAsked | SelectionGiven | SelectionLost | PropertyTouched
Event = (
    Painted | Resized | Shape | WindowTouched | FocusMoved | WindowMade | KeymapChanged | Ponged | SelectionTaken
    | SelectionEvent
)  # fmt: skip
_SELECTION = {X.SelectionRequest, X.SelectionNotify, X.SelectionClear}
_STRUCTURE = {X.MapNotify, X.UnmapNotify, X.ConfigureNotify, X.DestroyNotify, X.ReparentNotify, X.CirculateNotify}
_RENEWING = {X.MapNotify, X.ConfigureNotify}
_FOCUS = {X.FocusIn, X.FocusOut}
_GRABS = {(X.FocusOut, X.NotifyGrab): True, (X.FocusIn, X.NotifyUngrab): False, (X.FocusIn, X.NotifyNormal): False}
"""The server reports a grab like a moving focus, with its own mode (X11 protocol, FocusIn)."""


class _PaintEvent:
    """DamageNotify as python-xlib wants its event classes, unpacked in one go: 1 µs instead of 9, 50 after a rest.

    Layout (damageproto): type, level, sequence number, drawable, damage, timestamp, area.
    """

    _SHAPE = struct.Struct("=B1xH4xIIhhHH")

    def __init__(self, display: Any, binarydata: bytes) -> None:
        kind, self.sequence_number, self.damage, self.time_ms, x, y, w, h = self._SHAPE.unpack_from(binarydata)
        self.type = kind & 0x7F  # the highest bit marks an event of another client
        self.box = Rect(x, y, w, h)


class Translator:
    """Turns python-xlib's events into ours. Making one selects the root's geometry events.

    `properties`: the atoms whose change counts as a change of a window.
    """

    def __init__(self, connection: Connection, properties: frozenset[int]) -> None:
        self._root: int = connection.root.id
        self._ping: int = connection.wire.get_atom("_NET_WM_PING")
        self._manager: int = connection.wire.get_atom("MANAGER")
        self._properties = properties
        self._followed: Counter[int] = Counter()
        self._damage = connection.event_code("DamageNotify") if connection.has(_DAMAGE) else None
        if self._damage is not None:
            connection.wire.event_classes[self._damage] = _PaintEvent
        self._shape = connection.event_code("DisplayCursorNotify")[0] if connection.has(_XFIXES) else None
        self._taken = connection.event_code("SetSelectionOwnerNotify")[0] if connection.has(_XFIXES) else None
        self._saver: int | None = connection.event_code("Notify") if connection.has(_SAVER) else None
        keyboard = connection.xlib.query_extension(_XKB)
        self._keyboard: int | None = keyboard.first_event if keyboard is not None else None
        self._screen = connection.event_code("ScreenChangeNotify") if connection.has(_RANDR) else None
        if self._screen is not None:
            connection.root.xrandr_select_input(_SCREEN_CHANGES)

    def follow(self, window: int) -> None:
        """Report every property of `window` that comes or goes, until each follower has called `unfollow`; the caller
        selects the events.
        """
        self._followed[window] += 1

    def unfollow(self, window: int) -> None:
        self._followed -= Counter((window,))

    def translate(self, event: Any) -> Event | None:
        """Return the meaning of `event`; None for an event without use here."""
        code = event.type
        if code == self._damage:
            return Painted(event.damage, event.box, event.time_ms)
        if code == self._screen:
            return Resized()
        if code == self._shape:
            return Shape(event.cursor_serial)
        if code == self._taken:
            return SelectionTaken(0 if event.sub_code else resource_id(event.owner), event.timestamp)
        if code == self._saver:
            return WindowTouched(self._root, renewed=False)
        if code == X.MappingNotify:
            return _read_mapping(event)
        if code == self._keyboard:
            return KeymapChanged(0, 0)
        if code in _SELECTION:
            return _read_selection(event, code)
        if code == X.ClientMessage:
            return self._read_message(event)
        return self._read_window_event(event, code)

    def _read_message(self, event: Any) -> Event | None:
        form, value = event.data
        if event.client_type == self._manager and event.window.id == self._root:
            return WindowTouched(self._root, renewed=False)
        return Ponged(value[1]) if form == 32 and event.window.id == self._root and value[0] == self._ping else None

    def _read_window_event(self, event: Any, code: int) -> Event | None:
        if code in _STRUCTURE:
            if event.window.id == self._root:
                return Resized() if code == X.ConfigureNotify else None
            return WindowTouched(event.window.id, code in _RENEWING)
        if code in _FOCUS:
            return FocusMoved(event.window.id, _GRABS.get((code, event.mode)))
        if code == X.CreateNotify:
            return None if event.override else WindowMade(event.window.id)
        if code == X.PropertyNotify and event.atom in self._properties:
            return WindowTouched(event.window.id, renewed=False)
        if code == X.PropertyNotify and event.window.id in self._followed:
            return PropertyTouched(event.window.id, event.atom, event.time, event.state == X.PropertyDelete)
        return None


def _read_selection(event: Any, code: int) -> Event:
    if code == X.SelectionRequest:
        return SelectionAsked(resource_id(event.requestor), event.selection, event.target, event.property, event.time)
    if code == X.SelectionNotify:
        return SelectionGiven(resource_id(event.requestor), event.selection, event.target, event.property, event.time)
    return SelectionLost(event.atom)


def _read_mapping(event: Any) -> Event | None:
    if event.request == X.MappingKeyboard:
        return KeymapChanged(event.first_keycode, event.count)
    return KeymapChanged(0, 0) if event.request == X.MappingModifier else None


def dispatch(connection: Connection, translator: Translator, handle: Callable[[Event], None]) -> int:
    """Hand every event already read to `handle`, without polling the socket; return their number."""
    count = 0
    for event in connection.queued_events():
        count += 1
        told = translator.translate(event)
        if told is not None:
            handle(told)
    return count
