"""A connection to one X server, opened with an explicit Xauthority file and checked for pixels acud can read."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, cast

import Xlib.display
from Xlib import X, error
from Xlib.protocol import request
from Xlib.support import connect

from acud.base.errors import DisplayDown, Refused
from acud.base.log import logger
from acud.x11 import auth
from acud.x11.wire import Wire

_NAME = re.compile(r"^:(?P<number>[0-9]{1,5})(\.(?P<screen>[0-9]{1,3}))?$")
_RGB_MASKS = (0xFF0000, 0x00FF00, 0x0000FF)
_LSB_FIRST = 0
_opening = threading.Lock()


class Connection:
    """An open connection. A context manager; closing twice is harmless.

    `xlib` is python-xlib's display, `wire` its protocol side, `root` the root window. Calls to the server
    belong inside `translate_faults`. `queued_events` must be drained after each request that waits for a reply:
    what arrives before the reply is queued here, where no poll sees it.
    """

    def __init__(self, name: str, auth_file: str = "", owner: int = auth.NOBODY_ELSE) -> None:
        """Open the local display `name` (such as `:7`). `auth_file` "" means the usual one. `owner`: the uid that may
        serve it besides ourselves and root.

        Raises: DisplayDown when it does not exist, refuses us or is served by another user; Refused for a name or a
        pixel format acud can't use.
        """
        self.name = name
        self.xlib: Any = _open_xlib(name, auth_file or auth.default_xauthority(), owner)
        self.wire: Wire = self.xlib.display
        self.xlib.set_error_handler(self._unasked_error)
        self.root: Any = self.xlib.screen().root
        self.depth: int = self.xlib.screen().root_depth
        _check_screen(self)
        _check_pixels(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the server frees our resources."""
        if self.wire.socket_error is None:
            with contextlib.suppress(error.ConnectionClosedError, OSError):
                self.xlib.close()

    def fileno(self) -> int:
        return cast(int, self.wire.fileno())

    def size(self) -> tuple[int, int]:
        """Return the root window's width and height now (asks the server)."""
        geometry = self.root.get_geometry()
        return geometry.width, geometry.height

    def read(self) -> None:
        """Read all that has arrived, without waiting; `queued_events` then yields it."""
        self.wire.check_for_error()
        self.wire.receive(wait=False)

    def queued_events(self) -> Iterator[Any]:
        """Yield the events already read from the socket, without polling it."""
        queue = self.wire.event_queue
        while queue:
            yield queue.pop(0)

    def sync(self) -> None:
        """Wait until the server has handled all requests so far."""
        request.GetInputFocus(display=self.wire)

    def flush(self) -> None:
        """Send the queued requests, without waiting for an answer."""
        self.wire.send_queued()

    def has(self, extension: str) -> bool:
        """Return whether server and python-xlib both have `extension`."""
        return cast(bool, self.xlib.has_extension(extension))

    def event_code(self, name: str) -> Any:
        """Return the code (or (code, subcode)) of the extension event `name`."""
        return getattr(self.xlib.extension_event, name)

    def server_run(self) -> str:
        """Return a text that identifies this run of the X server: its pid and start time, else the connection's own id.

        unix(7) SO_PEERCRED gives the listener's pid; 0 in another pid namespace. The fallback differs for each
        connection, which reads as "another server": the safe side.
        """
        pid, _ = auth.peer_credentials(self.wire.socket)
        started = _start_ticks(pid) if pid else ""
        return f"{pid}-{started}" if started else f"unknown-{id(self):x}-{_start_ticks(0)}"

    def _unasked_error(self, fault: Any, _request: Any) -> None:
        # A request without reply failed: a window that closed meanwhile, mostly. Its disappearance arrives as an event.
        logger("x11").debug("x.error", display=self.name, error=str(fault))


@contextlib.contextmanager
def translate_faults(name: str) -> Iterator[None]:
    """Turn python-xlib's closed connection into DisplayDown, around everything that talks to the server `name`."""
    try:
        yield
    except (error.ConnectionClosedError, ConnectionError) as fault:
        raise DisplayDown(f"the X server {name} is gone: {fault}", hint="was it stopped?") from fault


def _open_xlib(name: str, auth_file: str, owner: int) -> Any:
    parts = _NAME.match(name)
    if parts is None:
        raise Refused(f"{name!r} is not a display name", hint="give one of this machine, such as :0 or :100")
    number = int(parts["number"])
    hint = f"is it running, and is its cookie in {auth_file}?"
    try:
        sock = auth.connect_socket(number, owner)
    except OSError as fault:
        raise DisplayDown(f"can't open display {name}: {fault.strerror or fault}", hint=hint) from fault
    cookie = auth.cookie(auth_file, number)
    try:
        with _use_socket(sock, cookie):
            return Xlib.display.Display(name)
    except (error.DisplayError, error.ConnectionClosedError, OSError) as fault:
        sock.close()
        raise DisplayDown(f"can't open display {name}: {_describe_fault(fault)}", hint=hint) from fault


@contextlib.contextmanager
def _use_socket(sock: Any, cookie: tuple[bytes, bytes]) -> Iterator[None]:
    """Have python-xlib make a `Wire` over `sock` with `cookie`, which it does not take as arguments. Left alone it
    would fall back to TCP when the local socket is dead, and leave sockets of failed attempts open.
    """
    with _opening:
        theirs = connect.get_socket, connect.get_auth, Xlib.display._BaseDisplay
        connect.get_socket, connect.get_auth, Xlib.display._BaseDisplay = lambda *_: sock, lambda *_: cookie, Wire
        try:
            yield
        finally:
            connect.get_socket, connect.get_auth, Xlib.display._BaseDisplay = theirs


def _describe_fault(fault: Exception) -> str:
    said = getattr(fault, "msg", str(fault))
    return (said.decode("latin-1") if isinstance(said, bytes) else str(said)).strip()


def _check_screen(connection: Connection) -> None:
    """Refuse a screen that the server does not have; python-xlib would take the last one instead."""
    parts = _NAME.match(connection.name)
    screens = len(connection.wire.info.roots)
    if parts is not None and int(parts["screen"] or 0) >= screens:
        connection.close()
        raise Refused(f"the X server of {connection.name} has {screens} screens", hint="they count from .0")


def _check_pixels(connection: Connection) -> None:
    """Refuse everything but BGRX: 24 or 32 bits deep, 32 bits a pixel, least byte first, 8 bits a colour."""
    info = connection.wire.info
    depth = connection.depth
    bits = next((f.bits_per_pixel for f in info.pixmap_formats if f.depth == depth), 0)
    masks = _root_masks(connection.xlib.screen())
    if depth in {24, 32} and bits == 32 and info.image_byte_order == _LSB_FIRST and masks == _RGB_MASKS:
        return
    found = f"depth {depth}, {bits} bits a pixel, byte order {info.image_byte_order}, masks {masks}"
    connection.close()
    raise Refused(f"display {connection.name} has no BGRX pixels: {found}", hint="start it with depth 24")


def _root_masks(screen: Any) -> tuple[int, int, int] | None:
    for depth in screen.allowed_depths:
        for visual in depth.visuals:
            if visual.visual_id == screen.root_visual and visual.visual_class == X.TrueColor:
                return visual.red_mask, visual.green_mask, visual.blue_mask
    return None


def _start_ticks(pid: int) -> str:
    """Return field 22 (start time) of proc_pid_stat(5), "" when the process can't be seen; pid 0 means ourselves."""
    try:
        text = Path(f"/proc/{pid or 'self'}/stat").read_text()
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]
