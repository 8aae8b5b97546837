"""A real, private X server for a test: `with XServer() as server: …`. Closing twice is harmless.

Xvfb picks a free number itself (`-displayfd`), never listens on TCP, and asks for a MIT cookie (FamilyLocal, host name,
empty number: the entry that libX11 and python-xlib both match).
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

START_DEADLINE_S = 60
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
        """The server's process id."""
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
        ours, theirs = os.pipe()
        log = Path(self.auth_file).with_name("log")
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                ["Xvfb", "-displayfd", str(theirs), "-screen", "0", self._geometry, "-auth", self.auth_file,
                 "-nolisten", "tcp", "-noreset", *self._extra],
                pass_fds=(theirs,), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
        os.close(theirs)
        try:
            self.display = f":{self._read_number(ours, log)}"
        finally:
            os.close(ours)

    def _read_number(self, pipe: int, log: Path) -> int:
        if not select.select([pipe], [], [], START_DEADLINE_S)[0]:
            self.close()
            raise TimeoutError(f"Xvfb said no display number in {START_DEADLINE_S} s: {log.read_text()}")
        line = os.read(pipe, 32)
        if not line.strip():
            text = log.read_text()
            self.close()
            raise RuntimeError(f"Xvfb ended at its start: {text}")
        return int(line)

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the clients started here and the server, and remove its directory."""
        for process in [*reversed(self._clients), *([self.process] if self.process else [])]:
            process.kill()
            process.wait()
        self._clients.clear()
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

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
