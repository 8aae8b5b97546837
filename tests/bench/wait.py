"""From a real repaint to the resolved event at a client: waits on one display whose judge, over HTTP, takes 200 ms.

`over_ms` is what acud adds to the judge; `after_answer_ms` is the time from the model's YES to the event at the client.
The parts (a notice, the JPEG, a POST of it over loopback, one fdatasync) are measured alone in the same run, each after
half a second of rest, since a wait's comes after seconds of rest and caches are cold then; `hot_ms` is without rest.
`overhead_x` is what acud adds to the judge over their sum, `local_x` a wait for a change over the notice.
"""

from __future__ import annotations

import base64
import io
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.protocol.events import Event
from acud.types import Change, Criteria
from acud_client import Client
from tests.bench import encode, notice
from tests.bench._model import ModelProcess
from tests.bench._process import CpuShare, family, rss_mb
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import LAMP, Painter

JUDGE_MS = 200
_QUIET_S = 2.2
_ROUNDS = {1: 16, 8: 6, 32: 4, 128: 3}
_QUICK_ROUNDS = {1: 6, 8: 2, 32: 2, 128: 1}
_LOCAL_ROUNDS, _QUICK_LOCAL_ROUNDS = 16, 6
_TRIES, _QUICK_TRIES = 16, 7
_REST_S = 0.5


class _Latency(NamedTuple):
    """Milliseconds until a wait's event: from the repaint; and from the model's answer, where one was asked."""

    painted: float
    answered: float


def run(*, quick: bool = False) -> dict[str, Any]:
    figures: dict[str, Any] = {"judge_ms": JUDGE_MS}
    with ModelProcess(JUDGE_MS) as model:
        with Daemon(settings=model.settings) as daemon:
            display = daemon.client.display_create(1280, 720).display
            painter = Painter(display)
            bench = _Bench(daemon, painter, display.name, model)
            try:
                shown = Image.open(io.BytesIO(daemon.client.look(display=display.name).image)).convert("RGBX")
                for count, rounds in (_QUICK_ROUNDS if quick else _ROUNDS).items():
                    figures[f"n{count}"] = bench.judged(count, rounds)
                figures["local"] = bench.local(_QUICK_LOCAL_ROUNDS if quick else _LOCAL_ROUNDS)
            finally:
                painter.close()
        tries = _QUICK_TRIES if quick else _TRIES
        parts, hot = (_parts(model, np.asarray(shown), rest_s, tries) for rest_s in (_REST_S, 0.0))
    floor = sum(parts.values())
    one = figures["n1"]
    return figures | {
        "parts_ms": parts,
        "hot_ms": hot,
        "overhead_x_p50": round((one["p50_ms"] - JUDGE_MS) / floor, 2),
        "overhead_x_p95": round((one["p95_ms"] - JUDGE_MS) / floor, 2),
        "overhead_hot_x_p50": round((one["p50_ms"] - JUDGE_MS) / sum(hot.values()), 2),
        "local_x_p50": round(figures["local"]["p50_ms"] / parts["notice"], 2),
        **{f"n{count}_over_ms": round(figures[f"n{count}"]["p95_ms"] - JUDGE_MS, 1) for count in (32, 128)},
    }


