"""The socket that the relay endpoints accept on, and the token that opens it."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import TracebackType
from typing import Self

from acud.errors import ConfigError
from acud.http_listeners import ListenerSettings, bind, check_token, url_of
from acud.paths import Paths
from acud_client.token import kept_token


class Listening:
    """Owns the socket. `settings` are checked ones. `fd`: a listening socket that was inherited; -1: one is bound.
    Raises: Refused when host and port can't be bound, or the kept
    token's file is open to others; ConfigError when the token's own file can't be read.
    """

    def __init__(self, settings: ListenerSettings, paths: Paths, fd: int = -1) -> None:
        self.settings = settings
        self.token_file = ""
        """Where the token lies; "" when it is in the settings or none is asked for."""
        self.token = self._token(paths)
        self.socket = socket.socket(fileno=os.dup(fd)) if fd >= 0 else bind(settings.host, settings.port, "relay")
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """Return where clients find it."""
        return url_of(self.settings.host, self.port)

    @property
    def credentials(self) -> str:
        """Return in words how clients get in."""
        if not self.token:
            return "no token asked for"
        return f"token in {self.token_file or 'the settings'}"

    def _token(self, paths: Paths) -> str:
        if self.settings.allow_tokenless:
            return ""
        if self.settings.token:
            return self.settings.token
        if self.settings.token_file:
            self.token_file = self.settings.token_file
            return _read(Path(self.settings.token_file).expanduser())
        made = paths.home / "relay-token"
        self.token_file = str(made)
        return kept_token(made)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()


def _read(path: Path) -> str:
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"cannot read {path}: {type(fault).__name__}", hint="relay.token_file names it") from fault
    try:
        check_token(token)
    except ValueError as fault:
        raise ConfigError(f"{path}: {fault}", hint="relay.token_file names it") from fault
    return token
