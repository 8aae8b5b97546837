"""Ports for servers whose port must be known before they start, or must stay theirs while they are down."""

from __future__ import annotations

import random
import socket
from pathlib import Path

from tests.numbers import own_slice

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 10_000
_given_out: set[int] = set()
"""What this process has chosen already: its server may not have begun to listen."""


def free_port(count: int = 1, address: str = "127.0.0.1") -> int:
    """Return the first of `count` ports in a row of `address` that nobody listens on, and that the kernel gives nobody
    who asks for any port (ip(7), ip_local_port_range): nobody gets it by chance before it is used, or while its server
    is down. Processes of one run of the tests choose among ports of their own.
    """
    given_from = int(_RANGE.read_text(encoding="ascii").split()[0])
    rows = own_slice(range(_LOWEST, given_from))[:-count]
    if not rows:  # a machine whose kernel gives them all
        return _given(address)
    while True:
        # Not the tests' own source of chance: it begins alike in each of the processes that run tests side by side.
        first = random.SystemRandom().choice(rows)
        row = range(first, first + count)
        if _given_out.isdisjoint(row) and all(_is_free(port, address) for port in row):
            _given_out.update(row)
            return first


def _is_free(port: int, address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True


def _given(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port
