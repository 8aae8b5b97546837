"""What a `file` condition means: its path and pattern, which files are partial downloads, and when one is complete.

The supervisor reads the folders (`FileSeen`); nothing here reads a disk or a clock.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple
from unicodedata import normalize

from msgspec import Struct

from acud.base.errors import InvalidRequest
from acud.types import FileState, Verdict, no, yes
from acud.waits.read_text import comparable

CLOCK_S = 0.02
"""The kernel's clock of files lags behind the time of day by up to a tick (10 ms at 100 Hz)."""
WRITER_AGAIN_S = 0.5
"""A file open for writing is checked again after this: not every close is reported under its name."""
_SIZES = ("bytes", "KB", "MB", "GB", "TB")


class HostPath(NamedTuple):
    """A path taken apart: its folder, and the name or pattern in it."""

    folder: str
    name: str
    is_pattern: bool


class FileSeen(Struct, frozen=True):
    """An entry of a folder. `changed_utc_s`: when its content, name or owner last changed. `still_from`: since when it
    is known to be unchanged, on the caller's clock.
    """

    name: str
    kind: Literal["file", "folder", "other"]
    size: int
    changed_utc_s: float
    still_from: float


class FileUse(Struct, frozen=True):
    """Which program has a file open for writing ("": none). `unknown`: why the kernel cannot answer for all."""

    writer: str = ""
    unknown: str = ""


def parse_path(path: str, home: str) -> HostPath:
    """Return the parts of `path`, with `home` for `~`. Raises: InvalidRequest naming what cannot be watched."""
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
    """Return whether the last part of `path` is a pattern."""
    return any(sign in path.rpartition("/")[2] for sign in "*?[")


def is_of_new_files(leaf: FileState) -> bool:
    """Return whether only files changed after `since_utc_s` count."""
    return not leaf.gone and (is_pattern(leaf.path) if leaf.newer is None else leaf.newer)


def matches(name: str, path: HostPath) -> bool:
    """Return whether `path` names an entry of the folder, compared as titles are. As in a shell, a pattern matches a
    hidden file only if it begins with a dot.
    """
    if not path.is_pattern:
        return comparable(name) == comparable(path.name)
    # A full-width sign in a name is a letter; comparing would turn it into a plain sign of a pattern.
    plain = (one if one in "*?[" else glob.escape(normalize("NFKC", one)) for one in path.name)
    is_meant = fnmatchcase(comparable(name), comparable("".join(plain)))
    return is_meant and (not name.startswith(".") or path.name.startswith("."))


def is_partial(name: str, path: HostPath) -> bool:
    """Return whether an entry is a partial download of a wanted file."""
    return any(matches(final, path) for final in final_names(name))


def is_relevant(name: str, path: HostPath) -> bool:
    """Return whether an entry of the folder matters to the wanted file."""
    unnamed = is_unnamed_partial(name, "" if path.is_pattern else path.name)
    return unnamed or matches(name, path) or is_partial(name, path)


def judge_file(
    leaf: FileState, path: HostPath, seen: Iterable[FileSeen], at: float, look_up_use: Callable[[str], FileUse]
) -> tuple[Verdict, float | None]:
    """Return the verdict on the relevant entries of the folder, and when it turns without an event (None: never).
    `look_up_use` is called at most once, with the name of a file that has been still for long enough.
    """
    partial: list[FileSeen] = []
    unnamed: list[FileSeen] = []
    found: list[FileSeen] = []
    for one in seen:
        if is_partial(one.name, path):
            partial.append(one)
        elif matches(one.name, path):
            found.append(one)
        else:
            unnamed.append(one)
    found = [one for one in found if one.name == path.name] or found
    if leaf.gone and not found:
        return yes(f"no file {_quote_name(path.name)} is there"), None
    if leaf.gone:
        return no(f"{_describe_file(_find_newest(found))} is there"), None
    since = leaf.since_utc_s - CLOCK_S if is_of_new_files(leaf) else 0.0
    fresh = [one for one in found if one.kind == "file" and one.changed_utc_s >= since]
    newest = _find_newest(fresh) if fresh else None
    if newest is not None and newest.size == 0:  # a browser reserves the final name before its program knows it
        partial += [one for one in unnamed if is_unnamed_partial(one.name, newest.name)]
    under_way = [one for one in partial if one.changed_utc_s >= since]
    if under_way:
        of = _find_newest(under_way)
        return no(f"a download is under way: {_describe_file(of)} is there{_describe_age(leaf, of)}"), None
    if newest is None:
        return no(_describe_missing(leaf, path, found)), None
    due = newest.still_from + leaf.still_s
    if at < due:
        return no(f"{_describe_file(newest)} is there, but has not been unchanged for {leaf.still_s:g} s yet"), due
    use = look_up_use(newest.name)
    if use.writer:
        return no(f"{_describe_file(newest)} is there, but {use.writer} has it open for writing"), at + WRITER_AGAIN_S
    still = f", unchanged for {leaf.still_s:g} s" if leaf.still_s else ""
    basis = f"judged by size and time alone: {use.unknown}" if use.unknown else "open for writing in no program"
    return yes(f"the file {_describe_file(newest)} is there{_describe_age(leaf, newest)}{still}, {basis}"), None


def _describe_age(leaf: FileState, one: FileSeen) -> str:
    """Return since when an entry has been as it is, if from before the wait; else ""."""
    if one.changed_utc_s >= leaf.since_utc_s - CLOCK_S:
        return ""
    moment = datetime.fromtimestamp(one.changed_utc_s, UTC)
    return f" since {moment:%Y-%m-%d %H:%M:%S} UTC, before the wait began"


