"""A managed display on its way up: X server, session bus, window manager."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping

from msgspec import Struct

from acud.errors import AcudError, DisplayDown, Unavailable
from acud.event_loop import EventLoop
from acud.supervisor.displays import numbers
from acud.supervisor.displays.display import DEPTH, ManagedDisplay
from acud.supervisor.displays.places import Places
from acud.supervisor.displays.startup import Startup
from acud.supervisor.displays.watched import WatchedProcess
from acud.supervisor.displays.window_manager import WindowManager
from acud.x11 import auth

# What Xvfb 21.1 prints when the number is somebody else's after all (os/connection.c, os/utils.c).
_COLLISIONS = ("already active for display", "server is already running", "Cannot establish any listening sockets")
_MAX_COLLISIONS = 20


class StartWishes(Struct, frozen=True):
    """What is to be started. `window_manager` and `session_bus`: whether and which. `deadline_s` covers everything."""

    width: int
    height: int
    window_manager: str
    session_bus: bool
    deadline_s: float


class StartTools(Struct, frozen=True):
    """What a start needs of its surroundings. `claim(first)` creates the places of the
    next free number from `first` (0: the settings' first) on; `give_back` removes them."""

    loop: EventLoop
    monotonic_s: Callable[[], float]
    boot_id: str
    env: Mapping[str, str]
    x_server: str
    claim: Callable[[int], Places]
    give_back: Callable[[Places], None]
    manager_for: Callable[[ManagedDisplay, str], WindowManager]


class Starting:
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
        self._places: Places | None = None
        self._startup: Startup | None = None
        self._display: ManagedDisplay | None = None

    def begin(self) -> None:
        """Start the X server on the next free number; the deadline runs from the first try.

        Raises: AcudError when that cannot even be tried.
        """
        self._until_s = self._until_s or self._tools.monotonic_s() + self._wishes.deadline_s
        self._places = places = self._claimed()
        try:
            self._startup = Startup(
                self._tools.loop,
                lambda fd: self._x_command(places, fd),
                places.environment(self._tools.env, ""),
                places.log("x_server"),
                self._left_s(),
                self._x_up,
                self._x_failed,
            )
        except Unavailable:
            self._places = None
            self._tools.give_back(places)
            raise

    def cancel(self) -> list[WatchedProcess]:
        """Give up; return the processes that are running, for the caller to end, and leave the folder to it too."""
        found = self._display.watched() if self._display else []
        if self._startup is not None:
            found.append(self._startup.detach())
        return list({process.pid: process for process in found if process.alive}.values())

    @property
    def places(self) -> Places | None:
        """The folder in use now."""
        return self._places

    def _claimed(self) -> Places:
        try:
            return self._tools.claim(self._first)
        except OSError as fault:
            raise Unavailable(f"cannot make a display's folder: {fault}", hint="check ACU_HOME") from fault

    def _left_s(self) -> float:
        return max(0.1, self._until_s - self._tools.monotonic_s())

    def _x_command(self, places: Places, fd: int) -> list[str]:
        screen = f"{self._wishes.width}x{self._wishes.height}x{DEPTH}"
        return [
            *(self._tools.x_server, places.name, "-displayfd", str(fd), "-screen", "0", screen),
            *("-auth", str(places.auth_file), "-nolisten", "tcp", "-noreset"),
            *("+extension", "Composite", "+extension", "DAMAGE"),
        ]

    def _x_failed(self, reason: str) -> None:
        self._collisions += 1
        if not any(text in reason for text in _COLLISIONS) or self._collisions > _MAX_COLLISIONS:
            self._on_failed(_not_started(self._tools.x_server, reason))
            return
        try:
            self._pass_over()
            self.begin()
        except AcudError as error:
            self._on_failed(error)

    def _pass_over(self) -> None:
        places, self._places = self._places, None
        if places is not None:
            self._tools.give_back(places)
            self._first = places.number + 1

    def _x_up(self, process: WatchedProcess, line: str) -> None:
        if self._places is None or line.strip() != str(self._places.number):
            self._x_gone(process, f"it reports display number {line[:20]!r}")
            return
        wishes = self._wishes
        self._display = ManagedDisplay(self._places, wishes.width, wishes.height, process, self._tools.boot_id)
        process.on_exit = self._x_gone
        try:
            auth.check_owner(self._places.number)
        except DisplayDown as fault:
            self._on_failed(fault)
            return
        try:
            numbers.take_lock(self._places.number, process.pid)
        except OSError as fault:
            self._x_gone(process, f"its lock cannot be written: {fault}")
            return
        self._start_bus(self._display)

    def _x_gone(self, process: WatchedProcess, reason: str) -> None:
        self._on_failed(_not_started(self._tools.x_server, reason))

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
                self._bus_up,
                self._bus_failed,
            )
        except Unavailable as fault:
            self._bus_failed(fault.message)

    def _bus_up(self, process: WatchedProcess, line: str) -> None:
        if self._display is not None:
            self._display.session_bus = process
            self._display.bus_address = line.strip()
            self._finish(self._display)

    def _bus_failed(self, reason: str) -> None:
        if self._display is not None:
            self._display.bus_note = f"no session bus: {reason}"
            self._finish(self._display)

    def _finish(self, display: ManagedDisplay) -> None:
        self._startup = None
        if self._wishes.window_manager:
            display.window_manager = self._tools.manager_for(display, self._wishes.window_manager)
            display.window_manager.start()
        self._on_up(display)


def _not_started(program: str, reason: str) -> AcudError:
    installed = shutil.which(program) is not None
    return DisplayDown(
        f"the X server did not start: {reason}"[:1000],
        hint="see acud doctor" if installed else "apt-get install xvfb",
    )
