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
from tests.fixtures.daemon import Daemon
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
    lines, before = ["stage          over at    took, ms"], 0.0
    for stage, at in figures["over_ms"].items():
        lines.append(f"{stage:12} {at:9.2f} {at - before:9.2f}")
        before = at
    return "\n".join(lines)


_WIDTH, _LEFT, _ROW, _PX_A_MS = 760, 84, 18, 7.5
_COLOUR = {"now": "#1f77b4", "before": "#a6a6a6"}


def plot(figures: dict[str, Any]) -> str:
    """Return each stage's own milliseconds as bars; `figures` may hold those of another commit, under `before`."""
    runs = {name: _took(one["over_ms"]) for name, one in (("before", figures.get("before")), ("now", figures)) if one}
    shown = [stage for stage in STAGES if stage != "answer"]
    height = 56 + len(shown) * (_ROW * len(runs) + 6)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        '<text x="8" y="20">Milliseconds of each stage of one judged wait, from the repaint to the wake '
        f"(without the judge's {figures['judge_ms']})</text>",
    ]
    for name, took in runs.items():
        x = 8 if name == "before" else 250
        total = sum(took[stage] for stage in shown)
        lines.append(f'<text x="{x}" y="40" fill="{_COLOUR[name]}">{name}: {total:.0f} ms in all</text>')
    y = 52
    for stage in shown:
        lines.append(f'<text x="{_LEFT - 6}" y="{y + 13}" text-anchor="end">{stage}</text>')
        for name, took in runs.items():
            width = max(1.0, took[stage] * _PX_A_MS)
            lines.append(f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_ROW - 4}" fill="{_COLOUR[name]}"/>')
            lines.append(f'<text x="{_LEFT + width + 5:.1f}" y="{y + 12}">{took[stage]:.1f}</text>')
            y += _ROW
        y += 6
    return "\n".join([*lines, "</svg>", ""])


def _took(over_ms: dict[str, float]) -> dict[str, float]:
    """Return each stage's own time, the judge's without what it is told to take."""
    ends = [0.0, *(over_ms[stage] for stage in STAGES)]
    return {stage: max(0.0, end - begin) for stage, begin, end in zip(STAGES, ends[:-1], ends[1:], strict=True)}
