"""Input for one window only: whether it gets the keys, and the pointer's events, is looked at while the X server is
grabbed, so nobody moves the focus or a window between the look and the events.

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
from acud.x11.input_steps import Rest
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
"""A window manager gives the focus a moment after a click or a request, and a dialog goes a moment after its answer."""
_POLL_S = 0.02
_OPENS_S = 0.15
"""A window that a program has made, or has taken the keyboard for, is mapped and managed in so long, or it is not meant
to be seen yet."""
_ELSEWHERE = ("_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP")


class Misdirected(Refused):
    """Input would have gone to another window than the one it is for; `how` has both, and what was sent before."""

    def __init__(self, how: Misdirection) -> None:
        super().__init__(f"window {how.by:#x} gets the input, not {how.target:#x}", hint="look again")
        self.how = how


class _Look(NamedTuple):
    """The window that gets keys, and the one under the pointer, which is at x, y: clients, else children of the root
    (0: none).
    """

    holder: int
    under: int
    x: int
    y: int


class InputGuard:
    """Lets input through while it reaches the window of the act. `snapshot` returns the windows as they are now, the
    same object while none of them changed.
    """

    def __init__(self, connection: Connection, reader: WindowReader, snapshot: Callable[[], WindowSnapshot]) -> None:
        wire = connection.wire
        self._wire, self._reader, self._snapshot = wire, reader, snapshot
        self._tree = WindowTree(connection)
        self._query_pointer = struct.pack("=BxHI", 38, 2, connection.root.id)
        self._client_bits = ~wire.info.resource_id_mask
        self._seen = WindowSnapshot()
        self._known: dict[int, int] = {}
        self._opens_until_s = 0.0
        self._has_grab = False
        self._drops_on = 0
        self._with_program = False
        self.target = 0
        self.done = self.last = 0
        """Letters or chords sent in this act, and how many of them were sent last."""

    # ---- an act ------------------------------------------------------------------------------------------------------

    def aim(self, window: int, *, with_program: bool) -> None:
        """Begin an act for `window` (0: for the window that has the keyboard at its first key), which may go to others
        of its program too where `with_program`.
        """
        self.target, self._with_program = window, with_program
        self.done = self.last = 0

    def arrive(self) -> Iterator[Rest]:
        """Rest until the window of the act has the keyboard, for a moment at most."""
        until_s = time.monotonic() + _ARRIVES_S
        while True:
            holder = self._look().holder
            if self._is_settled(holder) or time.monotonic() >= until_s:
                break
            yield Rest(time.monotonic() + _POLL_S)
        if not self.target or (self._with_program and not self._takes(holder) and self._leads_elsewhere()):
            self.target = holder

    def _is_settled(self, holder: int) -> bool:
        if self.target:
            return self._fault(holder) is None
        shown = any(one.visibility != "unmapped" and one.kind != "popup" for one in self._seen.windows)
        return any(one.window_id == holder for one in self._seen.windows) or not (shown and self._reader.is_managed)

    def opens(self) -> Iterator[Rest]:
        """Rest while a window that the program of the act has just made may open."""
        while time.monotonic() < self._opens_until_s and self._fault(self._look().holder) is None:
            yield Rest(time.monotonic() + _POLL_S)

    def sent(self, count: int) -> None:
        """Note that `count` more letters or chords went out."""
        self.done, self.last = self.done + count, count

    # ---- the server's grab -------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def keys(self) -> Iterator[None]:
        """Hold the X server during the body, in which keys are pressed. Raises: Misdirected before it."""
        with self._grabbed():
            self._raise_for(self._fault(self._look().holder))
            yield

    @contextlib.contextmanager
    def pointer(self) -> Iterator[None]:
        """As `keys`, for buttons pressed where the pointer is now. What lies beside the window is not checked."""
        with self._grabbed():
            look = self._look()
            window = self._info(self.target)
            if self.target and (window is None or window.outside.holds(look.x, look.y)):
                self._raise_for(self._fault(look.under))
            self.target = self.target or look.under
            yield

    def begin_drag(self, to: Point) -> None:
        """Note what is under `to`, where a drag from the window under the pointer will end."""
        asked = struct.pack("=BxHIIhh", 40, 4, self._tree.root, self._tree.root, to.x, to.y)
        (child,) = PackedQuery(self._wire, asked, _FOCUS).answer()
        self._drops_on = self._client(child)

    @contextlib.contextmanager
    def dragged(self) -> Iterator[None]:
        """As `pointer`, for the drop: on what was there when the drag began, or on the program's own picture of what is
        dragged.
        """
        with self._grabbed():
            under = self._look().under
            source, other = self._info(self.target), self._info(under)
            is_bare = other is None or other.kind == "popup"
            is_picture = source is not None and is_bare and self._is_of_one_program(source, under)
            dialog = modal_over(self.target, self._seen.windows)
            if dialog is not None:
                self._raise_for((dialog.window_id, True))
            elif under not in {self._drops_on, self.target} and not is_picture:
                self._raise_for((under, False))
            yield

    @contextlib.contextmanager
    def _grabbed(self) -> Iterator[None]:
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
        """Return how many of the letters or chords sent may have reached `by`, or nothing.

        What went to another program can't. But a program may hold keys and hand them to the window that it opens
        meanwhile, and an answer to a ping does not show what it holds: Java answers in another thread than the one in
        which it reads keys, a browser in another process.
        """
        target, other = self._info(self.target), self._info(by)
        is_one_client = self.target & self._client_bits == by & self._client_bits
        is_one_process = target is not None and other is not None and target.pid == other.pid != 0
        is_other = bool(by) and not is_one_client and not is_one_process  # zenity belongs to the terminal it came from
        return self.last if is_other else self.done

    # ---- looking -----------------------------------------------------------------------------------------------------

    def _look(self) -> _Look:
        """Look; one round trip, some more after an event about windows."""
        asked = PackedQuery(self._wire, _GET_FOCUS, _FOCUS), PackedQuery(self._wire, self._query_pointer, _POINTER)
        (at,), (child, x, y) = asked[0].answer(), asked[1].answer()
        newest = self._snapshot()
        if newest is not self._seen:
            self._seen = newest
            self._known.clear()
        under = self._client(child)
        if at in {_AT_THE_POINTER, self._tree.root}:
            return _Look(under, under, x, y)
        popup = self._grabbing_popup() if self._has_grab else 0
        return _Look(popup or self._client(at), under, x, y)

    def _client(self, window: int) -> int:
        if window and window not in self._known:
            self._known[window] = self._reader.client_of(window)
        return self._known.get(window, 0)

    def _fault(self, holder: int) -> tuple[int, bool] | None:
        """Return which window gets the input instead, and whether as a modal dialog; None while it goes right."""
        dialog = modal_over(self.target, self._seen.windows) if self.target else None
        if dialog is not None and not (self._with_program and holder == dialog.window_id):
            return dialog.window_id, True
        return None if self._takes(holder) else (holder, False)

    def _takes(self, holder: int) -> bool:
        if holder == self.target:
            return True
        target, other = self._info(self.target), self._info(holder)
        if target is None or not holder:
            return False
        is_another = other is not None and other.kind != "popup"
        if is_another and target.kind != "popup" and not self._with_program:
            return False
        return self._is_of_one_program(target, holder)

    def _is_of_one_program(self, target: WindowInfo, other: int) -> bool:
        """Tell whether both are of one program, by what they tell, or of one X client, which also tells for windows
        that nobody lists, such as the picture of what is dragged.
        """
        is_one_client = target.window_id & self._client_bits == other & self._client_bits
        return is_one_client or other in family_of(target, self._seen.windows)

    def _grabbing_popup(self) -> int:
        """Return the topmost popup of another program, which takes the keys where the keyboard is grabbed (0: none)."""
        target = self._info(self.target)
        popups = (one.window_id for one in self._seen.windows if one.kind == "popup")
        return next((one for one in popups if target is None or not self._is_of_one_program(target, one)), 0)

    def _info(self, window: int) -> WindowInfo | None:
        return next((one for one in self._seen.windows if one.window_id == window), None)

    def _leads_elsewhere(self) -> bool:
        """Tell whether the window of the act is a panel or the desktop, whose buttons lead to other programs."""
        return self._reader.has_type(self.target, _ELSEWHERE)

    # ---- events ------------------------------------------------------------------------------------------------------

    def grabbed(self, *, is_grabbed: bool) -> None:
        """Note that a program took the whole keyboard, or gave it back. A launcher shows its window only after that."""
        self._has_grab = is_grabbed
        if is_grabbed and self.target:
            self._opens_until_s = time.monotonic() + _OPENS_S

    def made(self, window: int) -> None:
        """Note that a program made a child of the root that it will have shown by a window manager."""
        if self.target and self.target & self._client_bits == window & self._client_bits:
            self._opens_until_s = time.monotonic() + _OPENS_S
