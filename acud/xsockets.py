"""The sockets of local X servers: where they listen, and which user serves there.

Any user may bind a display's name once its server has ended: its file in a folder that all may write to, or at any time
its abstract name (unix(7)), which has no owner. Who takes the cookie and what is typed is told by the kernel alone:
SO_PEERCRED gives the uid that called listen(2). It is looked at before a byte is sent.
"""

from __future__ import annotations

import os
import pwd
import socket
import stat
import struct
from pathlib import Path

from acud.errors import DisplayDown

FOLDER = Path("/tmp/.X11-unix")  # noqa: S108 - where X servers listen (Xserver(1), FILES)
NOBODY_ELSE = -1
"""The `owner` of a display that nobody but ourselves and root may serve."""
_CONNECT_S = 5.0
_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid


def path(number: int) -> Path:
    """Return the socket file of display `number`."""
    return FOLDER / f"X{number}"


def peer(sock: socket.socket) -> tuple[int, int]:
    """Return (pid, uid) of who listens at the other end; pid 0 in another pid namespace."""
    pid, uid, _ = _CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def connected(number: int, owner: int = NOBODY_ELSE) -> socket.socket:
    """Return a socket to the server of display `number`: through its file, else its abstract name.

    `owner`: the uid that may serve it besides ourselves and root. Raises: DisplayDown when somebody else does, or could
    have put the socket there; OSError when nobody answers.
    """
    file = path(number)
    by_file = _there(file)
    if by_file:
        _check_file(file, number, owner)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        sock.settimeout(_CONNECT_S)
        sock.connect(str(file) if by_file else _abstract(number))
        sock.settimeout(None)
        _check_uid(peer(sock)[1], number, owner)
    except BaseException:
        sock.close()
        raise
    return sock


def listens(number: int) -> bool:
    """Tell whether somebody, of whatever user, accepts connections for display `number`; never blocks."""
    return any(_uid(address) is not None for address in _addresses(number))


def check(number: int, owner: int = NOBODY_ELSE) -> None:
    """Look at all that a program which is given this display may connect to; never blocks, sends nothing.

    Raises: DisplayDown when another user than ourselves, root or `owner` serves any of it.
    """
    if _there(path(number)):
        _check_file(path(number), number, owner)
    for address in _addresses(number):
        uid = _uid(address)
        if uid is not None and uid != _UNKNOWN:
            _check_uid(uid, number, owner)


def check_folder() -> None:
    """See that nobody but root and ourselves can put sockets into the folder in another's name; a missing one is well.

    Raises: DisplayDown.
    """
    try:
        itself, found = FOLDER.lstat(), FOLDER.stat()
    except FileNotFoundError:
        return
    strangers = sorted({itself.st_uid, found.st_uid} - {0, os.getuid()})
    if strangers:
        raise DisplayDown(
            f"{FOLDER} belongs to {_named(strangers[0])}, who could take the place of any X server",
            hint=f"as root: rm -r {FOLDER}; install -d -m 1777 {FOLDER}; then start the X servers again",
        )
    if not stat.S_ISDIR(found.st_mode) or (found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX):
        raise DisplayDown(
            f"{FOLDER} lets every user replace the sockets of X servers (mode {stat.S_IMODE(found.st_mode):04o})",
            hint=f"as its owner: chmod 1777 {FOLDER}",
        )


_UNKNOWN = -2


def _addresses(number: int) -> tuple[str, str]:
    return _abstract(number), str(path(number))


def _abstract(number: int) -> str:
    return f"\0/tmp/.X11-unix/X{number}"


def _there(file: Path) -> bool:
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _uid(address: str) -> int | None:
    """Return the uid of who listens at `address`: None for nobody, `_UNKNOWN` while its queue is full."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as probe:
        try:
            probe.connect(address)
        except BlockingIOError:
            return _UNKNOWN
        except OSError:
            return None
        return peer(probe)[1]


def _check_file(file: Path, number: int, owner: int) -> None:
    """A link of a stranger would lead to another server of ours; the folder's owner may put in what he likes."""
    check_folder()
    _check_uid(file.lstat().st_uid, number, owner)


def _check_uid(uid: int, number: int, owner: int) -> None:
    if uid in {0, os.getuid(), owner}:
        return
    raise DisplayDown(
        f"the X server of :{number} is run by {_named(uid)}, not by you or root: nothing was sent to it",
        hint=f"if that user may see and type all that acud does there: acud display remove :{number} (where it is "
        f"watched), then acud display add :{number} --owner {uid}",
        uid=uid,
    )


def _named(uid: int) -> str:
    try:
        return f"uid {uid} ({pwd.getpwuid(uid).pw_name})"
    except KeyError:
        return f"uid {uid}"
