"""Starts programs that write to a pipe once they serve: Xvfb's `-displayfd`, dbus-daemon's `--print-address`."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from acud.base import private_files
from acud.base.errors import AcudError, DisplayDown, Unavailable
from acud.process.event_loop import EventLoop
from acud.supervisor.displays import numbers
from acud.supervisor.displays.folders import DisplayFolders
from acud.supervisor.displays.managed_display import DEPTH, ManagedDisplay
from acud.supervisor.displays.watched_process import WatchedProcess, ignore_exit, spawn
from acud.supervisor.displays.window_manager import WindowManager
from acud.x11 import auth

_MAX_LINE_BYTES = 4096
_LOG_TAIL_BYTES = 2000


class Startup:
    """One attempt. Ends with exactly one of `on_up(process, line)` and `on_failed(reason)`, or with `detach`.

    `command` is given the number of the pipe's write end. A program that writes nothing for `deadline_s` is killed;
    `on_failed` follows its end. Owns both ends of the pipe, and the process until `on_up`.
    """

    def __init__(
        self,
        loop: EventLoop,
        command: Callable[[int], list[str]],
        env: Mapping[str, str],
        log: Path,
        deadline_s: float,
        on_up: Callable[[WatchedProcess, str], None],
        on_failed: Callable[[str], None],
    ) -> None:
        """Start it. Raises: Unavailable when the program cannot be started."""
        self._loop, self._log, self._on_up, self._on_failed = loop, log, on_up, on_failed
        self._deadline_s = deadline_s
        self._late = False
        self._output = b""
        self._read_fd, write_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.set_blocking(write_fd, True)
            self.process = spawn(loop, command(write_fd), env, log, self._on_exit, (write_fd,))
        except BaseException:
            os.close(self._read_fd)
            raise
        finally:
            os.close(write_fd)
        loop.watch(self._read_fd, self._on_readable)
        self._timer = loop.call_later(deadline_s, self._on_deadline)

    def detach(self) -> WatchedProcess:
        """Call neither callback any more; return the process, which is now the caller's."""
        self._finish()
        self.process.on_exit = ignore_exit
        return self.process

    def _on_readable(self) -> None:
        try:
            data = os.read(self._read_fd, _MAX_LINE_BYTES)
        except BlockingIOError:
            return
        self._output += data
        if b"\n" in self._output and not self._late:
            self._finish()
            self._on_up(self.process, self._output.split(b"\n", 1)[0].decode("utf-8", "replace"))
        elif not data:
            self._loop.unwatch(self._read_fd)  # closed without a word: its exit or the deadline follows

    def _on_deadline(self) -> None:
        self._late = True
        self.process.send(signal.SIGKILL)

    def _on_exit(self, process: WatchedProcess, reason: str) -> None:
        self._finish()
        reason_text = f"no answer within {self._deadline_s:.2g} s" if self._late else reason
        self._on_failed(f"{reason_text}{last_words(self._log)}")

    def _finish(self) -> None:
        self._timer.cancel()
        if self._read_fd >= 0:
            self._loop.unwatch(self._read_fd)
            os.close(self._read_fd)
            self._read_fd = -1


