"""Sockets to accept on: bound, handed from one process to the next, and who has a port that could not be had."""

from __future__ import annotations

import errno
import os
import pwd
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acud.errors import Refused

NAMES = ("gateway", "relay")
"""The listeners of one daemon."""
_BACKLOG = 512
_LISTENS = "0A"
_TABLES = ("tcp", "tcp6")
_FIRST_FD = 3
_STORED = "acud-"
"""Before the name of a socket that systemd keeps for us (sd_notify(3), FDNAME)."""
_MOST = 1024


def taken_by_another(fault: Refused) -> bool:
    """Tell whether a port could not be had because another user may have it: what browsers send there, their cookies
    too, they send to that user.
    """
    return "taken_by_uid" in fault.facts and fault.facts["taken_by_uid"] != os.getuid()


def bound(host: str, port: int, section: str) -> socket.socket:
    """Return a listening socket of the caller's. Raises: Refused, naming the setting of `[section]` to mend.

    Another port is never taken in its place: browsers and programs would go on asking at the old one, and whoever
    listens there would be sent their passes.
    """
    family, address = _resolved(host, port, section)
    try:
        return _listening(family, address)
    except OSError as fault:
        hint = f"free it, or set another [{section}] port (ACU_{section.upper()}_PORT)"
        words = f"cannot listen on port {port} of {host}: {fault.strerror}"
        if fault.errno == errno.EADDRINUSE:
            uid = listener_uid(port)
            raise Refused(f"{words}, by {_named(uid)}", hint=hint, taken_by_uid=uid) from fault
        raise Refused(words, hint=hint) from fault


def fits(listening: socket.socket, host: str, port: int) -> bool:
    """Tell whether `listening` is what `bound` would return (for port 0: one of those)."""
    try:
        if not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return False
        family, address = _resolved(host, port, "web")
        has = listening.getsockname()
    except (OSError, Refused):
        return False
    return listening.family == family and has[0] == address[0] and port in (0, has[1])


def url_of(host: str, port: int, *, tls: bool = False) -> str:
    """Return where clients find a server; one that listens everywhere is found at loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - no address to connect to
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def listener_uid(port: int, tables: Path = Path("/proc/net")) -> int:
    """Return the uid of who listens on `port` (proc(5), /proc/net/tcp); another than ours first, -1: nobody does."""
    found: set[int] = set()
    for name in _TABLES:
        try:
            lines = (tables / name).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for parts in (line.split() for line in lines):
            if parts[3] == _LISTENS and int(parts[1].rpartition(":")[2], 16) == port:
                found.add(int(parts[7]))
    return next(iter(sorted(found, key=lambda uid: uid == os.getuid())), -1)


# ---- from one process to the next -----------------------------------------------------------------------------------


def send_all(connected: socket.socket, sockets: Mapping[str, socket.socket]) -> None:
    """Give the other side of `connected` a duplicate of each socket, by name (unix(7), SCM_RIGHTS)."""
    names = ":".join(sockets).encode("ascii") or b":"
    socket.send_fds(connected, [names], [one.fileno() for one in sockets.values()])


def receive_all(connected: socket.socket) -> dict[str, socket.socket]:
    """Return what `send_all` gave."""
    names, fds, _, _ = socket.recv_fds(connected, _MOST, len(NAMES))
    return _named_sockets(names.decode("ascii", "replace").split(":"), fds)


def inherited(given: str, env: Mapping[str, str]) -> dict[str, socket.socket]:
    """Return the sockets that this process was started with: as `given` names them (`gateway=5,relay=6`), and those
    that systemd kept (sd_listen_fds(3)).
    """
    pairs = [pair.partition("=") for pair in given.split(",") if pair]
    found = _named_sockets([name for name, _, _ in pairs], [int(fd) for _, _, fd in pairs if fd.isdigit()])
    if env.get("LISTEN_PID") == str(os.getpid()) and env.get("LISTEN_FDS", "").isdigit():
        names = env.get("LISTEN_FDNAMES", "").split(":")
        fds = list(range(_FIRST_FD, _FIRST_FD + int(env["LISTEN_FDS"])))
        found |= _named_sockets([name.removeprefix(_STORED) for name in names], fds)
    return found


def stored_name(name: str) -> str:
    """Return by what name systemd keeps the socket of `name`."""
    return _STORED + name


def _named_sockets(names: list[str], fds: list[int]) -> dict[str, socket.socket]:
    found: dict[str, socket.socket] = {}
    for name, fd in zip(names, fds, strict=False):
        if name in NAMES and name not in found and _is_socket(fd):
            found[name] = socket.socket(fileno=fd)
            found[name].set_inheritable(False)
    return found


def _is_socket(fd: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


def _named(uid: int) -> str:
    if uid < 0:
        return "somebody who has gone since"
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
    return f"a program of yours ({name})" if uid == os.getuid() else f"user {name} (uid {uid})"


def _resolved(host: str, port: int, section: str) -> tuple[socket.AddressFamily, Any]:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as fault:
        raise Refused(f"cannot listen on {host}: {fault.strerror}", hint=f"mend [{section}] host") from fault
    return family, address


def _listening(family: socket.AddressFamily, address: Any) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        # Two sockets may share a port until one listens: only this tells whether it is ours.
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening
