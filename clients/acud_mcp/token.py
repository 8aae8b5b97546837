"""The bearer token of the HTTP server."""

from __future__ import annotations

from pathlib import Path

from acud.paths import Paths
from acud_client.token import kept_token


def token_path(paths: Paths) -> Path:
    """Return where the token lies."""
    return paths.home / "mcp-token"


def token(paths: Paths) -> str:
    """Return the token, made now when there is none. Raises: Refused when its file is open to others."""
    return kept_token(token_path(paths))
