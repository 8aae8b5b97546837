"""Conditions that need no pixels: files, processes and notifications; checked at arming, judged while waits live."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol

from acud.base.clock import Clock
from acud.base.errors import AcudError
from acud.process.event_loop import EventLoop
from acud.supervisor.display_notifications import DisplayNotifications
from acud.supervisor.host_conditions.clipboards import ClipboardConditions
from acud.supervisor.host_conditions.files import AllowedFolders, FileConditions
from acud.supervisor.host_conditions.processes import ProcessConditions, ProgramEnds
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import ClipboardText, FileState, HostLeaf, Leaf, NotificationText, ProcessExit, Until, Verdict, unknown
from acud.waits.condition_tree import leaves, map_leaves

OnVerdict = Callable[[Verdict], None]
OnVerdicts = Callable[[dict[int, Verdict]], None]


class HostWatcher(Protocol):
    """Answers one kind of host condition."""

    def pin(self, leaf: Any) -> Any:
        """Return the leaf with its present starting point (count, mark). Raises: Refused."""

    def watch(self, key: Hashable, leaf: Any, watched: WatchedDisplay | None, on_verdict: OnVerdict) -> Verdict:
        """Return the present verdict; `on_verdict` gets each one that follows, until `unwatch`. Raises: AcudError."""

    def unwatch(self, key: Hashable) -> None:
        """Stop watching the condition `key`; harmless for an unknown key."""

    def close(self) -> None:
        """End every watch."""


class HostConditions:
    """`home`: of the daemon's user. `allowed`: the folders that conditions may name."""

    def __init__(
        self,
        loop: EventLoop,
        clock: Clock,
        home: str,
        allowed: tuple[str, ...],
        ends: ProgramEnds,
        notifications: DisplayNotifications,
        clipboards: ClipboardConditions,
    ) -> None:
        self._allowed = AllowedFolders(allowed, home)
        self._watchers: dict[type[HostLeaf], HostWatcher] = {
            FileState: FileConditions(loop, clock, self._allowed),
            ProcessExit: ProcessConditions(loop, ends),
            NotificationText: notifications,
            ClipboardText: clipboards,
        }
        self._watched: dict[str, tuple[int, ...]] = {}

    def allow(self, paths: tuple[str, ...]) -> None:
        """Let conditions name only these folders from now on."""
        self._allowed.paths = paths

    def pin_to_now(self, until: Until) -> Until:
        """Return the condition with the present time and process start times filled in where they are missing. Raises:
        Refused for a path outside of the allowed folders.
        """
        return map_leaves(until, self._pin_leaf)

    def _pin_leaf(self, leaf: Leaf) -> Leaf:
        return self._watchers[type(leaf)].pin(leaf) if isinstance(leaf, HostLeaf) else leaf

    def watch(
        self, wait_id: str, until: Until, watched: WatchedDisplay | None, on_verdicts: OnVerdicts
    ) -> dict[int, Verdict]:
        """Return the present verdicts of the condition's host leaves; `on_verdicts` gets what follows until `unwatch`.
        `watched`: the wait's display. A path that the settings no longer allow is unknown.
        """
        self.unwatch(wait_id)
        mine = {index: leaf for index, leaf in enumerate(leaves(until)) if isinstance(leaf, HostLeaf)}
        if not mine:
            return {}
        self._watched[wait_id] = tuple(mine)
        return {index: self._begin_watch(wait_id, index, leaf, watched, on_verdicts) for index, leaf in mine.items()}

    def explain_unknown(self, until: Until, watched: WatchedDisplay) -> list[str]:
        """Return notes on why a display does not answer host leaves of the condition."""
        notes = []
        for leaf in leaves(until):
            if isinstance(leaf, HostLeaf) and not leaf.is_of_machine:
                watcher = self._watchers[type(leaf)]
                verdict = watcher.watch("", leaf, watched, lambda _: None)
                watcher.unwatch("")
                notes += [f"unknown for now: {verdict.detail}"] if verdict.code not in ("", "not_judged") else []
        return notes

    def _begin_watch(
        self, wait_id: str, index: int, leaf: HostLeaf, watched: WatchedDisplay | None, on_verdicts: OnVerdicts
    ) -> Verdict:
        def pass_on(verdict: Verdict) -> None:
            if index in self._watched.get(wait_id, ()):
                on_verdicts({index: verdict})

        try:
            return self._watchers[type(leaf)].watch((wait_id, index), leaf, watched, pass_on)
        except AcudError as fault:
            return unknown("unreadable", f"{fault.message}; {fault.hint}")

    def unwatch(self, wait_id: str) -> None:
        """Watch nothing for a wait any more; harmless for one that asks for nothing here."""
        for index in self._watched.pop(wait_id, ()):
            for watcher in self._watchers.values():
                watcher.unwatch((wait_id, index))

    def close(self) -> None:
        for watcher in self._watchers.values():
            watcher.close()
