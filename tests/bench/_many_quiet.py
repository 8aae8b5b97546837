"""What a wait on a quiet display feels of 15 neighbours that play: alternately alone and beside them, in one run."""

from __future__ import annotations

import statistics
import time
from typing import Any

from acud.protocol.events import Event
from acud.types import Change, DisplayInfo, Policy, Text, Until
from tests.bench._many_displays import SETTINGS, ManyPainter, arm, create
from tests.bench._painter import Painter
from tests.daemon import Daemon

_NEIGHBOURS = 15
_FPS = 10.0
_BLOCKS = 4
_CHANGES = 12
_TEXTS = 2
_REST_S = 0.1


def run() -> dict[str, Any]:
    """Return the figures in milliseconds."""
    with Daemon(settings=SETTINGS) as daemon:
        displays, _, _ = create(daemon, _NEIGHBOURS + 1)
        quiet, busy = displays[0], displays[1:]
        lamp = Painter(quiet)
        with ManyPainter(daemon, busy) as painter:
            # Each neighbour plays under a text that OCR looks for: more reading than one engine can do.
            arm(daemon, busy, ((Text("never written"), "region:320,160,240,96", Policy()),))
            try:
                return _blocks(daemon, painter, lamp, quiet, busy)
            finally:
                lamp.close()


def _blocks(
    daemon: Daemon, painter: ManyPainter, lamp: Painter, quiet: DisplayInfo, busy: list[DisplayInfo]
) -> dict[str, Any]:
    taken: dict[str, list[float]] = {
        f"{kind}_{side}": [] for kind in ("change", "text") for side in ("alone", "beside")
    }
    for _ in range(_BLOCKS):
        for side, fps in (("alone", 0.0), ("beside", _FPS)):
            painter.paint({display.name: fps for display in busy})
            time.sleep(2.0)
            taken[f"change_{side}"] += [_one(daemon, lamp, quiet, Change()) for _ in range(_CHANGES)]
            taken[f"text_{side}"] += [_text(daemon, lamp, quiet) for _ in range(_TEXTS)]
    return {
        "quiet_wait_p95_ms": {side: _p95(taken[f"change_{side}"]) for side in ("alone", "beside")},
        "quiet_text_p50_ms": {side: round(statistics.median(taken[f"text_{side}"]), 1) for side in ("alone", "beside")},
        "quiet_samples": {"change": len(taken["change_alone"]), "text": len(taken["text_alone"])},
    }


def _p95(values: list[float]) -> float:
    return round(sorted(values)[int(len(values) * 0.95)], 1)


def _text(daemon: Daemon, lamp: Painter, quiet: DisplayInfo) -> float:
    """Return what a text that is there takes from its arming to its end: one reading, and its turn among the others."""
    return _one(daemon, lamp, quiet, Text("lazy dog"), paints=False)


def _one(daemon: Daemon, lamp: Painter, quiet: DisplayInfo, until: Until, *, paints: bool = True) -> float:
    lamp.lamp(on=False)
    time.sleep(_REST_S)
    with daemon.client.events(topic="wait.") as events:
        began = time.monotonic()
        target = "screen" if paints else "region:0,0,640,32"
        wait = daemon.client.wait_create(until, target, display=quiet.name, timeout_s=120.0).wait.wait_id
        began = lamp.lamp(on=True) if paints else began
        for event in events:
            if isinstance(event, Event) and event.topic == "wait.resolved" and event.subject == wait:
                return (time.monotonic() - began) * 1000
    raise RuntimeError("the event stream ended")
