"""llama.cpp's server on loopback, in an environment of its own that is made from the lock beside this file."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.fixtures.environments import environment
from tests.fixtures.ports import free_port

HERE = Path(__file__).parent
KEY = "sk-llama-0123456789abcdef"
MODEL = "eye"
_READY_S = 60.0


class LlamaServer:
    """The server in a `with`; it may be halted, killed and started again in between. `url` is its address.

    It takes pictures if it `sees`, and `context` tokens in a call.
    """

    def __init__(self, folder: Path, *, sees: bool = True, context: int = 4096) -> None:
        self._python = environment(HERE)
        self._folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self._how = [str(self._port), KEY, str(context), *([str(folder / "mmproj.gguf")] if sees else [])]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def start(self) -> None:
        """Start it and return once it has its model."""
        bare = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        command = [str(self._python), str(HERE / "program.py"), str(self._folder), *self._how]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, env=bare | {"HOME": str(self._folder)}, stdout=log, stderr=log)
        end = time.monotonic() + _READY_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.kill()
        raise AssertionError(f"llama.cpp's server did not start: {self.log()[-3000:]}")

    @property
    def _log(self) -> Path:
        return self._folder / f"server-{self._port}.log"

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def halt(self) -> None:
        """Make it stand still: it takes connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """End it at once; killing twice is harmless."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def has_unread(self) -> bool:
        """Tell whether a request has come that the halted server has not read (proc(5), /proc/net/tcp)."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
        mine = f":{self._port:04X}"
        return any(row[1].endswith(mine) and row[3] == "01" and not row[4].endswith(":00000000") for row in rows)

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.kill()
