"""Watches the clipboard for conditions: XFIXES reports each new owner, whose text is then read in steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from acud.base.errors import AcudError, Refused, Unavailable
from acud.capture.frame_rate import painted_ns
from acud.protocol.capture import MOST_CLIPBOARD, ClipboardSeen
from acud.x11.clipboard import Clipboard
from acud.x11.connection import Connection
from acud.x11.events import PropertyTouched, SelectionGiven, SelectionTaken, Translator
from acud.x11.input_steps import Pause

_RETRY_S = 10.0
"""From an owner that did not answer to the next try: its program may only have been busy."""
_PAUSE_S = 0.1
"""From a reading to the next: a program that copies without end must not fill the supervisor's turns."""
_OWNER_MASK = 7
"""A new owner, the end of the owner's window, the end of its connection (xfixesproto, section 8)."""


class ClipboardWatch:
    """Counts copies from its start, and reads the text while a wait wants it. `send` takes the reports."""

    def __init__(self, connection: Connection, translator: Translator, send: Callable[[ClipboardSeen], None]) -> None:
        self._connection = connection
        self._send = send
        self._clipboard = Clipboard(connection, translator)  # with a window of its own: an act may read meanwhile
        self._since_utc_s = time.time()
        self._copied_utc_s = 0.0
        self._copies = 0
        self._steps: Iterator[Pause] | None = None
        self._pause = Pause(0.0)
        self._due_s: float | None = None
        self._read_s = -_PAUSE_S  # when the last reading ended
        self._is_wanted = False
        if connection.has("XFIXES"):
            atom = self._clipboard.names.selections["clipboard"]
            connection.xlib.xfixes_select_selection_input(connection.root, atom, _OWNER_MASK)

    def want(self, *, is_wanted: bool) -> None:
        """Read the clipboard now and after each copy, or no more."""
        if is_wanted and not self._is_wanted:
            self._due_s = 0.0
        self._is_wanted = is_wanted

    def on_event(self, event: SelectionTaken | SelectionGiven | PropertyTouched) -> None:
        """Note that the clipboard has another owner or none, or what its owner gives."""
        if not isinstance(event, SelectionTaken):
            self._clipboard.on_event(event)
            return
        self._due_s = 0.0
        if event.owner:
            now_ns = time.monotonic_ns()
            self._copied_utc_s = time.time() - (now_ns - painted_ns(event.time_ms, now_ns)) / 1e9
            self._copies += 1

    def due_s(self) -> float | None:
        """Return when `advance` is due by the clock; None when there is nothing to read."""
        if self._steps is not None:
            return self._pause.until_s
        return max(self._due_s, self._read_s + _PAUSE_S) if self._is_wanted and self._due_s is not None else None

    def advance(self, now_s: float) -> bool:
        """Take one due step of the reading; return False if none was due. Events may stay queued unpolled."""
        due_s = self.due_s()
        if self._steps is None and due_s is not None and due_s <= now_s:
            self._due_s, self._pause, self._steps = None, Pause(0.0), self._read_and_send()
        if self._steps is None or not self._pause.is_due(now_s):
            return False
        try:
            self._pause = next(self._steps)
        except StopIteration:
            self._steps, self._read_s = None, now_s
        self._connection.flush()
        return True

    def _read_and_send(self) -> Iterator[Pause]:
        copied, copies, text, fault = self._copied_utc_s, self._copies, "", None
        try:
            if not self._connection.has("XFIXES"):
                raise Refused("the X server does not report copies (it has no XFIXES)", hint="use another server")
            text = (yield from self._clipboard.get("clipboard")).text
        except AcudError as failure:
            fault = failure
            if isinstance(failure, Unavailable) and self._due_s is None:
                self._due_s = time.monotonic() + _RETRY_S
        self._send(
            ClipboardSeen(
                self._connection.name,
                text[:MOST_CLIPBOARD],
                is_cut=len(text) > MOST_CLIPBOARD,
                code=fault.code if fault else "",
                message=fault.message if fault else "",
                copies=copies,
                copied_utc_s=copied,
                since_utc_s=self._since_utc_s,
            )
        )
