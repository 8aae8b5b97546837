"""Serves requests on displays: joins the store's rows, the managed X servers and the watched displays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import AcudError, Conflict, DisplayDown, NotFound, Refused
from acud.base.paths import Paths
from acud.config import Settings
from acud.process.event_loop import EventLoop
from acud.protocol.requests.fleet import DisplayRecipe
from acud.store.displays import LaunchedCommand, StoredDisplay, Takeover
from acud.supervisor.coroutines import Callback, run_steps
from acud.supervisor.display_notifications import DisplayNotifications
from acud.supervisor.displays import ManagedDisplay, ManagedDisplays
from acud.supervisor.displays.managed_displays import NO_WINDOW_MANAGER
from acud.supervisor.journal import Effect, Journal
from acud.supervisor.program_launcher import ProgramLauncher, inherited_environment
from acud.supervisor.takeovers import Takeovers
from acud.supervisor.waits.active_waits import ActiveWaits
from acud.supervisor.watched_displays import Outcome, WatchedDisplay, WatchedDisplays, server_listens
from acud.types import NO_LABELS, DisplayInfo, DisplayState, Labels, display_name
from acud.types.actions import Launch
from acud.x11.auth import NOBODY_ELSE

_LOG = log.logger("display_registry")
_SHARED_DISPLAY = ":99"  # the display on which many installations run their only Xvfb
_SHOWN_ENDED = 100
_SHOWN_NAME = 100
MOST_PROGRAMS = 64
"""As many as one `desktop_action` starts."""
MOST_WORDS = 100_000
"""Characters of their commands, which the fleet keeps on its servers."""


class DisplayRegistry:
    """Every display of this supervisor, and the X servers that it started. Results come by callback."""

    def __init__(
        self,
        watched_displays: WatchedDisplays,
        notifications: DisplayNotifications,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        paths: Paths,
        settings: Settings,
        env: Mapping[str, str],
        *,
        takeovers: Takeovers,
        active_waits: ActiveWaits,
    ) -> None:
        inherited = inherited_environment(env, settings.display.environment)
        self.managed = ManagedDisplays(loop, clock, paths, settings, inherited, self, active_waits)
        self._takeovers, self._watched_displays = takeovers, watched_displays
        self._notifications, self._journal, self._clock = notifications, journal, clock
        self._settings, self._env = settings, env
        self._rows: dict[str, StoredDisplay] = {}
        self._default = ""
        self._wanting_default: list[Outcome] = []
        self._lost: list[tuple[str, str]] = []  # managed displays that ended while no supervisor ran, with the reason

    # ---- reading ---------------------------------------------------------------------------------------------------

    @property
    def default(self) -> str:
        """The name of the default display; "" before the first request for it."""
        return self._default if self._default in self._watched_displays.by_name else ""

    def infos(self) -> Iterator[DisplayInfo]:
        return (self.info(watched) for watched in self._watched_displays.by_name.values())

    def info(self, watched: WatchedDisplay) -> DisplayInfo:
        return self.info_with_takeover(watched, self._takeovers.find(watched.number))

    def info_with_takeover(self, watched: WatchedDisplay, takeover: Takeover | None) -> DisplayInfo:
        """Return the display with this takeover, which may not be stored yet."""
        info = self._watched_displays.info(watched, self.default)
        if takeover is None:
            return info
        return replace(info, taken_by=takeover.who, taken_until_utc_s=takeover.until.utc_s)

    def list_notes(self, watched: WatchedDisplay) -> tuple[str, ...]:
        """Return in what a managed display differs from the request."""
        return next((d.notes for d in self.managed.living if d.name == watched.name), ())

    def find_owned(self) -> list[tuple[WatchedDisplay, str]]:
        """Return (display, task id) of each watched display that was started for a task."""
        rows = [row for row in self._rows.values() if row.task_id and row.name in self._watched_displays.by_name]
        return [(self._watched_displays.by_name[row.name], row.task_id) for row in rows]

    def find_ended(self) -> list[DisplayInfo]:
        return [
            DisplayInfo(row.name, row.number, row.managed, row.state, row.reason, row.width, row.height)
            for row in self._journal.store.displays.newest_ended(_SHOWN_ENDED)
        ]

    # ---- start and end of the supervisor ---------------------------------------------------------------------------

    def resume(self) -> None:
        """Watch again what a former supervisor watched; record the end of managed displays that are gone."""
        rows = self._journal.store.displays.living()
        adoption = self.managed.adopt(rows)
        for row, reason in adoption.ended:
            self._end_row(row, reason)
            self._lost.append((row.name, reason))
        for row, display in adoption.adopted:
            self._watch_row(replace(row, processes=display.processes), None)
        for row in rows:
            if row.managed:
                continue
            if row.name == display_name(row.name):
                self._watch_row(row, None)
            else:  # stored by a version that took each spelling as another display
                self._end_row(row, f"it is display {display_name(row.name)}: add it by that name")
        self._remember_default()
        run_steps(self.managed.remove_leftovers())

    def _remember_default(self) -> None:
        """Keep the default of before, even while it still starts, unless the settings name another."""
        found = next((row.name for row in self._rows.values() if row.is_default), "")
        wanted = display_name(self._settings.display.default)
        self._default = found if wanted in {"", found} else ""

    def _watch_row(self, row: StoredDisplay, outcome: Outcome | None) -> None:
        watched = WatchedDisplay(row.name, row.number, row.managed, row.auth_file, row.owner)
        watched.bus_address = row.bus_address
        self._rows[row.name] = row
        self._watched_displays.watch(watched, outcome)
        self._notifications.follow(watched)

    # ---- adopted displays ------------------------------------------------------------------------------------------

    async def adopt(self, name: str, auth_file: str, owner: int = NOBODY_ELSE) -> WatchedDisplay:
        """Watch the existing display `name`, and return it. `owner`: the uid that may run its X server besides this
        user and root. Raises: Conflict, DisplayDown.
        """
        name = display_name(name)
        if (
            name in self._watched_displays.by_name
            and self._watched_displays.by_name[name].state is not DisplayState.ENDED
        ):
            raise Conflict(f"display {name} is watched already", hint="acud display list")
        row = StoredDisplay(
            name=name,
            managed=False,
            state=DisplayState.UP,
            created_utc_s=self._clock.instant().utc_s,
            auth_file=auth_file or self._usual_auth_file(),
            owner=owner,
        )
        self._drop_ended(name)
        try:
            watched = await Callback[WatchedDisplay](partial(self._watch_row, row))
        except AcudError:
            self._unwatch_display(name)
            raise
        info = self.info(watched)
        row = replace(row, width=info.width, height=info.height)
        await Callback[None](lambda resume: self._keep_row(row, watched, lambda: resume(None)))
        return watched

    def _usual_auth_file(self) -> str:
        named = self._env.get("XAUTHORITY", "")
        if named:
            return named
        usual = Path(self._env.get("HOME", "/nonexistent")) / ".Xauthority"
        return str(usual) if usual.exists() else ""

    def _keep_row(self, row: StoredDisplay, watched: WatchedDisplay, then: Effect | None = None) -> None:
        self._journal.keep(partial(self._write_row, row, watched), then)

    def _write_row(self, row: StoredDisplay, watched: WatchedDisplay) -> None:
        stored = self._journal.store.displays.add(row)
        self._rows[row.name] = stored
        watched.number = stored.number

    # ---- managed displays ------------------------------------------------------------------------------------------

    async def create(
        self, width: int, height: int, window_manager: str, task_id: str = "", labels: Labels = NO_LABELS
    ) -> WatchedDisplay:
        """Start a managed display (of the task `task_id`), and return it once it is watched. `labels`: required of its
        host. Raises: InvalidRequest, DisplayDown, Unavailable, Refused.
        """
        begin = partial(self.managed.create, width, height, window_manager)
        display = await Callback[ManagedDisplay](begin)
        row = StoredDisplay(
            name=display.name,
            managed=True,
            state=DisplayState.UP,
            created_utc_s=self._clock.instant().utc_s,
            width=display.width,
            height=display.height,
            depth=display.depth,
            auth_file=display.auth_file,
            bus_address=display.bus_address,
            window_manager=display.window_manager_name,
            processes=display.processes,
            task_id=task_id,
            labels=labels,
        )
        self._drop_ended(row.name)
        try:
            watched = await Callback[WatchedDisplay](partial(self._watch_new, row))
        except AcudError as fault:
            reason = str(fault)
            await Callback[None](lambda resume: self._end_display(row.name, reason, lambda: resume(None)))
            raise
        await Callback[None](partial(self._notifications.when_settled, watched))
        return watched

    def _watch_new(self, row: StoredDisplay, outcome: Outcome) -> None:
        self._watch_row(row, outcome)
        # Store its row before its first frame, so that a restarted supervisor finds the X server again.
        self._keep_row(row, self._watched_displays.by_name[row.name])

    def display_died(self, display: ManagedDisplay, reason: str) -> None:
        """Record the end of a managed X server that nobody stopped; its waits become unknown."""
        watched = self._watched_displays.by_name.get(display.name)
        if watched is not None:
            self._watched_displays.end(watched, reason)
            self._notifications.forget(watched)
        self._end_row(self._rows.get(display.name), reason)

    def display_limited(self, display: ManagedDisplay, reason: str) -> None:
        """Record that the display's programs were killed because it was over a limit."""
        self._journal.keep(lambda: self._journal.event("display.limited", display.name, reason=reason), droppable=True)

    def display_changed(self, display: ManagedDisplay) -> None:
        """Store its processes again."""
        row, watched = self._rows.get(display.name), self._watched_displays.by_name.get(display.name)
        if row is None or watched is None:
            return
        watched.bus_address = display.bus_address
        self._notifications.follow(watched)
        changed = replace(row, processes=display.processes, bus_address=display.bus_address)
        self._rows[display.name] = changed
        if changed.number:
            self._journal.keep(lambda: self._journal.store.displays.update(changed))

    def note_launch(self, watched: WatchedDisplay, launch: Launch, pid: int) -> None:
        """Record a program launched on a managed display; do nothing for another display."""
        row = self._rows.get(watched.name)
        if row is None or not row.managed or not row.number:
            return
        changed = self._rows[row.name] = replace(row, launched=(*row.launched, LaunchedCommand(launch, pid)))
        self._journal.keep(partial(self._write_launch, changed, launch, pid))

    def _write_launch(self, row: StoredDisplay, launch: Launch, pid: int) -> None:
        self._journal.store.displays.update(row)
        program = Path(launch.command[0]).name[:_SHOWN_NAME]
        self._journal.event("display.launched", row.name, program=program, pid=pid)

    def build_recipe(self, name: str, launcher: ProgramLauncher) -> DisplayRecipe:
        """Return a recipe that makes the managed display `name` again, without programs that ended with a fault.
        Raises: NotFound for another display; Refused if too much was launched on it.
        """
        row = self._rows.get(name)
        if row is None or not row.managed:
            raise NotFound(f"no managed display {name}", hint="acud display create makes one")
        programs = tuple(one.launch for one in row.launched if not launcher.has_failed(one.pid))
        size = sum(len(word) for one in programs for word in (*one.command, one.cwd))
        if len(programs) > MOST_PROGRAMS or size > MOST_WORDS:
            raise Refused(
                f"{len(programs)} programs were launched on {name}, in {size} characters: at most {MOST_PROGRAMS} are "
                f"started anew, in {MOST_WORDS}",
                hint="use a fresh display",
            )
        return DisplayRecipe(row.width, row.height, row.window_manager or NO_WINDOW_MANAGER, row.labels, programs)

    # ---- removal ---------------------------------------------------------------------------------------------------

    def remove(self, watched: WatchedDisplay, then: Effect) -> None:
        """End a managed display, or stop watching an adopted one; call `then` after its end."""
        self._end_display(watched.name, "removed", then)

    def _end_display(self, name: str, reason: str, then: Effect) -> None:
        row = self._rows.get(name)
        self._unwatch_display(name)
        self._end_row(row, reason)
        try:
            self.managed.end(name, lambda left: then())
        except NotFound:
            then()

    def _unwatch_display(self, name: str) -> None:
        watched = self._watched_displays.by_name.get(name)
        if watched is not None:
            self._watched_displays.unwatch(watched)
        self._rows.pop(name, None)

    def _drop_ended(self, name: str) -> None:
        watched = self._watched_displays.by_name.get(name)
        if watched is not None and watched.state is DisplayState.ENDED:
            self._unwatch_display(name)

    def _end_row(self, row: StoredDisplay | None, reason: str) -> None:
        if row is None or row.state is DisplayState.ENDED:
            return
        ended = replace(row, state=DisplayState.ENDED, reason=reason, ended_utc_s=self._clock.instant().utc_s)
        self._rows.pop(row.name, None)
        self._journal.keep(partial(self._write_end, ended))

    def _write_end(self, row: StoredDisplay) -> None:
        if row.number:
            self._journal.store.displays.update(row)
            self._journal.store.takeovers.drop(row.number)
        self._journal.event("display.ended", row.name, reason=row.reason)

    def managed_names(self) -> list[str]:
        """Return the names of the managed displays that have not ended."""
        return [row.name for row in self._rows.values() if row.managed]

    def record_ends(self, reason: str) -> None:
        for row in [row for row in self._rows.values() if row.managed]:
            self._end_row(row, reason)

    def find_lost(self, names: set[str]) -> list[tuple[str, str]]:
        """Return (name, reason) of managed displays that are gone: all gone at the start, and those of `names`."""
        lost = dict(self._lost)
        for name in names - lost.keys() - self._watched_displays.by_name.keys():
            row = self._journal.store.displays.find_ended(name)
            if row is not None and row.managed:
                lost[name] = row.reason
        return list(lost.items())

    # ---- the default -----------------------------------------------------------------------------------------------

    async def find_display(self, name: str) -> WatchedDisplay:
        """Return the display `name`; "" means the default, which is found or started when first needed. Raises:
        NotFound for a name that is not watched.
        """
        if name:
            return self._watched_displays.get(name)
        if self.default and self._watched_displays.by_name[self._default].state is not DisplayState.ENDED:
            return self._watched_displays.by_name[self._default]
        return await Callback[WatchedDisplay](self._want_default)

    def _want_default(self, then: Outcome) -> None:
        self._wanting_default.append(then)
        if len(self._wanting_default) == 1:
            run_steps(self._find_default(), self._settle_default)

    async def _find_default(self) -> WatchedDisplay:
        by_name = self._watched_displays.by_name
        for name in self._find_candidates():
            watched = by_name.get(name)
            if watched is not None and watched.state is not DisplayState.ENDED:
                return watched
            try:
                return await self.adopt(name, "")
            except AcudError as fault:
                if self._settings.display.default:
                    words = f"[display] default does not answer: {fault.message}"
                    raise DisplayDown(words, hint=fault.hint) from fault
                _LOG.info("default.refused", reason=fault.message)
        owned = {watched.name for watched, _ in self.find_owned()}
        managed = [watched for watched in by_name.values() if watched.managed and watched.name not in owned]
        for state in (DisplayState.UP, DisplayState.STARTING):  # one that is starting again after a restart is fine
            found = next((watched for watched in managed if watched.state is state), None)
            if found is not None:
                return found
        size = self._settings.display
        return await self.create(size.width, size.height, size.window_manager)

    def _find_candidates(self) -> list[str]:
        if self._settings.display.default:
            return [display_name(self._settings.display.default)]
        shown = display_name(self._env.get("DISPLAY", ""))
        named = [shown] if shown.startswith(":") and shown[1:].replace(".", "", 1).isdigit() else []
        return [name for name in (*named, _SHARED_DISPLAY) if server_listens(name)]

    def _settle_default(self, outcome: WatchedDisplay | AcudError) -> None:
        if not isinstance(outcome, AcudError):
            self._default = outcome.name
            others = [row for row in self._rows.values() if row.is_default is not (row.name == self._default)]
            for row in others:
                marked = replace(row, is_default=not row.is_default)
                self._rows[row.name] = marked
                if marked.number:
                    self._journal.keep(partial(self._journal.store.displays.update, marked))
        wanting, self._wanting_default = self._wanting_default, []
        for done in wanting:
            done(outcome)
