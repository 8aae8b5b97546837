"""LiteLLM's proxy on loopback, in an environment of its own that is made from the lock beside this file."""

from __future__ import annotations

import os
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
KEY = "sk-gateway-0123456789"
_READY_S = 120.0


class Gateway:
    """The proxy in a `with`; `url` is its address and `KEY` opens it."""

    def __init__(self, folder: Path) -> None:
        self._python = environment(HERE)
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
