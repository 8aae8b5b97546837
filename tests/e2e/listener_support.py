"""The HTTP listener of a real daemon, or of `acud web`, and a client that holds its token."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pytest

from acud.protocol.requests.daemon import ChildStatus, Finding
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

SETTINGS = BARE + "[http_endpoints]\nenabled = true\nport = 0\n"


def finding(daemon: Daemon) -> Finding | None:
    """Return what `acud doctor` says of the web process."""
    return next((one for one in daemon.client.doctor().findings if one.part == "web"), None)


def child(daemon: Daemon) -> ChildStatus:
    """Return what `acud status` says of it."""
    return next(one for one in daemon.client.status().children if one.kind == "web")


def served(daemon: Daemon) -> Http:
    """Return a client of the daemon's own listener, once it serves."""

    def url() -> str:
        found = finding(daemon)
        return found.text.split()[1].rstrip(",") if found is not None and found.level != "fault" else ""

    return Http(until(url, "the listener"), token(daemon.home))


def token(home: Path) -> str:
    """Return the token that was made."""
    return (home / "relay-token").read_text().strip()


class Http:
    """Requests with the token, answers as (status, JSON). `raw` is httpx's own client; close it, or use `with`."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = url, token
        self.port = int(url.rsplit(":", 1)[1])
        head = {"Authorization": f"Bearer {token}"} if token else {}
        self.raw = httpx.Client(base_url=url, headers=head, timeout=60, trust_env=False, verify=False)

    def get(self, path: str, **given: Any) -> tuple[int, Any]:
        """Ask with GET."""
        return self.ask("GET", path, **given)

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        """Send bytes as they are, and anything else as JSON."""
        return self.ask("POST", path, **({"content": body} if isinstance(body, bytes) else {"json": body}))

    def ask(self, method: str, path: str, **given: Any) -> tuple[int, Any]:
        """Ask with any method."""
        answer = self.raw.request(method, path, **given)
        assert answer.headers["content-type"] == "application/json"
        return answer.status_code, answer.json()

    def exchange(self, data: bytes, *, until_closed: bool = False) -> bytes:
        """Send bytes that need not be HTTP on a connection of their own; return the first that come back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connected:
            connected.sendall(data)
            found = connected.recv(65536)
            while until_closed and (more := connected.recv(65536)):
                found += more
            return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.raw.close()


class Foreground:
    """`acud web relay` in a process of its own on a free port; use it in a `with`."""

    def __init__(self, home: Path, *arguments: str, settings: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "acud_cli", "web", "relay", "--port", "0", *arguments],
            env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            | {"ACU_HOME": str(home), **(settings or {})},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        if not self.said.startswith("acud web: http"):
            self.process.kill()
            pytest.fail(self.said + self.process.communicate()[1])
        self.http = Http(self.said.split()[2].rstrip(","), token(home) if "relay-token" in self.said else "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.http.raw.close()
        self.process.send_signal(signal.SIGINT)
        _, self.log = self.process.communicate(timeout=60)
