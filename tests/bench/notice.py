"""From a drawing on the display to the drawn pixel read in another process, by way of DAMAGE, grab, ring and notice.

The clock starts when the drawing request is sent, and ends when the reader has the new colour in hand. Drawings are
further apart than the rate cap, so that none waits for its turn.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from acud.protocol.capture import Notice
from acud.x11.connection import Connection
from tests.integration.capture_rig import CaptureRig
from tests.integration.xserver import XServer

_DRAWINGS = 400
_WARM_UP = 20
_FPS = 60
_REST_S = 0.025
_BOX = (400, 300, 120, 20)


def run(drawings: int = _DRAWINGS, rest_s: float = _REST_S) -> dict[str, Any]:
    """Return the percentiles in milliseconds at 1280x720; `rest_s` lies between two drawings."""
    with XServer(1280, 720) as server, CaptureRig(server, max_fps=_FPS) as rig:
        rig.demand(_FPS)
        rig.hear(Notice)
        with Connection(server.display, server.auth_file) as connection, rig.reader() as reader:
            gc = connection.root.create_gc()
            pauses = [_REST_S] * _WARM_UP + [rest_s] * drawings
            taken = [_one(connection, gc, rig, reader, colour, s) for colour, s in enumerate(pauses, 1)]
    kept = sorted(taken[_WARM_UP:])
    return {
        "p50_ms": round(statistics.median(kept), 3),
        "p90_ms": round(kept[int(len(kept) * 0.9)], 3),
        "p99_ms": round(kept[int(len(kept) * 0.99)], 3),
        "drawings": len(kept),
    }


def _one(connection: Connection, gc: Any, rig: CaptureRig, reader: Any, colour: int, rest_s: float) -> float:
    time.sleep(rest_s)
    gc.change(foreground=colour)
    connection.root.fill_rectangle(gc, *_BOX)
    start = time.perf_counter()
    connection.flush()
    while True:
        rig.until(lambda m: isinstance(m, Notice))
        with reader.newest() as view:
            blue, green, red = (int(value) for value in view.pixels[_BOX[1], _BOX[0], :3])
            view.check()
        if red << 16 | green << 8 | blue == colour:
            return (time.perf_counter() - start) * 1000


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:10} {value:>8}" for name, value in figures.items())
