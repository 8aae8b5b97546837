"""What floods cost others: each for some seconds, and meanwhile a deadline of 3 s, `status` by another client, the
supervisor's memory, and whether a child was killed. A flooder is a process of its own that speaks ZMTP by itself.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack

from acud.paths import resolve
from acud.types import Stable
from acud_client import Client
from tests.daemon import Daemon

_SETTINGS = '[evaluator]\nworkers = 1\n[display]\nwindow_manager = "none"\nsession_bus = false\n'
_DEADLINE_S = 3.0
_FLOOD_S = 12.0
_WAITS = 800
_PAUSE_S = 0.02
_SAMPLE_S = 0.1
_VANISHING_PER_S = 1100
_SUBSCRIPTIONS = 37_000
_PROMISED = {"deadline_late_ms": 500.0, "status_p99_ms": 250.0, "rss_mb": 150.0, "killed": 0}

Figures = dict[str, float]


def run() -> dict[str, Any]:
    """Return the figures of each flood; each has a daemon of its own."""
    return {name: _measure(name) for name in ("calm", *FLOODS)}


def _measure(flood: str) -> Figures:
    with Daemon(settings=_SETTINGS) as daemon:
        client = daemon.client
        display = client.display_create(64, 64).display
        for _ in range(_WAITS):
            client.wait_create(Stable(3600.0), display=display.name, timeout_s=7200.0)
        before = _restarts(client)
        with flooding(daemon, flood), _watching(daemon) as seen, Client(daemon.paths, timeout_s=120) as prober:
            _probe(prober, display.name, seen)
        time.sleep(1.0)
        killed = _restarts(client) - before
        return {
            "deadline_late_ms": round(max(seen["late_ms"]), 1),
            "status_p50_ms": round(sorted(seen["status_ms"])[len(seen["status_ms"]) // 2], 1),
            "status_p99_ms": round(sorted(seen["status_ms"])[int(len(seen["status_ms"]) * 0.99)], 1),
            "rss_mb": round(max(seen["rss_mb"]), 1),
            "killed": killed,
        }


def _restarts(client: Client) -> int:
    return sum(child.restarts for child in client.status().children)


def _probe(client: Client, display: str, seen: dict[str, list[float]]) -> None:
    """Ask for `status` again and again; in the middle of the flood a wait is to time out after its 3 s."""
    end_s = time.monotonic() + _FLOOD_S
    wait_id, due_utc_s = "", 0.0
    while time.monotonic() < end_s or wait_id:
        began_s = time.monotonic()
        client.status()
        seen["status_ms"].append((time.monotonic() - began_s) * 1000)
        if not wait_id and time.monotonic() < end_s:
            wait = client.wait_create(Stable(3600.0), display=display, timeout_s=_DEADLINE_S).wait
            wait_id, due_utc_s = wait.wait_id, wait.created_utc_s + _DEADLINE_S
        elif wait_id and time.time() > due_utc_s:
            ended = client.wait_show(wait_id).wait
            if ended.ended_utc_s:
                seen["late_ms"].append(1000 * (ended.ended_utc_s - due_utc_s))
                wait_id = ""
        time.sleep(_PAUSE_S)


@contextlib.contextmanager
def _watching(daemon: Daemon) -> Iterator[dict[str, list[float]]]:
    """Sample the supervisor's resident memory for as long as the block runs."""
    seen: dict[str, list[float]] = {"rss_mb": [], "status_ms": [], "late_ms": []}
    over = threading.Event()

    def sample() -> None:
        while not over.wait(_SAMPLE_S):
            seen["rss_mb"].append(rss_mb(daemon.pid))

    watching = threading.Thread(target=sample)
    watching.start()
    try:
        yield seen
    finally:
        over.set()
        watching.join()


