"""A real daemon for tests and benchmarks: its own ACU_HOME, its own processes, ended whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from acud.base.errors import Conflict, DaemonDown
from acud.base.paths import Paths, resolve
from acud_client import Client
from tests.fixtures.patience import LONG_S

_LOOK_S = 5.0
_HANGS_S = 300.0
"""A loaded machine may take a minute to bring a daemon as far as its socket: only one that ended, or that does not come
in this long, did not start."""


class Daemon:
    """A supervisor in a process of its own. `settings`: text of its acud.toml. `env`: on top of a bare environment.

    Use in `with`; `kill` and `start` may be called in between. `client` talks to it. `prefix`: a command that becomes
    the daemon (such as `nsenter …`, which keeps the pid). `end_s`: what its end may take.
    """

    def __init__(
        self,
        settings: str = "",
        env: dict[str, str] | None = None,
        home: Path | None = None,
        prefix: tuple[str, ...] = (),
        end_s: float = LONG_S,
    ) -> None:
        self._prefix = prefix
        self._end_s = end_s
        self._folder = tempfile.TemporaryDirectory(prefix="acud-test-") if home is None else None
        self.home = home if home is not None else Path(str(self._folder.name if self._folder else ""))
        self.home.mkdir(parents=True, exist_ok=True)
        if settings:
            (self.home / "acud.toml").write_text(settings, encoding="utf-8")
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.env = {**kept, "ACU_HOME": str(self.home), **(env or {})}
        self.paths: Paths = resolve(self.env)
        self.process: subprocess.Popen[bytes] | None = None
        self.client = Client(self.paths, timeout_s=LONG_S, patience_s=LONG_S)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self.client.close()
        if self.paths.terminals_socket.exists():  # terminal sessions outlive a daemon, and not a test
            subprocess.run(
                ["tmux", "-S", str(self.paths.terminals_socket), "kill-server"], check=False, stderr=subprocess.DEVNULL
            )
        if self._folder is not None:
            self._folder.cleanup()

    def start(self) -> None:
        """Start it and return once it answers; a failure to start raises with its last words."""
        reader, writer = os.pipe()
        self.process = subprocess.Popen(
            [*self._prefix, sys.executable, "-m", "acud.supervisor"],
            env=self.env,
            stdout=writer,
            stderr=writer,
            stdin=subprocess.DEVNULL,
        )
        os.close(writer)
        try:
            self._until_it_answers()
        except Exception as fault:
            self.kill()
            with os.fdopen(reader, "rb") as words:
                raise RuntimeError(
                    f"the daemon did not start: {words.read().decode()}\n{self.log()[-3000:]}"
                ) from fault
        os.close(reader)

    def _until_it_answers(self) -> None:
        assert self.process is not None
        give_up_s = time.monotonic() + _HANGS_S
        while True:
            lives = self.process.poll() is None
            try:
                with Client(self.paths, timeout_s=LONG_S, patience_s=_LOOK_S) as patient:
                    patient.status()
                return
            except DaemonDown:
                if not lives or time.monotonic() > give_up_s:
                    raise

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """End it in good order; killed when it does not end. What it left running is ended by a successor."""
        if self.process is None:
            self._clean_up_after_kill()
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(self._end_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.process = None

    def tidy(self) -> None:
        """Have it run without waits and displays, whatever a test has left."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        for wait in self.client.wait_list(limit=1000).waits:
            with suppress(Conflict):  # it has just ended
                self.client.wait_cancel(wait.wait_id)
        for display in self.client.display_list().displays:
            self.client.display_remove(display.name, force=True)

    def _clean_up_after_kill(self) -> None:
        if any(self.paths.displays.glob("*")):
            self.start()
            self.stop()

    def log(self) -> str:
        return self.paths.debug_log.read_text(encoding="utf-8") if self.paths.debug_log.exists() else ""
