"""One managed display: its processes while it is up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from acud.store.displays import StoredProcess
from acud.supervisor.displays import proc_files
from acud.supervisor.displays.folders import DisplayFolders
from acud.supervisor.displays.watched_process import WatchedProcess
from acud.supervisor.displays.window_manager import WindowManager

DEPTH = 24


class ManagedDisplay:
    """An Xvfb of ours with its session bus and window manager. Made by `ManagedDisplays`, which alone ends it."""

    def __init__(self, places: DisplayFolders, width: int, height: int, x_server: WatchedProcess, boot_id: str) -> None:
        self.places = places
        self.width, self.height = width, height
        self.depth = DEPTH
        self.x_server = x_server
        self.session_bus: WatchedProcess | None = None
        self.bus_address = ""
        self.bus_note = ""
        self.limit_note = ""  # which programs were killed last because the display was over a limit
        self.window_manager: WindowManager | None = None
        self._boot_id = boot_id

    @property
    def name(self) -> str:
        """The X name, such as `:100`."""
        return self.places.name

    @property
    def auth_file(self) -> str:
        return str(self.places.auth_file)

    @property
    def window_manager_name(self) -> str:
        return self.window_manager.program if self.window_manager else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What differs from the request: a missing bus or window manager, killed programs."""
        texts = (self.bus_note, self.window_manager.note if self.window_manager else "", self.limit_note)
        return tuple(text for text in texts if text)

    @property
    def processes(self) -> tuple[StoredProcess, ...]:
        """The rows for the store, so that a later supervisor can adopt this display."""
        manager = self.window_manager.process if self.window_manager else None
        roles: tuple[tuple[Literal["x_server", "session_bus", "window_manager"], WatchedProcess | None], ...] = (
            ("x_server", self.x_server),
            ("session_bus", self.session_bus),
            ("window_manager", manager),
        )
        return tuple(
            StoredProcess(role, one.pid, one.start_ticks, proc_files.comm(one.pid), self._boot_id)
            for role, one in roles
            if one is not None and one.alive
        )

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return the environment for a program on this display; its processes end with the display."""
        return self.places.environment(base, self.bus_address)

    @property
    def watched_processes(self) -> list[WatchedProcess]:
        """The processes watched now, the X server first."""
        manager = self.window_manager.process if self.window_manager else None
        return [one for one in (self.x_server, self.session_bus, manager) if one is not None and one.alive]
