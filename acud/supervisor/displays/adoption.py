"""Finding again what an earlier supervisor started: by pid, start time, program name and boot."""

from __future__ import annotations

import re

from acud.base.errors import DisplayDown
from acud.base.paths import Paths
from acud.process.event_loop import EventLoop
from acud.store.displays import StoredDisplay, StoredProcess
from acud.supervisor.displays import folders, proc_files
from acud.supervisor.displays.managed_display import ManagedDisplay
from acud.supervisor.displays.watched_process import WatchedProcess, ignore_exit

_NAME = re.compile(r"^:([0-9]{1,5})$")


def find(loop: EventLoop, paths: Paths, row: StoredDisplay, boot_id: str) -> ManagedDisplay:
    """Return the display of `row` with its X server and bus watched, no handlers set. Raises: DisplayDown with the
    reason when its X server or its cookie is gone.
    """
    where = _folders_of(paths, row)
    x_server = attach(loop, _find_process(row, "x_server"), boot_id)
    if not where.auth_file.is_file():
        x_server.close()
        raise DisplayDown(f"the Xauthority of {row.name} is gone")
    display = ManagedDisplay(where, row.width, row.height, x_server, boot_id)
    _find_bus(loop, display, row, boot_id)
    return display


def attach(loop: EventLoop, row: StoredProcess, boot_id: str) -> WatchedProcess:
    """Watch the process that `row` means. Raises: DisplayDown when it ended, also when its pid has a new holder."""
    if row.boot_id != boot_id:
        raise DisplayDown(f"{row.comm} (pid {row.pid}) ended with a reboot")
    try:
        process = WatchedProcess(loop, row.pid, ignore_exit)
    except ProcessLookupError:
        raise DisplayDown(f"{row.comm} (pid {row.pid}) is gone") from None
    # A wrapper script becomes another program later on: a window manager's name proves nothing.
    same_name = row.role == "window_manager" or proc_files.comm(row.pid) == row.comm
    if proc_files.start_ticks(row.pid) == row.start_ticks and same_name:
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
        display.session_bus = attach(loop, _find_process(row, "session_bus"), boot_id)
        display.bus_address = row.bus_address
    except DisplayDown as fault:
        display.bus_note = f"no session bus: {fault.message}"


def find_window_manager(loop: EventLoop, row: StoredDisplay, boot_id: str) -> WatchedProcess | None:
    """Return the window manager of `row`, watched; None when it ended in the meantime and must be started again."""
    try:
        return attach(loop, _find_process(row, "window_manager"), boot_id)
    except DisplayDown:
        return None
