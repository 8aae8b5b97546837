"""Figures of the supervisor itself, its children, the pool, the store, features and requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from acud import __version__
from acud.child_process import rss_mb
from acud.config import OtelSettings
from acud.metrics.catalogue import BY_NAME
from acud.protocol import VERSION
from acud.supervisor import health
from acud.supervisor.children import Child, ChildState
from acud.supervisor.job_queues import Lane
from acud.supervisor.metrics import displays
from acud.types.metrics import Metric, Sample, flag

if TYPE_CHECKING:
    from acud.supervisor.app import App


Named = tuple[str, Sample]

_BYTES_PER_MB = 1e6


def daemon(app: App) -> Iterator[Named]:
    """Yield the figures of the supervisor."""
    yield "acud_info", Sample((__version__, str(VERSION)), 1)
    yield "acud_uptime_seconds", Sample((), app.clock.instant().boot_s - app.started.boot_s)
    yield "acud_degraded_reasons", Sample((), len(health.reasons(app)))
    yield "acud_supervisor_rss_bytes", Sample((), rss_mb() * _BYTES_PER_MB)
    yield "acud_loop_turn_seconds", app.turns_s.sample()


def judges(app: App) -> Iterator[Named]:
    """Yield how judges are, and what they did."""
    for judge in app.pool.judges():
        yield "acud_judge_up", flag(judge.state != "down", judge.name)
    yield from app.judge_metrics.samples()


def children(app: App) -> Iterator[Named]:
    """Yield the figures of child processes; a recorder's name is a recording's id, so they go together."""
    named: defaultdict[tuple[str, str], list[Child]] = defaultdict(list)
    for child in app.keeper.slots.values():
        named[child.kind, "" if child.kind == "recorder" else child.name].append(child)
    now_s = app.clock.monotonic_s()
    for labels, found in named.items():
        running = [child for child in found if child.process is not None]
        yield "acud_child_up", flag(all(_is_well(app, child) for child in found), *labels)
        yield "acud_child_silent_seconds", Sample(labels, max((now_s - one.last_beat_s for one in running), default=0))
        rss = sum(child.beat.rss_mb for child in found if child.beat is not None)
        yield "acud_child_rss_bytes", Sample(labels, rss * _BYTES_PER_MB)
    yield from (("acud_child_restarts_total", sample) for sample in app.keeper.restarts.samples())
    yield from (("acud_child_unsent_total", sample) for sample in app.keeper.unsent.samples())


def _is_well(app: App, child: Child) -> bool:
    return child.state is ChildState.READY and not displays.of_child(app, child)


def pool(app: App) -> Iterator[Named]:
    """Yield how busy the evaluators are."""
    yield "acud_pool_workers_ready", Sample((), sum(worker.ready for worker in app.pool.workers))
    for lane in Lane:
        yield "acud_pool_queued_jobs", Sample((lane.value,), app.pool.queued_in(lane))
        yield "acud_pool_running_jobs", Sample((lane.value,), app.pool.running_in(lane))
    yield from (("acud_pool_jobs_total", sample) for sample in app.pool.results.samples())
    yield "acud_pool_leases_lost_total", Sample((), app.pool.leases_lost)


def store(app: App) -> Iterator[Named]:
    """Yield how the store does."""
    yield "acud_store_commit_seconds", app.journal.commit_s.sample()
    yield from (("acud_store_faults_total", sample) for sample in app.journal.faults.samples())
    yield "acud_store_waiting_writes", Sample((), app.journal.waiting)
    yield "acud_store_dropped_records_total", Sample((), app.journal.dropped)
    database = app.paths.database
    yield "acud_store_bytes", Sample(("database",), _size(database))
    yield "acud_store_bytes", Sample(("wal",), _size(database.with_name(f"{database.name}-wal")))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0  # the log is not there before the first write


def features(app: App) -> Iterator[Named]:
    """Yield the figures of the features that are on."""
    for running in app.features.values():
        yield from running.samples()


def requests(app: App) -> Iterator[Named]:
    """Yield what was asked, and how it went."""
    for sample in app.control.answers_s.samples():
        yield "acud_requests_total", Sample(sample.labels, sample.count)
        yield "acud_request_seconds", sample
    yield from (("acud_request_errors_total", sample) for sample in app.control.errors.samples())
    yield "acud_requests_parked", Sample((), app.control.parked)


def missing(settings: OtelSettings) -> str:
    """Return why no traces can be sent though an endpoint is set; "" where nothing is wrong."""
    if not settings.url or _is_installed():
        return ""
    return "[otel] endpoint is set, and the extra acud[otel] is not installed"


@cache
def _is_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:  # not even the packages around it
        return False


_PARTS = (daemon, displays.displays, judges, displays.waits, displays.wakes, children, pool, store, features, requests)


def collect(app: App) -> tuple[Metric, ...]:
    """Return every family of the catalogue with its samples, in its order."""
    found: defaultdict[str, list[Sample]] = defaultdict(list)
    for part in _PARTS:
        for name, sample in part(app):
            found[BY_NAME[name].name].append(sample)
    return tuple(Metric(family, tuple(found[family.name])) for family in BY_NAME.values())
