"""The bearer token of the HTTP server: made once, kept in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from acud.errors import Refused
from acud.paths import Paths, make_private

_LENGTH = 32


def token_path(paths: Paths) -> Path:
    """Return where the token lies."""
    return paths.home / "mcp-token"


def token(paths: Paths) -> str:
    """Return the token, made now when there is none. Raises: Refused when its file is open to others."""
    make_private(paths.home)
    path = token_path(paths)
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
