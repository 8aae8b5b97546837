"""A clock that ticks on a desktop, and eight waits beside it: calls a minute, and whether other changes are seen.

`calls_per_min`: what one wait costs over two minutes from its arming (`--quick`: over 40 s, from 20 s after it);
`calls_x`: over the ticks. `missed`: lamps that were on for 1.2 s elsewhere on the screen, and whose wait did not
resolve. `news_over_ms`: from a lamp to the end of its wait, 95th percentile, over the judge's time. `stopped_ms`: from
the clock's last tick to the answer to the first question that was asked after it.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import Any

from acud.types import Criteria, Rect, WaitState
from acud_client import Client
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import GREEN, Painter

JUDGE_MS = 200
_WAITS = 8
_MEASURED_S, _QUICK_S = 120.0, 40.0
_QUICK_LATER_S = 20.0
_ON_S = 1.2
_APART_S = 3.3
"""Between two lamps; no multiple of the clock's second."""
_AFTER_S = 7.0


def lamp(number: int) -> Rect:
    return Rect(120 + number * 120, 200 + number * 48, 24, 24)


def settings() -> str:
    places = [(number, lamp(number)) for number in range(_WAITS)]
    rules = [
        {"pixel": [box.x + 12, box.y + 12, GREEN], "criteria": f"lamp {number} ", "answer": "yes"}
        for number, box in places
    ]
    script = json.dumps({"delay_ms": JUDGE_MS, "rules": rules, "default": "no"})
    return f"[vision]\nbackend = \"scripted\"\nscripted = '{script}'\n"


class _Ticking:
    """A clock that ticks while somebody waits here."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._next = time.monotonic()
        self.ticked_utc_s = 0.0

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self._next < end:
            time.sleep(max(0.0, self._next - time.monotonic()))
            self.ticked_utc_s = time.time()
            self._painter.clock()
            self._next += 1.0
        time.sleep(max(0.0, end - time.monotonic()))


def run(*, quick: bool = False) -> dict[str, Any]:
    with Daemon(settings=settings()) as daemon:
        display = daemon.client.display_create(1280, 720).display
        painter = Painter(display)
        try:
            return _measure(daemon.client, display.name, painter, quick)
        finally:
            painter.close()


def _measure(client: Client, display: str, painter: Painter, quick: bool) -> dict[str, Any]:
    waits = [
        client.wait_create(Criteria(f"lamp {n} is green"), display=display, timeout_s=600.0).wait.wait_id
        for n in range(_WAITS)
    ]
    clock = _Ticking(painter)
    measured_s = _QUICK_S if quick else _MEASURED_S
    clock.wait(_QUICK_LATER_S if quick else 0.0)
    before = [client.wait_show(wait).wait.judge_calls if quick else 0 for wait in waits]
    clock.wait(measured_s)
    calls = [client.wait_show(wait).wait.judge_calls - then for wait, then in zip(waits, before, strict=True)]
    lit: dict[str, float] = {}
    for number, wait in enumerate(waits[:-1]):
        lit[wait] = time.time()
        painter.lamp(on=True, box=lamp(number))
        clock.wait(_ON_S)
        painter.lamp(on=False, box=lamp(number))
        clock.wait(_APART_S - _ON_S)
    time.sleep(_AFTER_S)
    ended = {wait: client.wait_show(wait).wait for wait in lit}
    over = sorted(
        (ended[wait].ended_utc_s - began) * 1000 - JUDGE_MS
        for wait, began in lit.items()
        if ended[wait].state is WaitState.RESOLVED
    )
    judged = [one for one in client.wait_show(waits[-1]).evaluations if one.utc_s > clock.ticked_utc_s]
    stopped = [one.utc_s for one in judged if one.utc_s - one.latency_ms / 1000 > clock.ticked_utc_s]
    return {
        "calls_per_min": round(statistics.fmean(calls) / measured_s * 60, 1),
        "calls_x": round(statistics.fmean(calls) / measured_s, 3),
        "missed": len(lit) - len(over),
        "news_over_ms": round(over[int(len(over) * 0.95)], 1) if over else None,
        "news_over_p50_ms": round(statistics.median(over), 1) if over else None,
        "stopped_ms": round((stopped[0] - clock.ticked_utc_s) * 1000) if stopped else None,
        "waits": _WAITS,
    }


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:18} {value:>8}" for name, value in figures.items())
