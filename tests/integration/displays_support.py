"""A supervisor's loop with nothing but managed displays on it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from acud.base import paths
from acud.base.clock import SystemClock
from acud.base.errors import AcudError
from acud.config import DaemonSettings, DisplaySettings, Settings
from acud.process.event_loop import EventLoop
from acud.store.displays import StoredDisplay
from acud.supervisor.coroutines import run_steps
from acud.supervisor.displays import ManagedDisplay, ManagedDisplays, proc_files
from acud.supervisor.waits.active_waits import ActiveWaits
from acud.types import DisplayState
from tests.fixtures.numbers import own_number
from tests.fixtures.patience import LONG_S

_START_S = 50.0


class Host:
    """Runs displays under `home`; in `with`, it ends them all."""

    def __init__(
        self,
        home: Path,
        *,
        first: int = 0,
        x_server: str = "Xvfb",
        env: Mapping[str, str] = os.environ,
        **display: object,
    ) -> None:
        self.paths = paths.resolve({"ACU_HOME": str(home)})
        paths.make_private(self.paths.displays)
        given = {"first_number": first or own_number(), "start_deadline_s": _START_S, **display}
        chosen = msgspec.convert(given, DisplaySettings)
        clock = SystemClock()
        settings = Settings(display=chosen, daemon=DaemonSettings(restart_limit=2, restart_window_s=600))
        self.loop = EventLoop(clock.monotonic_s)
        self.displays = ManagedDisplays(self.loop, clock, self.paths, settings, env, self, ActiveWaits(), x_server)
        self.died: list[tuple[str, str]] = []
        self.limited: list[tuple[str, str]] = []
        self.changed: list[tuple[str, tuple[str, ...]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        idle: list[bool] = []
        run_steps(self.displays.end_all(), lambda _: idle.append(True))
        self.until(lambda: bool(idle))

    def display_died(self, display: ManagedDisplay, reason: str) -> None:
        self.died.append((display.name, reason))

    def display_changed(self, display: ManagedDisplay) -> None:
        self.changed.append((display.name, display.notes))

    def display_limited(self, display: ManagedDisplay, reason: str) -> None:
        self.limited.append((display.name, reason))

    def until(self, true: Callable[[], bool]) -> None:
        give_up_s = time.monotonic() + LONG_S
        while not true():
            assert time.monotonic() < give_up_s, "nothing happened"
            self.loop.turn(0.05)

    def ask(self, window_manager: str = "") -> list[ManagedDisplay | AcudError]:
        """Ask for a display; the list gets its one answer."""
        answers: list[ManagedDisplay | AcudError] = []
        self.displays.create(640, 480, window_manager, answers.append)
        assert answers == []
        return answers

    def create(self, window_manager: str = "") -> ManagedDisplay:
        answers = self.ask(window_manager)
        self.until(lambda: bool(answers))
        assert isinstance(answers[0], ManagedDisplay), answers[0]
        self.until_executed(*(process.pid for process in answers[0].processes))
        return answers[0]

    def until_executed(self, *pids: int) -> None:
        """Wait until /proc shows each under its own name and with its environment: who starts a program hears that it
        runs a moment before.
        """
        self.until(lambda: all(environ(pid) for pid in pids))

    def fail(self) -> AcudError:
        """Return the error of a display that does not come up."""
        answers = self.ask()
        self.until(lambda: bool(answers))
        assert isinstance(answers[0], AcudError)
        return answers[0]

    def end(self, name: str) -> tuple[str, ...]:
        told: list[tuple[str, ...]] = []
        self.displays.end(name, told.append)
        self.until(lambda: bool(told))
        return told[0]

    def sweep(self) -> tuple[str, ...]:
        """Sweep; return the names of what was swept."""
        told: list[tuple[str, ...]] = []
        run_steps(self.displays.remove_leftovers(), told.append)
        self.until(lambda: bool(told))
        return told[0]


def row(display: ManagedDisplay) -> StoredDisplay:
    """Return what a supervisor stores of a display."""
    return StoredDisplay(
        display.name,
        True,
        DisplayState.UP,
        0.0,
        display.width,
        display.height,
        display.depth,
        display.auth_file,
        display.bus_address,
        display.window_manager_name,
        display.processes,
    )


def traces(folder: Path, number: int) -> list[str]:
    """Return what there is of a display: living processes, X's lock and socket, its folder."""
    found = [
        f"{pid} {proc_files.comm(pid)}"
        for pid, where in proc_files.find_marked().items()
        if where == str(folder) and _lives(pid)
    ]
    files = (folder, Path(f"/tmp/.X{number}-lock"), Path(f"/tmp/.X11-unix/X{number}"))
    return found + [str(path) for path in files if path.exists()]


def environ(pid: int) -> list[bytes]:
    """Return the environment that `pid` was started with; [] while it takes the place of the one that started it."""
    block = Path(f"/proc/{pid}/environ").read_bytes()
    return block.split(b"\0") if block else []


def _lives(pid: int) -> bool:
    return proc_files.start_ticks(pid) is not None


def xdpyinfo(env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["xdpyinfo"], env=dict(env), capture_output=True, text=True, timeout=60, check=False)
