"""Input for one window only: while the X server is grabbed, check that this window gets the keys and pointer events, so
that the focus or a window cannot move between the check and the events.

A check costs one round trip. The list of windows is read again only after an event about windows.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from acud.base.errors import Refused
from acud.protocol.capture import Misdirection
from acud.types import WindowInfo, family_of, modal_over
from acud.types.actions import Point
from acud.x11.connection import Connection
from acud.x11.input_steps import Pause
from acud.x11.window_tree import WindowTree
from acud.x11.windows import WindowReader, WindowSnapshot
from acud.x11.wire import PackedQuery, PackedRequest

# X11 protocol, appendix B. The focus, and the child at a place, are at byte 8 of their reply; a pointer's child at 12.
_GRAB_SERVER = struct.pack("=BxH", 36, 1)
_UNGRAB_SERVER = struct.pack("=BxH", 37, 1)
_GET_FOCUS = struct.pack("=BxH", 43, 1)
_FOCUS = struct.Struct("=8xI")
_POINTER = struct.Struct("=12xIhh")
_AT_THE_POINTER = 1
_ARRIVES_S = 0.5
"""A window manager gives the focus a moment after a click or a request; a dialog closes a moment after its answer."""
_POLL_S = 0.02
_OPENS_S = 0.15
"""A window just made, or for which the keyboard was grabbed, is mapped in this time, or not meant to be seen yet."""
_ELSEWHERE = ("_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP")


class Misdirected(Refused):
    """Input would have gone to another window than its target; `how` has both, and what was sent before."""

    def __init__(self, how: Misdirection) -> None:
        super().__init__(f"window {how.by:#x} gets the input, not {how.target:#x}", hint="look again")
        self.how = how


class _Look(NamedTuple):
    """The window that gets keys, and the one under the pointer at x, y: clients, else children of the root (0: none)"""

    holder: int
    under: int
    x: int
    y: int


class InputGuard:
    """Lets input through while it reaches the window of the act. `snapshot` returns the current windows, the same
    object while none of them changed.
    """

    def __init__(self, connection: Connection, reader: WindowReader, snapshot: Callable[[], WindowSnapshot]) -> None:
        wire = connection.wire
        self._wire, self._reader, self._snapshot = wire, reader, snapshot
        self._tree = WindowTree(connection)
        self._query_pointer = struct.pack("=BxHI", 38, 2, connection.root.id)
        self._client_bits = ~wire.info.resource_id_mask
        self._seen = WindowSnapshot()
        self._clients: dict[int, int] = {}
        self._opens_until_s = 0.0
        self._has_grab = False
        self._drops_on = 0
        self._with_program = False
        self.target = 0
        self.done = self.last = 0  # letters or chords sent in this act, and how many of them were sent last

    # ---- an act ------------------------------------------------------------------------------------------------------

    def begin_act(self, window: int, *, with_program: bool) -> None:
        """Begin an act for `window` (0: for the window with the keyboard at its first key), or for any window of its
        program with `with_program`.
        """
        self.target, self._with_program = window, with_program
        self.done = self.last = 0

    def await_focus(self) -> Iterator[Pause]:
        """Pause until the window of the act has the keyboard, for a moment at most."""
        until_s = time.monotonic() + _ARRIVES_S
        while True:
            holder = self._look_at_input().holder
            if self._is_settled(holder) or time.monotonic() >= until_s:
                break
            yield Pause(time.monotonic() + _POLL_S)
        if not self.target or (self._with_program and not self._takes_input(holder) and self._leads_elsewhere()):
            self.target = holder

    def _is_settled(self, holder: int) -> bool:
        if self.target:
            return self._find_fault(holder) is None
        shown = any(one.visibility != "unmapped" and one.kind != "popup" for one in self._seen.windows)
        return any(one.window_id == holder for one in self._seen.windows) or not (shown and self._reader.is_managed)

    def await_opening(self) -> Iterator[Pause]:
        """Pause while a window that the act's program has just made may open."""
        while time.monotonic() < self._opens_until_s and self._find_fault(self._look_at_input().holder) is None:
            yield Pause(time.monotonic() + _POLL_S)

    def check_held(self) -> None:
        """Raises: Misdirected where a window of the act's own program has the keyboard while the act's window is there:
        letters that the program had not read go to that window.
        """
        fault = self._find_fault(self._look_at_input().holder)
        if fault is not None and self._find_window(self.target) is not None and not self._is_other_program(fault[0]):
            self._raise_for(fault)

    def count_sent(self, count: int) -> None:
        """Note that `count` more letters or chords were sent."""
        self.done, self.last = self.done + count, count

    # ---- the server's grab -------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def keys(self) -> Iterator[None]:
        """Grab the X server during the body, which presses keys. Raises: Misdirected before it."""
        with self._grab_server():
            self._raise_for(self._find_fault(self._look_at_input().holder))
            yield

    @contextlib.contextmanager
    def pointer(self) -> Iterator[None]:
        """Do the same as `keys` for buttons at the pointer. Positions beside the window are not checked."""
        with self._grab_server():
            look = self._look_at_input()
            window = self._find_window(self.target)
            if self.target and (window is None or window.outside.holds(look.x, look.y)):
                self._raise_for(self._find_fault(look.under))
            self.target = self.target or look.under
            yield

    def begin_drag(self, to: Point) -> None:
        """Note the window at `to`, where a drag from the window under the pointer will end."""
        asked = struct.pack("=BxHIIhh", 40, 4, self._tree.root, self._tree.root, to.x, to.y)
        (child,) = PackedQuery(self._wire, asked, _FOCUS).answer()
        self._drops_on = self._find_client(child)

    @contextlib.contextmanager
    def check_drop(self) -> Iterator[None]:
        """Do the same as `pointer` for the drop: on the window that was there when the drag began, or on the program's
        own picture of the dragged object.
        """
        with self._grab_server():
            under = self._look_at_input().under
            source, other = self._find_window(self.target), self._find_window(under)
            is_bare = other is None or other.kind == "popup"
            is_picture = source is not None and is_bare and self._is_of_one_program(source, under)
            dialog = modal_over(self.target, self._seen.windows)
            if dialog is not None:
                self._raise_for((dialog.window_id, True))
            elif under not in {self._drops_on, self.target} and not is_picture:
                self._raise_for((under, False))
            yield

    @contextlib.contextmanager
    def _grab_server(self) -> Iterator[None]:
        PackedRequest(self._wire, _GRAB_SERVER).send()
        try:
            yield
        finally:
            PackedRequest(self._wire, _UNGRAB_SERVER).send()

    def _raise_for(self, fault: tuple[int, bool] | None) -> None:
        if fault is not None:
            by, is_kept = fault
            raise Misdirected(Misdirection(self.target, by, is_kept, self.done, self._count_unsure(by)))

    def _count_unsure(self, by: int) -> int:
        """Return how many of the sent letters or chords may have reached `by`, or nothing.

        Input for another program can't. But a program may hold keys and hand them to the window that it opens
        meanwhile, and an answer to a ping does not show what it holds: Java answers in another thread than the one that
        reads keys, a browser in another process.
        """
        return self.last if self._is_other_program(by) else self.done

    def _is_other_program(self, by: int) -> bool:
        target, other = self._find_window(self.target), self._find_window(by)
        is_one_client = self.target & self._client_bits == by & self._client_bits
        is_one_process = target is not None and other is not None and target.pid == other.pid != 0
        return bool(by) and not is_one_client and not is_one_process  # zenity belongs to its terminal

    # ---- looking -----------------------------------------------------------------------------------------------------

    def _look_at_input(self) -> _Look:
        """Look; one round trip, some more after an event about windows."""
        asked = PackedQuery(self._wire, _GET_FOCUS, _FOCUS), PackedQuery(self._wire, self._query_pointer, _POINTER)
        (at,), (child, x, y) = asked[0].answer(), asked[1].answer()
        newest = self._snapshot()
        if newest is not self._seen:
            self._seen = newest
            self._clients.clear()
        under = self._find_client(child)
        if at in {_AT_THE_POINTER, self._tree.root}:
            return _Look(under, under, x, y)
        popup = self._grabbing_popup() if self._has_grab else 0
        return _Look(popup or self._find_client(at), under, x, y)

    def _find_client(self, window: int) -> int:
        if window and window not in self._clients:
            self._clients[window] = self._reader.client_of(window)
        return self._clients.get(window, 0)

    def _find_fault(self, holder: int) -> tuple[int, bool] | None:
        """Return the window that gets the input instead, and whether as a modal dialog; None for the right one."""
        dialog = modal_over(self.target, self._seen.windows) if self.target else None
        if dialog is not None and not (self._with_program and holder == dialog.window_id):
            return dialog.window_id, True
        return None if self._takes_input(holder) else (holder, False)

    def _takes_input(self, holder: int) -> bool:
        if holder == self.target:
            return True
        target, other = self._find_window(self.target), self._find_window(holder)
        if target is None or not holder:
            return False
        is_another = other is not None and other.kind != "popup"
        if is_another and target.kind != "popup" and not self._with_program:
            return False
        return self._is_of_one_program(target, holder)

    def _is_of_one_program(self, target: WindowInfo, other: int) -> bool:
        """Return whether both belong to one program by their properties, or to one X client, which also covers unlisted
        windows such as the picture of a dragged object.
        """
        is_one_client = target.window_id & self._client_bits == other & self._client_bits
        return is_one_client or other in family_of(target, self._seen.windows)

    def _grabbing_popup(self) -> int:
        """Return the topmost popup of another program, which takes the keys where the keyboard is grabbed (0: none)."""
        target = self._find_window(self.target)
        popups = (one.window_id for one in self._seen.windows if one.kind == "popup")
        return next((one for one in popups if target is None or not self._is_of_one_program(target, one)), 0)

    def _find_window(self, window: int) -> WindowInfo | None:
        return next((one for one in self._seen.windows if one.window_id == window), None)

    def _leads_elsewhere(self) -> bool:
        """Return whether the window of the act is a panel or the desktop, whose buttons lead to other programs."""
        return self._reader.has_type(self.target, _ELSEWHERE)

    # ---- events ------------------------------------------------------------------------------------------------------

    def on_grabbed(self, *, is_grabbed: bool) -> None:
        """Note that a program took the whole keyboard, or gave it back. A launcher shows its window only after that."""
        self._has_grab = is_grabbed
        if is_grabbed and self.target:
            self._opens_until_s = time.monotonic() + _OPENS_S

    def on_window_made(self, window: int) -> None:
        """Note that a program made a child of the root that a window manager will show."""
        if self.target and self.target & self._client_bits == window & self._client_bits:
            self._opens_until_s = time.monotonic() + _OPENS_S
