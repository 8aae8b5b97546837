"""Displays as requests see them: the store's rows, the managed X servers and the watched displays, joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from acud.supervisor.display_notifications import DisplayNotifications
from acud.supervisor.displays import ManagedDisplay, ManagedDisplays
from acud.supervisor.displays.managed_displays import NO_WINDOW_MANAGER
from acud.supervisor.journal import Journal
from acud.supervisor.program_launcher import inherited_environment
from acud.supervisor.watched_displays import Outcome, WatchedDisplay, WatchedDisplays, server_listens
from acud.types import NO_LABELS, DisplayInfo, DisplayState, Labels, display_name
from acud.types.actions import Launch
from acud.x11.auth import NOBODY_ELSE

_LOG = log.logger("hosting")
_SHARED_DISPLAY = ":99"
"""Where existing installations run their one Xvfb."""
_SHOWN_ENDED = 100
_SHOWN_NAME = 100
MOST_PROGRAMS = 64
"""As many as one `desktop_action` starts."""
MOST_WORDS = 100_000
"""Characters of their commands: they are kept for the fleet, on its servers."""


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
        taken: Callable[[int], Takeover | None],
        wanted_names: Callable[[], set[str]],
    ) -> None:
        """`taken` returns who has the display of a number. `wanted_names`: names that no new display gets."""
        inherited = inherited_environment(env, settings.display.environment)
        self.managed = ManagedDisplays(loop, clock, paths, settings, inherited, self, wanted_names)
        self._taken = taken
        self._watched_displays = watched_displays
        self._notifications = notifications
        self._journal = journal
        self._clock = clock
        self._settings = settings
        self._env = env
        self._rows: dict[str, StoredDisplay] = {}
        self._default = ""
        self._wanting_default: list[Outcome] = []
        self._lost: list[tuple[str, str]] = []
        """Managed displays that ended while nobody watched, with the reason."""

    # ---- told ------------------------------------------------------------------------------------------------------

    @property
    def default(self) -> str:
        """What `watched` means; "" before anybody asked for it."""
        return self._default if self._default in self._watched_displays.by_name else ""

    def infos(self) -> Iterator[DisplayInfo]:
        """Yield every display that is watched."""
        return (self.info(watched) for watched in self._watched_displays.by_name.values())

    def info(self, watched: WatchedDisplay) -> DisplayInfo:
        """Return one display as clients see it."""
        return self.taken_info(watched, self._taken(watched.number))

    def taken_info(self, watched: WatchedDisplay, taken: Takeover | None) -> DisplayInfo:
        """Return the same as it will be once `taken` is stored."""
        info = self._watched_displays.info(watched, self.default)
        if taken is None:
            return info
        return replace(info, taken_by=taken.who, taken_until_utc_s=taken.until.utc_s)

    def notes(self, watched: WatchedDisplay) -> tuple[str, ...]:
        """Return what is not as asked for on a managed display."""
        return next((d.notes for d in self.managed.living if d.name == watched.name), ())

    def owned(self) -> list[tuple[WatchedDisplay, str]]:
        """Return the displays that were started for a task, with its id."""
        rows = [row for row in self._rows.values() if row.task_id and row.name in self._watched_displays.by_name]
        return [(self._watched_displays.by_name[row.name], row.task_id) for row in rows]

    def ended(self) -> list[DisplayInfo]:
        """Return displays that ended, newest first."""
        return [
            DisplayInfo(row.name, row.number, row.managed, row.state, row.reason, row.width, row.height)
            for row in self._journal.store.displays.newest_ended(_SHOWN_ENDED)
        ]

    # ---- start and end of the supervisor ---------------------------------------------------------------------------

    def resume(self) -> None:
        """Watch again what a former supervisor watched; managed displays that are gone are ended, with the reason."""
        rows = self._journal.store.displays.living()
        adoption = self.managed.adopt(rows)
        for row, reason in adoption.ended:
            self._end_row(row, reason)
            self._lost.append((row.name, reason))
        for row, display in adoption.adopted:
            self._watch(replace(row, processes=display.processes), None)
        for row in rows:
            if row.managed:
                continue
            if row.name == display_name(row.name):
                self._watch(row, None)
            else:  # kept by a version that took each spelling for a display of its own
                self._end_row(row, f"it is display {display_name(row.name)}: add it by that name")
        self._remember_default()
        self.managed.sweep(lambda names: _LOG.info("displays.swept", names=list(names)) if names else None)

    def _remember_default(self) -> None:
        """Mean by `watched` what it meant before, also while that still comes up; the settings may have changed."""
        found = next((row.name for row in self._rows.values() if row.is_default), "")
        wanted = display_name(self._settings.display.default)
        self._default = found if wanted in {"", found} else ""

    def _watch(self, row: StoredDisplay, outcome: Outcome | None) -> None:
        watched = WatchedDisplay(row.name, row.number, row.managed, row.auth_file, row.owner)
        watched.bus_address = row.bus_address
        self._rows[row.name] = row
        self._watched_displays.watch(watched, outcome)
        self._notifications.follow(watched)

    # ---- adopted displays ------------------------------------------------------------------------------------------

    def add(self, name: str, auth_file: str, done: Outcome, owner: int = NOBODY_ELSE) -> None:
        """Watch the existing display `name`; `done` gets it, or why it cannot be watched. `owner`: the uid that
        may serve it besides ourselves and root.
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
        self._watch(row, lambda outcome: self._added(row, outcome, done))

    def _usual_auth_file(self) -> str:
        named = self._env.get("XAUTHORITY", "")
        if named:
            return named
        usual = Path(self._env.get("HOME", "/nonexistent")) / ".Xauthority"
        return str(usual) if usual.exists() else ""

    def _added(self, row: StoredDisplay, outcome: WatchedDisplay | AcudError, done: Outcome) -> None:
        if isinstance(outcome, AcudError):
            self._unwatch(row.name)
            done(outcome)
            return
        info = self.info(outcome)
        self._keep_row(replace(row, width=info.width, height=info.height), outcome, lambda: done(outcome))

    def _keep_row(self, row: StoredDisplay, watched: WatchedDisplay, then: Callable[[], None]) -> None:
        def write() -> None:
            stored = self._journal.store.displays.add(row)
            self._rows[row.name] = stored
            watched.number = stored.number

        self._journal.keep(write, then)

    # ---- managed displays ------------------------------------------------------------------------------------------

    def create(
        self, width: int, height: int, window_manager: str, done: Outcome, task_id: str = "", labels: Labels = NO_LABELS
    ) -> None:
        """Start a managed display (of the task `task_id`); `done` gets it once it is watched, or the fault. `labels`:
        what was asked of its host.
        """

        def ready(display: ManagedDisplay) -> None:
            self._ready(display, task_id, labels, done)

        self.managed.create(width, height, window_manager, ready, done)

    def _ready(self, display: ManagedDisplay, task_id: str, labels: Labels, done: Outcome) -> None:
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
        self._watch(row, lambda outcome: self._created(row, outcome, done))
        # Its row comes before its first frame: a supervisor that dies now must find the X server again.
        self._keep_row(row, self._watched_displays.by_name[row.name], lambda: None)

    def _created(self, row: StoredDisplay, outcome: WatchedDisplay | AcudError, done: Outcome) -> None:
        if isinstance(outcome, AcudError):
            self._finish(row.name, str(outcome), lambda: done(outcome))
        else:
            self._notifications.when_settled(outcome, lambda: done(outcome))

    def display_died(self, display: ManagedDisplay, reason: str) -> None:
        """A managed X server ended unasked: it is ended, with the reason; its waits are unknown."""
        watched = self._watched_displays.by_name.get(display.name)
        if watched is not None:
            self._watched_displays.end(watched, reason)
            self._notifications.forget(watched)
        self._end_row(self._rows.get(display.name), reason)

    def display_limited(self, display: ManagedDisplay, reason: str) -> None:
        """Tell that programs on it were killed because it was over a limit."""
        self._journal.keep(lambda: self._journal.event("display.limited", display.name, reason=reason), droppable=True)

    def display_changed(self, display: ManagedDisplay) -> None:
        """Store its processes anew."""
        row, watched = self._rows.get(display.name), self._watched_displays.by_name.get(display.name)
        if row is None or watched is None:
            return
        watched.bus_address = display.bus_address
        self._notifications.follow(watched)
        changed = replace(row, processes=display.processes, bus_address=display.bus_address)
        self._rows[display.name] = changed
        if changed.number:
            self._journal.keep(lambda: self._journal.store.displays.update(changed))

    def launched(self, watched: WatchedDisplay, launch: Launch, pid: int) -> None:
        """Note that a program was launched on a managed display; of others nothing is noted."""
        row = self._rows.get(watched.name)
        if row is None or not row.managed or not row.number:
            return
        changed = self._rows[row.name] = replace(row, launched=(*row.launched, LaunchedCommand(launch, pid)))

        def write() -> None:
            self._journal.store.displays.update(changed)
            program = Path(launch.command[0]).name[:_SHOWN_NAME]
            self._journal.event("display.launched", changed.name, program=program, pid=pid)

        self._journal.keep(write)

    def recipe(self, name: str, failed: Callable[[int], bool]) -> DisplayRecipe:
        """Return what makes the managed display `name` again. Programs that have `failed`, told by their pids, are left
        out. Raises: NotFound for another display; Refused where too much was launched on it.
        """
        row = self._rows.get(name)
        if row is None or not row.managed:
            raise NotFound(f"no managed display {name}", hint="acud display create makes one")
        programs = tuple(one.launch for one in row.launched if not failed(one.pid))
        size = sum(len(word) for one in programs for word in (*one.command, one.cwd))
        if len(programs) > MOST_PROGRAMS or size > MOST_WORDS:
            raise Refused(
                f"{len(programs)} programs were launched on {name}, in {size} characters: at most {MOST_PROGRAMS} are "
                f"started anew, in {MOST_WORDS}",
                hint="use a fresh display",
            )
        return DisplayRecipe(row.width, row.height, row.window_manager or NO_WINDOW_MANAGER, row.labels, programs)

    # ---- removal ---------------------------------------------------------------------------------------------------

    def remove(self, watched: WatchedDisplay, done: Callable[[], None]) -> None:
        """End a managed display, or stop watching an adopted one; then call `done`."""
        self._finish(watched.name, "removed", done)

    def _finish(self, name: str, reason: str, done: Callable[[], None]) -> None:
        row = self._rows.get(name)
        self._unwatch(name)
        self._end_row(row, reason)
        try:
            self.managed.end(name, lambda left: done())
        except NotFound:
            done()

    def _unwatch(self, name: str) -> None:
        watched = self._watched_displays.by_name.get(name)
        if watched is not None:
            self._watched_displays.unwatch(watched)
        self._rows.pop(name, None)

    def _drop_ended(self, name: str) -> None:
        watched = self._watched_displays.by_name.get(name)
        if watched is not None and watched.state is DisplayState.ENDED:
            self._unwatch(name)

    def _end_row(self, row: StoredDisplay | None, reason: str) -> None:
        if row is None or row.state is DisplayState.ENDED:
            return
        ended = replace(row, state=DisplayState.ENDED, reason=reason, ended_utc_s=self._clock.instant().utc_s)
        self._rows.pop(row.name, None)

        def write() -> None:
            if ended.number:
                self._journal.store.displays.update(ended)
                self._journal.store.takeovers.drop(ended.number)
            self._journal.event("display.ended", ended.name, reason=reason)

        self._journal.keep(write)

    def managed_names(self) -> list[str]:
        """Return the names of the managed displays that have not ended."""
        return [row.name for row in self._rows.values() if row.managed]

    def record_ends(self, reason: str) -> None:
        """Record that every managed display has ended, at the end of the supervisor."""
        for row in [row for row in self._rows.values() if row.managed]:
            self._end_row(row, reason)

    def find_lost(self, names: set[str]) -> list[tuple[str, str]]:
        """Return which of the displays `names` were managed and are gone, each with the reason."""
        lost = dict(self._lost)
        for name in names - lost.keys() - self._watched_displays.by_name.keys():
            row = self._journal.store.displays.find_ended(name)
            if row is not None and row.managed:
                lost[name] = row.reason
        return list(lost.items())

    # ---- the default -----------------------------------------------------------------------------------------------

    def with_display(self, name: str, done: Outcome) -> None:
        """Call `done` with the display `name`; "" is the default, which is found or started when first needed.

        Raises: NotFound for a name that is not watched.
        """
        if name:
            done(self._watched_displays.get(name))
        elif self.default and self._watched_displays.by_name[self._default].state is not DisplayState.ENDED:
            done(self._watched_displays.by_name[self._default])
        else:
            self._want_default(done)

    def _want_default(self, done: Outcome) -> None:
        self._wanting_default.append(done)
        if len(self._wanting_default) == 1:
            self._try_default(self._candidates())

    def _candidates(self) -> list[str]:
        if self._settings.display.default:
            return [display_name(self._settings.display.default)]
        shown = display_name(self._env.get("DISPLAY", ""))
        named = [shown] if shown.startswith(":") and shown[1:].replace(".", "", 1).isdigit() else []
        return [name for name in (*named, _SHARED_DISPLAY) if server_listens(name)]

    def _try_default(self, candidates: list[str]) -> None:
        if not candidates:
            self._default_from_managed()
            return
        name, rest = candidates[0], candidates[1:]
        watched = self._watched_displays.by_name.get(name)
        if watched is not None and watched.state is not DisplayState.ENDED:
            self._default_is(watched)
            return
        self.add(name, "", lambda outcome: self._tried(outcome, rest))

    def _tried(self, outcome: WatchedDisplay | AcudError, rest: list[str]) -> None:
        if not isinstance(outcome, AcudError):
            self._default_is(outcome)
        elif self._settings.display.default:
            self._default_is(DisplayDown(f"[display] default does not answer: {outcome.message}", hint=outcome.hint))
        else:
            _LOG.info("default.refused", reason=outcome.message)
            self._try_default(rest)

    def _default_from_managed(self) -> None:
        owned = {watched.name for watched, _ in self.owned()}
        managed = [s for s in self._watched_displays.by_name.values() if s.managed and s.name not in owned]
        for state in (DisplayState.UP, DisplayState.STARTING):  # one that comes up again after a restart will do
            found = next((watched for watched in managed if watched.state is state), None)
            if found is not None:
                self._default_is(found)
                return
        size = self._settings.display
        self.create(size.width, size.height, size.window_manager, self._default_is)

    def _default_is(self, outcome: WatchedDisplay | AcudError) -> None:
        if not isinstance(outcome, AcudError):
            self._default = outcome.name
            self._keep_default()
        wanting, self._wanting_default = self._wanting_default, []
        for done in wanting:
            done(outcome)

    def _keep_default(self) -> None:
        others = [row for row in self._rows.values() if row.is_default is not (row.name == self._default)]
        for row in others:
            marked = replace(row, is_default=not row.is_default)
            self._rows[row.name] = marked
            if marked.number:
                self._journal.keep(partial(self._journal.store.displays.update, marked))
