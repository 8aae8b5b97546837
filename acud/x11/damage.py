"""The painted boxes of a window (DAMAGE), and a window's own pixels even if covered (COMPOSITE)."""

from __future__ import annotations

import struct
from typing import Any

from Xlib import X, error
from Xlib.ext.composite import RedirectAutomatic
from Xlib.ext.damage import DamageReportBoundingBox, DamageReportDeltaRectangles

from acud.base.errors import Refused
from acud.x11.connection import Connection
from acud.x11.grab import Area, PixelsGone
from acud.x11.wire import PackedRequest

EXTENSION = "DAMAGE"

# Subtract, damageproto: major opcode, minor opcode 3, length; damage, repair and parts (none: all of it).
_SUBTRACT = struct.Struct("=BBHIII")


class Damage:
    """The box of `window` (an Xlib window) that was painted since the last `subtract`.

    Events whose `damage` is `id` are ours (see `events.Painted`). Reports are bounding boxes, or with `deltas` the
    parts beyond those reported already. Raw rectangles would be 60,000 events a second under a terminal that prints
    without pause.
    """

    def __init__(self, connection: Connection, window: Any, *, deltas: bool = False) -> None:
        self._connection, self._window = connection, window
        self._xlib = connection.xlib
        self._xlib.damage_query_version()  # the server refuses clients that never asked (damageproto, section 3)
        self.id: int = window.damage_create(DamageReportDeltaRectangles if deltas else DamageReportBoundingBox)
        opcode = connection.wire.get_extension_major(EXTENSION)
        self._subtract = PackedRequest(connection.wire, _SUBTRACT.pack(opcode, 3, 4, self.id, X.NONE, X.NONE))

    def subtract(self) -> None:
        """Queue a request to start anew: later paint raises events again."""
        self._subtract.send()

    def in_boxes(self) -> Damage:
        """Return another damage of the same window, which reports each painted box by itself."""
        return Damage(self._connection, self._window, deltas=True)

    def close(self) -> None:
        """Stop reports. Harmless when repeated, or when the window is gone (then the server has freed it)."""
        if self.id:
            damage, self.id = self.id, 0
            self._xlib.damage_destroy(damage)


_COMPOSITE = "Composite"


class OffScreen:
    """One window, redirected off-screen by the X server; closing ends the redirection, twice is harmless.

    Automatic redirection changes nothing on the screen. The pixmap that holds the pixels is another one after each map
    or resize, and has to be named anew then (compositeproto, NameWindowPixmap). Painting the window raises DAMAGE on
    the window, not on the root where it is covered.
    Raises: Refused when the server can't do it, PixelsGone when the window is gone or unmapped.
    """

    def __init__(self, connection: Connection, window: int) -> None:
        if not (connection.has(_COMPOSITE) and connection.has("DAMAGE")):
            raise Refused(f"the X server {connection.name} has no COMPOSITE and DAMAGE", hint="uncover the window")
        self._connection = connection
        self._window: Any = connection.xlib.create_resource_object("window", window)
        self._pixmap: Any = None
        self.damage: Damage | None = None
        connection.xlib.composite_query_version()  # the server refuses clients that never asked
        self._window.composite_redirect_window(RedirectAutomatic)
        self.damage = Damage(connection, self._window)
        self.area = self._checked_area()

    def _checked_area(self) -> Area:
        try:
            return self.renew_pixmap()
        except (PixelsGone, Refused):
            self.close()
            raise

    def renew_pixmap(self) -> Area:
        """Name the window's present pixmap, and return the area of it inside the border. Raises: as the class."""
        self._free_pixmap()
        refused = error.CatchError()
        self._pixmap = self._window.composite_name_window_pixmap(onerror=refused)
        try:
            geometry = self._window.get_geometry()
            attributes = self._window.get_attributes()
        except (error.BadWindow, error.BadDrawable) as fault:
            raise PixelsGone(f"window {self._window.id:#x} is gone") from fault
        if refused.get_error() is not None or not attributes.map_state:
            raise PixelsGone(f"window {self._window.id:#x} is not mapped")
        if geometry.depth not in {24, 32}:
            raise Refused(f"window {self._window.id:#x} has {geometry.depth} bits a pixel, not 24 or 32")
        border = geometry.border_width
        self.area = Area(self._pixmap.id, border, border, geometry.width, geometry.height)
        return self.area

    def _free_pixmap(self) -> None:
        if self._pixmap is not None:
            self._pixmap.free()
            self._pixmap = None

    def close(self) -> None:
        """Free pixmap and damage, and have the window drawn on the screen again."""
        if self.damage is not None:
            self._free_pixmap()
            self.damage.close()
            self.damage = None
            self._window.composite_unredirect_window(RedirectAutomatic)
