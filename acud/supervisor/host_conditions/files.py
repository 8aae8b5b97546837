"""Conditions on files: each is judged when its folder changed, and when a file may have been still for long enough.

A condition may name what lies in the folders of `[host_conditions] paths`, and in nothing hidden below them; where a
link leads out of them, that is unknown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from pathlib import PurePosixPath

from msgspec.structs import replace

from acud.base.clock import Clock
from acud.base.errors import Refused
from acud.process.event_loop import EventLoop
from acud.supervisor.host_conditions.folders import Entry, FolderContent, FolderFollower, FollowedFolder
from acud.supervisor.host_conditions.writers import FileWriters
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import FileState, Verdict, unknown
from acud.waits.host_files import FileSeen, FileUse, HostPath, is_relevant, judge_file, parse_path

OnVerdict = Callable[[Verdict], None]


class AllowedFolders:
    """The folders that conditions may name. `home`: of the daemon's user."""

    def __init__(self, paths: tuple[str, ...], home: str) -> None:
        self.paths, self.home = paths, home

    def check(self, path: HostPath) -> None:
        """Raise Refused for a path outside of them, with the setting that would allow it."""
        real = os.path.realpath(path.folder)
        if not self.holds(f"{real}/{path.name}"):
            raise Refused(
                f"the folder {path.folder} is not one that a condition may name: {self.describe()}",
                hint=f'add "{real}" to paths of [host_conditions] in acud.toml, then acud daemon reload',
            )

    def holds(self, real: str) -> bool:
        """Return whether a path without links lies in one of the folders, and in nothing hidden below it."""
        for path in self.paths:
            root = PurePosixPath(os.path.realpath(self.home + path[1:] if path.startswith("~") else path))
            found = PurePosixPath(real)
            if found.is_relative_to(root):
                return not any(part.startswith(".") for part in found.relative_to(root).parts)
        return False

    def describe(self) -> str:
        allowed = ", ".join(self.paths) or "none"
        return f"allowed is what lies in {allowed}, hidden files and folders below excepted"


class _Condition:
    """One condition under watch. `verdict`: the newest that was reported."""

    def __init__(self, leaf: FileState, path: HostPath, on_verdict: OnVerdict) -> None:
        self.leaf, self.wanted, self.on_verdict = leaf, path, on_verdict
        self.verdict: Verdict | None = None


class _Folder(FollowedFolder):
    """A folder that conditions name. `signs`: of each entry, its fingerprint and since when it has been the same."""

    def __init__(self, path: str, owner: FileConditions) -> None:
        super().__init__(path)
        self._owner = owner
        self.conditions: dict[Hashable, _Condition] = {}
        self.signs: dict[str, tuple[tuple[int, ...], float]] = {}

    def concerns(self, name: str) -> bool:
        return any(is_relevant(name, one.wanted) for one in self.conditions.values())

    def read(self) -> None:
        self._owner.read(self)


class FileConditions:
    """The conditions on files of this supervisor, by key."""

    def __init__(self, loop: EventLoop, clock: Clock, allowed: AllowedFolders) -> None:
        self._loop, self._clock, self._allowed = loop, clock, allowed
        self._follower = FolderFollower(loop)
        self._writers = FileWriters()
        self._folders: dict[str, _Folder] = {}
        self._folder_of: dict[Hashable, _Folder] = {}

    def pin(self, leaf: FileState) -> FileState:
        """Return the leaf with the time from which a file is new. Raises: Refused for a folder that is not allowed."""
        self._allowed.check(parse_path(leaf.path, self._allowed.home))
        return leaf if leaf.gone or leaf.since_utc_s else replace(leaf, since_utc_s=self._clock.instant().utc_s)

    def watch(self, key: Hashable, leaf: FileState, _: WatchedDisplay | None, on_verdict: OnVerdict) -> Verdict:
        """Return the present verdict; `on_verdict` gets each one that follows, until `unwatch`."""
        wanted = parse_path(leaf.path, self._allowed.home)
        folder = self._folders.get(wanted.folder)
        if folder is None:
            folder = self._folders[wanted.folder] = _Folder(wanted.folder, self)
        condition = _Condition(leaf, wanted, on_verdict)
        folder.conditions[key] = condition
        self._folder_of[key] = folder
        self._judge_folder(folder, self._follower.follow(folder), but=key)
        assert condition.verdict is not None
        return condition.verdict

    def unwatch(self, key: Hashable) -> None:
        """Stop judging the condition `key`; harmless for an unknown key."""
        folder = self._folder_of.pop(key, None)
        if folder is None:
            return
        del folder.conditions[key]
        if not folder.conditions:
            del self._folders[folder.path]
            self._follower.leave(folder)

    def close(self) -> None:
        self._follower.close()

    def read(self, folder: _Folder) -> None:
        """Judge the conditions on a folder whose content may have changed."""
        self._judge_folder(folder, self._follower.read(folder))

    def _judge_folder(self, folder: _Folder, content: FolderContent, but: Hashable = None) -> None:
        """Judge the conditions on a folder and report new verdicts, except that of `but`, whose caller gets it."""
        seen = {one.name: self._note_entry(folder, one) for one in content.entries if one.fault is None}
        folder.signs = {name: sign for name, sign in folder.signs.items() if name in seen}
        due: list[float] = []
        for key, condition in list(folder.conditions.items()):
            verdict, due_s = self._judge_condition(condition, content, seen)
            due += [due_s] if due_s is not None else []
            is_new, condition.verdict = verdict != condition.verdict, verdict
            if is_new and key != but and key in folder.conditions:
                condition.on_verdict(verdict)
        if due and folder.conditions and content.fault is None:
            self._follower.read_at(folder, max(min(due), folder.next_s))

    def _note_entry(self, folder: _Folder, one: Entry) -> FileSeen:
        now_s = self._loop.now_s()
        sign, still_from = folder.signs.get(one.name, ((), None))
        if still_from is None:  # seen for the first time: take its own time of change
            still_from = now_s - max(0.0, self._clock.instant().utc_s - one.changed_utc_s)
        elif sign != one.sign:
            still_from = now_s
        folder.signs[one.name] = one.sign, still_from
        return FileSeen(one.name, one.kind, one.size, one.changed_utc_s, still_from)

    def _judge_condition(
        self, condition: _Condition, content: FolderContent, seen: dict[str, FileSeen]
    ) -> tuple[Verdict, float | None]:
        if content.fault is not None:
            return content.fault, None
        if not self._allowed.holds(f"{content.real}/{condition.wanted.name}"):
            return self._not_allowed(condition.wanted.folder, content.real), None
        mine = [one for one in content.entries if is_relevant(one.name, condition.wanted)]
        fault = next(self._find_faults(mine), None)
        if fault is not None:
            return fault, None

        def look_up_use(name: str) -> FileUse:
            entry = next(one for one in mine if one.name == name)
            return self._writers.find(entry.real or f"{content.real}/{name}")

        found = [seen[one.name] for one in mine]
        return judge_file(condition.leaf, condition.wanted, found, self._loop.now_s(), look_up_use)

    def _find_faults(self, entries: list[Entry]) -> Iterator[Verdict]:
        for one in entries:
            if one.fault is not None:
                yield one.fault
            elif one.real and not self._allowed.holds(one.real):
                yield self._not_allowed(one.name, one.real)

    def _not_allowed(self, named: str, real: str) -> Verdict:
        return unknown(
            "not_allowed", f"{named!r} leads to {real!r}: {self._allowed.describe()} ([host_conditions] paths)"
        )
