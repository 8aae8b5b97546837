"""The daemon's metrics, read from its parts on request only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from acud import __version__
from acud.metrics.catalogue import BY_NAME
from acud.process.child_process import rss_mb
from acud.protocol import VERSION
from acud.supervisor import health
from acud.supervisor.children import Child, ChildState
from acud.supervisor.frame_sources import Source
from acud.supervisor.freshness import explain_late_child, explain_stale_display
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, WakeState
from acud.types.metrics import Metric, Sample, flag

if TYPE_CHECKING:
    from acud.supervisor.app import App

Named = tuple[str, Sample]


class Sampled(Protocol):
    """A part that counts for itself."""

    def samples(self) -> Iterator[Named]: ...


_BYTES_PER_MB = 1e6
_OF_CAPTURE = {
    "acud_damage_events_total": "damage_events",
    "acud_grabs_total": "grabs",
    "acud_grabs_unchanged_total": "skipped",
    "acud_notices_unsent_total": "unsent",
    "acud_notices_unpublished_total": "unpublished",
}
"""Metric families counted by capture processes, and the counters' names in heartbeats."""


def sample_watched_displays(app: App) -> Iterator[Named]:
    for watched in app.watched_displays.by_name.values():
        yield from _sample_display(app, watched)
        source = app.sources.by_name.get(watched.name)
        if source is not None:
            yield from _sample_frames(app, source)
            yield from _sample_rings(app, source)


def _sample_display(app: App, watched: WatchedDisplay) -> Iterator[Named]:
    name = (watched.name,)
    yield "acud_display_up", flag(watched.state is DisplayState.UP, watched.name)
    yield "acud_display_stale", flag(bool(explain_stale_display(app, watched)), watched.name)
    if watched.child is not None:
        totals = watched.child.totals
        yield from ((family, Sample(name, totals.of(counter))) for family, counter in _OF_CAPTURE.items())
        yield "acud_grab_mean_seconds", Sample(name, totals.newest("grab_ms") / 1000)


def _sample_frames(app: App, source: Source) -> Iterator[Named]:
    name, tally, age_s = (source.name,), app.sources.find_tally(source), app.sources.age_s(source)
    yield "acud_display_fps", Sample(name, app.sources.measure_fps(source))
    yield "acud_display_wanted_fps", Sample(name, source.fps)
    if source.method:
        yield "acud_display_grab_path", Sample((source.name, source.method), 1)
    if age_s is not None:
        yield "acud_frame_age_seconds", Sample(name, age_s)
    yield "acud_frames_total", Sample(name, tally.frames)
    yield "acud_notices_missed_total", Sample(name, tally.missed)
    yield "acud_damage_to_frame_seconds", tally.damage_to_frame_s.sample(source.name)
    yield "acud_frame_to_notice_seconds", tally.frame_to_notice_s.sample(source.name)


def _sample_rings(app: App, source: Source) -> Iterator[Named]:
    rings = [app.sources.ring_bytes(other) for other in app.sources.by_name.values() if other.display == source.name]
    yield "acud_ring_slots", Sample((source.name,), app.sources.slots)
    yield "acud_ring_bytes", Sample((source.name,), sum(rings))


def sample_waits(app: App) -> Iterator[Named]:
    """Yield how many waits live, were armed and ended, and how quickly."""
    live = Counter(
        (wait.machine.verdict.answer.value, wait.machine.verdict.code)
        for wait in app.wait_runtime.active.values()
        if not wait.ended and wait.transient is None
    )
    yield from (("acud_waits_live", Sample(labels, found)) for labels, found in live.items())
    yield "acud_waits_armed_total", Sample((), app.waits.armed)
    yield from (("acud_waits_ended_total", sample) for sample in app.wait_runtime.ends.samples())
    yield "acud_notice_to_verdict_seconds", app.wait_runtime.verdict_s.sample()


def sample_wakes(app: App) -> Iterator[Named]:
    counts = app.store.outbox.counts()
    yield from (("acud_wakes", Sample((state.value,), counts.get(state.value, 0))) for state in WakeState)
    yield from (("acud_verdict_to_wake_seconds", sample) for sample in app.wakes.sent_s.samples())
    yield from (("acud_wake_deliveries_total", sample) for sample in app.delivery.deliveries.samples())
    yield from (("acud_wake_delivery_seconds", sample) for sample in app.delivery.delivery_s.samples())
    failing = app.delivery.find_failing()
    for route in app.settings.wake.routes:
        yield "acud_wake_route_failing", flag(route in failing, route.value)


def sample_daemon(app: App) -> Iterator[Named]:
    yield "acud_info", Sample((__version__, str(VERSION)), 1)
    yield "acud_uptime_seconds", Sample((), app.clock.instant().boot_s - app.started.boot_s)
    yield "acud_degraded_reasons", Sample((), len(health.reasons(app)))
    yield "acud_supervisor_rss_bytes", Sample((), rss_mb() * _BYTES_PER_MB)
    yield "acud_loop_turn_seconds", app.turns_s.sample()


def sample_judges(app: App) -> Iterator[Named]:
    for judge in app.pool.list_judges():
        yield "acud_judge_up", flag(judge.state != "down", judge.name)


def sample_children(app: App) -> Iterator[Named]:
    """Yield the figures of child processes; recorders together, as their names are ids of recordings."""
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
    return child.state is ChildState.READY and not explain_late_child(app, child)


def sample_store(app: App) -> Iterator[Named]:
    database = app.paths.database
    yield "acud_store_bytes", Sample(("database",), _file_size(database))
    yield "acud_store_bytes", Sample(("wal",), _file_size(database.with_name(f"{database.name}-wal")))


def _file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0  # the log is not there before the first write


def sample_parts(app: App) -> Iterator[Named]:
    """Yield the figures of the parts that count for themselves."""
    counting: tuple[Sampled, ...] = (app.judge_metrics, app.pool, app.journal, app.control, *app.features.values())
    for part in counting:
        yield from part.samples()


_PARTS = (
    *(sample_daemon, sample_watched_displays, sample_judges, sample_waits, sample_wakes, sample_children),
    *(sample_store, sample_parts),
)


def collect(app: App) -> tuple[Metric, ...]:
    """Return every family of the catalogue with its samples, in its order."""
    found: defaultdict[str, list[Sample]] = defaultdict(list)
    for part in _PARTS:
        for name, sample in part(app):
            found[BY_NAME[name].name].append(sample)
    return tuple(Metric(family, tuple(found[family.name])) for family in BY_NAME.values())
