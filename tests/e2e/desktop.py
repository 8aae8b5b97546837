"""The people and programs of a display, for tests: windows of flat colour or text, moved, raised and repainted at will.

`until` waits for a condition with a generous deadline, so that no result depends on how fast the machine is.
"""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont
from Xlib import X, Xutil
from Xlib.protocol import event

from acud.types import Rect, WaitInfo, WaitState, WindowInfo
from acud.x11.connection import Connection
from acud_client import Client
from tests.fixtures.daemon import Daemon
from tests.fixtures.patience import LONG_S as PATIENCE_S
from tests.fixtures.patience import until as until

_FONT = "DejaVuSans.ttf"

Pixels = npt.NDArray[np.uint8]


class Desk:
    """A client of `display` that draws. What is drawn is on the screen when the call returns; `with` cleans up."""

    def __init__(self, display: str, auth_file: str) -> None:
        self.display, self.auth_file = display, auth_file
        self._x = Connection(display, auth_file)
        self._windows: dict[int, Any] = {}
        self._programs: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.clear()
        self._x.close()

    def clear(self) -> None:
        """End the programs, close the windows, and leave the root black."""
        for program in self._programs:
            program.terminate()
            program.wait()
        self._programs.clear()
        for window in list(self._windows):
            self.close(window)
        self._x.root.change_attributes(background_pixel=0)
        self._x.root.clear_area()
        self._x.sync()

    # ---- windows ---------------------------------------------------------------------------------------------------

    def window(self, box: Rect, colour: int | None = 0xFFFFFF, title: str = "", *, popup: bool = False) -> int:
        """Map a window and return its id; the server itself repaints its colour (None: nobody paints it). A `popup` is
        no manager's business.
        """
        ground = {"background_pixmap": X.NONE} if colour is None else {"background_pixel": colour}
        window = self._x.root.create_window(
            box.x, box.y, box.w, box.h, 0, X.CopyFromParent, X.InputOutput, X.CopyFromParent,
            override_redirect=popup, **ground,
        )  # fmt: skip
        window.set_wm_class("desk", "Desk")
        if title:
            window.set_wm_name(title)
        window.map()
        self._x.sync()
        self._windows[window.id] = window
        return int(window.id)

    def pane(self, box: Rect) -> None:
        """Map a window without pixels, which takes the clicks on what is seen through it."""
        pane = self._x.root.create_window(
            box.x, box.y, box.w, box.h, 0, X.CopyFromParent, X.InputOnly, X.CopyFromParent, override_redirect=True
        )
        pane.change_attributes(event_mask=X.ButtonPressMask)
        pane.map()
        self._x.sync()
        self._windows[pane.id] = pane

    def words(self, box: Rect, text: str, title: str = "", *, size_px: int = 24) -> int:
        """Map a white window that shows `text` in large letters; the server repaints it, being its background."""
        window = self.window(box, title=title)
        self.rewrite(window, text, size_px=size_px)
        return window

    def rewrite(self, window: int, text: str, *, size_px: int = 24) -> None:
        """Have `window` show `text` instead."""
        size = self._windows[window].get_geometry()
        self.show(window, letters(size.width, size.height, text, size_px))

    def show(self, window: int, pixels: Pixels) -> None:
        """Have `window` show `pixels` (height x width x 4 BGRX) for good."""
        drawable = self._windows[window]
        drawable.change_attributes(background_pixmap=self._picture(pixels))
        drawable.clear_area()
        self._x.sync()

    def _picture(self, pixels: Pixels) -> Any:
        height, width = pixels.shape[:2]
        pixmap = self._x.root.create_pixmap(width, height, self._x.depth)
        gc = pixmap.create_gc()
        rows = max(1, 60_000 // (width * 4))  # a request holds 256 KiB at most
        for top in range(0, height, rows):
            part = pixels[top : top + rows]
            pixmap.put_image(gc, 0, top, width, len(part), X.ZPixmap, self._x.depth, 0, part.tobytes())
        return pixmap

    def recolour(self, window: int, colour: int) -> None:
        """Fill `window` with another colour for good."""
        self._windows[window].change_attributes(background_pixel=colour)
        self._windows[window].clear_area()
        self._x.sync()

    def retitle(self, window: int, title: str) -> None:
        """Give `window` another title."""
        self._windows[window].set_wm_name(title)
        self._x.sync()

    def place(self, window: int, box: Rect) -> None:
        """Move and resize `window`."""
        self._windows[window].configure(x=box.x, y=box.y, width=box.w, height=box.h)
        self._x.sync()

    def raise_(self, window: int) -> None:
        """Bring `window` to the top."""
        self._windows[window].configure(stack_mode=X.Above)
        self._x.sync()

    def focus(self, window: int) -> None:
        """Give `window` the keyboard."""
        self._windows[window].set_input_focus(X.RevertToParent, X.CurrentTime)
        self._x.sync()

    def unmap(self, window: int) -> None:
        """Hide `window`, as minimising does."""
        self._windows[window].unmap()
        self._x.sync()

    def map(self, window: int) -> None:
        """Show `window` again."""
        self._windows[window].map()
        self._x.sync()

    def iconify(self, window: int) -> None:
        """Ask the window manager to minimise `window` (ICCCM, section 4.1.4)."""
        asked = event.ClientMessage(
            window=self._windows[window], client_type=self._x.wire.get_atom("WM_CHANGE_STATE"),
            data=(32, [Xutil.IconicState, 0, 0, 0, 0]),
        )  # fmt: skip
        self._x.root.send_event(asked, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._x.sync()

    def close(self, window: int) -> None:
        """Destroy `window`."""
        self._windows.pop(window).destroy()
        self._x.sync()

    # ---- paint -----------------------------------------------------------------------------------------------------

    def fill(self, box: Rect, colour: int, window: int = 0) -> None:
        """Fill `box` of `window` (0: the root, over all windows)."""
        drawable = self._windows[window] if window else self._x.root
        mode = X.ClipByChildren if window else X.IncludeInferiors
        drawable.fill_rectangle(drawable.create_gc(foreground=colour, subwindow_mode=mode), box.x, box.y, box.w, box.h)
        self._x.sync()

    def pixels(self, box: Rect | None = None) -> Pixels:
        """Return what the root shows in `box`, read in the plain way: height x width x 3 RGB."""
        width, height = self._x.size()
        area = box or Rect(0, 0, width, height)
        image = self._x.root.get_image(area.x, area.y, area.w, area.h, X.ZPixmap, 0xFFFFFFFF)
        bgrx = np.frombuffer(image.data, np.uint8).reshape(area.h, area.w, 4)
        return np.ascontiguousarray(bgrx[:, :, 2::-1])

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the server serve nobody else meanwhile."""
        self._x.xlib.grab_server()
        self._x.sync()
        try:
            yield
        finally:
            self._x.xlib.ungrab_server()
            self._x.sync()

    def pointer(self) -> tuple[int, int]:
        """Return where the pointer is."""
        found = self._x.root.query_pointer()
        return int(found.root_x), int(found.root_y)

    # ---- programs --------------------------------------------------------------------------------------------------

    def run(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a program on the display; it is ended with the desk."""
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "DISPLAY": self.display, "XAUTHORITY": self.auth_file}
        program = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._programs.append(program)
        return program

    def end(self, program: subprocess.Popen[bytes]) -> None:
        """End one program."""
        self._programs.remove(program)
        program.terminate()
        program.wait()


def letters(width: int, height: int, text: str, size_px: int) -> Pixels:
    """Return black `text` on white as height x width x 4 BGRX."""
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).multiline_text((8, 8), text, "black", ImageFont.truetype(_FONT, size_px))
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[:, :, :3] = np.asarray(image)[:, :, ::-1]
    return pixels


