"""Conditions that need no pixels: files, processes and notifications; checked at arming, judged while waits live."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from acud.base.clock import Clock
from acud.base.errors import AcudError
from acud.process.event_loop import EventLoop
from acud.supervisor.display_notifications import DisplayNotifications
from acud.supervisor.displays.processes import start_ticks
from acud.supervisor.host_conditions.files import AllowedFolders, FileConditions
from acud.supervisor.host_conditions.processes import GONE, ProcessConditions, ProgramEnds
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import FileState, HostLeaf, Leaf, NotificationText, ProcessExit, Until, Verdict, unknown
from acud.waits.conditions import leaves, map_leaves
from acud.waits.host_files import parse_path

OnVerdicts = Callable[[dict[int, Verdict]], None]


class HostConditions:
    """`home`: of the daemon's user. `allowed`: the folders that conditions may name, as set now."""

    def __init__(
        self,
        loop: EventLoop,
        clock: Clock,
        home: str,
        allowed: Callable[[], tuple[str, ...]],
        ends: ProgramEnds,
        notifications: DisplayNotifications,
    ) -> None:
        self._clock = clock
        self._allowed = AllowedFolders(allowed, home)
        self._files = FileConditions(loop, clock, self._allowed)
        self._processes = ProcessConditions(loop, ends)
        self._ends = ends
        self._notifications = notifications
        self._watched: dict[str, tuple[int, ...]] = {}

    def pin_to_now(self, until: Until) -> Until:
        """Return the condition with the present time and process start times filled in where they are missing.

        Raises: Refused for a path outside of the allowed folders.
        """
        return map_leaves(until, self._pin_leaf)

    def _pin_leaf(self, leaf: Leaf) -> Leaf:
        if isinstance(leaf, FileState):
            self._allowed.check(parse_path(leaf.path, self._allowed.home))
            return leaf if leaf.gone or leaf.since_utc_s else replace(leaf, since_utc_s=self._clock.instant().utc_s)
        if isinstance(leaf, NotificationText):
            return leaf if leaf.since_utc_s else replace(leaf, since_utc_s=self._clock.instant().utc_s)
        if isinstance(leaf, ProcessExit) and leaf.start_ticks == 0:
            ended = next((one.start_ticks for one in self._ends.find_ended(leaf.pid)), GONE)
            return replace(leaf, start_ticks=start_ticks(leaf.pid) or ended or GONE)
        return leaf

    def watch(
        self, wait_id: str, until: Until, watched: WatchedDisplay | None, on_verdicts: OnVerdicts
    ) -> dict[int, Verdict]:
        """Return the present verdicts of the condition's host leaves; `on_verdicts` gets what follows until `unwatch`.

        `watched`: the wait's display, for its notifications. A path that the settings no longer allow is unknown.
        """
        self.unwatch(wait_id)
        mine = {index: leaf for index, leaf in enumerate(leaves(until)) if isinstance(leaf, HostLeaf)}
        if not mine:
            return {}
        self._watched[wait_id] = tuple(mine)
        return {index: self._begin(wait_id, index, leaf, watched, on_verdicts) for index, leaf in mine.items()}

    def _begin(
        self, wait_id: str, index: int, leaf: HostLeaf, watched: WatchedDisplay | None, on_verdicts: OnVerdicts
    ) -> Verdict:
        def pass_on(verdict: Verdict) -> None:
            if index in self._watched.get(wait_id, ()):
                on_verdicts({index: verdict})

        try:
            if isinstance(leaf, FileState):
                return self._files.watch((wait_id, index), leaf, pass_on)
            if isinstance(leaf, NotificationText):
                return self._notifications.watch((wait_id, index), watched, leaf, pass_on)
            return self._processes.watch((wait_id, index), leaf, pass_on)
        except AcudError as fault:
            return unknown("unreadable", f"{fault.message}; {fault.hint}")

    def unwatch(self, wait_id: str) -> None:
        """Watch nothing for a wait any more; harmless for one that asks for nothing here."""
        for index in self._watched.pop(wait_id, ()):
            self._files.unwatch((wait_id, index))
            self._processes.unwatch((wait_id, index))
            self._notifications.unwatch((wait_id, index))

    def close(self) -> None:
        """End every watch."""
        self._files.close()
        self._processes.close()
