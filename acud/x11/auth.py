"""Access to local X servers: their sockets, the user that serves them, and the cookie that opens a display.

Any user may bind a display's name once its server has ended: its file in a folder that all may write to, or at any time
its abstract name (unix(7)), which has no owner. Only the kernel identifies the process that receives the cookie and the
keys: SO_PEERCRED gives the uid that called listen(2). It is checked before a byte is sent.

Cookies come from Xauthority files, as Xau(3) writes them: big-endian 16-bit family, then counted address, number, name,
data. python-xlib's own match knows no FamilyWild and no explicit file.
"""

from __future__ import annotations

import os
import pwd
import socket
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from acud.base.errors import DisplayDown

FOLDER = Path("/tmp/.X11-unix")  # noqa: S108 - where X servers listen (Xserver(1), FILES)
NOBODY_ELSE = -1
"""The `owner` of a display that only our user and root may serve."""
_CONNECT_S = 5.0
_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid
_UNKNOWN = -2
FAMILY_LOCAL = 256
FAMILY_WILD = 65535
COOKIE = b"MIT-MAGIC-COOKIE-1"


def socket_path(number: int) -> Path:
    return FOLDER / f"X{number}"


def peer_credentials(sock: socket.socket) -> tuple[int, int]:
    """Return (pid, uid) of the listener at the other end; pid 0 in another pid namespace."""
    pid, uid, _ = _CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def connect_socket(number: int, owner: int = NOBODY_ELSE) -> socket.socket:
    """Return a socket to the server of display `number`: through its file, else its abstract name.

    `owner`: the uid that may serve it besides ourselves and root. Raises: DisplayDown when another user does, or could
    have put the socket there; OSError when nothing listens.
    """
    file = socket_path(number)
    by_file = _file_exists(file)
    if by_file:
        _check_file(file, number, owner)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        sock.settimeout(_CONNECT_S)
        sock.connect(str(file) if by_file else _abstract_address(number))
        sock.settimeout(None)
        _check_uid(peer_credentials(sock)[1], number, owner)
    except BaseException:
        sock.close()
        raise
    return sock


def is_served(number: int) -> bool:
    """Return whether a server of any user accepts connections for display `number`; never blocks."""
    return any(_listener_uid(address) is not None for address in _socket_addresses(number))


def check_owner(number: int, owner: int = NOBODY_ELSE) -> None:
    """Check everything that a program with this display may connect to; never blocks, sends nothing. Raises:
    DisplayDown when another user than ourselves, root or `owner` serves any of it.
    """
    if _file_exists(socket_path(number)):
        _check_file(socket_path(number), number, owner)
    for address in _socket_addresses(number):
        uid = _listener_uid(address)
        if uid is not None and uid != _UNKNOWN:
            _check_uid(uid, number, owner)


def check_socket_folder() -> None:
    """Check that only root and ourselves can put sockets into the folder in another's name; a missing folder is fine.
    Raises: DisplayDown.
    """
    try:
        itself, found = FOLDER.lstat(), FOLDER.stat()
    except FileNotFoundError:
        return
    strangers = sorted({itself.st_uid, found.st_uid} - {0, os.getuid()})
    if strangers:
        raise DisplayDown(
            f"{FOLDER} belongs to {_describe_user(strangers[0])}, who could take the place of any X server",
            hint=f"as root: rm -r {FOLDER}; install -d -m 1777 {FOLDER}; then start the X servers again",
        )
    if not stat.S_ISDIR(found.st_mode) or (found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX):
        raise DisplayDown(
            f"{FOLDER} lets every user replace the sockets of X servers (mode {stat.S_IMODE(found.st_mode):04o})",
            hint=f"as its owner: chmod 1777 {FOLDER}",
        )


class XauthorityEntry(Struct, frozen=True):
    """One entry of an Xauthority file."""

    family: int
    address: bytes
    number: bytes
    name: bytes
    data: bytes


def default_xauthority() -> str:
    """Return the path that X clients read: $XAUTHORITY, else ~/.Xauthority."""
    return os.environ.get("XAUTHORITY") or str(Path("~/.Xauthority").expanduser())


def xauthority_entries(raw: bytes) -> Iterator[XauthorityEntry]:
    """Yield the whole entries in `raw`, up to the first that is cut short."""
    at = 0
    while at + 2 <= len(raw):
        family = int.from_bytes(raw[at : at + 2], "big")
        at += 2
        fields: list[bytes] = []
        for _ in range(4):
            if at + 2 > len(raw):
                return
            (length,) = struct.unpack_from(">H", raw, at)
            fields.append(raw[at + 2 : at + 2 + length])
            at += 2 + length
        if at > len(raw):
            return
        yield XauthorityEntry(family, *fields)


def fits(entry: XauthorityEntry, family: int, address: bytes, number: int) -> bool:
    """Return whether `entry` is for the server `number` at `address`; empty number and FamilyWild match all."""
    here = entry.family == FAMILY_WILD or (entry.family == family and entry.address == address)
    return here and entry.name == COOKIE and entry.number in {b"", str(number).encode()}


def cookie(auth_file: str, number: int) -> tuple[bytes, bytes]:
    """Return (name, data) of the cookie in `auth_file` for the local display `number`; two empty values for none. An
    entry with the display's number precedes one without.
    """
    here = socket.gethostname().encode()
    try:
        raw = Path(auth_file).read_bytes()
    except OSError:  # no file: servers without cookies accept us all the same, others report it
        return b"", b""
    fitting = [e for e in xauthority_entries(raw) if fits(e, FAMILY_LOCAL, here, number)]
    best = max(fitting, key=lambda e: (e.family != FAMILY_WILD, e.number != b""), default=None)
    return (best.name, best.data) if best else (b"", b"")


def _socket_addresses(number: int) -> tuple[str, str]:
    return _abstract_address(number), str(socket_path(number))


def _abstract_address(number: int) -> str:
    return f"\0/tmp/.X11-unix/X{number}"


def _file_exists(file: Path) -> bool:
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _listener_uid(address: str) -> int | None:
    """Return the uid of the listener at `address`: None for no listener, `_UNKNOWN` while its queue is full."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as probe:
        try:
            probe.connect(address)
        except BlockingIOError:
            return _UNKNOWN
        except OSError:
            return None
        return peer_credentials(probe)[1]


def _check_file(file: Path, number: int, owner: int) -> None:
    """Check the socket's file: a stranger's link leads to another server, the folder's owner can put in any file."""
    check_socket_folder()
    _check_uid(file.lstat().st_uid, number, owner)


def _check_uid(uid: int, number: int, owner: int) -> None:
    if uid in {0, os.getuid(), owner}:
        return
    raise DisplayDown(
        f"the X server of :{number} is run by {_describe_user(uid)}, not by you or root: nothing was sent to it",
        hint=f"if that user may see and type all that acud does there: acud display remove :{number} (where it is "
        f"watched), then acud display add :{number} --owner {uid}",
        uid=uid,
    )


def _describe_user(uid: int) -> str:
    try:
        return f"uid {uid} ({pwd.getpwuid(uid).pw_name})"
    except KeyError:
        return f"uid {uid}"