def last_words(log: Path) -> str:
    """Return ": " and the last three lines of a program's log; "" for an empty log."""
    if not log.exists():
        return ""
    with os.fdopen(private_files.open_regular(log), "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return f": {' / '.join(lines[-3:])}" if lines else ""


# What Xvfb 21.1 prints when another server took the number meanwhile (os/connection.c, os/utils.c).
_COLLISIONS = ("already active for display", "server is already running", "Cannot establish any listening sockets")
_MAX_COLLISIONS = 20


class StartWishes(Struct, frozen=True):
    """The display to start. `window_manager`: "" for none. `deadline_s`: for everything together."""

    width: int
    height: int
    window_manager: str
    session_bus: bool
    deadline_s: float


class StartTools(Struct, frozen=True):
    """What a start needs from its owner. `claim(first)` creates the folders of the next free number from `first` on (0:
    the settings' first); `give_back` removes them.
    """

    loop: EventLoop
    boot_id: str
    env: Mapping[str, str]
    x_server: str
    claim: Callable[[int], DisplayFolders]
    give_back: Callable[[DisplayFolders], None]
    manager_for: Callable[[ManagedDisplay, str], WindowManager]


class DisplayStart:
    """Ends with exactly one of `on_up(display)` and `on_failed(error)`, or with `cancel`, never inside `begin`."""

    def __init__(
        self,
        tools: StartTools,
        wishes: StartWishes,
        on_up: Callable[[ManagedDisplay], None],
        on_failed: Callable[[AcudError], None],
    ) -> None:
        self._tools, self._wishes = tools, wishes
        self._on_up, self._on_failed = on_up, on_failed
        self._until_s = 0.0
        self._collisions = 0
        self._first = 0
        self._places: DisplayFolders | None = None
        self._startup: Startup | None = None
        self._display: ManagedDisplay | None = None

    def begin(self) -> None:
        """Start the X server on the next free number; the deadline runs from the first try.

        Raises: AcudError when that cannot even be tried.
        """
        self._until_s = self._until_s or self._tools.loop.now_s() + self._wishes.deadline_s
        self._places = places = self._claim_places()
        try:
            self._startup = Startup(
                self._tools.loop,
                lambda fd: self._x_command(places, fd),
                places.environment(self._tools.env, ""),
                places.log("x_server"),
                self._left_s(),
                self._on_x_up,
                self._on_x_failed,
            )
        except Unavailable:
            self._places = None
            self._tools.give_back(places)
            raise

    def cancel(self) -> list[WatchedProcess]:
        """Give up; the caller ends the returned processes, which still run, and removes the folder."""
        found = self._display.watched_processes if self._display else []
        if self._startup is not None:
            found.append(self._startup.detach())
        return list({process.pid: process for process in found if process.alive}.values())

    @property
    def places(self) -> DisplayFolders | None:
        """The folder in use now."""
        return self._places

    def _claim_places(self) -> DisplayFolders:
        try:
            return self._tools.claim(self._first)
        except OSError as fault:
            words = f"cannot make a display's folder or lock: {fault}"
            raise Unavailable(words, hint="check ACU_HOME and /tmp") from fault

    def _left_s(self) -> float:
        return max(0.1, self._until_s - self._tools.loop.now_s())

    def _x_command(self, places: DisplayFolders, fd: int) -> list[str]:
        screen = f"{self._wishes.width}x{self._wishes.height}x{DEPTH}"
        return [
            *(self._tools.x_server, places.name, "-displayfd", str(fd), "-screen", "0", screen),
            *("-auth", str(places.auth_file), "-nolisten", "tcp", "-noreset"),
            *("+extension", "Composite", "+extension", "DAMAGE"),
        ]

    def _on_x_failed(self, reason: str) -> None:
        self._collisions += 1
        if not any(text in reason for text in _COLLISIONS) or self._collisions > _MAX_COLLISIONS:
            self._on_failed(_build_failure(self._tools.x_server, reason))
            return
        try:
            self._skip_number()
            self.begin()
        except AcudError as error:
            self._on_failed(error)

    def _skip_number(self) -> None:
        places, self._places = self._places, None
        if places is not None:
            self._tools.give_back(places)
            self._first = places.number + 1

    def _on_x_up(self, process: WatchedProcess, line: str) -> None:
        if self._places is None or line.strip() != str(self._places.number):
            self._on_x_gone(process, f"it reports display number {line[:20]!r}")
            return
        wishes = self._wishes
        self._display = ManagedDisplay(self._places, wishes.width, wishes.height, process, self._tools.boot_id)
        process.on_exit = self._on_x_gone
        try:
            auth.check_owner(self._places.number)
        except DisplayDown as fault:
            self._on_failed(fault)
            return
        try:
            numbers.hand_lock(self._places.number, process.pid)
        except OSError as fault:
            self._on_x_gone(process, f"its lock cannot be written: {fault}")
            return
        self._start_bus(self._display)

    def _on_x_gone(self, process: WatchedProcess, reason: str) -> None:
        self._on_failed(_build_failure(self._tools.x_server, reason))

    def _start_bus(self, display: ManagedDisplay) -> None:
        if not self._wishes.session_bus:
            self._finish(display)
            return
        address = f"unix:path={display.places.bus_socket}"
        try:
            self._startup = Startup(
                self._tools.loop,
                lambda fd: ["dbus-daemon", "--session", "--nofork", f"--address={address}", f"--print-address={fd}"],
                display.environment(self._tools.env),
                display.places.log("session_bus"),
                self._left_s(),
                self._on_bus_up,
                self._on_bus_failed,
            )
        except Unavailable as fault:
            self._on_bus_failed(fault.message)

    def _on_bus_up(self, process: WatchedProcess, line: str) -> None:
        if self._display is not None:
            self._display.session_bus = process
            self._display.bus_address = line.strip()
            self._finish(self._display)

    def _on_bus_failed(self, reason: str) -> None:
        if self._display is not None:
            self._display.bus_note = f"no session bus: {reason}"
            self._finish(self._display)

    def _finish(self, display: ManagedDisplay) -> None:
        self._startup = None
        if self._wishes.window_manager:
            display.window_manager = self._tools.manager_for(display, self._wishes.window_manager)
            display.window_manager.start()
        self._on_up(display)


def _build_failure(program: str, reason: str) -> AcudError:
    installed = shutil.which(program) is not None
    return DisplayDown(
        f"the X server did not start: {reason}"[:1000], hint="see acud doctor" if installed else "apt-get install xvfb"
    )
