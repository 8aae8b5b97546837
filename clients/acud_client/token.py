"""Bearer tokens of acud's HTTP servers: made once, kept in files that only their owner can read."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from acud.errors import Refused
from acud.paths import make_private

_LENGTH = 32


def kept_token(path: Path) -> str:
    """Return the token in the file at `path`, made now when there is none. Raises: Refused when others can read it."""
    make_private(path.parent)
    if not path.exists():
        _make(path)
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(opened, encoding="ascii") as file:
        found = os.fstat(opened)
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise Refused(f"{path} can be read by others", hint=f"remove it; a new token is made: rm {path}")
        text = file.read().strip()
    if len(text) < _LENGTH:
        raise Refused(f"{path} holds no token", hint=f"remove it; a new token is made: rm {path}")
    return text


def _make(path: Path) -> None:
    """Put a whole file in place at once: of two servers that start together, the first to link wins."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(opened, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(_LENGTH) + "\n")
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        return
    finally:
        partial.unlink()
