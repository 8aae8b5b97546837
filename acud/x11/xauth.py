"""Xauthority files: which cookie opens a display. python-xlib's own match knows no FamilyWild and no explicit file.

The format and the families are those of Xau(3): big-endian 16-bit family, then counted address, number, name, data.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

FAMILY_LOCAL = 256
FAMILY_WILD = 65535
COOKIE = b"MIT-MAGIC-COOKIE-1"


class Entry(Struct, frozen=True):
    """One entry of an Xauthority file."""

    family: int
    address: bytes
    number: bytes
    name: bytes
    data: bytes


def usual_file() -> str:
    """Return the path that X clients read: $XAUTHORITY, else ~/.Xauthority."""
    return os.environ.get("XAUTHORITY") or str(Path("~/.Xauthority").expanduser())


def entries(raw: bytes) -> Iterator[Entry]:
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
        yield Entry(family, *fields)


def matches(entry: Entry, family: int, address: bytes, number: int) -> bool:
    """Tell whether `entry` is for the server `number` at `address`; an empty number and FamilyWild fit every one."""
    here = entry.family == FAMILY_WILD or (entry.family == family and entry.address == address)
    return here and entry.name == COOKIE and entry.number in {b"", str(number).encode()}


def cookie(auth_file: str, number: int) -> tuple[bytes, bytes]:
    """Return (name, data) of the cookie in `auth_file` for the local display `number`; two empty values when none fits.

    An entry that names the display goes before one that names none.
    """
    here = socket.gethostname().encode()
    try:
        raw = Path(auth_file).read_bytes()
    except OSError:  # no file: servers that ask for no cookie let us in all the same, others say so themselves
        return b"", b""
    fitting = [e for e in entries(raw) if matches(e, FAMILY_LOCAL, here, number)]
    best = max(fitting, key=lambda e: (e.family != FAMILY_WILD, e.number != b""), default=None)
    return (best.name, best.data) if best else (b"", b"")
