"""What a `file` condition means: its path and pattern, which files are partial downloads, and when one is complete.

What a folder holds comes as `FileSeen`, read by the supervisor; nothing here reads a disk or a clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from msgspec import Struct

from acud.errors import InvalidRequest
from acud.types import FileState, Verdict, no, yes

PARTIAL_SUFFIXES = (".crdownload", ".part", ".partial", ".download", ".opdownload", ".aria2")
"""What browsers and downloaders add to the name of a file that is not whole yet."""
_SALTED = re.compile(r"(.+)\.[A-Za-z0-9_-]{8}(\.[^.]+)?", re.DOTALL)
"""How Firefox writes the name before `.part`: `report.8kQz_2aB.pdf` for `report.pdf`."""
CLOCK_S = 0.02
"""The kernel's clock of files lags behind the time of day by up to a tick (10 ms at 100 Hz)."""
_SIZES = ("bytes", "KB", "MB", "GB", "TB")


class HostPath(NamedTuple):
    """A path taken apart: its folder, and the name or pattern in it."""

    folder: str
    name: str
    is_pattern: bool


class FileSeen(Struct, frozen=True):
    """An entry of a folder. `changed_utc_s`: when its content, name or owner last changed. `still_from`: since when it
    is known to be as it is, on the clock of the caller.
    """

    name: str
    kind: Literal["file", "folder", "other"]
    size: int
    changed_utc_s: float
    still_from: float


def host_path(path: str, home: str) -> HostPath:
    """Return the parts of `path`, `~` replaced by `home`. Raises: InvalidRequest naming what cannot be watched."""
    whole = home.rstrip("/") + path[1:] if path == "~" or path.startswith("~/") else path
    if not whole.startswith("/") or "\0" in whole:
        raise InvalidRequest(
            f"the path {path[:200]!r} is not an absolute one", hint="begin it with / or ~/, without a zero byte"
        )
    parts = [part for part in whole.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InvalidRequest(f"the path {path[:200]!r} goes up with ..", hint="write it without ..")
    if not parts or whole.endswith("/"):
        raise InvalidRequest(f"the path {path[:200]!r} names a folder", hint="name a file, or a pattern such as *.pdf")
    folder, name = "/" + "/".join(parts[:-1]), parts[-1]
    if any(sign in folder for sign in "*?"):
        raise InvalidRequest(
            f"the path {path[:200]!r} has a pattern in its folder",
            hint="only the last part may hold * ? or [..]: ~/Downloads/*.pdf",
        )
    return HostPath(folder, name, is_pattern(path))


def is_pattern(path: str) -> bool:
    """Tell whether the last part of `path` is a pattern."""
    return any(sign in path.rpartition("/")[2] for sign in "*?[")


def is_of_new_files(leaf: FileState) -> bool:
    """Tell whether only files of after `since_utc_s` count."""
    return not leaf.gone and (is_pattern(leaf.path) if leaf.newer is None else leaf.newer)


def matches(name: str, wanted: HostPath) -> bool:
    """Tell whether an entry of the folder is meant. As in a shell, a pattern finds no hidden file unless it says so."""
    if not wanted.is_pattern:
        return name == wanted.name
    return fnmatchcase(name, wanted.name) and (not name.startswith(".") or wanted.name.startswith("."))


def is_partial(name: str, wanted: HostPath) -> bool:
    """Tell whether an entry is a download under way of a file that is meant."""
    return any(matches(final, wanted) for final in _final_names(name))


def is_relevant(name: str, wanted: HostPath) -> bool:
    """Tell whether an entry of the folder says anything of the file that is meant."""
    return matches(name, wanted) or is_partial(name, wanted)


def _final_names(name: str) -> Iterator[str]:
    for suffix in PARTIAL_SUFFIXES:
        if name.casefold().endswith(suffix) and len(name) > len(suffix):
            stem = name[: -len(suffix)]
            yield stem
            salted = _SALTED.fullmatch(stem)
            if salted is not None:
                yield f"{salted[1]}{salted[2] or ''}"


def judge_file(leaf: FileState, wanted: HostPath, seen: Iterable[FileSeen], at: float) -> tuple[Verdict, float | None]:
    """Return the verdict over the relevant entries of the folder, and when it turns without a change (None: never)."""
    partial: list[FileSeen] = []
    found: list[FileSeen] = []
    for one in seen:
        if is_partial(one.name, wanted):
            partial.append(one)
        elif matches(one.name, wanted):
            found.append(one)
    if leaf.gone:
        return _gone(wanted, found), None
    since = leaf.since_utc_s - CLOCK_S if is_of_new_files(leaf) else 0.0
    under_way = [one for one in partial if one.changed_utc_s >= since]
    if under_way:
        return no(f"a download is under way: {_named(_newest(under_way))} is there"), None
    fresh = [one for one in found if one.kind == "file" and one.changed_utc_s >= since]
    if not fresh:
        return no(_missing(leaf, wanted, found)), None
    return _still(leaf, _newest(fresh), at)


def _gone(wanted: HostPath, found: list[FileSeen]) -> Verdict:
    return no(f"{_named(_newest(found))} is there") if found else yes(f"no file {_words(wanted.name)} is there")


def _still(leaf: FileState, newest: FileSeen, at: float) -> tuple[Verdict, float | None]:
    due = newest.still_from + leaf.still_s
    if at < due:
        return no(f"{_named(newest)} is there, but has not been unchanged for {leaf.still_s:g} s yet"), due
    still = f", unchanged for {leaf.still_s:g} s" if leaf.still_s else ""
    return yes(f"the file {_named(newest)} is there{still}"), None


def _missing(leaf: FileState, wanted: HostPath, found: list[FileSeen]) -> str:
    if not found:
        return f"no file {_words(wanted.name)} is there"
    newest = _newest(found)
    if newest.kind != "file":
        return f"{_words(newest.name)} is no file, but a {'folder' if newest.kind == 'folder' else 'device or socket'}"
    before_s = leaf.since_utc_s - newest.changed_utc_s
    return f"{_named(newest)} is there, but was last changed {before_s:.1f} s before that counts (newer)"


def _newest(found: list[FileSeen]) -> FileSeen:
    return max(found, key=lambda one: (one.kind == "file", one.changed_utc_s, one.name))


def _named(one: FileSeen) -> str:
    return f"{_words(one.name)} ({_size(one.size)})"


def _words(name: str) -> str:
    """Return a name in quotes: whoever offers a download chose it, so that it is no more than data."""
    return '"' + "".join(one if one.isprintable() and one != '"' else "?" for one in name)[:200] + '"'


def _size(count: int) -> str:
    size, at = float(count), 0
    while size >= 1000 and at < len(_SIZES) - 1:
        size, at = size / 1000, at + 1
    return f"{size:.3g} {_SIZES[at]}" if at else f"{count} bytes"
