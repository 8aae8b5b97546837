"""Private files of the user: opened without following a stranger's links, and checked for access by others.

No link is followed and nothing but a regular file is opened: a FIFO in a file's place blocks its opener until its other
end comes; a link leads elsewhere. The supervisor opens files only this way; a test looks for others.

`deviations` reports which files of an instance others can read or change, and the command that mends it; it changes
nothing. Access is decided by directories: in one of mode 0700 a file's own mode gives nobody access. If others can
*write* to a file, or *read* a secret, the daemon does not start (`grave`): it may already be theirs, or known to them.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import shlex
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from acud.base.errors import Refused
from acud.base.paths import Paths

_READ, _WRITE, _ENTER = 0o044, 0o022, 0o011
_OTHERS = 0o007
_SECRET_KEYS = ("api_key", "token", "secret", "headers")  # endings of the keys in acud.toml that hold a secret


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Return a descriptor of the regular file at `path`; never waits. `mode`: of a file that O_CREAT makes. Raises:
    OSError, also for a link and for anything but a regular file.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.set_blocking(descriptor, True)
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def open_place(path: str, folder: int | None = None) -> int:
    """Return a descriptor that names `path` (in the folder that `folder` is open on), links followed, without opening
    the file: it can be examined and located (`real_path`), and never waits. Raises: OSError.
    """
    return os.open(path, os.O_PATH | os.O_CLOEXEC, dir_fd=folder)


def real_path(descriptor: int) -> str:
    """Return the present path of the file that `descriptor` is open on, without links. Raises: OSError."""
    return str(Path(f"/proc/self/fd/{descriptor}").readlink())


def read_regular(path: Path) -> bytes:
    """Return the content of the regular file at `path`. Raises: OSError, as `open_regular`."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read()


class Deviation(Struct, frozen=True):
    """`path`: the file open to others, `fault`: how, `fix`: the command. `grave`: the daemon does not start on it."""

    path: Path
    fault: str
    fix: str
    grave: bool = False


def check_instance(paths: Paths) -> list[Deviation]:
    """Return the files open to others that each start closes. Raises: Refused for the first grave one."""
    found = list(deviations(paths))
    grave = [one for one in found if one.grave]
    if grave:
        first, more = grave[0], f", and {len(grave) - 1} more (acud doctor)" if grave[1:] else ""
        raise Refused(f"{first.path} {first.fault}{more}", hint=first.fix)
    return found


def deviations(paths: Paths) -> Iterator[Deviation]:
    """Yield everything of the instance that is open to others, from the outside in. Missing files are not open."""
    yield from _check_above(paths.home)
    logs = paths.debug_log.parent
    for folder in (paths.home, paths.run, paths.shm, logs, paths.evidence, paths.recordings, paths.displays):
        yield from _check_folder(folder)
    yield from _check_folder(paths.spool)
    reachable = _reachable(paths.home)
    for file in (paths.database, paths.lock, paths.debug_log, paths.programs_log):
        yield from _check_file(file, reachable, secret=False)
    yield from _check_file(paths.config, reachable, secret=_holds_secret(paths.config), followed=True)
    keys = (paths.request_key, paths.push_key)
    for file in (*keys, *_matching(paths.home, "*-token"), *_matching(paths.displays, "*/Xauthority")):
        yield from _check_file(file, reachable, secret=True)
    for socket in _matching(paths.run, "*"):
        yield from _check_file(socket, _reachable(paths.run), secret=False)


def secret_exposure(path: Path) -> str:
    """Return how the secret in the file `path` is exposed to others ("" for no known way)."""
    try:
        found = path.stat()
    except OSError:
        return ""
    open_to = _open_to(found, _READ | _WRITE)
    return f"can be read by {open_to}" if open_to and _reachable(path.parent) else ""


def _check_above(home: Path) -> Iterator[Deviation]:
    """Yield directories above ACU_HOME that other users can write to: they can replace ACU_HOME."""
    for folder in home.parents:
        found = _stat(folder)
        if found is not None and found.st_mode & 0o002 and not found.st_mode & stat.S_ISVTX:
            yield Deviation(
                folder,
                "is above ACU_HOME, and every user can write to it",
                f"chmod o-w {shlex.quote(str(folder))}, or set ACU_HOME elsewhere",
                grave=True,
            )


def _check_folder(path: Path) -> Iterator[Deviation]:
    found = _stat(path)
    if found is None:
        return
    quoted = shlex.quote(str(path))
    if not stat.S_ISDIR(found.st_mode):
        yield Deviation(path, "is not a directory", f"rm {quoted}", grave=True)
    elif found.st_uid != os.getuid():
        fix = f"rm -r {quoted}, or chown {os.getuid()} {quoted}"
        yield Deviation(path, f"belongs to uid {found.st_uid}", fix, grave=True)
    elif writers := _open_to(found, _WRITE):
        fix = f"look at what is in it, then chmod 700 {quoted}"
        yield Deviation(path, f"can be written to by {writers}", fix, grave=True)
    elif readers := _open_to(found, _READ | _ENTER):
        yield Deviation(path, f"is open to {readers}", f"chmod 700 {quoted}")


def _check_file(path: Path, reachable: bool, *, secret: bool, followed: bool = False) -> Iterator[Deviation]:
    """Yield a file's deviation. `reachable`: others can enter its directory. `followed`: it may be a link."""
    found = _stat(path, followed)
    if found is None:
        return
    quoted = shlex.quote(str(path))
    if stat.S_ISLNK(found.st_mode):
        yield Deviation(path, "is a link", f"rm {quoted}", grave=True)
    elif found.st_uid not in (os.getuid(), 0):
        yield Deviation(path, f"belongs to uid {found.st_uid}", f"chown {os.getuid()} {quoted}", grave=True)
    elif writers := _open_to(found, _WRITE):
        yield Deviation(path, f"can be written to by {writers}", f"chmod 600 {quoted}", grave=reachable)
    elif secret and (readers := _open_to(found, _READ)):
        fix = f"chmod 600 {quoted}; who has read it knows it: make a new secret"
        yield Deviation(path, f"holds a secret and can be read by {readers}", fix, grave=reachable)


def _stat(path: Path, followed: bool = False) -> os.stat_result | None:
    try:
        return path.stat() if followed else path.lstat()
    except OSError:
        return None  # absent, or not ours to read: its user reports it then


def _matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _reachable(folder: Path) -> bool:
    """Return whether other users can enter `folder`: one closed directory on the way is enough to stop them."""
    steps = (_stat(step, followed=True) for step in (folder, *folder.parents))
    return all(found is not None and _open_to(found, _ENTER) for found in steps)


def _open_to(status: os.stat_result, bits: int) -> str:
    """Return the users that `bits` of the mode admit: "every user", "group <name>", or "" for its owner alone."""
    if stat.S_IMODE(status.st_mode) & bits & _OTHERS:
        return "every user"
    if status.st_mode & bits and not _is_own_group(status.st_gid):
        return f"group {_group_name(status.st_gid)}"
    return ""


def _is_own_group(number: int) -> bool:
    """Return whether the group is this user's private one (user-private groups; their umask is 002)."""
    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return number == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _holds_secret(config: Path) -> bool:
    try:
        tables = tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False  # it is read again for its settings, which reports its faults
    return _has_secret(tables)


def _has_secret(table: dict[str, Any]) -> bool:
    """Return whether a table of settings, or one in it, has a value that is a secret; headers may hold a key."""
    return any(
        _has_secret(value) if isinstance(value, dict) and key != "headers" else value and key.endswith(_SECRET_KEYS)
        for key, value in table.items()
    )
