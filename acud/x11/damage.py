"""DAMAGE on one window: which box was painted since the last `subtract`.

Reports are bounding boxes, or with `deltas` what is painted beyond what was reported already. Raw rectangles would be
60,000 events a second under a terminal that prints without pause.
"""

from __future__ import annotations

import struct
from typing import Any

from Xlib import X
from Xlib.ext.damage import DamageReportBoundingBox, DamageReportDeltaRectangles

from acud.x11.connection import Connection
from acud.x11.request_templates import PackedRequest

EXTENSION = "DAMAGE"

# Subtract, damageproto: major opcode, minor opcode 3, length; damage, repair and parts (none: all of it).
_SUBTRACT = struct.Struct("=BBHIII")


class Damage:
    """Damage of `window` (an Xlib window). Events whose `damage` is `id` are ours (see `events.Painted`)."""

    def __init__(self, connection: Connection, window: Any, *, deltas: bool = False) -> None:
        self._connection, self._window = connection, window
        self._xlib = connection.xlib
        self._xlib.damage_query_version()  # the server refuses clients that never asked (damageproto, section 3)
        self.id: int = window.damage_create(DamageReportDeltaRectangles if deltas else DamageReportBoundingBox)
        opcode = connection.wire.get_extension_major(EXTENSION)
        self._subtract = PackedRequest(connection.wire, _SUBTRACT.pack(opcode, 3, 4, self.id, X.NONE, X.NONE))

    def subtract(self) -> None:
        """Queue a request to start anew: what is painted from then on raises events again."""
        self._subtract.send()

    def in_boxes(self) -> Damage:
        """Return another damage of the same window, which tells each painted box by itself."""
        return Damage(self._connection, self._window, deltas=True)

    def close(self) -> None:
        """Stop reports. Harmless when repeated, or when the window is gone (then the server has freed it)."""
        if self.id:
            damage, self.id = self.id, 0
            self._xlib.damage_destroy(damage)
