"""The cookie file of a managed display.

Format (Xau(3), libXau AuWrite.c): per entry a big-endian 16-bit family, then address, display number, method name and
data, each with a 16-bit length before it.
"""

from __future__ import annotations

import os
import secrets
import socket
import struct
from pathlib import Path

from acud import private_files

_FAMILY_LOCAL = 256
_FAMILY_WILD = 65535
_METHOD = b"MIT-MAGIC-COOKIE-1"
_COOKIE_BYTES = 16


def write(path: Path, number: int) -> None:
    """Create the file at `path` (0600, must not exist) with a fresh cookie for display `number`.

    The entry of family Local with the host's name serves libX11, XCB and python-xlib. The one of family Wild serves the
    first two also after the host's name changed; python-xlib skips it. Raises: OSError.
    """
    cookie = secrets.token_bytes(_COOKIE_BYTES)
    display = str(number).encode()
    host = os.fsencode(socket.gethostname())
    entries = _entry(_FAMILY_LOCAL, host, display, cookie) + _entry(_FAMILY_WILD, b"", display, cookie)
    with os.fdopen(private_files.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(entries)


def _entry(family: int, address: bytes, number: bytes, cookie: bytes) -> bytes:
    fields = (address, number, _METHOD, cookie)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(field)) + field for field in fields)
