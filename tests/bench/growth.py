"""What stays in memory: the supervisor's over one kind of work repeated, and an OCR engine's over lines of all widths.

Resident megabytes of 10^6 bytes (`rss_mb`); what an engine holds is read before and after `give_back`.
"""

from __future__ import annotations

import functools
import itertools
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.memory import give_back, keep_freed_memory
from acud.evaluator.ocr.engine import Bgr
from acud.evaluator.ocr.rapid import RapidEngine
from acud.process.child_process import rss_mb as own_rss_mb
from acud.types import Criteria, WindowTitle
from acud_client import Client
from tests.bench._model import scripted_settings
from tests.bench._process import rss_mb
from tests.fixtures.daemon import Daemon

_BARE = '[display]\nwindow_manager = "none"\nsession_bus = false\n'
_TIMES = {"waits cancelled": 4000, "waits resolved": 4000, "tasks": 3000, "clients": 400}
_QUICK = 20
_READS = 60


def run(*, quick: bool = False) -> dict[str, Any]:
    """Return the supervisor's megabytes after each tenth of the work, by kind, and the engine's."""
    times = {kind: count // _QUICK if quick else count for kind, count in _TIMES.items()}
    return {"times": times, "supervisor_mb": {kind: _grown(kind, count) for kind, count in times.items()}, **_engine()}


def _grown(kind: str, count: int) -> list[float]:
    with Daemon(settings=scripted_settings() + _BARE) as daemon:
        display = daemon.client.display_create(320, 240).display.name
        work = functools.partial(_WORK[kind], daemon, display)
        found = []
        for _ in range(10):
            for _ in itertools.repeat(None, count // 10):
                work()
            found.append(round(rss_mb([daemon.pid]), 1))
        return found


def _cancelled(daemon: Daemon, display: str) -> None:
    wait = daemon.client.wait_create(Criteria("never"), display=display, timeout_s=600.0).wait
    daemon.client.wait_cancel(wait.wait_id)


def _resolved(daemon: Daemon, display: str) -> None:
    wait = daemon.client.wait_create(WindowTitle("there is none", gone=True), display=display, timeout_s=600.0).wait
    daemon.client.wait_result(wait.wait_id, block_s=10.0)


def _task(daemon: Daemon, display: str) -> None:
    task = daemon.client.task_register("grows", ["one", "two"]).view.task
    daemon.client.task_update(task.task_id, message="going on")
    daemon.client.task_delete(task.task_id)


def _client(daemon: Daemon, display: str) -> None:
    with Client(daemon.paths, timeout_s=60.0, patience_s=60.0) as client, client.events(topic="wait.") as stream:
        client.wait_list()
        stream.next(timeout_s=0.01)


_WORK: dict[str, Callable[[Daemon, str], None]] = {
    "waits cancelled": _cancelled, "waits resolved": _resolved, "tasks": _task, "clients": _client,
}  # fmt: skip


def _engine() -> dict[str, Any]:
    """Read lines in this process as an evaluator does: `kept_mb` after them, `given_back_mb` after `give_back` too."""
    keep_freed_memory()
    engine, chance = RapidEngine(), random.Random(1)
    give_back()
    kept, given, took_ms = [], [], []
    loaded = own_rss_mb()
    for _ in range(4):
        for _ in range(_READS // 4):
            engine.recognise([_line(chance.randrange(40, 300)) for _ in range(chance.randrange(1, 8))])
            engine.detect([_line(chance.randrange(64, 320), chance.randrange(64, 224))])
        kept.append(round(own_rss_mb(), 1))
        began_s = time.perf_counter()
        give_back()
        took_ms.append(1000 * (time.perf_counter() - began_s))
        given.append(round(own_rss_mb(), 1))
    return {
        "engine_loaded_mb": round(loaded, 1),
        "engine_kept_mb": kept,
        "engine_given_back_mb": given,
        "give_back_ms": round(statistics.median(took_ms), 1),
    }


def _line(width: int, height: int = 24) -> Bgr:
    picture = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(picture).text(
        (2, 2), "word " * (width // 40), fill="black", font=ImageFont.truetype("DejaVuSans.ttf", 16)
    )
    return np.asarray(picture)


def table(figures: dict[str, Any]) -> str:
    lines = [
        f"{kind}, {figures['times'][kind]} times, supervisor MB after each tenth: {' '.join(map(str, found))}"
        for kind, found in figures["supervisor_mb"].items()
    ]
    lines.append(
        f"engine, MB: loaded {figures['engine_loaded_mb']}; after lines of all widths {figures['engine_kept_mb']}; "
        f"given back {figures['engine_given_back_mb']}, in {figures['give_back_ms']} ms"
    )
    return "\n".join(lines)
