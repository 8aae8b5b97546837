"""The HTTP listeners of a daemon: their settings `[http_endpoints]` and `[web]`, and their sockets."""

from __future__ import annotations

import errno
import ipaddress
import os
import pwd
import re
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from acud.base.errors import Refused

Port = Annotated[int, Meta(ge=0, le=65_535)]
_SHORTEST_TOKEN = 16
_TOKEN = re.compile(r"[!-~]+")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_ORIGIN = re.compile(r"(null|[a-z][a-z0-9+.-]*://[A-Za-z0-9.\[\]:-]*)")
LISTENER_NAMES = ("gateway", "relay")
"""The listeners of one daemon."""
_BACKLOG = 512
_LISTENS = "0A"
_TABLES = ("tcp", "tcp6")
_FIRST_FD = 3
_STORED = "acud-"
"""The prefix of a socket's name that systemd keeps for us (sd_notify(3), FDNAME)."""
_MOST = 1024


class ListenerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[http_endpoints]`"""

    enabled: bool = False
    host: str = "127.0.0.1"
    port: Port = 18_791
    token: str = ""
    token_file: str = ""
    allow_tokenless: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    allow_remote: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that would admit strangers. The token itself is never part of a fault's words."""
        if not is_loopback(self.host):
            _check_allowed(self.host, self.allow_remote)
            if self.allow_tokenless:
                raise ValueError("allow_tokenless holds for loopback only")
        if self.token:
            check_token(self.token)
        _check_names(self.allowed_hosts, self.allowed_origins)


class WebSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[web]`"""

    enabled: bool = False
    host: str = "127.0.0.1"
    port: Port = 18_790
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    allow_remote: bool = False
    tls_cert: str = ""
    tls_key: str = ""
    allow_insecure: bool = False
    metrics_open: bool = False
    session_days: Annotated[float, Meta(gt=0, le=365)] = 14.0
    max_connections: Annotated[int, Meta(ge=8, le=900)] = 400
    live_streams: Annotated[int, Meta(ge=1, le=400)] = 64
    live_streams_per_pass: Annotated[int, Meta(ge=1, le=400)] = 24
    live_hides: Literal["remote", "always"] = "remote"

    def __post_init__(self) -> None:
        """Refuse settings that would admit strangers, or send secrets over a network in the clear."""
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ValueError("tls_cert and tls_key belong together")
        if not is_loopback(self.host):
            _check_allowed(self.host, self.allow_remote)
            if not self.tls_cert and not self.allow_insecure:
                raise ValueError(
                    f"host {self.host!r} is not loopback: set tls_cert and tls_key (allow_insecure = true sends access "
                    "tokens and pictures over the network in the clear)"
                )
        _check_names(self.allowed_hosts, self.allowed_origins)
        if "null" in self.allowed_origins:
            raise ValueError("allowed_origins holds null, which any sandboxed page may claim")


def check_token(token: str) -> None:
    """Raises: ValueError, without the token, for one that is easily guessed or that no header can carry."""
    if len(token) < _SHORTEST_TOKEN or not _TOKEN.fullmatch(token):
        raise ValueError(f"token needs at least {_SHORTEST_TOKEN} printable ASCII characters without blanks")


def is_loopback(host: str) -> bool:
    """Return whether `host` is an address (or the name localhost) that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_taken_by_another(fault: Refused) -> bool:
    """Return whether another user may have the refused port: browsers would send that user their cookies."""
    return "taken_by_uid" in fault.facts and fault.facts["taken_by_uid"] != os.getuid()


def bind(host: str, port: int, section: str) -> socket.socket:
    """Return a listening socket of the caller's. Raises: Refused, naming the setting of `[section]` to mend.

    Another port is never used instead: browsers and programs would continue with the old one, and send its present
    listener their access tokens.
    """
    family, address = _resolve_host(host, port, section)
    try:
        return _open_listener(family, address)
    except OSError as fault:
        hint = f"free it, or set another [{section}] port (ACU_{section.upper()}_PORT)"
        words = f"cannot listen on port {port} of {host}: {fault.strerror}"
        if fault.errno == errno.EADDRINUSE:
            uid = listener_uid(port)
            raise Refused(f"{words}, by {_describe_user(uid)}", hint=hint, taken_by_uid=uid) from fault
        raise Refused(words, hint=hint) from fault


