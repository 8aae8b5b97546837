"""DAMAGE on one window: which box was painted since the last `subtract`.

Reports are bounding boxes. Raw rectangles would be 60,000 events a second under a terminal that prints without pause.
"""

from __future__ import annotations

from typing import Any

from Xlib.ext.damage import DamageReportBoundingBox

from acud.types import Rect
from acud.x11.connection import Connection

EXTENSION = "DAMAGE"


class Damage:
    """Damage of `window` (an Xlib window). Events of `event_code` whose `damage` is `id` are ours; see `box`."""

    def __init__(self, connection: Connection, window: Any) -> None:
        self._xlib = connection.xlib
        self._xlib.damage_query_version()  # the server refuses clients that never asked (damageproto, section 3)
        self.event_code: int = connection.event_code("DamageNotify")
        self.id: int = window.damage_create(DamageReportBoundingBox)

    def subtract(self) -> None:
        """Queue a request to start anew: what is painted from then on raises events again."""
        self._xlib.damage_subtract(self.id)

    def close(self) -> None:
        """Stop reports. Harmless when repeated, or when the window is gone (then the server has freed it)."""
        if self.id:
            damage, self.id = self.id, 0
            self._xlib.damage_destroy(damage)


def box(event: Any) -> Rect:
    """Return the painted box that a DamageNotify reports, relative to the window's inside."""
    area = event.area
    return Rect(area.x, area.y, area.width, area.height)