def decoded(image: bytes) -> Pixels:
    """Return a picture file as height x width x 3 RGB."""
    with Image.open(io.BytesIO(image)) as opened:
        return np.asarray(opened.convert("RGB"))


def write_script(path: Path, script: str) -> None:
    """Turn the scripted judge whose script lies at `path`."""
    temporary = path.with_suffix(".new")
    temporary.write_text(script)
    temporary.rename(path)


# ---- what the daemon says --------------------------------------------------------------------------------------------


def shown(client: Client, wait_id: str) -> WaitInfo:
    """Return the wait as it is now."""
    return client.wait_show(wait_id, evaluations=0).wait


def ended(client: Client, wait_id: str) -> WaitInfo:
    """Return the wait once it has ended."""
    reply = client.wait_end(wait_id, timeout_s=PATIENCE_S)
    assert reply.ended, f"it did not end: {reply.wait.verdict}"
    return reply.wait


def judged(client: Client, wait_id: str, answer: str = "", code: str = "") -> WaitInfo:
    """Return the wait once its verdict is `answer` (any but "not judged yet") with this code."""

    def found() -> WaitInfo | None:
        wait = shown(client, wait_id)
        fits = wait.verdict.answer == answer if answer else wait.verdict.code != "not_judged"
        return wait if fits and (not code or wait.verdict.code == code) else None

    return until(found, f"the verdict {answer or 'of any kind'} {code}")


def timed_out(client: Client, wait_id: str, answer: str, code: str = "", *, after_s: float = 1.0) -> WaitInfo:
    """Return the wait at a deadline that is set once its verdict is `answer` with this code (any), `after_s` from then:
    a deadline set before would also strike a machine that stood still, and nothing were judged yet.
    """
    judged(client, wait_id, answer, code)
    client.wait_update(wait_id, timeout_s=after_s)
    return ended(client, wait_id)


def compared(daemon: Daemon, wait_id: str) -> None:
    """Return once a change wait knows its target's look, so that it tells pixels beside the target apart."""

    def found() -> str:
        info = shown(daemon.client, wait_id)
        assert info.state is WaitState.WATCHING, f"the wait ended before it was compared: {info.verdict}"
        return _stored_identity(daemon, wait_id)

    until(found, "the identity of the baseline")


def _stored_identity(daemon: Daemon, wait_id: str) -> str:
    with closing(sqlite3.connect(f"file:{daemon.home / 'data.db'}?mode=ro", uri=True)) as database:
        row = database.execute("SELECT baselines FROM wait_jobs WHERE wait_id = ?", [wait_id]).fetchone()
    return next((kept["identity"] for kept in json.loads(row[0]).values()), "") if row else ""


def emptied(client: Client, display: str) -> None:
    """Return once the daemon knows of no window there: the next test's window may have the title of the last one's."""
    until(lambda: not _windows(client, display), "the end of the windows of before")


def titled(client: Client, display: str, title: str) -> WindowInfo:
    """Return the window once the daemon knows it."""

    def found() -> WindowInfo | None:
        return next((w for w in _windows(client, display) if w.title == title), None)

    return until(found, f"a window titled {title}")


def focused(client: Client, display: str) -> int:
    """Return the window of `display` that has the focus, as the daemon knows it."""
    return next(one.focused for one in client.display_list().displays if one.name == display)


def _windows(client: Client, display: str) -> tuple[WindowInfo, ...]:
    return next(one.windows for one in client.display_list().displays if one.name == display)
