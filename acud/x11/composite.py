"""A window's own pixels, whatever covers it: redirected off-screen by the X server (COMPOSITE).

Automatic redirection changes nothing on the screen. The pixmap that holds the pixels is another one after each map or
resize, and has to be named anew then (compositeproto, NameWindowPixmap). Painting the window raises DAMAGE on the
window, not on the root where it is covered.
"""

from __future__ import annotations

from typing import Any

from Xlib import error
from Xlib.ext.composite import RedirectAutomatic

from acud.errors import Refused
from acud.x11.connection import Connection
from acud.x11.damage import Damage
from acud.x11.grab import Area, PixelsGone

EXTENSION = "Composite"


class OffScreen:
    """One redirected window; closing ends the redirection, twice is harmless.

    Raises: Refused when the server can't do it, PixelsGone when the window is gone or unmapped.
    """

    def __init__(self, connection: Connection, window: int) -> None:
        if not (connection.has(EXTENSION) and connection.has("DAMAGE")):
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
            return self.renew()
        except (PixelsGone, Refused):
            self.close()
            raise

    def renew(self) -> Area:
        """Name the window's present pixmap, and return the area of it inside the border. Raises: as the class."""
        self._free()
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

    def _free(self) -> None:
        if self._pixmap is not None:
            self._pixmap.free()
            self._pixmap = None

    def close(self) -> None:
        """Let go of pixmap and damage, and have the window drawn on the screen again."""
        if self.damage is not None:
            self._free()
            self.damage.close()
            self.damage = None
            self._window.composite_unredirect_window(RedirectAutomatic)
