"""Calls one short program through the loop: its output, or why there is none, in bounded time and size."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from typing import IO

from msgspec import Struct

from acud.base.errors import Unavailable
from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import Callback, sleep
from acud.supervisor.displays.watched_process import WatchedProcess

_MAX_BYTES = 4 << 20
_PART = 1 << 16


class CallResult(Struct, frozen=True):
    """What a program printed, and the first line of its complaint when it failed (else "")."""

    output: str
    complaint: str = ""


Done = Callable[[CallResult], None]


class ProgramCall:
    """A running program; `on_done` is called once, when it has ended or was killed for taking too long.

    Raises: Unavailable when it cannot be started.
    """

    def __init__(
        self,
        loop: EventLoop,
        command: list[str],
        env: Mapping[str, str],
        timeout_s: float,
        on_done: Done,
        stdin: bytes = b"",
    ) -> None:
        """`stdin`: its standard input."""
        self._loop, self._done = loop, on_done
        self._late = ""
        self._output = bytearray()
        self._child = _start_program(command, env, stdin)
        self._pipes = [_set_nonblocking(self._child.stdout), _set_nonblocking(self._child.stderr)]
        loop.watch(self._pipes[0], self._read_output)
        self._process = WatchedProcess(loop, self._child.pid, self._on_exit, self._child)
        self._timer = loop.call_later(timeout_s, lambda: self._kill(f"it did not answer within {timeout_s:g} s"))

    def _read_output(self) -> None:
        part = _read_available(self._pipes[0])
        self._output += part
        if not part:
            self._loop.unwatch(self._pipes[0])
        elif len(self._output) > _MAX_BYTES:
            self._kill(f"it printed more than {_MAX_BYTES} bytes")

    def _kill(self, reason: str) -> None:
        self._late = self._late or reason
        self._process.send(signal.SIGKILL)

    def _on_exit(self, process: WatchedProcess, reason: str) -> None:
        self._timer.cancel()
        while len(self._output) <= _MAX_BYTES and (part := _read_available(self._pipes[0])):
            self._output += part
        complaint = _read_available(self._pipes[1]).decode("utf-8", "replace").strip().partition("\n")[0]
        self._loop.unwatch(self._pipes[0])
        for stream in (self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()
        failed = self._child.returncode != 0
        problem = self._late or (complaint or reason if failed else "")
        self._done(CallResult(self._output.decode("utf-8", "replace"), problem))


async def run_program(
    loop: EventLoop, command: list[str], env: Mapping[str, str], timeout_s: float, stdin: bytes = b""
) -> CallResult:
    """Return what `command` printed; a failure to start it is a complaint too, in a later turn."""
    try:
        return await Callback[CallResult](lambda done: ProgramCall(loop, command, env, timeout_s, done, stdin))
    except Unavailable as fault:
        await sleep(loop, 0.0)
        return CallResult("", fault.message)


def _start_program(command: list[str], env: Mapping[str, str], stdin: bytes) -> subprocess.Popen[bytes]:
    try:
        with os.fdopen(os.memfd_create("stdin"), "w+b") as file:  # a pipe would block beyond 64 KiB
            file.write(stdin)
            file.seek(0)
            return subprocess.Popen(
                command,
                env=dict(env),
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                cwd="/",
            )
    except OSError as fault:
        raise Unavailable(
            f"cannot start {command[0]}: {fault.strerror}", hint="is it installed, and in PATH?"
        ) from fault


def _set_nonblocking(stream: IO[bytes] | None) -> int:
    assert stream is not None
    os.set_blocking(stream.fileno(), False)
    return stream.fileno()


def _read_available(pipe: int) -> bytes:
    try:
        return os.read(pipe, _PART)
    except BlockingIOError:
        return b""
