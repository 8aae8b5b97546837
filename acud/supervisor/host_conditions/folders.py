"""Folders followed by inotify: their content is read again when something in or above them changed.

Every folder above is watched too, only for its own renaming and removal; where the path ends (a folder that does not
exist yet, or a link), the folder above is watched for entries that come and go. inotify(7) reports neither what another
machine changes in a network file system nor what is written through a memory map.
"""

from __future__ import annotations

import errno
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from acud.base import private_files
from acud.process.event_loop import EventLoop, Timer
from acud.supervisor.host_conditions import inotify
from acud.supervisor.host_conditions.inotify import Inotify, InotifyEvent
from acud.types import Verdict, unknown

_SELF = inotify.MOVE_SELF | inotify.DELETE_SELF | inotify.ATTRIB
_ENTRIES = _SELF | inotify.CREATE | inotify.DELETE | inotify.MOVED_FROM | inotify.MOVED_TO
_CONTENT = _ENTRIES | inotify.MODIFY | inotify.CLOSE_WRITE
_OF_THE_FOLDER = inotify.MOVE_SELF | inotify.DELETE_SELF | inotify.IGNORED | inotify.UNMOUNT
_LEAST_PAUSE_S = 0.1
_PAUSE_SHARE = 20
"""A folder is read again after so many times its last reading time: a large one takes at most 5 % of the loop."""
_MOST_ENTRIES = 100_000
_TRIES = 5
_AGAIN_S = 30.0  # A folder that could not be watched is tried again after this: no event says that a watch became free


class Entry(NamedTuple):
    """One entry of a folder, links followed. `real`: a link's target, else "". `fault`: why it could not be read."""

    name: str
    kind: Literal["file", "folder", "other"] = "other"
    size: int = 0
    changed_utc_s: float = 0.0
    sign: tuple[int, ...] = ()
    real: str = ""
    fault: Verdict | None = None


class FolderContent(NamedTuple):
    """What a folder held. `real`: its path without links. `fault`: why it could not be read."""

    real: str = ""
    entries: tuple[Entry, ...] = ()
    fault: Verdict | None = None


class FollowedFolder(ABC):
    """One followed path."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.parts = frozenset(PurePosixPath(path).parts)
        self.watches: set[int] = set()
        self.content: int | None = None
        self.fault: Verdict | None = None
        self.timer: Timer | None = None
        self.next_s = float("-inf")
        self.is_lost = True  # whether its watches have to be set again

    @abstractmethod
    def concerns(self, name: str) -> bool:
        """Return whether the entry `name` matters."""

    @abstractmethod
    def read(self) -> None:
        """Read the content again, as it may have changed."""


class FolderFollower:
    """Follows folders. One inotify instance, made when the first one is followed."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._inotify: Inotify | None = None
        self._followed: set[FollowedFolder] = set()
        self._users: dict[int, set[FollowedFolder]] = {}

    def follow(self, folder: FollowedFolder) -> FolderContent:
        """Follow `folder` until `leave`, and return what it holds."""
        self._followed.add(folder)
        return self.read(folder)

    def leave(self, folder: FollowedFolder) -> None:
        self._followed.discard(folder)
        if folder.timer is not None:
            folder.timer.cancel()
        self._drop_watches(folder, folder.watches)

    def close(self) -> None:
        for folder in list(self._followed):
            self.leave(folder)
        if self._inotify is not None:
            self._loop.unwatch(self._inotify)
            self._inotify.close()
            self._inotify = None

    def read(self, folder: FollowedFolder) -> FolderContent:
        """Return what the folder holds now; set its watches again if they may belong to another folder."""
        began_s = self._loop.now_s()
        if folder.is_lost:
            self._set_watches(folder)
        content = FolderContent(fault=folder.fault) if folder.fault is not None else _read_content(folder)
        now_s = self._loop.now_s()
        folder.next_s = now_s + max(_LEAST_PAUSE_S, _PAUSE_SHARE * (now_s - began_s))
        if content.fault is not None:
            folder.is_lost = True
            self.read_at(folder, now_s + _AGAIN_S)
        return content

    def read_at(self, folder: FollowedFolder, at_s: float) -> None:
        """Read the folder at `at_s`, in place of an earlier schedule."""
        if folder.timer is not None:
            folder.timer.cancel()
        folder.timer = self._loop.call_at(at_s, folder.read)

    # ---- watches ---------------------------------------------------------------------------------------------------

    def _set_watches(self, folder: FollowedFolder) -> None:
        before, folder.watches, folder.content, folder.fault = folder.watches, set(), None, None
        try:
            self._watch_path(folder)
            folder.is_lost = False
        except OSError as fault:
            folder.fault = _watch_fault(fault, folder.path)
        self._drop_watches(folder, before - folder.watches)

    def _watch_path(self, folder: FollowedFolder) -> None:
        """Watch the folder and those above it, as far as they exist. Raises: OSError."""
        for _ in range(_TRIES):
            missing = self._watch_steps(folder)
            if missing is None or not os.path.lexists(missing):
                return
        raise OSError(errno.EAGAIN, "it comes and goes", folder.path)

    def _watch_steps(self, folder: FollowedFolder) -> str | None:
        """Return the first part of the path that does not exist, now watched for; None if all exist."""
        for step in _split_path(folder.path):
            is_last = step == folder.path
            above = str(PurePosixPath(step).parent)
            try:
                if os.path.islink(step):  # noqa: PTH114  # paths here are strings, as inotify takes them
                    self._add_watch(folder, above, _ENTRIES)
                watch = self._add_watch(folder, step, _CONTENT if is_last else _SELF)
            except (FileNotFoundError, NotADirectoryError):
                self._add_watch(folder, above, _ENTRIES)
                return step
            except PermissionError:
                if is_last:
                    self._add_watch(folder, above, _ENTRIES)  # reports when its permissions change
                    raise
                continue  # it may be passed but not watched: its renaming stays unnoticed
            if is_last:
                folder.content = watch
        real = os.path.realpath(folder.path)
        for step in _split_path(real) if real != folder.path else ():
            self._add_watch(folder, step, _SELF)
        return None

    def _add_watch(self, folder: FollowedFolder, path: str, mask: int) -> int:
        watch = self._open_inotify().add(path, mask)
        folder.watches.add(watch)
        self._users.setdefault(watch, set()).add(folder)
        return watch

    def _open_inotify(self) -> Inotify:
        if self._inotify is None:
            self._inotify = Inotify()
            self._loop.watch(self._inotify, self._on_readable)
        return self._inotify

    def _drop_watches(self, folder: FollowedFolder, watches: set[int]) -> None:
        for watch in watches:
            users = self._users.get(watch, set())
            users.discard(folder)
            if not users and self._users.pop(watch, None) is not None and self._inotify is not None:
                self._inotify.remove(watch)

    # ---- events ----------------------------------------------------------------------------------------------------

    def _on_readable(self) -> None:
        changed: set[FollowedFolder] = set()
        for event in self._inotify.read() if self._inotify is not None else ():
            users = self._followed if event.mask & inotify.OVERFLOW else self._users.get(event.watch, set())
            for folder in users:
                if self._is_concerned(folder, event):
                    changed.add(folder)
            if event.mask & inotify.IGNORED:
                self._users.pop(event.watch, None)
        for folder in changed:
            if folder not in self._followed:  # another folder's verdict may have ended its wait
                continue
            if folder.next_s <= self._loop.now_s():
                folder.read()
            else:
                self.read_at(folder, folder.next_s)

    def _is_concerned(self, folder: FollowedFolder, event: InotifyEvent) -> bool:
        """Return whether the event matters to the folder; note if its watches have to be set again."""
        is_content = event.watch == folder.content
        is_lost = bool(event.mask & (_OF_THE_FOLDER | inotify.OVERFLOW)) or (not is_content and not event.name)
        is_lost |= not is_content and event.name in folder.parts
        folder.is_lost |= is_lost
        return is_lost or (is_content and (not event.name or folder.concerns(event.name)))


