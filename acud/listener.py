"""How the HTTP listener is set up: where it listens, and whom it lets in. `[relay]` of the settings."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated

from msgspec import Meta, Struct

Port = Annotated[int, Meta(ge=0, le=65_535)]
_SHORTEST_TOKEN = 16
_TOKEN = re.compile(r"[!-~]+")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_ORIGIN = re.compile(r"(null|[a-z][a-z0-9+.-]*://[A-Za-z0-9.\[\]:-]*)")


class ListenerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[relay]`"""

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
        """Refuse what would let strangers in. The token itself is never part of a fault's words."""
        if not is_loopback(self.host):
            self._check_remote()
        if self.token:
            check_token(self.token)
        for name in self.allowed_hosts:
            if not _NAME.fullmatch(name):
                raise ValueError(f"allowed_hosts holds {name!r}, which is no host name (no port, no *)")
        for origin in self.allowed_origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"allowed_origins holds {origin!r}, which is no origin such as http://localhost:3000")

    def _check_remote(self) -> None:
        if not self.allow_remote:
            raise ValueError(f"host {self.host!r} is not loopback; allow_remote = true lets other machines in")
        if self.allow_tokenless:
            raise ValueError("allow_tokenless holds for loopback only")


def check_token(token: str) -> None:
    """Raises: ValueError, without the token, for one that could be guessed or that no header can carry."""
    if len(token) < _SHORTEST_TOKEN or not _TOKEN.fullmatch(token):
        raise ValueError(f"token needs at least {_SHORTEST_TOKEN} printable ASCII characters without blanks")


def is_loopback(host: str) -> bool:
    """Tell whether `host` is an address (or the name localhost) that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
