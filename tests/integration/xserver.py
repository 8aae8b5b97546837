"""A real, private X server for a test: `with XServer() as server: …`. Closing twice is harmless.

It never listens on TCP, and asks for a MIT cookie (FamilyLocal, host name, empty number: the entry that libX11 and
python-xlib both match). Its number is drawn at random: with `-displayfd` Xvfb takes no lock file, and servers of tests
that run at once would fight for the lowest number's socket.
"""

from __future__ import annotations

import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from acud.supervisor.displays import numbers
from tests.fixtures.numbers import own_number
from tests.fixtures.patience import LONG_S

_TRIES = 5
_FAMILY_LOCAL = 256  # Xauth.h
_COOKIE = b"MIT-MAGIC-COOKIE-1"


def xauthority_entry(cookie: bytes, *, family: int = _FAMILY_LOCAL, address: bytes = b"", number: bytes = b"") -> bytes:
    """Return one entry of an Xauthority file (Xau(3): big-endian family, then counted address, number, name, data)."""
    fields = (address, number, _COOKIE, cookie)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(f)) + f for f in fields)


class XServer:
    """An Xvfb of `width` x `height` x `depth`; `extra` arguments go to it as they are.

    `display` (such as `:7`), `auth_file` and `pid` are valid while it runs. `env()` is what its clients need.
    """

    def __init__(self, width: int = 640, height: int = 480, depth: int = 24, extra: Sequence[str] = ()) -> None:
        self._geometry = f"{width}x{height}x{depth}"
        self._extra = tuple(extra)
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._clients: list[subprocess.Popen[bytes]] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.display = ""
        self.auth_file = ""

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def __enter__(self) -> Self:
        self._directory = tempfile.TemporaryDirectory(prefix="acud-test-x-")
        auth = Path(self._directory.name, "Xauthority")
        auth.write_bytes(xauthority_entry(secrets.token_bytes(16), address=socket.gethostname().encode()))
        self.auth_file = str(auth)
        self._start()
        return self

    def _start(self) -> None:
        for _ in range(_TRIES):
            number = own_number()
            if self._answers(number):
                self.display = f":{number}"
                return
        log = Path(self.auth_file).with_name("log").read_text()
        self.close()
        raise RuntimeError(f"no Xvfb came up in {_TRIES} tries: {log}")

    def _answers(self, number: int, uid: int | None = None) -> bool:
        """Start a server of that number; False when it ended at once (mostly: the number is taken)."""
        ours, theirs = os.pipe()
        doors = ["-auth", self.auth_file] if uid is None else ["-ac"]
        with Path(self.auth_file).with_name("log").open("wb") as out:
            self.process = subprocess.Popen(
                ["Xvfb", f":{number}", "-displayfd", str(theirs), "-screen", "0", self._geometry, *doors,
                 "-nolisten", "tcp", "-noreset", *self._extra],
                pass_fds=(theirs,), stdin=subprocess.DEVNULL, stdout=out, stderr=out, user=uid, group=uid,
            )  # fmt: skip
        os.close(theirs)
        is_up = _read_line(ours).endswith(b"\n")
        os.close(ours)
        if not is_up:
            _end(self.process)
        return is_up

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the clients started here and the server, and remove its directory."""
        for process in [*reversed(self._clients), *([self.process] if self.process else [])]:
            _end(process)
        self._clients.clear()
        if self.display:
            numbers.clear(int(self.display.lstrip(":")))  # a killed server's socket would stay
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self, uid: int | None = None) -> None:
        """Start a server of the same number in place of the killed one: of the same cookie, or as the user `uid`, who
        lets everybody in. Only root can name a user.
        """
        number = int(self.display.lstrip(":"))
        numbers.clear(number)  # the file of a killed one would be in another user's way
        if not self._answers(number, uid):
            raise RuntimeError(f"Xvfb {self.display} does not come back")

    def env(self) -> dict[str, str]:
        """Return this process's environment with DISPLAY and XAUTHORITY for this server."""
        return {**os.environ, "DISPLAY": self.display, "XAUTHORITY": self.auth_file}

    def launch(self, *command: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a client of this server; it is ended with the server."""
        process = subprocess.Popen(
            command, env={**self.env(), **(env or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._clients.append(process)
        return process


def _read_line(pipe: int) -> bytes:
    """Read up to the newline. Xvfb writes number and newline apart, and ends when the pipe closes in between."""
    said = b""
    while not said.endswith(b"\n") and select.select([pipe], [], [], LONG_S)[0]:
        part = os.read(pipe, 32)
        if not part:
            break
        said += part
    return said


def _end(process: subprocess.Popen[bytes]) -> None:
    """Have it end in good order (Xvfb then removes its socket), by force when it won't."""
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
