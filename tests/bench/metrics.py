"""What measuring costs: each thing that is counted, in the supervisor's loop, and a scrape of four displays."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from acud.metrics.catalogue import QUICK_S
from acud.metrics.counters import Histogram, Summaries
from acud.protocol.capture import Notice
from acud.protocol.evaluation import Answered, JobResult, LeafAnswer
from acud.supervisor.frame_sources import FrameTally
from acud.supervisor.judge_metrics import JudgeMetrics
from acud.types import no
from acud_client.exposition import text
from tests.fixtures.daemon import Daemon

_TIMES = 50_000
_ROUNDS = 5
_DISPLAYS = 4
_SCRAPES = 200
_SETTINGS = '[display]\nwindow_manager = "none"\nsession_bus = false\n[evaluator]\nworkers = 1\n'


def run() -> dict[str, Any]:
    """Return microseconds for each thing counted, and milliseconds for a scrape."""
    return _counted() | _scraped()


def _counted() -> dict[str, float]:
    frames, turns, answers, judge_metrics = FrameTally(), Histogram(QUICK_S), Summaries(), JudgeMetrics()
    notice = Notice(":1", 1, 1, 1_000_000_000, damage_ns=999_000_000)
    leaf = LeafAnswer(0, no("not there"), "ollama", latency_ms=900, tokens_in=900, tokens_out=20, cost_usd=0.0)
    result = JobResult("job", "done", answered=(Answered("wait", (leaf,), no("not there")),))
    return {
        "frame_us": _each_us(lambda: frames.count_notice(notice, 0, 1.002)),
        "turn_us": _each_us(lambda: turns.observe(0.0004)),
        "request_us": _each_us(lambda: answers.observe(0.0004, "status")),
        "verdict_us": _each_us(lambda: judge_metrics.count_result(result)),
    }


def _each_us(count: Callable[[], None]) -> float:
    rounds = []
    for _ in range(_ROUNDS):
        began_s = time.perf_counter()
        for _ in range(_TIMES):
            count()
        rounds.append((time.perf_counter() - began_s) / _TIMES * 1e6)
    return round(min(rounds), 2)


def _scraped() -> dict[str, float]:
    with Daemon(settings=_SETTINGS) as daemon:
        for _ in range(_DISPLAYS):
            daemon.client.display_create(320, 240)
        asked, written = [], []
        for _ in range(_SCRAPES):
            began_s = time.perf_counter()
            told = daemon.client.metrics().metrics
            asked_s = time.perf_counter()
            page = text(told)
            asked.append((asked_s - began_s) * 1e3)
            written.append((time.perf_counter() - asked_s) * 1e3)
        return {
            "displays": _DISPLAYS,
            "ask_p50_ms": round(statistics.median(asked), 2),
            "text_p50_ms": round(statistics.median(written), 2),
            "text_kb": round(len(page) / 1e3, 1),
        }


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:12} {value:>8}" for name, value in figures.items())
