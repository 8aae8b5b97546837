"""The watchers of `scripts/bench peers`, each in a process of its own, and what they and what serves them cost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tests.bench import _peer_watchers
from tests.bench._many_cost import cpu_s
from tests.bench._peer_screen import LAMP, LAMP_GREEN
from tests.bench._process import family
from tests.fixtures import gptme_package
from tests.fixtures.daemon import Daemon
from tests.integration.xserver import XServer

NAMES = ("floor", "acud", "mss", "python-xlib", "gptme")
READERS = ("acud", "rapidocr", "tesseract")
"""Those that wait for a text."""
_ROOT = Path(__file__).parents[2]
_GPTME = _ROOT / ".state" / "gptme"
_ANSWER_S = 120


class Absent(Exception):
    """A peer that can't take part here; the message says why."""


class Seat:
    """A watcher at work. `server_pid`: the X server's; `daemon_pid`: of the daemon that works for it, 0 for none."""

    def __init__(self, command: list[str], env: dict[str, str], server_pid: int, daemon_pid: int = 0) -> None:
        self._process = subprocess.Popen(
            command, env=env, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._server, self._daemon = server_pid, daemon_pid
        self._own_s = 0.0
        try:
            self.answer()
        except RuntimeError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def order(self, do: str, **words: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **words}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return its next answer. Raises: RuntimeError when it has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the watcher ended with {self._process.wait(_ANSWER_S)}")
        words: dict[str, Any] = json.loads(line)
        self._own_s = words["cpu_s"]
        return words

    def used_s(self) -> tuple[float, float]:
        """Return CPU seconds so far: of the watcher (with its programs and its daemon), and of the X server."""
        daemon = cpu_s(family(self._daemon)) if self._daemon else 0.0
        return self._own_s + daemon, cpu_s([self._server])

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def seat(name: str, server: XServer) -> Iterator[Seat]:
    """Yield the watcher `name` of that display, ready. Raises: Absent."""
    with tempfile.TemporaryDirectory(prefix="acud-bench-peer-") as home:
        python, env = sys.executable, _env(server, home)
        if name == "gptme":
            python = str(gptme_folder() / "python")
        elif name == "tesseract" and shutil.which("tesseract") is None:
            raise Absent("tesseract-ocr is not installed")
        elif name in READERS:
            env["PYTHONPATH"] = str(_ROOT)  # the readers are the OCR set's
        command = [python, _peer_watchers.__file__, name, server.display]
        if name == "acud":
            with Daemon(settings=_settings()) as daemon:
                daemon.client.display_add(server.display, auth_file=server.auth_file)
                with Seat(command, {**env, "ACU_HOME": str(daemon.home)}, server.pid, daemon.pid) as one:
                    yield one
            return
        with Seat(command, env, server.pid) as one:
            yield one


def _env(server: XServer, home: str) -> dict[str, str]:
    shown = {"DISPLAY": server.display, "XAUTHORITY": server.auth_file}
    return {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", **shown}


def gptme_folder() -> Path:
    """Return the programs of gptme's environment, made at the first run."""
    if shutil.which("scrot") is None:
        raise Absent("scrot, which gptme takes its screenshots with, is not installed: scripts/setup --test")
    try:
        return gptme_package.install(_GPTME)
    except gptme_package.NotInstallable as fault:
        raise Absent(str(fault)) from None


def _settings() -> str:
    x, y = LAMP[0] + LAMP[2] // 2, LAMP[1] + LAMP[3] // 2
    green = "#{:02x}{:02x}{:02x}".format(*LAMP_GREEN)
    rules = [{"pixel": [x, y, green], "answer": "yes"}]
    script = json.dumps({"delay_ms": _peer_watchers.JUDGE_S * 1000, "rules": rules, "default": "no"})
    return f"[vision]\nbackend = \"scripted\"\nscripted = '{script}'\n"
