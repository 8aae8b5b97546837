"""A receiver of wakes: a loopback HTTP server that answers as OpenClaw's gateway does, well or badly.

In this process (`Receiver`, a context manager), or as a process of its own that can be killed
(`python -m tests.wake_receiver PORT FILE DELAY_S`): each wake it takes is then a line in FILE, written before the
answer, which comes within DELAY_S.
"""

from __future__ import annotations

import json
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from tests.fixtures.patience import LONG_S
from tests.ports import free_port

Manner = Literal["ok", "401", "400", "429", "500", "302", "304", "404", "410", "page", "not_ok", "hang", "reset", "big"]
TOKEN = "hook-token-of-the-test"


class Taken:
    """One request: when it came, its headers (lower case) and its body as sent and as JSON."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.at_s = time.monotonic()
        self.path = path
        self.headers = headers
        self.raw = body
        self.body: dict[str, Any] = json.loads(body)

    @property
    def key(self) -> str:
        """The wake's id where the request has one, else the text."""
        return self.headers.get("webhook-id", "") or str(self.body.get("text", ""))


class Receiver:
    """Answers in a `manner` that a test may change; `taken` holds every request, also those answered badly.

    What is in `taken` is answered in the manner of before: who sees a request there may change the manner at once.
    """

    def __init__(self, manner: Manner = "ok", port: int = 0, taken: Callable[[Taken], None] | None = None) -> None:
        self.manner: Manner = manner
        self.retry_after = "1"
        self.taken: list[Taken] = []
        self.arrived = threading.Condition()
        self.release = threading.Event()
        self.hung_up = threading.Event()
        """A connection was ended here."""
        self._told = taken
        self._last_text = ""
        self._server = _Server(("127.0.0.1", port), self)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hooks"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for(self, count: int, within_s: float = LONG_S) -> list[Taken]:
        """Return the requests once there are `count`."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.taken) >= count, within_s), f"{len(self.taken)} of {count}"
            return list(self.taken)

    def note(self, request: Taken) -> None:
        if self._told is not None:
            self._told(request)
        with self.arrived:
            self.taken.append(request)
            self.arrived.notify_all()

    def answer(self, request: Taken, manner: Manner) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body, as the gateway's shipped code gives them."""
        match manner:
            case "429":
                return 429, {"retry-after": self.retry_after}, b"Too Many Requests"
            case "500":
                return 500, {}, f"boom over {request.headers.get('authorization', '')}".encode()
            case "302":
                return 302, {"location": "/elsewhere"}, b""
            case "304" | "404" | "410":
                return int(manner), {}, b"nothing is here"
            case "page":
                return 200, {}, b"<html>control</html>"
            case "not_ok":
                return 200, {}, b'{"ok": false, "error": "sessionKey is not allowed"}'
            case "big":
                return 200, {}, b"x" * 300_000
        return self._wake(request, manner)

    def _wake(self, request: Taken, manner: Manner) -> tuple[int, dict[str, str], bytes]:
        is_hook = "webhook-id" not in request.headers
        if manner == "401" or (is_hook and request.headers.get("authorization") != f"Bearer {TOKEN}"):
            return 401, {}, b"Unauthorized"
        text = str(request.body.get("text", ""))
        if manner == "400" or not text:
            return 400, {}, b'{"ok":false,"error":"text required"}'
        outcome = "coalesced" if text == self._last_text else "queued"
        self._last_text = text
        return 200, {}, json.dumps({"ok": True, "mode": "now", "eventOutcome": outcome}).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        self.receiver = receiver
        super().__init__(address, _Handler)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.receiver.hung_up.set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        request = Taken(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        manner = receiver.manner
        receiver.note(request)
        if manner == "hang":
            receiver.release.wait(300)
            self.close_connection = True
        elif manner == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        else:
            self._give(*receiver.answer(request, manner))

    def _give(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's word
        """Say nothing."""


class ReceiverProcess:
    """The receiver as a process; what it took survives its death. A context manager."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "taken"
        self.path.touch()
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.wake_receiver", str(self.port), str(self.path), "0.02"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def taken(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def size(self) -> int:
        """Return a number that grows with each request."""
        return self.path.stat().st_size


def _main(port: int, path: Path, delay_s: float) -> None:
    lines = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(taken: Taken) -> None:
        sent_utc_s = int(taken.headers.get("webhook-timestamp", "0"))
        row = {"key": taken.key, "reminder": taken.body.get("reminder", 0), "at_s": taken.at_s}
        row |= {"sent_utc_s": sent_utc_s, "came_utc_s": time.time()}
        os.write(lines, json.dumps(row).encode() + b"\n")
        time.sleep(random.uniform(0, delay_s))

    with Receiver(port=port, taken=note):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    _main(int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