def serves_address(listening: socket.socket, host: str, port: int) -> bool:
    """Return whether `listening` is the socket that `bind` would return (for port 0: one of those)."""
    try:
        if not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return False
        family, address = _resolve_host(host, port, "web")
        has = listening.getsockname()
    except (OSError, Refused):
        return False
    return listening.family == family and has[0] == address[0] and port in (0, has[1])


def url_of(host: str, port: int, *, tls: bool = False) -> str:
    """Return the URL for clients of a server; one that listens everywhere is reached at loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - no address to connect to
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def listener_uid(port: int, tables: Path = Path("/proc/net")) -> int:
    """Return the uid of the listener on `port` (proc(5), /proc/net/tcp), another user's before ours; -1: none."""
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


def send_sockets(connection: socket.socket, sockets: Mapping[str, socket.socket]) -> None:
    """Send the other side of `connection` a duplicate of each socket, by name (unix(7), SCM_RIGHTS)."""
    names = ":".join(sockets).encode("ascii") or b":"
    socket.send_fds(connection, [names], [one.fileno() for one in sockets.values()])


def receive_sockets(connection: socket.socket) -> dict[str, socket.socket]:
    """Return the sockets that `send_sockets` sent."""
    names, fds, _, _ = socket.recv_fds(connection, _MOST, len(LISTENER_NAMES))
    return _named_sockets(names.decode("ascii", "replace").split(":"), fds)


def inherited_sockets(value: str, env: Mapping[str, str]) -> dict[str, socket.socket]:
    """Return the sockets that this process was started with: those in `value` (`gateway=5,relay=6`), and those that
    systemd kept (sd_listen_fds(3)).
    """
    pairs = [pair.partition("=") for pair in value.split(",") if pair]
    found = _named_sockets([name for name, _, _ in pairs], [int(fd) for _, _, fd in pairs if fd.isdigit()])
    if env.get("LISTEN_PID") == str(os.getpid()) and env.get("LISTEN_FDS", "").isdigit():
        names = env.get("LISTEN_FDNAMES", "").split(":")
        fds = list(range(_FIRST_FD, _FIRST_FD + int(env["LISTEN_FDS"])))
        found |= _named_sockets([name.removeprefix(_STORED) for name in names], fds)
    return found


def stored_name(name: str) -> str:
    """Return the name under which systemd keeps the socket of `name`."""
    return _STORED + name


def _check_allowed(host: str, allow_remote: bool) -> None:
    if not allow_remote:
        raise ValueError(f"host {host!r} is not loopback; allow_remote = true lets other machines in")


def _check_names(hosts: tuple[str, ...], origins: tuple[str, ...]) -> None:
    for name in hosts:
        if not _NAME.fullmatch(name):
            raise ValueError(f"allowed_hosts holds {name!r}, which is no host name (no port, no *)")
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise ValueError(f"allowed_origins holds {origin!r}, which is no origin such as http://localhost:3000")


def _named_sockets(names: list[str], fds: list[int]) -> dict[str, socket.socket]:
    found: dict[str, socket.socket] = {}
    for name, fd in zip(names, fds, strict=False):
        if name in LISTENER_NAMES and name not in found and _is_socket(fd):
            found[name] = socket.socket(fileno=fd)
            found[name].set_inheritable(False)
    return found


def _is_socket(fd: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


def _describe_user(uid: int) -> str:
    if uid < 0:
        return "somebody who has gone since"
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
    return f"a program of yours ({name})" if uid == os.getuid() else f"user {name} (uid {uid})"


def _resolve_host(host: str, port: int, section: str) -> tuple[socket.AddressFamily, Any]:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as fault:
        raise Refused(f"cannot listen on {host}: {fault.strerror}", hint=f"mend [{section}] host") from fault
    return family, address


def _open_listener(family: socket.AddressFamily, address: Any) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        # Two sockets may share a port until one listens: only this shows whether it is ours.
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening
