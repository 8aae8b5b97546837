"""Starts programs that write to a pipe once they serve: Xvfb's `-displayfd`, dbus-daemon's `--print-address`."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from acud.base import private_files
from acud.base.errors import AcudError, DisplayDown, Unavailable
from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.displays import numbers
from acud.supervisor.displays.folders import DisplayFolders
from acud.supervisor.displays.managed_display import DEPTH, ManagedDisplay
from acud.supervisor.displays.watched_process import WatchedProcess, ignore_exit, spawn
from acud.supervisor.displays.window_manager import WindowManager
from acud.x11 import auth

Command = Callable[[int], list[str]]
"""Returns the command for the number of a pipe's write end."""
_MAX_LINE_BYTES = 4096
_LOG_TAIL_BYTES = 2000


class Started(NamedTuple):
    """A program that serves, and the first line that it wrote."""

    process: WatchedProcess
    line: str


class Startup:
    """One attempt to start a program of a display: `on_done` gets the process and its first line, or DisplayDown;
    nothing after `detach`.

    `command` is given the number of the pipe's write end. A program that writes nothing for `deadline_s` is killed, and
    has failed when it has ended. Owns both ends of the pipe, and the process until `on_done`.
    """

    def __init__(
        self,
        loop: EventLoop,
        command: Command,
        env: Mapping[str, str],
        log: Path,
        deadline_s: float,
        on_done: Resume[Started],
    ) -> None:
        """Start it. Raises: Unavailable when the program cannot be started."""
        self._loop, self._log, self._done = loop, log, on_done
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
        """Call `on_done` no more; return the process, which is now the caller's."""
        self._close_pipe()
        self.process.on_exit = ignore_exit
        return self.process

    def _on_readable(self) -> None:
        try:
            data = os.read(self._read_fd, _MAX_LINE_BYTES)
        except BlockingIOError:
            return
        self._output += data
        if b"\n" in self._output and not self._late:
            self._close_pipe()
            line = self._output.split(b"\n", 1)[0].decode("utf-8", "replace")
            self._done(Started(self.process, line))
        elif not data:
            self._loop.unwatch(self._read_fd)  # closed without a word: its exit or the deadline follows

    def _on_deadline(self) -> None:
        self._late = True
        self.process.send(signal.SIGKILL)

    def _on_exit(self, process: WatchedProcess, reason: str) -> None:
        self._close_pipe()
        reason_text = f"no answer within {self._deadline_s:.2g} s" if self._late else reason
        self._done(DisplayDown(f"{reason_text}{last_words(self._log)}"))

    def _close_pipe(self) -> None:
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
    """One start of a display. After a fault of `run`, or to give it up, call `cancel`."""

    def __init__(self, tools: StartTools, wishes: StartWishes) -> None:
        self._tools, self._wishes = tools, wishes
        self._until_s = 0.0
        self._places: DisplayFolders | None = None
        self._startup: Startup | None = None
        self._display: ManagedDisplay | None = None

    async def run(self) -> ManagedDisplay:
        """Start the X server on a free number, then the session bus and the window manager; the deadline runs from now.
        Raises: AcudError.
        """
        self._until_s = self._tools.loop.now_s() + self._wishes.deadline_s
        self._display = display = await self._start_x_server()
        if self._wishes.session_bus:
            await self._start_bus(display)
        self._startup = None
        if self._wishes.window_manager:
            display.window_manager = self._tools.manager_for(display, self._wishes.window_manager)
            display.window_manager.start()
        return display

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

    async def _start_x_server(self) -> ManagedDisplay:
        tools, first, collisions = self._tools, 0, 0
        while True:
            self._places = places = self._claim_places(first)
            command, env = partial(self._x_command, places), places.environment(tools.env, "")
            try:
                process, line = await self._start_process(command, env, places.log("x_server"))
            except DisplayDown as fault:
                collisions += 1
                if not any(text in fault.message for text in _COLLISIONS) or collisions > _MAX_COLLISIONS:
                    raise _build_failure(tools.x_server, fault.message) from fault
                self._give_back(places)
                first = places.number + 1
            except Unavailable:
                self._give_back(places)
                raise
            else:
                return self._check_server(places, process, line)

    def _claim_places(self, first: int) -> DisplayFolders:
        try:
            return self._tools.claim(first)
        except OSError as fault:
            words = f"cannot make a display's folder or lock: {fault}"
            raise Unavailable(words, hint="check ACU_HOME and /tmp") from fault

    def _give_back(self, places: DisplayFolders) -> None:
        self._places = self._startup = None
        self._tools.give_back(places)

    def _check_server(self, places: DisplayFolders, process: WatchedProcess, line: str) -> ManagedDisplay:
        if line.strip() != str(places.number):
            raise _build_failure(self._tools.x_server, f"it reports display number {line[:20]!r}")
        auth.check_owner(places.number)
        try:
            numbers.hand_lock(places.number, process.pid)
        except OSError as fault:
            raise _build_failure(self._tools.x_server, f"its lock cannot be written: {fault}") from fault
        return ManagedDisplay(places, self._wishes.width, self._wishes.height, process, self._tools.boot_id)

    def _start_process(self, command: Command, env: Mapping[str, str], log: Path) -> Callback[Started]:
        return Callback(partial(self._begin_startup, command, env, log))

    def _begin_startup(self, command: Command, env: Mapping[str, str], log: Path, on_done: Resume[Started]) -> None:
        self._startup = Startup(self._tools.loop, command, env, log, self._left_s(), on_done)
        if self._display is not None:
            self._display.x_server.on_exit = lambda _, reason: on_done(_build_failure(self._tools.x_server, reason))

    def _left_s(self) -> float:
        return max(0.1, self._until_s - self._tools.loop.now_s())

    def _x_command(self, places: DisplayFolders, fd: int) -> list[str]:
        screen = f"{self._wishes.width}x{self._wishes.height}x{DEPTH}"
        return [
            *(self._tools.x_server, places.name, "-displayfd", str(fd), "-screen", "0", screen),
            *("-auth", str(places.auth_file), "-nolisten", "tcp", "-noreset"),
            *("+extension", "Composite", "+extension", "DAMAGE"),
        ]

    async def _start_bus(self, display: ManagedDisplay) -> None:
        """Start the session bus; leave a note on the display if the bus does not start."""
        env, log = display.environment(self._tools.env), display.places.log("session_bus")
        try:
            started = await self._start_process(partial(_bus_command, display), env, log)
        except Unavailable as fault:
            if not display.x_server.alive:
                raise
            display.bus_note = f"no session bus: {fault.message}"
        else:
            display.session_bus = started.process
            display.bus_address = started.line.strip()


def _bus_command(display: ManagedDisplay, fd: int) -> list[str]:
    address = f"unix:path={display.places.bus_socket}"
    return ["dbus-daemon", "--session", "--nofork", f"--address={address}", f"--print-address={fd}"]


def _build_failure(program: str, reason: str) -> AcudError:
    installed = shutil.which(program) is not None
    return DisplayDown(
        f"the X server did not start: {reason}"[:1000], hint="see acud doctor" if installed else "apt-get install xvfb"
    )
