"""Requests to a window (to its manager by EWMH, else to the window itself as far as X allows), and pings."""

from __future__ import annotations

from Xlib import X, Xutil
from Xlib.protocol import event, request

from acud.base.errors import InvalidRequest, NotFound, Refused
from acud.types.actions import Point, WindowDo, WindowVerb
from acud.x11.connection import Connection
from acud.x11.input_steps import ActOutcome, Steps, pause_for
from acud.x11.window_tree import WindowTree, words
from acud.x11.windows import WindowReader

_PAGER = 2  # EWMH source indication: a direct user action
_STATIC_GRAVITY = 10
_HAS_X, _HAS_Y, _HAS_WIDTH, _HAS_HEIGHT = 1 << 8, 1 << 9, 1 << 10, 1 << 11
_REMOVE, _ADD = 0, 1  # _NET_WM_STATE actions
_FOCUS_S = 1.0
_TO_ROOT = X.SubstructureRedirectMask | X.SubstructureNotifyMask


class Ping:
    """One ping at a time; late answers to older ones are ignored. Windows are client windows."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tree = WindowTree(connection)
        self._protocols: int = connection.wire.get_atom("WM_PROTOCOLS")
        self._ping: int = connection.wire.get_atom("_NET_WM_PING")
        self._number = 0
        self._answers = (0, False)
        self.is_answered = False

    def can_send(self, window: int) -> bool:
        """Return whether `window` takes pings; a round trip if it is another window than before."""
        if window != self._answers[0]:
            found = (
                self._tree.properties([window], [self._protocols]).get((window, self._protocols)) if window else None
            )
            self._answers = window, self._ping in words(found)
        return self._answers[1]

    def begin(self) -> None:
        """Begin an act: read again which windows take pings."""
        self._answers = (0, False)

    def give_up(self, window: int) -> None:
        """Note that `window` does not answer: it gets no further ping in this act."""
        self._answers = window, False

    def send(self, window: int) -> bool:
        """Ping `window`; return False when it takes no pings."""
        if not self.can_send(window):
            return False
        self._number += 1
        self.is_answered = False
        target = self._connection.xlib.create_resource_object("window", window)
        said = event.ClientMessage(
            window=target, client_type=self._protocols, data=(32, [self._ping, self._number, window, 0, 0])
        )
        target.send_event(said)
        return True

    def on_answered(self, number: int) -> None:
        """Note an answer (see `events.Ponged`)."""
        self.is_answered = self.is_answered or number == self._number


class WindowVerbs:
    """Sends requests, which the window manager (or the program) follows when it likes. Only a focus is awaited."""

    def __init__(self, connection: Connection, windows: WindowReader) -> None:
        self._connection, self._windows = connection, windows
        self._tree = WindowTree(connection)
        self._verbs = {
            WindowVerb.FOCUS: self._focus_window,
            WindowVerb.RAISE: self._raise_window,
            WindowVerb.MOVE: self._move_window,
            WindowVerb.RESIZE: self._resize_window,
            WindowVerb.CLOSE: self._close_window,
            WindowVerb.MINIMISE: self._minimise_window,
            WindowVerb.MAXIMISE: self._maximise_window,
            WindowVerb.RESTORE: self._restore_window,
        }

    def steps(self, action: WindowDo) -> Steps:
        """Request `action` of its window; a focus is done once the window manager names the window as the active one.

        Raises: NotFound for a window that is gone, InvalidRequest without a place or size, Refused for the impossible,
        also for a focus that the window manager gives to another window.
        """
        window = self._parse_window(action.window)
        self._verbs[action.do](window, action)
        self._connection.flush()
        if action.do is WindowVerb.FOCUS and self._windows.has_manager():
            yield from pause_for(_FOCUS_S, lambda: self._read_active() == window)
            active = self._read_active()
            if active != window:
                has = f"window {active:#x} has it" if active else "no window has it"
                raise Refused(
                    f"the window manager did not give window {window:#x} the focus within {_FOCUS_S:g} s: {has}",
                    hint="a modal dialog may keep it; list the windows",
                )
        return ActOutcome(window_id=window)

    def _read_active(self) -> int:
        found = self._read_words(self._tree.root, "_NET_ACTIVE_WINDOW")
        return found[0] if found else 0

    def _parse_window(self, name: str) -> int:
        try:
            window = int(name, 0)
        except ValueError:
            raise InvalidRequest(f"{name!r} is no X window id", hint="give it as 4194307 or 0x400003") from None
        if window in {0, self._tree.root} or not self._tree.outlines([window]):
            raise NotFound(f"there is no window {name}", hint="it was closed; list the windows again")
        return window

    # ---- the verbs --------------------------------------------------------------------------------------------------

    def _focus_window(self, window: int, _: WindowDo) -> None:
        if self._windows.has_manager():
            self._ask_manager(window, "_NET_ACTIVE_WINDOW", _PAGER, X.CurrentTime, 0)
            return
        self._configure_window(window, stack_mode=X.Above)
        request.MapWindow(display=self._connection.wire, window=window)
        request.SetInputFocus(
            display=self._connection.wire, revert_to=X.RevertToPointerRoot, focus=window, time=X.CurrentTime
        )

    def _raise_window(self, window: int, _: WindowDo) -> None:
        if self._is_supported("_NET_RESTACK_WINDOW"):
            self._ask_manager(window, "_NET_RESTACK_WINDOW", _PAGER, 0, X.Above)
        else:
            self._configure_window(window, stack_mode=X.Above)

    def _move_window(self, window: int, action: WindowDo) -> None:
        if action.to is None:
            raise InvalidRequest("move needs a place", hint="give `to` as [x, y]")
        self._place_client(window, action.to, None)

    def _resize_window(self, window: int, action: WindowDo) -> None:
        if action.size is None:
            raise InvalidRequest("resize needs a size", hint="give `size` as [width, height]")
        self._place_client(window, None, action.size)

    def _close_window(self, window: int, _: WindowDo) -> None:
        if self._is_supported("_NET_CLOSE_WINDOW"):
            self._ask_manager(window, "_NET_CLOSE_WINDOW", X.CurrentTime, _PAGER)
            return
        delete = self._atom("WM_DELETE_WINDOW")
        if delete not in self._read_words(window, "WM_PROTOCOLS"):
            raise Refused("the window takes no request to close", hint="end its program another way")
        self._send_message(window, window, "WM_PROTOCOLS", [delete, X.CurrentTime], X.NoEventMask)

    def _minimise_window(self, window: int, _: WindowDo) -> None:
        self._require_manager("minimise")
        self._ask_manager(window, "WM_CHANGE_STATE", Xutil.IconicState)

    def _maximise_window(self, window: int, _: WindowDo) -> None:
        if self._windows.has_manager():
            self._change_state(window, _ADD)
        else:
            self._place_client(window, Point(0, 0), self._connection.size())

    def _restore_window(self, window: int, _: WindowDo) -> None:
        self._require_manager("restore")
        self._change_state(window, _REMOVE)
        if self._read_words(window, "WM_STATE")[:1] == [Xutil.IconicState]:
            self._ask_manager(window, "_NET_ACTIVE_WINDOW", _PAGER, X.CurrentTime, 0)

    # ---- means ------------------------------------------------------------------------------------------------------

    def _place_client(self, window: int, to: Point | None, size: tuple[int, int] | None) -> None:
        """Place the client area; with a manager in its terms (static gravity: no frame is added or taken off)."""
        if self._is_supported("_NET_MOVERESIZE_WINDOW"):
            flags = _STATIC_GRAVITY | _PAGER << 12
            flags |= (_HAS_X | _HAS_Y if to else 0) | (_HAS_WIDTH | _HAS_HEIGHT if size else 0)
            x, y = (to.x, to.y) if to else (0, 0)
            width, height = size or (0, 0)
            self._ask_manager(window, "_NET_MOVERESIZE_WINDOW", flags, x & 0xFFFFFFFF, y & 0xFFFFFFFF, width, height)
            return
        at = {"x": to.x, "y": to.y} if to else {}
        extent = {"width": size[0], "height": size[1]} if size else {}
        self._configure_window(window, **at, **extent)

    def _change_state(self, window: int, action: int) -> None:
        vertical, horizontal = self._atom("_NET_WM_STATE_MAXIMIZED_VERT"), self._atom("_NET_WM_STATE_MAXIMIZED_HORZ")
        self._ask_manager(window, "_NET_WM_STATE", action, vertical, horizontal, _PAGER)

    def _configure_window(self, window: int, **values: int) -> None:
        self._connection.xlib.create_resource_object("window", window).configure(**values)

    def _ask_manager(self, window: int, message: str, *data: int) -> None:
        """Send `message` about `window` to the window manager."""
        self._send_message(self._tree.root, window, message, list(data), _TO_ROOT)

    def _send_message(self, to: int, about: int, message: str, data: list[int], mask: int) -> None:
        resource = self._connection.xlib.create_resource_object
        said = event.ClientMessage(
            window=resource("window", about), client_type=self._atom(message), data=(32, [*data, 0, 0, 0, 0][:5])
        )
        resource("window", to).send_event(said, event_mask=mask)

    def _require_manager(self, verb: str) -> None:
        if not self._windows.has_manager():
            raise Refused(f"the display has no window manager to {verb} windows", hint="start one, or move it instead")

    def _is_supported(self, message: str) -> bool:
        return self._windows.has_manager() and self._atom(message) in self._read_words(
            self._tree.root, "_NET_SUPPORTED"
        )

    def _read_words(self, window: int, name: str) -> list[int]:
        atom = self._atom(name)
        return words(self._tree.properties([window], [atom]).get((window, atom)))

    def _atom(self, name: str) -> int:
        atom: int = self._connection.wire.get_atom(name)
        return atom
