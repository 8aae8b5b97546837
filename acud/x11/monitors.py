"""The monitors of a display: RANDR 1.5's, areas of one screen that outputs make, or `xrandr --setmonitor`."""

from __future__ import annotations

from typing import Any

from Xlib import error

from acud.types import MonitorInfo, Rect
from acud.x11.connection import Connection

_MAX = 64
_MAX_NAME = 100


def monitors(connection: Connection) -> tuple[MonitorInfo, ...]:
    """Return the active monitors in the server's order; () where the server knows none (RANDR before 1.5)."""
    if not connection.has("RANDR"):
        return ()
    try:
        found = connection.root.xrandr_get_monitors(is_active=True).monitors
    except (error.BadRequest, error.BadMatch):
        return ()
    return tuple(_info(connection, one) for one in found[:_MAX])


def _info(connection: Connection, one: Any) -> MonitorInfo:
    name = connection.xlib.get_atom_name(one.name)[:_MAX_NAME]
    return MonitorInfo(name, Rect(one.x, one.y, one.width_in_pixels, one.height_in_pixels), bool(one.primary))
