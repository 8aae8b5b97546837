"""One display and thirty-two waits that a model judges: what the daemon holds at rest, by process.

Megabytes are proportional set sizes: a page that processes share counts once over all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from acud.types import Criteria
from tests.bench._model import ModelProcess
from tests.bench._process import cpu_s, family, rss_mb
from tests.fixtures.daemon import Daemon

_WAITS = 32
_EVALUATORS = 16
_REST_S = 12.0
"""An evaluator gives memory back 5 s after its last work, with a heartbeat."""


def run() -> dict[str, Any]:
    """Return the figures: before the first wait, once all are judged, and at rest; then of a daemon with 16 evaluators,
    once they are ready, and of a process that reads text.
    """
    with ModelProcess(200) as model, Daemon(settings=model.settings) as daemon:
        display = daemon.client.display_create(1280, 720).display.name
        empty_mb = rss_mb(family(daemon.pid))
        for n in range(_WAITS):
            daemon.client.wait_create(Criteria(f"lamp number {n} is green"), display=display, timeout_s=600.0)
        while any(wait.judged == 0 for wait in daemon.client.wait_list().waits):
            time.sleep(0.2)
        judged_mb = rss_mb(family(daemon.pid))
        time.sleep(_REST_S)
        pids = family(daemon.pid)
        return {
            "pss_mb_32_waits": round(rss_mb(pids), 1),
            "judged_mb": round(judged_mb, 1),
            "empty_mb": round(empty_mb, 1),
            "processes_mb": [[_name(pid), round(rss_mb([pid]), 1)] for pid in pids],
            **_many_evaluators(),
            **_text(),
        }


def _many_evaluators() -> dict[str, Any]:
    with Daemon(settings=f"[evaluator]\nworkers = {_EVALUATORS}\n") as daemon:
        began_s = time.monotonic()
        while any(child.state != "ready" for child in daemon.client.status().children if child.kind == "evaluator"):
            time.sleep(0.01)
        ready_s = time.monotonic() - began_s
        time.sleep(1.0)
        pids = family(daemon.pid)
        return {
            "evaluators_pss_mb": round(rss_mb(pids), 1),
            "evaluators_ready_s": round(ready_s, 2),
            "evaluators_cpu_s": round(cpu_s(pids), 2),
        }


def _text() -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench._text_memory"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=300)
    found: dict[str, float] = json.loads(done.stdout)
    return {name: round(mb, 1) for name, mb in found.items()}


def _name(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return next((word for word in words if word.startswith("acud.")), words[0])


def table(figures: dict[str, Any]) -> str:
    each = ", ".join(f"{name} {mb}" for name, mb in figures["processes_mb"])
    return (
        f"PSS of the daemon with {_WAITS} waits on one display: {figures['pss_mb_32_waits']} MB at rest (target 150), "
        f"{figures['judged_mb']} as they are judged, {figures['empty_mb']} before; at rest {each}\n"
        f"a daemon with {_EVALUATORS} evaluators: {figures['evaluators_pss_mb']} MB, all ready "
        f"{figures['evaluators_ready_s']} s after it answers, {figures['evaluators_cpu_s']} s of CPU\n"
        f"a process that has read six pages of text: {figures['text_mb']} MB, {figures['text_rests_mb']} after five "
        f"seconds at rest, {figures['text_unloaded_mb']} once its engine is unloaded"
    )