def rss_mb(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


@contextlib.contextmanager
def flooding(daemon: Daemon, flood: str) -> Iterator[None]:
    """Have that flood go on for as long as the block runs."""
    if flood == "calm":
        yield
        return
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.floods", flood], env=daemon.env)
    try:
        yield
        if process.poll() is not None:
            raise RuntimeError(f"the flood {flood} ended by itself")
    finally:
        process.kill()
        process.wait()


# ---- the floods, each in a process of its own ------------------------------------------------------------------------

_ANSWER = b"\x01\0\x02"
_GREETING = b"\xff" + bytes(7) + b"\x01\x7f\x03\x00" + b"NULL".ljust(52, b"\0")


def _ready(kind: bytes) -> bytes:
    body = b"\x05READY\x0bSocket-Type" + len(kind).to_bytes(4, "big") + kind + b"\x08Identity\0\0\0\0"
    return bytes([4, len(body)]) + body


def _frame(body: bytes, *, more: bool = False) -> bytes:
    return bytes([2 | more]) + len(body).to_bytes(8, "big") + body


def request(number: int, body: dict[str, Any]) -> bytes:
    """Return the bytes of a request."""
    packed: bytes = msgpack.packb({"v": 1, "id": f"flood-{os.getpid()}-{number}", "body": body})
    return _frame(b"", more=True) + _frame(packed)


class Raw:
    """A connection that is written to and read, or not, as a flood wants."""

    def __init__(self, path: Path, kind: bytes) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._socket.sendall(_GREETING + _ready(kind))
        self.answers = 0
        """About how many replies came: each has an empty part before it."""
        self.ended = False

    def send(self, data: bytes) -> None:
        """Write all of `data`."""
        self._socket.sendall(data)

    def read_on(self) -> None:
        """Read all that comes, in a thread."""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._socket.recv(1 << 20):
                self.answers += data.count(_ANSWER)
        self.ended = True

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def _again(once: Callable[[], None]) -> None:
    """Go on for as long as this process lives, also when the daemon ends a connection or takes none now."""
    while True:
        with contextlib.suppress(OSError):
            once()
        time.sleep(0.01)


def _pipelined(run: Path) -> None:
    """800 and more `wait_list` on one connection, all answers read."""

    def once() -> None:
        line = Raw(run / "control", b"DEALER")
        line.read_on()
        for number in range(1_000_000):
            line.send(request(number, {"type": "wait_list", "limit": 500}))

    _again(once)


def _vanishing(run: Path) -> None:
    """Clients that ask and go at once, so many a second."""
    began_s, number = time.monotonic(), 0
    while True:
        with contextlib.suppress(OSError):
            line = Raw(run / "control", b"REQ")
            line.send(request(number, {"type": "wait_list", "limit": 500}))
            line.close()
        number += 1
        time.sleep(max(0.0, began_s + number / _VANISHING_PER_S - time.monotonic()))


def _subscriptions(run: Path) -> None:
    def once() -> None:
        line = Raw(run / "events", b"SUB")
        line.read_on()
        for number in range(_SUBSCRIPTIONS):
            line.send(_frame(b"\x01" + f"{number:x}-".encode() + os.urandom(2000)))
        time.sleep(3600)

    _again(once)


def _short_subscriptions(run: Path) -> None:
    """Topics of a length that topics have."""

    def once() -> None:
        line = Raw(run / "events", b"SUB")
        line.read_on()
        for number in range(10_000_000):
            line.send(_frame(b"\x01" + f"{number:030x}".encode()))

    _again(once)


def _deaf(run: Path) -> None:
    """Clients that never read what they asked for."""

    def once() -> None:
        line = Raw(run / "control", b"DEALER")
        for number in range(1_000_000):
            line.send(request(number, {"type": "wait_list", "limit": 500}))

    for _ in range(30):
        threading.Thread(target=_again, args=(once,), daemon=True).start()
    time.sleep(3600)


def _large(run: Path) -> None:
    """Requests of a megabyte, on many connections."""
    body = {"type": "feed_post", "text": "x" * 1_000_000}

    def once() -> None:
        line = Raw(run / "control", b"DEALER")
        line.read_on()
        for number in range(1_000_000):
            line.send(request(number, body))

    for _ in range(30):
        threading.Thread(target=_again, args=(once,), daemon=True).start()
    time.sleep(3600)


def _parked(run: Path) -> None:
    """Long polls without end."""
    with Client(resolve(os.environ)) as client:
        wait_id = client.wait_list(limit=1).waits[0].wait_id

    def once() -> None:
        line = Raw(run / "control", b"DEALER")
        line.read_on()
        for number in range(1_000_000):
            line.send(request(number, {"type": "wait_result", "wait_id": wait_id, "block_s": 300.0}))

    _again(once)


FLOODS: dict[str, Callable[[Path], None]] = {
    "pipelined": _pipelined,
    "vanishing": _vanishing,
    "subscriptions": _subscriptions,
    "short_subscriptions": _short_subscriptions,
    "deaf": _deaf,
    "large": _large,
    "parked": _parked,
}


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    promised = ", ".join(f"{name} {most:g}" for name, most in _PROMISED.items())
    rows = [
        f"{name:20} deadline {f['deadline_late_ms']:9.1f} ms late, status p99 {f['status_p99_ms']:9.1f} ms, "
        f"{f['rss_mb']:7.1f} MiB, {f['killed']:g} killed"
        for name, f in figures.items()
    ]
    return "\n".join([*rows, f"promised at most: {promised}"])


if __name__ == "__main__":
    FLOODS[sys.argv[1]](resolve(os.environ).run)