def _split_path(path: str) -> Iterator[str]:
    """Yield the folders above `path`, from the root on, and `path` itself."""
    pure = PurePosixPath(path)
    yield from (str(step) for step in (*reversed(pure.parents), pure))


def _watch_fault(fault: OSError, path: str) -> Verdict:
    if fault.errno in (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        setting = "max_user_watches" if fault.errno == errno.ENOSPC else "max_user_instances"
        return unknown(
            "watch_limit",
            f"the folder {path!r} cannot be watched: this user has no inotify watch left; raise "
            f"fs.inotify.{setting} (sysctl)",
        )
    return _read_fault(fault, path)


def _read_fault(fault: OSError, path: str) -> Verdict:
    if isinstance(fault, PermissionError):
        return unknown("no_permission", f"the daemon's user may not read the folder {path!r}: let it (chmod, setfacl)")
    return unknown("unreadable", f"the folder {path!r} cannot be read: {fault.strerror}")


def _read_content(folder: FollowedFolder) -> FolderContent:
    """Return the entries that concern the folder; none where it does not exist."""
    try:
        place = private_files.open_place(folder.path)
    except (FileNotFoundError, NotADirectoryError):
        return FolderContent(real=os.path.realpath(folder.path))
    except OSError as fault:
        return FolderContent(fault=_read_fault(fault, folder.path))
    try:
        names = os.listdir(f"/proc/self/fd/{place}")  # noqa: PTH208  # names are wanted, not 100,000 paths
        if len(names) > _MOST_ENTRIES:
            words = f"the folder {folder.path!r} holds {len(names)} entries: {_MOST_ENTRIES} at most can be followed"
            return FolderContent(fault=unknown("unreadable", words))
        found = (_read_entry(place, name) for name in names if folder.concerns(name))
        return FolderContent(private_files.real_path(place), tuple(one for one in found if one is not None))
    except NotADirectoryError:
        return FolderContent(real=os.path.realpath(folder.path))
    except OSError as fault:
        return FolderContent(fault=_read_fault(fault, folder.path))
    finally:
        os.close(place)


def _read_entry(folder: int, name: str) -> Entry | None:
    """Return an entry; None when it is gone, or is a link to a missing file."""
    try:
        found, real = os.stat(name, dir_fd=folder, follow_symlinks=False), ""
        if stat.S_ISLNK(found.st_mode):
            place = private_files.open_place(name, folder)
            try:
                found, real = os.fstat(place), private_files.real_path(place)
            finally:
                os.close(place)
    except FileNotFoundError:
        return None
    except OSError as fault:
        return Entry(name, fault=unknown("unreadable", f"{name!r} cannot be looked at: {fault.strerror}"))
    is_file, is_folder = stat.S_ISREG(found.st_mode), stat.S_ISDIR(found.st_mode)
    return Entry(
        name,
        "file" if is_file else "folder" if is_folder else "other",
        found.st_size,
        max(found.st_ctime, found.st_mtime if is_file else 0.0),
        (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns),
        real,
    )
