"""Four waits whose judge answers in 200 ms beside twenty whose judge takes 6 s: repaint to the events of the four.

`fast_over_ms` is the 95th percentile over what their judge takes.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from acud.protocol.events import Event
from acud.types import Criteria
from tests.bench._model import ModelProcess
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter

JUDGE_MS, SLOW_MS = 200, 6000
_FAST, _SLOW, _ROUNDS = 4, 20, 6
_QUIET_S = 2.2
"""Longer than `min_interval_s`, which is not what is measured, and shorter than the slow judge takes."""


def run() -> dict[str, Any]:
    found: list[float] = []
    with ModelProcess(JUDGE_MS, SLOW_MS) as model, Daemon(settings=model.settings) as daemon:
        display = daemon.client.display_create(1280, 720).display
        painter = Painter(display)
        try:
            slow = [
                daemon.client.wait_create(Criteria(f"slow lamp {n} is red"), display=display.name, timeout_s=600.0)
                for n in range(_SLOW)
            ]
            for number in range(_ROUNDS):
                found += _round(daemon, painter, display.name, number)
            for one in slow:
                daemon.client.wait_cancel(one.wait.wait_id)
        finally:
            painter.close()
    found.sort()
    p95 = found[int(len(found) * 0.95)]
    return {
        "fast_p50_ms": round(statistics.median(found), 1),
        "fast_p95_ms": round(p95, 1),
        "fast_over_ms": round(p95 - JUDGE_MS, 1),
        "samples": len(found),
    }


def _round(daemon: Daemon, painter: Painter, display: str, number: int) -> list[float]:
    painter.lamp(on=False)
    with daemon.client.events(topic="wait.resolved") as events:
        left = {
            daemon.client.wait_create(
                Criteria(f"lamp number {n} is green"), display=display, timeout_s=120.0
            ).wait.wait_id
            for n in range(_FAST)
        }
        while any(daemon.client.wait_show(wait).wait.judged == 0 for wait in left):
            time.sleep(0.05)
        time.sleep(_QUIET_S)
        painter.letter(number)  # the slow ones' judge is at work when the lamp goes on
        time.sleep(_QUIET_S)
        began, found = painter.lamp(on=True), []
        for event in events:
            if isinstance(event, Event) and event.subject in left:
                found.append((time.monotonic() - began) * 1000)
                left.remove(event.subject)
            if not left:
                return found
    raise RuntimeError("the event stream ended")


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:14} {value:>8}" for name, value in figures.items())
