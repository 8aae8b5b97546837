"""LiteLLM's proxy on loopback, in an environment of its own that is made from the lock beside this file."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.ports import free_port

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HOME = ROOT / ".state" / "gateway"
KEY = "sk-gateway-0123456789"
_READY_S = 120.0


def environment() -> Path:
    """Return the proxy's interpreter, its environment made anew when the lock changed."""
    lock = HERE / "requirements.lock"
    stamp, wanted = HOME / ".lock", hashlib.sha256(lock.read_bytes()).hexdigest()
    python = HOME / "bin" / "python"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    uv = [str(ROOT / ".tools" / "bin" / "uv")]
    env = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1", "UV_NO_PROGRESS": "1"}
    subprocess.run([*uv, "venv", "--no-config", "-q", "--clear", "-p", sys.executable, str(HOME)], env=env, check=True)
    install = ["pip", "install", "--no-config", "-q", "-p", str(python), "--require-hashes", "-r", str(lock)]
    subprocess.run([*uv, *install], env=env, check=True)
    stamp.write_text(wanted)
    return python


class Gateway:
    """The proxy in a `with`; `url` is its address and `KEY` opens it."""

    def __init__(self, folder: Path) -> None:
        self._python = environment()
        self._folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        bare = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        env = {
            **bare,
            "HOME": str(self._folder),
            "LITELLM_MASTER_KEY": KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches a list of prices at its start
            "LITELLM_TELEMETRY": "False",
        }
        self._log = (self._folder / "gateway.log").open("wb")
        command = [str(self._python.with_name("litellm")), "--config", str(HERE / "proxy.yaml")]
        command += ["--host", "127.0.0.1", "--port", str(self._port), "--telemetry", "False"]
        self._process = subprocess.Popen(command, env=env, cwd=self._folder, stdout=self._log, stderr=self._log)
        self._wait()
        return self

    def _wait(self) -> None:
        end = time.monotonic() + _READY_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health/liveliness", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        log = (self._folder / "gateway.log").read_text(errors="replace")
        self.__exit__(None, None, None)
        raise AssertionError(f"the gateway did not start: {log[-3000:]}")

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
