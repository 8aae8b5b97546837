"""A capture process under test, and the supervisor's half of the conversation: rings made, everything said kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import zmq

from acud.frames.layout import Layout
from acud.frames.reader import RingReader
from acud.frames.ring import Ring
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap, CaptureOptions
from acud.protocol.capture import Attach, Demand, DisplayWindows, Follow, FromCapture, Notice, SourceHello
from acud.protocol.children import Fault, Heartbeat, Stop
from tests.fixtures.patience import LONG_S
from tests.integration.xserver import XServer

SLOTS = 4
ROOT = Path(__file__).parents[2]

M = TypeVar("M")


def program_after(statement: str) -> tuple[str, ...]:
    """Return what Python is to run so that a capture process does `statement` first."""
    return "-c", f"import runpy; {statement}; runpy.run_module('acud.capture', run_name='__main__')"


class CaptureRig:
    """Starts `python -m acud.capture` for `server` and answers its hellos with rings; it may start several in turn.

    `said` holds every message in order. `rings[source]` is the path of the newest ring. Nothing waits by sleeping.
    """

    program: tuple[str, ...] = ("-m", "acud.capture")
    """What Python is to run as the process."""

    def __init__(
        self,
        server: XServer,
        *,
        method: str = "auto",
        floor_s: float = 30.0,
        max_fps: float = 60.0,
        managed: bool = True,
    ) -> None:
        self.server = server
        self.said: list[Any] = []
        self.rings: dict[str, Path] = {}
        self.frames: dict[str, int] = {}
        self.grabs: dict[str, int] = {}
        self._owed: dict[str, Demand] = {}
        self.epoch = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.attach_ring: Callable[[SourceHello], None] = self.make_ring
        self.directory = Path(tempfile.mkdtemp(prefix="acud-test-c-"))
        self.shm = Path(tempfile.mkdtemp(prefix="acud-test-", dir="/dev/shm"))
        self.frames_endpoint = f"ipc://{self.directory}/frames"
        self._options = CaptureOptions(
            display=server.display, auth_file=server.auth_file, frames_endpoint=self.frames_endpoint,
            slots=SLOTS, max_fps=max_fps, floor_s=floor_s, method=method, managed=managed,
        )  # fmt: skip
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        self._socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self._socket.bind(f"ipc://{self.directory}/children")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.kill()
        self._context.destroy(linger=0)
        shutil.rmtree(self.directory)
        shutil.rmtree(self.shm)

    def start(self, heartbeat_s: float = 0.2, rests_s: float = 0.0) -> None:
        """Start a capture process, and wait until it says hello or what is wrong."""
        since = len(self.said)
        endpoint = f"ipc://{self.directory}/children"
        boot = Bootstrap(endpoint, "capture", os.getpid(), heartbeat_s, True, self._options, rests_s)
        self.process = subprocess.Popen([sys.executable, *self.program], stdin=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdin is not None
        self.process.stdin.write(codec.encode(boot))
        self.process.stdin.close()
        self.until(lambda m: isinstance(m, SourceHello | Fault), since)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    # ---- the supervisor's half --------------------------------------------------------------------------------------

    def make_ring(self, hello: SourceHello) -> None:
        self.epoch += 1
        path = self.shm / f"{hello.source.lstrip(':')}.{self.epoch}"
        Ring.create(path, Layout(hello.width, hello.height, SLOTS), self.epoch).close()
        previous = self.rings.get(hello.source)
        self.rings[hello.source] = path
        first = self.frames.get(hello.source, 0) + 1
        self.send(Attach(hello.source, str(path), self.epoch, first, str(previous) if previous else ""))
        if owed := self._owed.get(hello.source):
            self.send(owed)  # the source that it was asked of may have ended before it answered

    def send(self, message: Any) -> None:
        self._socket.send_multipart([b"capture", codec.encode(message)])

    def demand(self, fps: float, source: str = "") -> None:
        """Set the rate wanted of `source` (the display)."""
        source = source or self.server.display
        self.send(Demand(source, fps, self.grabs.get(source, 0)))

    def grab(self, source: str = "", fps: float = 0.0) -> Notice:
        """Ask for one frame now, and return the notice that answers."""
        self.demand_grab(source, fps)
        return self.grabbed(source)

    def demand_grab(self, source: str = "", fps: float = 0.0) -> None:
        source = source or self.server.display
        number = self.grabs[source] = self.grabs.get(source, 0) + 1
        self._owed[source] = Demand(source, fps, number)
        self.send(self._owed[source])

    def grabbed(self, source: str = "") -> Notice:
        """Return the notice that answers the newest `demand_grab`; it comes from now on."""
        source = source or self.server.display
        number = self.grabs[source]
        notice: Notice = self.until(lambda m: isinstance(m, Notice) and m.source == source and m.grab >= number)
        del self._owed[source]
        return notice

    def stop(self) -> None:
        self.send(Stop())

    def follow(self, *windows: int) -> None:
        self.send(Follow(windows))

    # ---- what it says -----------------------------------------------------------------------------------------------

    def take(self, timeout_s: float = LONG_S) -> Any:
        """Return the next message; hellos are answered on the way."""
        if not self._socket.poll(int(timeout_s * 1000)):
            raise TimeoutError(f"nothing said for {timeout_s} s; before: {self.said[-5:]}")
        message = codec.decode(self._socket.recv_multipart()[-1], FromCapture)
        self.said.append(message)
        if isinstance(message, SourceHello):
            self.attach_ring(message)
        if isinstance(message, Notice):
            self.frames[message.source] = max(self.frames.get(message.source, 0), message.frame)
        return message

    def until(self, holds: Callable[[Any], bool], since: int | None = None) -> Any:
        """Return the first message from now on (or from place `since` in `said`) for which `holds`."""
        for message in self.said[since:] if since is not None else ():
            if holds(message):
                return message
        deadline = time.monotonic() + LONG_S
        while True:
            message = self.take(deadline - time.monotonic())
            if holds(message):
                return message

    def hear(self, kind: type[M]) -> M:
        return self.until(lambda m: isinstance(m, kind))

    def windows_where(self, holds: Callable[[DisplayWindows], bool]) -> DisplayWindows:
        """Return the newest windows message for which `holds`, waiting for one."""
        last = next((m for m in reversed(self.said) if isinstance(m, DisplayWindows)), None)
        if last is not None and holds(last):
            return last
        return self.until(lambda m: isinstance(m, DisplayWindows) and holds(m))

    def settle(self) -> Heartbeat:
        """Return the second heartbeat from now: whatever was asked before has been taken in."""
        while self._socket.poll(0):
            self.take()
        self.hear(Heartbeat)
        return self.hear(Heartbeat)

    def reader(self, source: str = "") -> RingReader:
        """Return a reader of the newest ring of `source`; the caller closes it."""
        return RingReader(self.rings[source or self.server.display])
