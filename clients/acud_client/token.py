"""Bearer tokens of acud's HTTP servers: made once, kept in files that only their owner can read."""

from __future__ import annotations

import secrets
from pathlib import Path

from acud.base.errors import Refused
from acud.base.paths import keep_secret

_LENGTH = 32


def kept_token(path: Path) -> str:
    """Return the token in the file at `path`, made now when there is none. Raises: Refused when others can read it."""
    text = keep_secret(path, lambda: secrets.token_urlsafe(_LENGTH).encode()).decode("ascii")
    if len(text) < _LENGTH:
        raise Refused(f"{path} holds no token", hint=f"remove it; a new token is made: rm {path}")
    return text
