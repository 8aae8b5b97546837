"""What a soak runs on: a daemon, a receiver of wakes, a judge's script, a clock, displays that are painted."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from acud.base.errors import AcudError
from acud.types import DisplayInfo
from acud_client import Client
from tests.e2e import faults
from tests.e2e.mounts import Ballast
from tests.fixtures.daemon import Daemon
from tests.fixtures.wake_receiver import ReceiverProcess
from tests.integration.xserver import XServer
from tests.soak.canvas import HEIGHT, WIDTH, Canvas, rules
from tests.soak.ledger import Asked, Ledger, now_s
from tests.soak.machine import StoreView, pids
from tests.soak.oracle import Taken

PATIENCE_S = 240.0
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
_LIMITS = {"child_silent_s": 8, "restart_limit": 10_000}


class Script:
    """The scripted judge's file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "script.json"
        self.set()

    def set(self, **script: Any) -> None:
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps({"rules": rules(), "default": "no", **script}))
        draft.replace(self.path)


class World:
    """Everything the steps work on. `ledger` hears of every call. Use in `with`."""

    def __init__(self, folder: Path, *, namespaced: bool) -> None:
        self.ledger = Ledger()
        self.folder, self.namespaced = folder, namespaced
        self.home = folder / "home"
        self.script = Script(folder)
        self.receiver = ReceiverProcess(folder)
        self.clock = folder / "clock"
        self.step_clock(0)
        self.daemon = Daemon(self._settings(), self._env(), home=self.home)
        self.adopted = XServer(WIDTH, HEIGHT)
        self.disk, self.shm = Ballast(self.home), Ballast(Path("/dev/shm"))
        self.store = StoreView(self.daemon.paths.database)
        self.canvases: dict[str, Canvas] = {}
        self.lock = threading.RLock()
        self.tasks: list[str] = []
        self._boot_ahead_s = now_s() - time.monotonic()

    def _settings(self) -> str:
        wake = {
            "routes": ["webhook"], "webhook_url": f"http://127.0.0.1:{self.receiver.port}/", "webhook_secret": "s",
            "retry_first_s": 0.1, "retry_max_s": 1.0, "http_timeout_s": 20, "remind_after_s": 0,
        }  # fmt: skip
        own = {"width": WIDTH, "height": HEIGHT, "start_deadline_s": 60}
        text = faults.settings(wake=wake, daemon=_LIMITS, display=own, evaluator={"workers": 2})
        return text + f'[vision]\nbackend = "scripted"\nscripted = "{self.script.path}"\ntimeout_s = 15\n'

    def _env(self) -> dict[str, str]:
        if not self.can_step_clock:
            return {}
        return {
            "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(self.clock), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
        }  # fmt: skip

    @property
    def can_step_clock(self) -> bool:
        """Tell whether the daemon's wall clock can be stepped: libfaketime is there, and what it leaves in /dev/shm
        is nobody else's."""
        return self.namespaced and FAKETIME.exists()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for part in (self.receiver, self.adopted, self.daemon):
                stack.enter_context(part)
            self.client = stack.enter_context(Client(self.daemon.paths, timeout_s=PATIENCE_S, patience_s=PATIENCE_S))
            stack.callback(self._close_canvases)
            self.adopt()
            self.base_display()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def _close_canvases(self) -> None:
        for canvas in self.canvases.values():
            canvas.close()

    # ---- displays ----

    def adopt(self) -> None:
        """Have the daemon watch the X server that is not its own."""
        self.paint(self.client.display_add(self.adopted.display, auth_file=self.adopted.auth_file).display)

    def base_display(self) -> str:
        for name in self.managed():
            return name
        return self.paint(self.client.display_create(WIDTH, HEIGHT).display)

    def paint(self, display: DisplayInfo) -> str:
        canvas = Canvas(display.name, display.auth_file)
        with self.lock:
            old = self.canvases.pop(display.name, None)
            self.canvases[display.name] = canvas
        if old is not None:
            old.close()
        return display.name

    def managed(self) -> list[str]:
        """Return the daemon's own displays that were not seen to break."""
        with self.lock:
            return [n for n, c in self.canvases.items() if n != self.adopted.display and not c.gone]

    def any_canvas(self, chance: Any) -> Canvas | None:
        """Return a canvas that can be painted, or None."""
        with self.lock:
            alive = [canvas for _, canvas in sorted(self.canvases.items()) if not canvas.gone]
        return chance.choice(alive) if alive else None

    def canvas(self, name: str) -> Canvas | None:
        with self.lock:
            return self.canvases.get(name)

    def forget(self, name: str) -> None:
        """A display is no more. Its canvas goes with it, which is a change of what was on the screen until then."""
        self.ledger.uproot(name)
        with self.lock:
            canvas = self.canvases.pop(name, None)
        if canvas is not None:
            canvas.close()

    # ---- calls ----

    @contextlib.contextmanager
    def call(self, step: int, request: str) -> Any:
        """Note a request and how it ended; a typed error goes no further."""
        began_s = now_s()
        code, words = "", ""
        try:
            yield
        except AcudError as fault:
            code, words = fault.code, str(fault)
        finally:
            self.ledger.ask(Asked(step, request, began_s, now_s(), code, words))

    def step_clock(self, offset_s: int) -> None:
        draft = self.clock.with_suffix(".new")
        draft.write_text(f"{offset_s:+d}\n")
        draft.replace(self.clock)

    def pid_of(self, kind: str, chance: Any) -> int:
        if kind == "receiver":
            return self.receiver.process.pid if self.receiver.process is not None else 0
        found = pids(self.daemon.paths, kind)
        return chance.choice(found) if found else 0

    def taken(self) -> list[Taken]:
        return [Taken(row["key"], row["at_s"] + self._boot_ahead_s, row["reminder"]) for row in self.receiver.taken()]
