"""The socket that the gateway accepts on, and what TLS needs."""

from __future__ import annotations

import os
import socket
import ssl
from pathlib import Path
from types import TracebackType
from typing import Self

from acud.errors import ConfigError
from acud.http_listeners import WebSettings, bind, url_of


class GatewayListening:
    """Owns the socket. `settings` are checked ones. `fd`: a listening socket that was inherited; -1: one is bound.
    Raises: Refused when host and port can't be bound; ConfigError when certificate or key can't be used.
    """

    def __init__(self, settings: WebSettings, fd: int = -1) -> None:
        self.settings = settings
        self.cert, self.key = _checked(settings.tls_cert), _checked(settings.tls_key)
        if self.cert:
            _check_pair(self.cert, self.key)
        self.socket = socket.socket(fileno=os.dup(fd)) if fd >= 0 else bind(settings.host, settings.port, "web")
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """Return where browsers find it."""
        return url_of(self.settings.host, self.port, tls=bool(self.cert))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()


def _checked(path: str) -> str:
    return str(Path(path).expanduser()) if path else ""


def _check_pair(cert: str, key: str) -> None:
    try:
        # An empty passphrase: a key that asks for one is a fault, not a prompt on a terminal that nobody sees.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as fault:
        reason = fault.strerror or str(fault) if isinstance(fault, OSError) else str(fault)
        raise ConfigError(f"[web] tls_cert and tls_key: {reason}", hint="PEM files without a passphrase") from fault
