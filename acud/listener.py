"""How the two HTTP listeners are set up: where they listen, and whom they let in. `[relay]` and `[web]`."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Literal

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
        _check_names(self.allowed_hosts, self.allowed_origins)

    def _check_remote(self) -> None:
        _check_allowed(self.host, self.allow_remote)
        if self.allow_tokenless:
            raise ValueError("allow_tokenless holds for loopback only")


class WebSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[web]`"""

    enabled: bool = False
    host: str = "127.0.0.1"
    port: Port = 18_790
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    allow_remote: bool = False
    tls_cert: str = ""
    tls_key: str = ""
    allow_insecure: bool = False
    session_days: Annotated[float, Meta(gt=0, le=365)] = 14.0
    max_connections: Annotated[int, Meta(ge=8, le=900)] = 400
    max_connections_per_address: Annotated[int, Meta(ge=8, le=900)] = 150
    live_streams: Annotated[int, Meta(ge=1, le=400)] = 64
    live_streams_per_pass: Annotated[int, Meta(ge=1, le=400)] = 24
    live_hides: Literal["remote", "always"] = "remote"

    def __post_init__(self) -> None:
        """Refuse what would let strangers in, or send secrets over a network in the clear."""
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ValueError("tls_cert and tls_key belong together")
        if not is_loopback(self.host):
            self._check_remote()
        _check_names(self.allowed_hosts, self.allowed_origins)
        if "null" in self.allowed_origins:
            raise ValueError("allowed_origins holds null, which any sandboxed page may claim")

    def _check_remote(self) -> None:
        _check_allowed(self.host, self.allow_remote)
        if not self.tls_cert and not self.allow_insecure:
            raise ValueError(
                f"host {self.host!r} is not loopback: set tls_cert and tls_key (allow_insecure = true sends passes and "
                "pictures over the network in the clear)"
            )


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


def _check_allowed(host: str, allow_remote: bool) -> None:
    if not allow_remote:
        raise ValueError(f"host {host!r} is not loopback; allow_remote = true lets other machines in")


def _check_names(hosts: tuple[str, ...], origins: tuple[str, ...]) -> None:
    for name in hosts:
        if not _NAME.fullmatch(name):
            raise ValueError(f"allowed_hosts holds {name!r}, which is no host name (no port, no *)")
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise ValueError(f"allowed_origins holds {origin!r}, which is no origin such as http://localhost:3000")
