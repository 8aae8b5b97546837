"""Sockets to accept on, bound before anything else is made."""

from __future__ import annotations

import errno
import socket
from typing import Any

from acud.errors import Refused

_BACKLOG = 512
_NEXT_PORTS = 20
"""So many ports after a taken one are tried."""
_HIGHEST_PORT = 65_535


def bound(host: str, port: int, section: str) -> socket.socket:
    """Return a listening socket of the caller's. Raises: Refused, naming the setting of `[section]` to mend."""
    family, address = _resolved(host, port, section)
    try:
        return _listening(family, address)
    except OSError as fault:
        raise _refused(host, port, section, fault) from fault


def bound_near(host: str, port: int, section: str, reserved: frozenset[int]) -> socket.socket:
    """Return a listening socket on `port`, or where that is taken on the next free one that is not `reserved`.

    Raises: Refused when there is none, or it is not for being taken.
    """
    last: OSError | None = None
    for one in _candidates(port, reserved):
        family, address = _resolved(host, one, section)
        try:
            return _listening(family, address)
        except OSError as fault:
            last = fault
            if fault.errno != errno.EADDRINUSE:
                break
    assert last is not None
    raise _refused(host, port, section, last)


def url_of(host: str, port: int, *, tls: bool = False) -> str:
    """Return where clients find a server; one that listens everywhere is found at loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - no address to connect to
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def _candidates(port: int, reserved: frozenset[int]) -> list[int]:
    if not port:
        return [0]
    after = [one for one in range(port + 1, port + 1 + _NEXT_PORTS) if one not in reserved and one <= _HIGHEST_PORT]
    return [port, *after]


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


def _refused(host: str, port: int, section: str, fault: OSError) -> Refused:
    hint = f"free it, or set another [{section}] port (ACU_{section.upper()}_PORT)"
    return Refused(f"cannot listen on port {port} of {host}: {fault.strerror}", hint=hint)
