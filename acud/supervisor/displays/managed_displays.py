"""All managed displays of one supervisor: it starts, adopts, watches and ends them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Protocol

from msgspec import Struct

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import AcudError, DisplayDown, NotFound, Refused, Unavailable
from acud.base.paths import Paths
from acud.config import Settings
from acud.process.event_loop import EventLoop
from acud.store.displays import StoredDisplay, StoredProcess
from acud.supervisor.coroutines import Callback, Resume, StepTask, directly, run_steps
from acud.supervisor.displays import folders, numbers
from acud.supervisor.displays import proc_files as proc
from acud.supervisor.displays.folders import DisplayFolders
from acud.supervisor.displays.managed_display import ManagedDisplay
from acud.supervisor.displays.resources import Resources
from acud.supervisor.displays.start import DisplayStart, StartTools, StartWishes, last_words
from acud.supervisor.displays.stop import DisplayEnd, SharedLooks
from acud.supervisor.displays.watched_process import WatchedProcess, ignore_exit
from acud.supervisor.displays.window_manager import RestartBudget, WindowManager, check_name
from acud.supervisor.waits.active_waits import ActiveWaits
from acud.x11 import auth

NO_WINDOW_MANAGER = "none"
_LOG = log.logger("displays")
_STARTS_PER_CORE = 4
"""An X server starts in 0.1 s of a core and the session bus as fast; some of each is waiting for the other."""

OnEnded = Callable[[tuple[str, ...]], None]


class DisplayWatcher(Protocol):
    """Is called when a managed display changes or dies."""

    def display_died(self, display: ManagedDisplay, reason: str) -> None:
        """Handle the end of an X server that nobody stopped; the display's remains are being removed."""

    def display_changed(self, display: ManagedDisplay) -> None:
        """Store `display.processes` again: they or the notes changed."""

    def display_limited(self, display: ManagedDisplay, reason: str) -> None:
        """Handle that the display's programs were killed because it was over a limit."""


class Adoption(Struct, frozen=True):
    """`adopted`: rows with their living display. `ended`: rows without one, each with the reason."""

    adopted: tuple[tuple[StoredDisplay, ManagedDisplay], ...]
    ended: tuple[tuple[StoredDisplay, str], ...]


class ManagedDisplays:
    """Never blocks: every method returns at once, and results come by callback from the loop, never from within a call.

    At start-up call `adopt` with the store's living rows, then `remove_leftovers`. Owns their processes and folders.
    """

    def __init__(
        self,
        loop: EventLoop,
        clock: Clock,
        paths: Paths,
        settings: Settings,
        env: Mapping[str, str],
        watcher: DisplayWatcher,
        active_waits: ActiveWaits,
        x_server: str = "Xvfb",
    ) -> None:
        """`env`: what programs on the displays inherit. No new display gets the name of one that a wait of
        `active_waits` looks for. `x_server`: the program; tests pass others.
        """
        self._loop, self._clock, self._paths, self._settings = loop, clock, paths, settings
        self._env, self._watcher, self._x_server = env, watcher, x_server
        self._boot_id = clock.instant().boot_id
        self._living: dict[str, ManagedDisplay] = {}
        self._starting: dict[DisplayStart, Resume[ManagedDisplay]] = {}
        self._begun: dict[DisplayStart, StepTask[ManagedDisplay]] = {}
        """The starts with a running X server; the others are queued."""
        self._at_once = settings.display.starts_at_once or _STARTS_PER_CORE * len(os.sched_getaffinity(0))
        self._ending: set[int] = set()
        self._looks = SharedLooks(loop)
        self._on_idle: list[Resume[None]] = []
        self._active_waits = active_waits
        self.resources = Resources(loop, settings.display, self._living, watcher.display_limited)

    @property
    def living(self) -> tuple[ManagedDisplay, ...]:
        return tuple(self._living.values())

    def living_by_name(self, name: str) -> ManagedDisplay | None:
        """Return the display `name` if it is one of ours that is up."""
        return self._living.get(name)

    def find(self, name: str) -> ManagedDisplay:
        """Return the living display `name`. Raises: NotFound."""
        if name not in self._living:
            raise NotFound(f"no managed display {name}", hint="acud display list shows them")
        return self._living[name]

    # ---- up --------------------------------------------------------------------------------------------------------

    def create(self, width: int, height: int, window_manager: str, on_done: Resume[ManagedDisplay]) -> None:
        """Start a display of `width` x `height` px on the next free number; then call `on_done` with it, or the fault.

        `window_manager`: a program's bare name, "" for the settings' one, `none` for none; one that is not installed
        leaves a note. The fault is DisplayDown (with the server's last words), Unavailable or Refused.
        Raises: InvalidRequest for a malformed `window_manager`; nothing was started then.
        """
        wishes = self._build_wishes(width, height, window_manager)
        full = self._refuse_size(wishes) or self._refuse_count()
        if full is not None:
            self._loop.call_later(0, lambda: on_done(full))
            return
        self._starting[DisplayStart(self._build_tools(), wishes)] = on_done
        self._loop.call_later(0, self._begin_next)

    def _refuse_size(self, wishes: StartWishes) -> Refused | None:
        most = self._settings.capture.max_megapixels
        if wishes.width * wishes.height <= most * 1e6:
            return None
        return Refused(
            f"{wishes.width}x{wishes.height} pixels are over {most:g} megapixels, the most that one display may have",
            hint="ask for a smaller one, or raise [capture] max_megapixels",
        )

    def _refuse_count(self) -> Refused | None:
        count = len(self._living) + len(self._starting)
        if count < self._settings.display.max:
            return None
        return Refused(
            f"{count} managed displays are up or starting already", hint="remove one, or raise [display] max"
        )

    def _begin_next(self) -> None:
        """Begin queued starts, as many at once as the cores can serve: more would only all be late."""
        waiting = [starting for starting in self._starting if starting not in self._begun]
        for starting in waiting[: max(0, self._at_once - len(self._begun))]:
            self._begin_start(starting)

    def _begin_start(self, starting: DisplayStart) -> None:
        task = StepTask(starting.run(), directly, partial(self._finish_start, starting))
        self._begun[starting] = task
        task.begin()

    def _finish_start(self, starting: DisplayStart, outcome: ManagedDisplay | AcudError) -> None:
        done = self._starting.pop(starting)
        task = self._begun.pop(starting, None)
        if task is not None:
            task.cancel()
        self._loop.call_later(0, self._begin_next)
        if isinstance(outcome, ManagedDisplay):
            self._watch_processes(outcome)
        else:
            processes, where = starting.cancel(), starting.places
            if where is not None:
                self._end_processes(where, processes, None, self._log_left)
        done(outcome)

    def _build_wishes(self, width: int, height: int, window_manager: str) -> StartWishes:
        chosen = self._settings.display
        manager = check_name(window_manager or chosen.window_manager or NO_WINDOW_MANAGER)
        return StartWishes(
            width=width,
            height=height,
            window_manager="" if manager == NO_WINDOW_MANAGER else manager,
            session_bus=chosen.session_bus,
            deadline_s=chosen.start_deadline_s,
        )

    def _build_tools(self) -> StartTools:
        return StartTools(
            loop=self._loop,
            boot_id=self._boot_id,
            env=self._env,
            x_server=self._x_server,
            claim=self._claim_number,
            give_back=self._give_back,
            manager_for=self._build_window_manager,
        )

    def _claim_number(self, first: int) -> DisplayFolders:
        auth.check_socket_folder()
        reserved = {where.number for where in folders.find_existing(self._paths)}
        reserved |= {int(name[1:]) for name in self._active_waits.name_displays() if name[1:].isdigit()}
        number = numbers.claim(max(first, self._settings.display.first_number), reserved)
        where = folders.for_number(self._paths, number)
        try:
            where.create()
        except OSError:
            where.remove()
            raise
        except Refused:
            numbers.clear(number)
            raise
        return where

    def _give_back(self, where: DisplayFolders) -> None:
        self._end_processes(where, [], None, self._log_left)

    def _build_window_manager(self, display: ManagedDisplay, program: str) -> WindowManager:
        limits = self._settings.daemon
        budget = RestartBudget(limits.restart_limit, limits.restart_window_s, self._clock)
        env = display.environment(self._env)
        return WindowManager(
            self._loop, program, display.places, env, budget, lambda: self._watcher.display_changed(display)
        )

    # ---- adopting --------------------------------------------------------------------------------------------------

    def adopt(self, rows: Iterable[StoredDisplay]) -> Adoption:
        """Watch again the managed displays among `rows` that still run; restart window managers that ended."""
        adopted: list[tuple[StoredDisplay, ManagedDisplay]] = []
        ended: list[tuple[StoredDisplay, str]] = []
        for row in rows:
            if not row.managed:
                continue
            try:
                adopted.append((row, self._adopt_row(row)))
            except DisplayDown as fault:
                ended.append((row, fault.message))
        return Adoption(tuple(adopted), tuple(ended))

    def _adopt_row(self, row: StoredDisplay) -> ManagedDisplay:
        display = _find_running(self._loop, self._paths, row, self._boot_id)
        if row.window_manager:
            display.window_manager = self._build_window_manager(display, check_name(row.window_manager))
            found = _find_window_manager(self._loop, row, self._boot_id)
            if found is None:
                display.window_manager.start()
            else:
                display.window_manager.adopt(found)
        self._watch_processes(display)
        return display

    # ---- watching --------------------------------------------------------------------------------------------------

    def _watch_processes(self, display: ManagedDisplay) -> None:
        self._living[display.name] = display
        self.resources.watch()
        display.x_server.on_exit = lambda _, reason: self._on_server_ended(display, reason)
        if display.session_bus is not None:
            display.session_bus.on_exit = lambda _, reason: self._on_bus_ended(display, reason)

    def _on_server_ended(self, display: ManagedDisplay, reason: str) -> None:
        words = last_words(display.places.log("x_server"))
        self._end_display(display, self._log_left)
        limit = self.resources.killed.pop(display.x_server.pid, "")
        reason = f"{reason}, as the display was over its limit: {limit}" if limit else reason
        self._watcher.display_died(display, f"the X server ended: {reason}{words}"[:1000])

    def _on_bus_ended(self, display: ManagedDisplay, reason: str) -> None:
        display.bus_note = f"the session bus ended: {reason}"
        display.session_bus = None
        display.bus_address = ""
        self._watcher.display_changed(display)

    # ---- ending ----------------------------------------------------------------------------------------------------

    def end(self, name: str, on_ended: OnEnded) -> None:
        """End the display `name` in good order with every program on it, then call `on_ended(left)`. `left`: what could
        not be ended or removed; usually empty. Raises: NotFound.
        """
        self._end_display(self.find(name), on_ended)

    async def end_all(self) -> None:
        """End every display and fail those that are starting (Unavailable); return when all are gone."""
        for starting in tuple(self._starting):
            self._finish_start(starting, Unavailable("the daemon is stopping"))
        for display in self.living:
            self._end_display(display, self._log_left)
        await Callback(self._when_idle)

    def _when_idle(self, on_done: Resume[None]) -> None:
        self._on_idle.append(on_done)
        self._loop.call_later(0, self._report_idle)

    def kill_all(self) -> None:
        """Kill the displays' remaining processes at once; a later start removes the files that stay."""
        left = [pid for pid, folder in proc.find_marked().items() if self._number_of(folder) is not None]
        _LOG.warning("displays.killed", processes=len(left))
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for number in self._ending:
            folders.for_number(self._paths, number).remove()

    async def remove_leftovers(self) -> tuple[str, ...]:
        """End and remove what a dead supervisor left and `adopt` did not take; return the names."""
        rising = {starting.places.number for starting in self._starting if starting.places is not None}
        busy = {display.places.number for display in self.living} | self._ending | rising
        dead = [where for where in self._find_leftovers() if where.number not in busy]
        for where in dead:
            self._end_processes(where, [], None, self._log_left)
        await Callback(self._when_idle)
        names = tuple(where.name for where in dead)
        if names:
            _LOG.info("displays.swept", names=list(names))
        return names

    def stop_watching(self) -> None:
        """Stop watching all displays, which keep running for a successor to adopt. None may be starting."""
        for display in self.living:
            if display.window_manager is not None:
                display.window_manager.stop_restarting()
            for process in display.watched_processes:
                process.close()
        self._living.clear()

    def _find_leftovers(self) -> list[DisplayFolders]:
        found = {where.number for where in folders.find_existing(self._paths)}
        numbers_of_marked = map(self._number_of, set(proc.find_marked().values()))
        found |= {number for number in numbers_of_marked if number is not None}
        return [folders.for_number(self._paths, number) for number in sorted(found)]

    def _number_of(self, folder: str) -> int | None:
        parent, _, name = folder.rpartition("/")
        return int(name) if parent == str(self._paths.displays) and name.isdigit() else None

    def _end_display(self, display: ManagedDisplay, on_ended: OnEnded) -> None:
        del self._living[display.name]
        if display.window_manager is not None:
            display.window_manager.stop_restarting()
        others = [process for process in display.watched_processes if process is not display.x_server]
        x_server = display.x_server if display.x_server.alive else None
        self._end_processes(display.places, others, x_server, on_ended)

    def _end_processes(
        self, where: DisplayFolders, known: list[WatchedProcess], x_server: WatchedProcess | None, on_ended: OnEnded
    ) -> None:
        self._ending.add(where.number)
        run_steps(self._await_end(where, known, x_server, on_ended))

    async def _await_end(
        self, where: DisplayFolders, known: list[WatchedProcess], x_server: WatchedProcess | None, on_ended: OnEnded
    ) -> None:
        left = await DisplayEnd(self._loop, self._looks, where, x_server).end_programs(known)
        self._ending.discard(where.number)
        on_ended(left)
        self._report_idle()

    def _report_idle(self) -> None:
        if self._ending:
            return
        waiting, self._on_idle = self._on_idle, []
        for callback in waiting:
            callback(None)

    def _log_left(self, left: tuple[str, ...]) -> None:
        for text in left:
            _LOG.warning("display_left_something", what=text)


