"""Windows full of known text on a real X server: three terminals and a dialog, and what they show."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

import mss
import numpy as np
from numpy.typing import NDArray

from acud.types import Rect
from tests.integration.xserver import XServer

WIDTH, HEIGHT = 1280, 720
SETTLE_S, DEADLINE_S = 0.3, 60.0

LOG = [
    "$ make -j4 all", "cc -O2 -c src/server.c -o build/server.o", "cc -O2 -c src/parser.c -o build/parser.o",
    "src/parser.c:214: warning: unused variable 'count'", "ld build/server.o build/parser.o -o bin/server",
    "Build finished in 42.7 seconds", "$ ./run_tests --fast --seed 1887", "test_connect .......... passed",
    "test_timeout .......... FAILED", "3 tests passed, 1 failed, 0 skipped", "$ git status --short",
    "M docs/architecture.md", "Total disk usage: 18.4 GB of 64.0 GB",
]  # fmt: skip
DARK = [
    "Listening on 127.0.0.1:8080", "GET /index.html 200 1532 bytes", "POST /login 403 Forbidden",
    "worker 3 restarted after crash", "connection lost, retrying in 5 seconds", "backup completed without errors",
]  # fmt: skip
BITMAP = [
    "$ tail -f install.log", "Unpacking libwebp7 (1.2.4) over (1.2.3)", "Setting up fontconfig (2.14.1-4)",
    "12 upgraded, 3 newly installed, 0 to remove", "Reading package lists... Done",
]  # fmt: skip
DIALOG = ["Download complete", "The file report-2024.pdf was saved", "Open the folder now?"]


LOG_BOX, DARK_BOX, BITMAP_BOX = Rect(20, 20, 570, 320), Rect(620, 440, 490, 170), Rect(20, 440, 370, 160)
DIALOG_BOX = Rect(695, 75, 340, 110)
"""Where the windows are; nothing manages them, so they are where they asked to be."""


class TextDesktop:
    """An Xvfb with terminals in 11 px, 13 px light on dark and 6x13 bitmap letters, and a dialog. A context manager."""

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="acud-text-")
        self._server = XServer(WIDTH, HEIGHT)
        self._server.__enter__()
        self._random = random.Random(1887)
        os.environ.update({"DISPLAY": self._server.display, "XAUTHORITY": self._server.auth_file})
        self._grabber = mss.mss(display=self._server.display)
        self.truth = [*LOG, *DARK, *DIALOG, "Cancel Open"]
        self.bitmap_truth = BITMAP
        outline = ("-fa", "DejaVu Sans Mono", "-fs")
        self._log = self._terminal("log", LOG, "80x24+20+20", *outline, "8")
        self._dark = self._terminal("dark", DARK, "60x10+620+440", *outline, "10", "-bg", "#1e1e1e", "-fg", "#d0d0d0")
        self._bitmap = self._terminal("bitmap", BITMAP, "60x12+20+440", "-fn", "6x13")
        self._server.launch(
            "xmessage", "-geometry", "+700+80", "-fn", "9x15", "-buttons", "Cancel,Open", "\n".join(DIALOG)
        )
        self.frame = self._settled(np.zeros((HEIGHT, WIDTH, 4), np.uint8))
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._grabber.close()
        for pipe in (self._log, self._dark, self._bitmap):
            os.close(pipe)
        self._server.close()
        self._folder.cleanup()

    def _terminal(self, name: str, lines: list[str], geometry: str, *options: str) -> int:
        """Start an xterm that shows what is written to the descriptor returned, `lines` first; without a cursor."""
        pipe = Path(self._folder.name, name)
        os.mkfifo(pipe)
        descriptor = os.open(pipe, os.O_RDWR)
        show = f"printf '\\033[?25l'; exec cat {pipe}"
        self._server.launch("xterm", "-geometry", geometry, *options, "-e", "sh", "-c", show)
        os.write(descriptor, "".join(f"{line}\r\n" for line in lines).encode())
        return descriptor

    def write_line(self, words: list[str] | None = None) -> str:
        """Have the first terminal show one new line, and return it; `frame` is then the new screen."""
        known = ["linking", "target", "module", "package", "checked", "updated"]
        words = words or [self._random.choice(known) for _ in range(6)]
        line = f"[{self._random.randrange(100):3d}%] {' '.join(words)} in {self._random.randrange(1000)} ms"
        os.write(self._log, f"\r\033[K{line}".encode())
        self.frame = self._settled(self.frame)
        return line

    def _settled(self, before: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the screen once it differs from `before` and has then stood still for `SETTLE_S`."""
        deadline, newest, since = time.monotonic() + DEADLINE_S, before, None
        while time.monotonic() < deadline:
            now = self.grab()
            if not np.array_equal(now, newest):
                newest, since = now, time.monotonic()
            elif since is not None and time.monotonic() - since > SETTLE_S and _all_shown(newest):
                return newest
            time.sleep(0.02)
        raise TimeoutError("the desktop never stood still")

    def grab(self) -> NDArray[np.uint8]:
        """Return the screen: height x width x 4 uint8 BGRX, the fourth byte 0."""
        shot = self._grabber.grab({"left": 0, "top": 0, "width": WIDTH, "height": HEIGHT})
        pixels = np.frombuffer(shot.raw, np.uint8).reshape(HEIGHT, WIDTH, 4).copy()
        pixels[:, :, 3] = 0
        return pixels


def _all_shown(frame: NDArray[np.uint8]) -> bool:
    """Tell whether every window shows more than its bare background."""
    parts = (
        frame[box.y + 4 : box.bottom - 4, box.x + 8 : box.right - 40, 1]
        for box in (LOG_BOX, DARK_BOX, BITMAP_BOX, DIALOG_BOX)
    )
    return all(np.count_nonzero(part != part[-1, -1]) > 300 for part in parts)
