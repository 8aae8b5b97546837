"""The displays, with the facts by which a new supervisor finds them again; and their takeovers."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from acud.base.clock import Instant
from acud.base.errors import Conflict, NotFound
from acud.store.connection import Table
from acud.store.rows import Row, RowCodec, load
from acud.types import DisplayState, Labels
from acud.types.actions import Launch


class StoredProcess(Struct, frozen=True):
    """A process that outlives the supervisor: its start (field 22 of /proc/<pid>/stat, ticks) distinguishes it from a
    later holder of the same pid; `boot_id` distinguishes boots.
    """

    role: Literal["x_server", "session_bus", "window_manager"]
    pid: int
    start_ticks: int
    comm: str
    boot_id: str


class LaunchedCommand(Struct, frozen=True):
    """A program that was launched on a display."""

    launch: Launch
    pid: int


class StoredDisplay(Struct, frozen=True):
    """A display as stored. `DisplayTable.add` assigns `number` (never reused); `name` is the X one (`:100`)."""

    name: str
    managed: bool
    state: DisplayState
    created_utc_s: float
    width: int = 0
    height: int = 0
    depth: int = 24
    auth_file: str = ""
    bus_address: str = ""
    window_manager: str = ""
    processes: tuple[StoredProcess, ...] = ()
    reason: str = ""
    ended_utc_s: float = 0.0
    task_id: str = ""
    """The task it was started for."""
    owner: int = -1
    """The uid that may serve it besides the daemon's own and root's."""
    is_default: bool = False
    """Whether it is the display of the target `screen`."""
    labels: Labels = {}
    """The labels that its host had to have."""
    launched: tuple[LaunchedCommand, ...] = ()
    """The programs that were launched on it, in order."""
    number: int = 0


_DISPLAY = RowCodec(
    StoredDisplay, found=("number",), fixed=("name", "managed", "created_utc_s", "task_id", "owner", "labels")
)
_SQL = load("displays", _DISPLAY)


class DisplayTable(Table):
    """The table `displays`."""

    def add(self, display: StoredDisplay) -> StoredDisplay:
        """Keep a new display; return it with its number. Raises: Conflict when its name is in use."""
        given = self._database.write_returning(_SQL["insert"], _DISPLAY.bind(display))[0]
        return msgspec.structs.replace(display, number=given["number"])

    def update(self, display: StoredDisplay) -> None:
        """Replace all but number, name, kind and creation of a living display. Raises: Conflict, NotFound."""
        if self._database.write(_SQL["update"], _DISPLAY.bind(display)) == 0:
            raise Conflict(f"display {self.get(display.number).name} has ended", number=display.number)

    def get(self, number: int) -> StoredDisplay:
        """Return the display with this number. Raises: NotFound."""
        return self._get_one("get", {"number": number}, f"no display number {number}")

    def find(self, name: str) -> StoredDisplay:
        """Return the living display of this name. Raises: NotFound."""
        return self._get_one("living_by_name", {"name": name}, f"no display {name}")

    def living(self) -> tuple[StoredDisplay, ...]:
        """Return every display that has not ended, oldest first."""
        return self._read_all(_DISPLAY, _SQL["living"])

    def newest_ended(self, limit: int) -> tuple[StoredDisplay, ...]:
        """Return ended displays, newest first, at most `limit`."""
        return self._read_all(_DISPLAY, _SQL["newest_ended"], {"limit": limit})

    def find_ended(self, name: str) -> StoredDisplay | None:
        """Return the newest display of this name if it has ended."""
        return self._read_first(_DISPLAY, _SQL["newest_ended_by_name"], {"name": name})

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete displays that ended before; their numbers are not given again. Return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})

    def _get_one(self, block: str, bindings: Row, fault: str) -> StoredDisplay:
        found = self._read_first(_DISPLAY, _SQL[block], bindings)
        if found is None:
            raise NotFound(fault, hint="acud display list shows them")
        return found


class Takeover(Struct, frozen=True):
    """A person's hold on the display `number`; `lease` proves it and stays secret."""

    number: int
    lease: str
    who: str
    note: str
    since_utc_s: float
    until: Instant


_TAKEOVER = RowCodec(Takeover, fixed=("number",))
_TAKEOVERS_SQL = load("takeovers", _TAKEOVER)


class TakeoverTable(Table):
    """The table `takeovers`, one row a display at most."""

    def put(self, takeover: Takeover) -> None:
        """Keep `takeover` in place of its display's former one."""
        self._database.write(_TAKEOVERS_SQL["put"], _TAKEOVER.bind(takeover))

    def of(self, number: int) -> Takeover | None:
        """Return the display's takeover, which may have expired, or None."""
        return self._read_first(_TAKEOVER, _TAKEOVERS_SQL["of"], {"number": number})

    def all(self) -> tuple[Takeover, ...]:
        return self._read_all(_TAKEOVER, _TAKEOVERS_SQL["all"])

    def drop(self, number: int) -> None:
        """Delete the display's takeover; harmless without one."""
        self._database.write(_TAKEOVERS_SQL["drop"], {"number": number})
