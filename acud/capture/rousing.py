"""A window manager that just started, roused until it has taken in what happened meanwhile."""

from __future__ import annotations

from acud.loop import Loop
from acud.x11.windows import Windows

_AFTER_S = (0.1, 0.3, 1.0, 3.0, 10.0)
"""When, from the moment in which it was seen: it names itself 0.1 s before it serves, on a busy machine seconds."""


class Rousing:
    """openbox 3.6 reads ahead while it starts, and looks at what it read only with the next event: a window that asks
    to be shown then is not, for as long as nothing else happens on the display. So something happens; on displays that
    acud started, as others' are not written to.
    """

    def __init__(self, windows: Windows, loop: Loop) -> None:
        self._windows = windows
        self._loop = loop
        self._was_managed = False

    def see(self) -> None:
        """Take the newest snapshot in: whether a window manager lives."""
        if self._windows.is_managed and not self._was_managed:
            for after_s in _AFTER_S:
                self._loop.call_later(after_s, self._windows.rouse_manager)
        self._was_managed = self._windows.is_managed
