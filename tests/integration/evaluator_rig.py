"""A real evaluator process for a test, spoken to as the supervisor does, and a ring it can look at."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
import zmq
from msgspec.structs import replace
from numpy.typing import NDArray

from acud.base.ids import new_id
from acud.config import PRICES, JobSettings, OcrSettings, RedactionSettings, VisionSettings
from acud.config.api_keys import ApiKey
from acud.config.backends import PREDEFINED, AnyBackend, predefined_backends
from acud.config.fleet import FleetSettings
from acud.frames.layout import Layout
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap, EvaluatorOptions
from acud.protocol.children import Heartbeat, Stop
from acud.protocol.evaluation import EvaluatorHello, FromEvaluator, Job, JobResult, Judges
from acud.protocol.questions import Ask, LeafAsk, PictureAsk, View
from acud.types import Rect, Until
from acud.waits import condition_tree
from tests.fixtures.patience import LONG_S

SOURCE = ":100"

Message = TypeVar("Message")


class PaintedRing:
    """A ring whose frames a test paints. A context manager."""

    def __init__(self, path: Path, width: int = 320, height: int = 200, epoch: int = 7, slots: int = 4) -> None:
        self.path, self.epoch = path, epoch
        self._ring = Ring.create(path, Layout(width, height, slots), epoch)
        self._writer = FrameWriter(self._ring)
        self.frame = 0
        self.pixels: NDArray[np.uint8] = np.zeros((height, width, 4), np.uint8)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._writer.close()
        self._ring.close()
        self._ring.unlink()

    def fill(self, box: Rect, rgb: tuple[int, int, int]) -> None:
        self.pixels[box.y : box.bottom, box.x : box.right, :3] = rgb[::-1]

    def publish(self) -> int:
        """Publish what was painted as the next frame and return its number."""
        slot = self._writer.begin()
        self._writer.arrays[slot][:] = self.pixels
        self.frame += 1
        changes = np.full(self._ring.layout.tiles, self.frame, np.uint64)
        self._writer.publish(slot, self.frame, 1_000 * self.frame, None, changes)
        return self.frame

    def job(
        self, *asks: Ask, crop: Rect | None = None, ignore: tuple[Rect, ...] = (), picture: PictureAsk | None = None
    ) -> Job:
        return Job(new_id("job"), View(SOURCE, crop, ignore), str(self.path), self.epoch, self.frame, asks, picture)


def ask(until: Until, *, wait_id: str = "w1", memo: tuple[str, ...] = (), **more: Any) -> Ask:
    """Return an ask for every leaf of `until` that an evaluator answers."""
    numbered = enumerate(condition_tree.leaves(until))
    asks = tuple(LeafAsk(index, memo) for index, leaf in numbered if not condition_tree.is_local(leaf))
    return Ask(wait_id, until, asks, **more)


class EvaluatorRig:
    """An evaluator as a child process, on a ROUTER of our own. A context manager that ends the child."""

    def __init__(
        self,
        home: Path,
        *,
        owns_ocr: bool = False,
        max_jobs: int = 64,
        ollama_url: str = "http://127.0.0.1:9",
        models: dict[str, AnyBackend] | None = None,
        keys: dict[str, ApiKey] | None = None,
        redaction: RedactionSettings | None = None,
        fleet_url: str = "",
        **vision: Any,
    ) -> None:
        self.evidence, self.spool = home / "evidence", home / "spool"
        for directory in (self.evidence, self.spool):
            directory.mkdir(parents=True, exist_ok=True)
        self._context: zmq.Context[Any] = zmq.Context()
        self.socket = self._context.socket(zmq.ROUTER)
        endpoint = f"ipc://{home / 'children'}"
        self.socket.bind(endpoint)
        options = EvaluatorOptions(
            VisionSettings(**{"connect_timeout_s": LONG_S} | vision),
            OcrSettings(),
            owns_ocr,
            str(self.evidence),
            str(self.spool),
            max_jobs,
            320,
            backends=models
            or predefined_backends() | {"ollama": replace(PREDEFINED["ollama"], url=ollama_url, tries=1)},
            keys=keys or {},
            prices=PRICES,
            redaction=redaction or RedactionSettings(),
            fleet=FleetSettings(url=fleet_url, host="alpha"),
            jobs=JobSettings(timeout_s=100),
        )
        self._bootstrap = Bootstrap(endpoint, "evaluator-1", os.getpid(), 1.0, False, options)
        self.received: list[Any] = []

    def __enter__(self) -> Self:
        self.child = subprocess.Popen([sys.executable, "-m", "acud.evaluator"], stdin=subprocess.PIPE)
        assert self.child.stdin is not None
        self.child.stdin.write(codec.encode(self._bootstrap))
        self.child.stdin.close()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.socket.close(linger=0)
        self._context.term()

    def send(self, message: Any) -> None:
        """Send to the evaluator; it must have said hello."""
        self.socket.send_multipart([b"evaluator-1", codec.encode(message)])

    def next(self, kind: type[Message], fits: Callable[[Message], bool] = lambda _: True) -> Message:
        """Return the next message of `kind` that fits, reading (and keeping in `received`) whatever comes before."""
        while self.socket.poll(LONG_S * 1000):
            _, data = self.socket.recv_multipart()
            message: Any = codec.decode(data, FromEvaluator)  # type: ignore[arg-type]
            self.received.append(message)
            if isinstance(message, kind) and fits(message):
                return message
        raise AssertionError(f"no {kind.__name__} within {LONG_S} s; got {self.received}")

    def ready(self) -> Self:
        """Wait until the evaluator has said hello and its judges."""
        self.next(EvaluatorHello)
        self.next(Judges)
        return self

    def run(self, job: Job) -> JobResult:
        """Send `job` and return its result, its parts put together in the order of the asks."""
        self.send(job)
        parts = [self.next(JobResult, lambda result: result.job_id == job.job_id)]
        while parts[-1].status == "part":
            parts.append(self.next(JobResult, lambda result: result.job_id == job.job_id))
        order = [ask.wait_id for ask in job.asks]
        answered = sorted((one for part in parts for one in part.answered), key=lambda one: order.index(one.wait_id))
        return replace(parts[-1], answered=tuple(answered))

    def beat(self, fits: Callable[[Heartbeat], bool]) -> Heartbeat:
        return self.next(Heartbeat, fits)

    def stop(self) -> int:
        self.send(Stop())
        return self.child.wait(LONG_S)