def _describe_missing(leaf: FileState, path: HostPath, files: list[FileSeen]) -> str:
    if not files:
        return f"no file {_quote_name(path.name)} is there"
    newest = _find_newest(files)
    if newest.kind != "file":
        kind = "folder" if newest.kind == "folder" else "device or socket"
        return f"{_quote_name(newest.name)} is no file, but a {kind}"
    before_s = leaf.since_utc_s - newest.changed_utc_s
    return f"{_describe_file(newest)} is there, but was last changed {before_s:.1f} s before that counts (newer)"


def _find_newest(files: list[FileSeen]) -> FileSeen:
    return max(files, key=lambda one: (one.kind == "file", one.changed_utc_s, one.name))


def _describe_file(one: FileSeen) -> str:
    return f"{_quote_name(one.name)} ({_format_size(one.size)})"


def _quote_name(name: str) -> str:
    """Return a name quoted as data: a website may have chosen it."""
    return '"' + "".join(one if one.isprintable() and one != '"' else "?" for one in name)[:200] + '"'


def _format_size(count: int) -> str:
    size, at = float(count), 0
    while size >= 1000 and at < len(_SIZES) - 1:
        size, at = size / 1000, at + 1
    return f"{size:.3g} {_SIZES[at]}" if at else f"{count} bytes"


class PartialName(NamedTuple):
    """One form of a partial file's name, as a regular expression without regard to case.

    Its groups `name` and `ext` make the final name; `ext` alone is the end of a name not known yet; without groups the
    final name may be any.
    """

    form: re.Pattern[str]
    programs: str
    source: str


def _form(pattern: str, programs: str, source: str) -> PartialName:
    return PartialName(re.compile(pattern, re.DOTALL | re.IGNORECASE), programs, source)


PARTIAL_NAMES = (
    _form(r"[\w-]{8}(?P<ext>\.[^.]+)?\.part", "Firefox, before a name is chosen", "mozilla nsExternalHelperAppService"),
    _form(r"(?P<name>.+)\.[\w-]{8}(?P<ext>\.[^.]+)?\.part", "Firefox", "mozilla nsExternalHelperAppService"),
    _form(r"(?P<name>.+)\.part", "Firefox, yt-dlp, KIO, Transmission, JDownloader, HTTrack", "yt-dlp utils temp_name"),
    _form(r"(?P<name>.+)\.part-frag\d+(\.part)?", "yt-dlp", "yt-dlp FragmentFD"),
    _form(r"(?P<name>.+)\.ytdl", "yt-dlp, the state beside fragments", "yt-dlp FragmentFD"),
    _form(r"unconfirmed \d+\.crdownload", "Chromium, before a name is chosen", "chromium download_target_determiner"),
    _form(r"\.(org\.chromium\.|com\.google\.)[\w.]+", "Chromium, Chrome: its first bytes", "chromium base/files"),
    _form(r"(?P<name>.+)\.crdownload", "Chromium, Chrome, Edge, Brave, Vivaldi", "chromium download_target_determiner"),
    _form(r"(?P<name>.+)\.(op|wk|fdm|legacy)?download", "Safari, Opera, WebKitGTK, Free Download Manager", "WebKitGTK"),
    _form(r"(?P<name>.+)\.aria2", "aria2, the control file of a final name", "aria2c(1), CONTROL FILE"),
    _form(r"(?P<name>.+\..+)\.st", "axel, the state of a final name", "axel(1)"),
    _form(r"(?P<name>.+)\.[0-9a-f]{8}\.partial", "rclone", "rclone docs, --partial-suffix"),
    _form(r"(?P<name>.+)\.partial", "rclone, Internet Explorer, conda", "rclone docs, --partial-suffix"),
    _form(r"(?P<name>.+)\.incomplete", "huggingface_hub and others", "huggingface_hub file_download"),
    _form(r"(?P<name>.+)\.!(qb|ut|bt)", "qBittorrent, uTorrent, BitTorrent", "qBittorrent QB_EXT"),
    _form(r"(?P<name>.+)\.(bc|az)!", "BitComet, Vuze", "BitComet and Vuze options"),
    _form(r"(?P<name>.+)\.filepart", "WinSCP", "WinSCP docs, resume"),
    _form(r"(?P<name>.+)_\.gstmp", "gsutil", "gsutil copy_helper"),
    _form(r"\.(?P<name>.+)\.[a-z0-9]{6}", "rsync", "rsync receiver.c get_tmpname"),
    _form(r"\.syncthing\.(?P<name>.+)\.tmp", "Syncthing", "Syncthing docs, temporary files"),
    _form(r"\.(?P<name>.+)\.~[0-9a-f]+", "Nextcloud, ownCloud", "Nextcloud client propagatedownload"),
    _form(r"\.goutputstream-[a-z0-9]{6}", "GLib's programs", "glib glocalfileoutputstream.c"),
)


def final_names(partial: str) -> Iterator[str]:
    """Yield the final names that a partial name stands for; none for any other name."""
    for form in PARTIAL_NAMES:
        found = form.form.fullmatch(partial)
        if found is not None and "name" in form.form.groupindex:
            yield found["name"] + (found.groupdict().get("ext") or "")


def is_unnamed_partial(partial: str, final: str = "") -> bool:
    """Return whether `partial` has no final name yet, so that it may become `final`."""
    for form in PARTIAL_NAMES:
        found = form.form.fullmatch(partial)
        if found is not None and "name" not in form.form.groupindex:
            ext = found.groupdict().get("ext") or ""
            return not final or comparable(final).endswith(comparable(ext))
    return False