_NAME = re.compile(r"^:([0-9]{1,5})$")


def _find_running(loop: EventLoop, paths: Paths, row: StoredDisplay, boot_id: str) -> ManagedDisplay:
    """Return the display of `row` with its X server and bus watched, no handlers set. Raises: DisplayDown with the
    reason when its X server or its cookie is gone.
    """
    where = _folders_of(paths, row)
    x_server = _attach(loop, _find_process(row, "x_server"), boot_id)
    if not where.auth_file.is_file():
        x_server.close()
        raise DisplayDown(f"the Xauthority of {row.name} is gone")
    display = ManagedDisplay(where, row.width, row.height, x_server, boot_id)
    _find_bus(loop, display, row, boot_id)
    return display


def _attach(loop: EventLoop, row: StoredProcess, boot_id: str) -> WatchedProcess:
    """Watch the process that `row` means. Raises: DisplayDown when it ended, also when its pid has a new holder."""
    if row.boot_id != boot_id:
        raise DisplayDown(f"{row.comm} (pid {row.pid}) ended with a reboot")
    try:
        process = WatchedProcess(loop, row.pid, ignore_exit)
    except ProcessLookupError:
        raise DisplayDown(f"{row.comm} (pid {row.pid}) is gone") from None
    # A wrapper script becomes another program later on: a window manager's name proves nothing.
    same_name = row.role == "window_manager" or proc.comm(row.pid) == row.comm
    if proc.start_ticks(row.pid) == row.start_ticks and same_name:
        return process
    process.close()
    raise DisplayDown(f"{row.comm} ended; pid {row.pid} is another process now")


def _folders_of(paths: Paths, row: StoredDisplay) -> folders.DisplayFolders:
    match = _NAME.match(row.name)
    if match is None:
        raise DisplayDown(f"{row.name[:40]} is not the name of a managed display")
    return folders.for_number(paths, int(match[1]))


def _find_process(row: StoredDisplay, role: str) -> StoredProcess:
    for process in row.processes:
        if process.role == role:
            return process
    raise DisplayDown(f"no {role.replace('_', ' ')} was recorded for {row.name}")


def _find_bus(loop: EventLoop, display: ManagedDisplay, row: StoredDisplay, boot_id: str) -> None:
    if not row.bus_address:
        return
    try:
        display.session_bus = _attach(loop, _find_process(row, "session_bus"), boot_id)
        display.bus_address = row.bus_address
    except DisplayDown as fault:
        display.bus_note = f"no session bus: {fault.message}"


def _find_window_manager(loop: EventLoop, row: StoredDisplay, boot_id: str) -> WatchedProcess | None:
    """Return the window manager of `row`, watched; None when it ended in the meantime and must be started again."""
    try:
        return _attach(loop, _find_process(row, "window_manager"), boot_id)
    except DisplayDown:
        return None
