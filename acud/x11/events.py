"""What the X server reports, as values of ours: paint, geometry, pointer shape, windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from Xlib import X

from acud.types import Rect
from acud.x11.connection import Connection

_RANDR = "RANDR"
_SCREEN_CHANGES = 1  # RRScreenChangeNotifyMask, randrproto section 7
_DAMAGE = "DAMAGE"
_XFIXES = "XFIXES"


class Painted(Struct, frozen=True):
    """`box` (relative to the window's inside) was painted in the window that the damage `damage` watches."""

    damage: int
    box: Rect


class Resized(Struct, frozen=True):
    """The screen may have another geometry; ask for it."""


class Shape(Struct, frozen=True):
    """The pointer has another shape."""

    serial: int


class WindowTouched(Struct, frozen=True):
    """A window came, went, moved, changed size, title, stacking or focus; its off-screen pixmap may be another one."""

    window: int
    renewed: bool
    """Whether it was mapped or configured: then the X server may have given it a new pixmap."""


Event = Painted | Resized | Shape | WindowTouched
_STRUCTURE = {X.MapNotify, X.UnmapNotify, X.ConfigureNotify, X.DestroyNotify, X.ReparentNotify, X.CirculateNotify}
_RENEWING = {X.MapNotify, X.ConfigureNotify}
_FOCUS = {X.FocusIn, X.FocusOut}


class Translator:
    """Turns python-xlib's events into ours. Making one selects the root's geometry events.

    `properties`: the atoms whose change means that a window changed as agents see it.
    """

    def __init__(self, connection: Connection, properties: frozenset[int]) -> None:
        self._root: int = connection.root.id
        self._properties = properties
        self._damage = connection.event_code("DamageNotify") if connection.has(_DAMAGE) else None
        self._shape = connection.event_code("DisplayCursorNotify")[0] if connection.has(_XFIXES) else None
        self._screen = connection.event_code("ScreenChangeNotify") if connection.has(_RANDR) else None
        if self._screen is not None:
            connection.root.xrandr_select_input(_SCREEN_CHANGES)

    def translate(self, event: Any) -> Event | None:
        """Return what `event` means; None for what nobody asked about."""
        code = event.type
        if code == self._damage:
            area = event.area
            return Painted(event.damage, Rect(area.x, area.y, area.width, area.height))
        if code == self._screen:
            return Resized()
        if code == self._shape:
            return Shape(event.cursor_serial)
        return self._of_window(event, code)

    def _of_window(self, event: Any, code: int) -> Event | None:
        if code in _STRUCTURE:
            if event.window.id == self._root:
                return Resized() if code == X.ConfigureNotify else None
            return WindowTouched(event.window.id, code in _RENEWING)
        if code in _FOCUS:
            return WindowTouched(event.window.id, renewed=False)
        if code == X.PropertyNotify and event.atom in self._properties:
            return WindowTouched(event.window.id, renewed=False)
        return None


def dispatch(connection: Connection, translator: Translator, handle: Callable[[Event], None]) -> int:
    """Hand every event already read to `handle`, without looking at the socket; return how many there were."""
    count = 0
    for event in connection.queued_events():
        count += 1
        told = translator.translate(event)
        if told is not None:
            handle(told)
    return count
