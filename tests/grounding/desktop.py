"""A desktop with widgets: an X server, a window manager, a session bus, and programs that tell where theirs are.

A program of `tests/grounding/programs` writes `{"key": [x, y, w, h], …}` in display pixels, from its toolkit's own
geometry, into the file it is given, and writes it anew when asked by SIGUSR1 (where it says so).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from acud.types import Rect, WindowInfo
from acud.x11.connection import Connection
from acud.x11.windows import WindowReader
from tests.integration.xserver import XServer

PROGRAMS = Path(__file__).parent / "programs"
SYSTEM_PYTHON = "/usr/bin/python3"
DEADLINE_S = 120.0
WIDTH, HEIGHT = 1280, 800


class Desktop:
    """A display of `width` x `height` with openbox and a session bus; a context manager, all of it ends with it."""

    def __init__(self, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.server = XServer(width, height)
        self._folder = tempfile.TemporaryDirectory(prefix="acud-ax-")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._count = 0
        self.screen = Rect(0, 0, width, height)

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.start_bus()
        serves = self.folder / "managed"
        # It names itself before it serves, and what asks to be mapped then may wait until the next thing happens.
        self.spawn("openbox", "--config-file", str(PROGRAMS / "openbox.xml"), "--startup", f"touch {serves}")
        self.x = Connection(self.server.display, self.server.auth_file)
        self._windows = WindowReader(self.x)
        self.wait_for(serves.exists, "a window manager")
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.x.close()
        for process in reversed(self._processes):
            end(process)
        self.server.close()
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        return Path(self._folder.name)

    @property
    def bus_address(self) -> str:
        return f"unix:path={self.folder / 'bus'}"

    def start_bus(self) -> None:
        """Start the session bus and return once it takes connections: its socket has a name before it does."""
        self.bus = self.spawn("dbus-daemon", "--session", "--nofork", f"--address={self.bus_address}")
        self.wait_for(self._bus_answers, "a session bus")

    def _bus_answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as knocking:
            return knocking.connect_ex(str(self.folder / "bus")) == 0

    def windows(self) -> tuple[WindowInfo, ...]:
        return self._windows.snapshot().windows

    def env(self) -> dict[str, str]:
        """What programs find in their environment on a managed display."""
        return {
            **self.server.env(),
            "DBUS_SESSION_BUS_ADDRESS": self.bus_address,
            "XDG_RUNTIME_DIR": str(self.folder),
            "HOME": str(self.folder),
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "ACCESSIBILITY_ENABLED": "1",
            "GSETTINGS_BACKEND": "memory",
            "LC_ALL": "C.UTF-8",
            "XDG_SESSION_TYPE": "x11",
            "GDK_BACKEND": "x11",
        }

    def spawn(self, *command: str, **more: str) -> subprocess.Popen[bytes]:
        """Start a program here; it ends with the desktop."""
        log = (self.folder / f"log{len(self._processes)}").open("wb")
        with log:
            process = subprocess.Popen(
                command, env={**self.env(), **more}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def show(self, program: str, *args: str, **more: str) -> tuple[subprocess.Popen[bytes], dict[str, Rect]]:
        """Start a program that tells where its widgets are; return it with what it told once it was settled."""
        self._count += 1
        told = self.folder / f"truth{self._count}.json"
        process = self.spawn(SYSTEM_PYTHON, str(PROGRAMS / program), str(told), *args, **more)
        self.wait_for(lambda: told.exists() or process.poll() is not None, f"{program} {' '.join(args)}")
        if not told.exists():
            raise RuntimeError(f"{program} {args} ended: {self._last_log()}")
        return process, {key: Rect(*box) for key, box in json.loads(told.read_text()).items()}

    def _last_log(self) -> str:
        return (self.folder / f"log{len(self._processes) - 1}").read_text()[-2000:]

    @staticmethod
    def wait_for(happened: object, what: str) -> None:
        assert callable(happened)
        until = time.monotonic() + DEADLINE_S
        while not happened():
            if time.monotonic() > until:
                raise RuntimeError(f"waited in vain for {what}")
            time.sleep(0.02)


def end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=3)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@functools.cache
def missing(*modules: str) -> str:
    """Return why the system's Python can't run a program of these modules ("" when it can)."""
    if not Path(SYSTEM_PYTHON).exists():
        return f"no {SYSTEM_PYTHON}"
    code = "; ".join(
        f"import gi; gi.require_version('Gtk', '{m[3:]}.0')" if m.startswith("gtk") else f"import {m}" for m in modules
    )
    if subprocess.run([SYSTEM_PYTHON, "-c", code], capture_output=True, check=False).returncode:
        return f"{SYSTEM_PYTHON} has no {', '.join(modules)}"
    return ""


def chromium() -> str:
    return shutil.which("chromium") or ""
