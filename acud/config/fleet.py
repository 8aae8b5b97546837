"""How a host joins a fleet: the address of NATS, the host's name and its credentials. `[fleet]`."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from acud.base.errors import Refused
from acud.config.http_listeners import is_loopback
from acud.types import Labels

HOST = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""The pattern of a host's name, which is one token of a subject and of a key, and stands before a display's name."""
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_ADMIN_KEY = re.compile(r"U[A-Z2-7]{55}")
_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,32}")
_ELECTION_S = 10
"""A cluster found its new leader after 5.25 s (measured), and a host renews every third of its lease."""


class FleetSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[fleet]`"""

    url: str = ""
    host: str = ""
    labels: Labels = {}
    nkey_seed_file: str = ""
    admin_key: str = ""
    credentials_file: str = ""
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    prefix: str = "acud"
    replicas: Literal[1, 3] = 1
    max_gb: Annotated[float, Meta(ge=0.1, le=100_000)] = 6
    lease_s: Annotated[float, Meta(ge=2, le=600)] = 10
    room: Annotated[int, Meta(ge=0, le=10_000)] = 16
    rearm: bool = False

    def __post_init__(self) -> None:
        """Refuse addresses without a server, connections without credentials, and invalid names."""
        for url in self.urls:
            _check_url(url)
        self._check_credentials()
        if self.host and not HOST.fullmatch(self.host):
            raise ValueError(f"host {self.host!r} is no host name: a-z, 0-9 and -, at most 63")
        if not _PREFIX.fullmatch(self.prefix):
            raise ValueError(f"prefix {self.prefix!r} is no token of a subject: letters, digits, _ and -, at most 32")
        check_labels(self.labels)
        if self.replicas > 1 and self.lease_s < _ELECTION_S:
            raise ValueError(
                f"lease_s under {_ELECTION_S:g} with replicas: an election of the servers loses every host"
            )

    def _check_credentials(self) -> None:
        if self.nkey_seed_file and self.credentials_file:
            raise ValueError("nkey_seed_file and credentials_file are two ways to log in: name one")
        for key in self.admin_keys:
            if not _ADMIN_KEY.fullmatch(key):
                raise ValueError("admin_key holds what is no public key of a user: U and 55 letters and digits")
        if self.admin_key and not self.nkey_seed_file:
            raise ValueError("admin_key needs nkey_seed_file: who checks signatures has to sign too")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ValueError("tls_cert and tls_key belong together")
        if self.has_credentials:
            return
        for url in self.urls:
            if not is_loopback(urlsplit(url).hostname or ""):
                raise ValueError(
                    f"{url} is not loopback: set nkey_seed_file, credentials_file, or tls_cert and tls_key (nobody "
                    "joins a fleet unknown)"
                )

    @property
    def urls(self) -> tuple[str, ...]:
        """The named servers; none without a fleet."""
        return tuple(word.strip() for word in self.url.split(",") if word.strip())

    @property
    def admin_keys(self) -> tuple[str, ...]:
        """The administrator's public keys, which vouch for all other keys. None: signatures do not count."""
        return tuple(word.strip() for word in self.admin_key.split(",") if word.strip())

    @property
    def has_credentials(self) -> bool:
        """Whether this host can identify itself to the servers."""
        return bool(self.nkey_seed_file or self.credentials_file or self.tls_cert)

    @property
    def demands_tls(self) -> bool:
        """Whether every server has to offer TLS, also one with a nats:// address."""
        return bool(self.tls_ca or self.tls_cert)

    @property
    def in_the_clear(self) -> tuple[str, ...]:
        """The servers beyond this machine that need no TLS."""
        bare = () if self.demands_tls else tuple(url for url in self.urls if not url.startswith("tls://"))
        return tuple(url for url in bare if not is_loopback(urlsplit(url).hostname or ""))


def check_labels(labels: Labels) -> None:
    """Raises: ValueError for a label that is not a plain word with a plain value."""
    for word in (*labels, *labels.values()):
        if not _LABEL.fullmatch(word):
            raise ValueError(f"label {word!r} is no plain word: letters, digits, . _ and -, at most 63")


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("nats", "tls") or not parts.hostname:
        raise ValueError("url holds what is no nats:// or tls:// address")
    if parts.username or parts.password or parts.path.strip("/") or parts.query:
        raise ValueError("url carries more than host and port; credentials have keys of their own")


def not_the_endpoint() -> Refused:
    """Return the error for a request that only a fleet's endpoint answers."""
    return Refused("this daemon is one host and answers for no fleet", hint="acud fleet serve, then acud --fleet …")


def check_host_labels(settings: FleetSettings, required: Labels) -> None:
    """Raises: Refused when this host lacks a requested label."""
    missing = [f"{name}={value}" for name, value in required.items() if settings.labels.get(name) != value]
    if missing:
        hint = "see [fleet] labels; acud --fleet … asks the fleet, which finds a host that is"
        raise Refused(f"this host is not labelled {', '.join(missing)}", hint=hint)
