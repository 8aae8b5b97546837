"""The gateway of a real daemon, or of `acud web serve`, and clients with and without a pass."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from acud.protocol.web import AccessToken, Scope, digest_of, new_secret
from acud_client import Client
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

SETTINGS = BARE + "[web]\nenabled = true\nport = 0\n"
_ENDLESS = ("text/event-stream", "multipart/x-mixed-replace")
_STREAM_S = 1.0
"""A stream that says nothing for so long has been read."""


def served(daemon: Daemon) -> str:
    """Return where the daemon's own gateway serves, once it does."""
    return until(lambda: daemon.client.status().web.get("gateway", ""), "the gateway")


def token(client: Client, scope: Scope, **given: Any) -> tuple[str, AccessToken]:
    """Make a token, and return it with its pass."""
    secret = new_secret()
    return secret, client.web_token_create(digest_of(secret), scope, **given).found


def code(client: Client, **given: Any) -> str:
    """Make a one-time code."""
    secret = new_secret()
    client.web_login(digest_of(secret), **given)
    return secret


class Browser:
    """A client of the gateway at `url`, without a pass until one is given. Use it in a `with`."""

    def __init__(self, url: str, bearer: str = "") -> None:
        self.url = url
        self.host, _, port = url.partition("://")[2].rpartition(":")
        self.port = int(port)
        head = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        # Certificates are not loaded for plain HTTP: that takes longer than a request.
        self.raw = httpx.Client(base_url=url, headers=head, timeout=100, trust_env=False, verify=False)

    def ask(self, method: str, path: str, **given: Any) -> tuple[int, Any]:
        """Return status and JSON."""
        answer = self.raw.request(method, path, **given)
        assert answer.headers["content-type"] == "application/json", answer.text
        return answer.status_code, answer.json()

    def first(self, method: str, path: str, **given: Any) -> tuple[int, bytes]:
        """Return status and body; of a stream what it says until it is silent for a second."""
        with self.raw.stream(method, path, **given) as answer:
            if not answer.headers.get("content-type", "").startswith(_ENDLESS):
                return answer.status_code, answer.read()
            # httpx has one limit for the first byte and for the next; httpcore looks it up again as the body begins.
            answer.request.extensions["timeout"]["read"] = _STREAM_S
            body = b""
            with suppress(httpx.ReadTimeout):
                for part in answer.iter_raw():
                    body += part
            return answer.status_code, body

    def login(self, one_time: str) -> httpx.Response:
        """Send a code as the login page does; the cookie stays."""
        return self.raw.post("/api/login", json={"code": one_time}, headers=self.page)

    @property
    def page(self) -> dict[str, str]:
        """What our own pages send with what changes something."""
        return {"X-Acud": "1", "Origin": self.url}

    def socket(self, path: str, head: dict[str, str], origin: str | None = None) -> int:
        """Open a WebSocket; return 101, or the status of its refusal."""
        address = self.url.replace("http", "ws", 1) + path
        try:
            with connect(address, additional_headers=head, origin=origin, proxy=None, open_timeout=100) as opened:  # type: ignore[arg-type]
                with suppress(ConnectionClosed, TimeoutError):
                    opened.recv(0.01)
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    def exchange(self, data: bytes) -> bytes:
        """Send bytes that need not be HTTP; return the first that come back."""
        with socket.create_connection((self.host, self.port), timeout=100) as connected:
            connected.sendall(data)
            return connected.recv(65536)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.raw.close()


class Foreground:
    """`acud web serve` in a process of its own; use it in a `with`. `url`: where it said that it serves."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "acud_cli", "web", "serve", "--port", "0", *arguments],
            env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"ACU_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        if not self.said.startswith("acud web: http"):
            self.process.kill()
            pytest.fail(self.said + self.process.communicate()[1])
        self.url = self.said.split()[2].rstrip(";")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.process.send_signal(signal.SIGINT)
        _, self.log = self.process.communicate(timeout=60)
