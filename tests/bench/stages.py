"""One judged wait, stage by stage: when each is over, from the repaint on; medians of rounds two seconds apart.

The daemon's functions note the time as `tests/bench/_stage_marks` tells them to, which costs some 20 us each.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acud.protocol.events import Event
from acud.types import Criteria
from acud.types.wakes import WakeAddress
from tests.bench._model import ModelProcess
from tests.daemon import Daemon
from tests.fixtures.painter import Painter

JUDGE_MS = 200
_ROUNDS = 16
_QUIET_S = 2.2
_MARKS = Path(__file__).with_name("_stage_marks")
STAGES = (
    *("notice", "job", "taken over", "encode", "request", "answer"),
    *("evidence", "result", "step", "commit", "event", "wake"),
)


def run() -> dict[str, Any]:
    """Return by stage the milliseconds from the repaint to its end."""
    with ModelProcess(JUDGE_MS) as model, tempfile.TemporaryDirectory(prefix="acud-bench-") as folder:
        marks = Path(folder) / "marks"
        env = {"ACUD_BENCH_STAGES": str(marks), "PYTHONPATH": str(_MARKS)}
        url, secret = f"http://127.0.0.1:{model.port}/wake", "of a benchmark, for nothing else"
        wake = f'[wake]\nroutes = ["webhook"]\nwebhook_url = "{url}"\nwebhook_secret = "{secret}"\n'
        with Daemon(settings=model.settings + wake, env=env) as daemon:
            display = daemon.client.display_create(1280, 720).display
            painter = Painter(display)
            try:
                rounds = [_round(daemon, painter, display.name, model, marks) for _ in range(_ROUNDS)]
            finally:
                painter.close()
    over = {stage: round(statistics.median(one[stage] for one in rounds), 2) for stage in STAGES}
    return {"judge_ms": JUDGE_MS, "over_ms": over}


def _round(daemon: Daemon, painter: Painter, display: str, model: ModelProcess, marks: Path) -> dict[str, float]:
    painter.lamp(on=False)
    with daemon.client.events(topic="wait.") as events:
        made = daemon.client.wait_create(Criteria("lamp number 0 is green"), display=display, wake=WakeAddress())
        while daemon.client.wait_show(made.wait.wait_id).wait.judged == 0:
            time.sleep(0.05)
        time.sleep(_QUIET_S)
        marks.write_text("")
        began = painter.lamp(on=True)
        for event in events:
            if isinstance(event, Event) and event.topic == "wait.resolved" and event.subject == made.wait.wait_id:
                break
        ended = time.monotonic()
    while (told := model.said()).woken_s < began:
        time.sleep(0.02)
    at = {
        **dict(_first(marks, began)),
        "request": told.heard_s,
        "answer": told.said[0],
        "event": ended,
        "wake": told.woken_s,
    }
    return {stage: (at[stage] - began) * 1000 for stage in STAGES}


def _first(marks: Path, began: float) -> Iterator[tuple[str, float]]:
    """Yield each stage with the time of its end; of the store's stages those of the verdict's transaction."""
    seen: set[str] = set()
    for line in marks.read_text().splitlines():
        time_ns, _, stage = line.partition(" ")
        at = int(time_ns) / 1e9
        early = stage in ("step", "commit") and "result" not in seen
        if at >= began and stage not in seen and not early:
            seen.add(stage)
            yield stage, at


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    lines, before = ["stage          over at    took, ms"], 0.0
    for stage, at in figures["over_ms"].items():
        lines.append(f"{stage:12} {at:9.2f} {at - before:9.2f}")
        before = at
    return "\n".join(lines)