class _Bench:
    def __init__(self, daemon: Daemon, painter: Painter, display: str, model: ModelProcess) -> None:
        self._daemon, self._painter, self._display, self._model = daemon, painter, display, model
        self._client: Client = daemon.client

    def judged(self, count: int, rounds: int) -> dict[str, Any]:
        pids = family(self._daemon.pid)
        found: list[_Latency] = []
        with CpuShare(pids) as cpu:
            for _ in range(rounds):
                found += self._round([Criteria(f"lamp number {n} is green") for n in range(count)])
        return {
            **_percentiles("", [one.painted for one in found]),
            **_percentiles("after_answer_", [one.answered for one in found]),
            "samples": len(found),
            "cpu_pct": round(cpu.percent, 1),
            "pss_mb": round(rss_mb(pids), 1),
        }

    def local(self, rounds: int) -> dict[str, Any]:
        return _percentiles("", [one.painted for _ in range(rounds) for one in self._round([Change()])])

    def _round(self, conditions: list[Change] | list[Criteria]) -> list[_Latency]:
        self._painter.lamp(on=False)
        asks = isinstance(conditions[0], Criteria)
        target = "screen" if asks else f"region:{LAMP.x},{LAMP.y},{LAMP.w},{LAMP.h}"
        with self._client.events(topic="wait.") as events:
            waits = {
                self._client.wait_create(one, target, display=self._display, timeout_s=120.0).wait.wait_id: n
                for n, one in enumerate(conditions)
            }
            while asks and any(self._client.wait_show(wait).wait.judged == 0 for wait in waits):
                time.sleep(0.05)
            time.sleep(_QUIET_S)  # the figure's own condition: at least two seconds after the last judgement
            began = self._painter.lamp(on=True)
            ended = self._resolved(events, waits)
        said = self._model.said().said
        return [_Latency((at - began) * 1000, (at - said.get(waits[wait], at)) * 1000) for wait, at in ended.items()]

    def _resolved(self, events: Any, waits: dict[str, int]) -> dict[str, float]:
        ended: dict[str, float] = {}
        for event in events:
            if isinstance(event, Event) and event.topic == "wait.resolved" and event.subject in waits:
                ended[event.subject] = time.monotonic()
            if len(ended) == len(waits):
                return ended
        raise RuntimeError("the event stream ended")


def _percentiles(prefix: str, found: list[float]) -> dict[str, float]:
    found = sorted(found)
    return {
        f"{prefix}p50_ms": round(statistics.median(found), 1),
        f"{prefix}p95_ms": round(found[min(len(found) - 1, int(len(found) * 0.95))], 1),
    }


def _parts(model: ModelProcess, pixels: NDArray[np.uint8], rest_s: float, tries: int) -> dict[str, float]:
    """Return the medians of what a judged wait cannot do without, each alone and `rest_s` after the last."""
    body = base64.b64encode(encode_for_judge(pixels, encode.MAX_DIM, encode.QUALITY).jpeg)
    with tempfile.TemporaryDirectory(prefix="acud-bench-") as folder, (Path(folder) / "log").open("wb") as log:

        def written() -> None:
            log.write(b"x" * 4096)
            log.flush()
            os.fdatasync(log.fileno())

        return {
            "notice": notice.run(tries, max(rest_s, 0.025))["p50_ms"],
            "encode": _median_ms(lambda: encode_for_judge(pixels, encode.MAX_DIM, encode.QUALITY), rest_s, tries),
            "post": _median_ms(lambda: model.ask("/echo", body), rest_s, tries),
            "fdatasync": _median_ms(written, rest_s, tries),
        }


def _median_ms(work: Callable[[], object], rest_s: float, tries: int) -> float:
    found = []
    for _ in range(tries):
        time.sleep(rest_s)
        began = time.perf_counter()
        work()
        found.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(found), 3)


def table(figures: dict[str, Any]) -> str:
    parts, hot = (
        ", ".join(f"{name} {value:.2f}" for name, value in figures[key].items()) for key in ("parts_ms", "hot_ms")
    )
    lines = [f"judge {figures['judge_ms']} ms; parts alone: {parts} ms; without rest: {hot} ms"]
    for count in _ROUNDS:
        row = figures[f"n{count}"]
        lines.append(
            f"{count:>4} waits  p50 {row['p50_ms']:7.1f}  p95 {row['p95_ms']:7.1f} ms  after the answer p50 "
            f"{row['after_answer_p50_ms']:5.1f}  p95 {row['after_answer_p95_ms']:5.1f} ms  cpu "
            f"{row['cpu_pct']:5.1f} %  memory {row['pss_mb']:.0f} MB  ({row['samples']} samples)"
        )
    names = ("overhead_x_p50", "overhead_x_p95", "overhead_hot_x_p50", "local_x_p50", "n32_over_ms", "n128_over_ms")
    return "\n".join([*lines, f"  change  p50 {figures['local']['p50_ms']} ms", *(f"{n} {figures[n]}" for n in names)])
