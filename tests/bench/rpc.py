"""The control socket: round trips of `status`, durable creations of waits by sixteen clients, and judgements.

`status_x`: over the round trip of the same bytes through a REQ and a ROUTER socket with msgpack, in turns with it.
`judgement_us`: CPU of the supervisor for each judgement, as more and more waits judge the same frames.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import msgspec
import zmq

from acud.base.paths import resolve
from acud.types import Stable
from acud_client import Client
from tests.bench.displays import supervisor_us_per_judgement
from tests.fixtures.daemon import Daemon

_SETTINGS = "[evaluator]\nworkers = 1\n"
_STATUS_CALLS, _TURNS = 200, 10
_CLIENTS = 16
_CREATES_EACH = 60
_SYNCS = 200
_LOADED_CLIENTS = 20
_LOADED_WAITS_EACH = 50
_LOADED_TASKS_EACH = 5
_LOADED_CALLS_EACH = 100


def run() -> dict[str, Any]:
    with Daemon(settings=_SETTINGS) as daemon:
        daemon.client.display_create(64, 64)
        status_us, echo_us = _status(daemon.client)
        sync_ms = _fdatasync(daemon.home)
        created = _creates(daemon)
    with Daemon(settings=_SETTINGS) as daemon:
        daemon.client.display_create(64, 64)
        loaded_ms = _loaded(daemon)
        return {
            "status_p50_us": round(statistics.median(status_us), 1),
            "status_p99_us": round(sorted(status_us)[int(len(status_us) * 0.99)], 1),
            "echo_p50_us": round(statistics.median(echo_us), 1),
            "status_x": round(statistics.median(status_us) / statistics.median(echo_us), 2),
            "judgement_us": supervisor_us_per_judgement(),
            "create_per_s": round(created, 1),
            "fdatasync_p50_ms": round(sync_ms, 3),
            "clients": _CLIENTS,
            "loaded_p50_ms": round(statistics.median(loaded_ms), 2),
            "loaded_p99_ms": round(loaded_ms[int(len(loaded_ms) * 0.99)], 2),
            "loaded_waits": _LOADED_CLIENTS * _LOADED_WAITS_EACH,
            "loaded_tasks": _LOADED_CLIENTS * _LOADED_TASKS_EACH,
            "loaded_calls": len(loaded_ms),
        }


def _status(client: Client) -> tuple[list[float], list[float]]:
    """Return how long a `status` and an echo of its bytes took, both in turns."""
    reply = msgspec.msgpack.encode(client.status())
    request = msgpack.packb({"v": 1, "id": "req-" + "0" * 22, "kind": "status", "body": {}})
    command = [sys.executable, "-m", "tests.bench.rpc", "echo"]
    status_us, echo_us = [], []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as echo, zmq.Context() as context:
        assert echo.stdin is not None
        assert echo.stdout is not None
        echo.stdin.write(reply)
        echo.stdin.close()
        with context.socket(zmq.REQ) as socket:
            socket.connect(echo.stdout.readline().decode().strip())

            def echoed() -> None:
                socket.send(request)
                msgpack.unpackb(socket.recv())

            for _ in range(_TURNS):
                status_us += _times_us(client.status)
                echo_us += _times_us(echoed)
        echo.terminate()
    return status_us, echo_us


def _times_us(call: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(_STATUS_CALLS):
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1e6)
    return times


def _echo() -> None:
    """Answer each request with what standard input holds, decoded and encoded each time."""
    reply = msgpack.unpackb(sys.stdin.buffer.read())
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket, tempfile.TemporaryDirectory() as folder:
        socket.bind(f"ipc://{folder}/echo")
        sys.stdout.write(f"ipc://{folder}/echo\n")
        sys.stdout.flush()
        while True:
            *address, request = socket.recv_multipart()
            msgpack.unpackb(request)
            socket.send_multipart([*address, msgpack.packb(reply)])


def _fdatasync(folder: Path) -> float:
    times = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def _creates(daemon: Daemon) -> float:
    """Return creations per second: every client is a process of its own; all begin at one sign."""
    began, outputs = _clients(daemon, _CLIENTS, "create")
    return len(outputs) * _CREATES_EACH / (time.perf_counter() - began)


def _loaded(daemon: Daemon) -> list[float]:
    """Return, sorted, how long calls took while twenty clients at once keep a thousand waits and a hundred tasks."""
    _, outputs = _clients(daemon, _LOADED_CLIENTS, "load")
    times = sorted(float(word) for output in outputs for word in output.split())
    if len(times) != _LOADED_CLIENTS * _LOADED_CALLS_EACH:
        raise RuntimeError(f"{len(times)} replies came")
    return times


def _clients(daemon: Daemon, count: int, role: str) -> tuple[float, list[str]]:
    """Run `count` client processes in `role`; return when the sign to begin was given, and what they wrote."""
    clients = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.rpc", role],
            env=daemon.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(count)
    ]
    for client in clients:
        assert client.stdout is not None
        client.stdout.readline()
    began = time.perf_counter()
    outputs = [client.communicate()[0].decode() for client in _begin(clients)]
    if any(client.returncode for client in clients):
        raise RuntimeError("a client failed")
    return began, outputs


def _begin(clients: list[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    for client in clients:
        assert client.stdin is not None
        client.stdin.close()
        client.stdin = None
    return clients


def _client(role: str) -> None:
    with Client(resolve(os.environ)) as client:
        client.status()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
        if role == "create":
            _arm(client, _CREATES_EACH, "")
        else:
            _keep_busy(client)


def _arm(client: Client, count: int, task_id: str) -> list[str]:
    return [client.wait_create(Stable(3600.0), timeout_s=7200.0, task_id=task_id).wait.wait_id for _ in range(count)]


def _keep_busy(client: Client) -> None:
    waits: list[str] = []
    for number in range(_LOADED_TASKS_EACH):
        task = client.task_register(f"task {number}", ["one", "two"], isolated_display=False).view.task
        waits += _arm(client, _LOADED_WAITS_EACH // _LOADED_TASKS_EACH, task.task_id)
    for number in range(_LOADED_CALLS_EACH):
        began = time.perf_counter()
        client.wait_show(waits[number % len(waits)])
        sys.stdout.write(f"{(time.perf_counter() - began) * 1000} ")
        time.sleep(0.02)


def table(figures: dict[str, Any]) -> str:
    return (
        f"status          p50 {figures['status_p50_us']:.0f} us, p99 {figures['status_p99_us']:.0f} us; an echo "
        f"{figures['echo_p50_us']:.0f} us: {figures['status_x']} x (target 3)\n"
        f"a judgement     {figures['judgement_us']:.0f} us of the supervisor's CPU (target 350)\n"
        f"wait_create     {figures['create_per_s']:.0f}/s durable, {figures['clients']} clients (target 800); "
        f"fdatasync here {figures['fdatasync_p50_ms']} ms\n"
        f"under load      p50 {figures['loaded_p50_ms']} ms, p99 {figures['loaded_p99_ms']} ms (target 20): "
        f"{figures['loaded_waits']} waits and {figures['loaded_tasks']} tasks, {figures['loaded_calls']} calls"
    )


if __name__ == "__main__":
    if sys.argv[1] == "echo":
        _echo()
    else:
        _client(sys.argv[1])
