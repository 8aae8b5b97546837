"""Figures of displays, waits and wakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from acud.supervisor.children import Child, ChildState
from acud.supervisor.frame_sources import Source
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, WakeState
from acud.types.metrics import Sample, flag

if TYPE_CHECKING:
    from acud.supervisor.app import App


Named = tuple[str, Sample]

_OF_CAPTURE = {
    "acud_damage_events_total": "damage_events",
    "acud_grabs_total": "grabs",
    "acud_grabs_unchanged_total": "skipped",
    "acud_notices_unsent_total": "unsent",
    "acud_notices_unpublished_total": "unpublished",
}
"""Families that capture processes count, and their names in heartbeats."""


def displays(app: App) -> Iterator[Named]:
    """Yield the figures of every display that is watched."""
    for watched in app.watched_displays.by_name.values():
        yield from _display(app, watched)
        source = app.sources.by_name.get(watched.name)
        if source is not None:
            yield from _frames(app, source)
            yield from _rings(app, source)


def _display(app: App, watched: WatchedDisplay) -> Iterator[Named]:
    name = (watched.name,)
    yield "acud_display_up", flag(watched.state is DisplayState.UP, watched.name)
    yield "acud_display_stale", flag(bool(of_display(app, watched)), watched.name)
    if watched.child is not None:
        totals = watched.child.totals
        yield from ((family, Sample(name, totals.of(counter))) for family, counter in _OF_CAPTURE.items())
        yield "acud_grab_mean_seconds", Sample(name, totals.newest("grab_ms") / 1000)


def _frames(app: App, source: Source) -> Iterator[Named]:
    name, tally, age_s = (source.name,), app.sources.tally(source), app.sources.age_s(source)
    yield "acud_display_fps", Sample(name, app.sources.fps(source))
    yield "acud_display_wanted_fps", Sample(name, source.fps)
    if source.method:
        yield "acud_display_grab_path", Sample((source.name, source.method), 1)
    if age_s is not None:
        yield "acud_frame_age_seconds", Sample(name, age_s)
    yield "acud_frames_total", Sample(name, tally.frames)
    yield "acud_notices_missed_total", Sample(name, tally.missed)
    yield "acud_damage_to_frame_seconds", tally.damage_to_frame_s.sample(source.name)
    yield "acud_frame_to_notice_seconds", tally.frame_to_notice_s.sample(source.name)


def _rings(app: App, source: Source) -> Iterator[Named]:
    rings = [app.sources.ring_bytes(other) for other in app.sources.by_name.values() if other.display == source.name]
    yield "acud_ring_slots", Sample((source.name,), app.sources.slots)
    yield "acud_ring_bytes", Sample((source.name,), sum(rings))


def waits(app: App) -> Iterator[Named]:
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


def wakes(app: App) -> Iterator[Named]:
    """Yield what became of wakes, and how the routes do."""
    counts = app.store.outbox.counts()
    yield from (("acud_wakes", Sample((state.value,), counts.get(state.value, 0))) for state in WakeState)
    yield from (("acud_verdict_to_wake_seconds", sample) for sample in app.wakes.sent_s.samples())
    yield from (("acud_wake_deliveries_total", sample) for sample in app.delivery.deliveries.samples())
    yield from (("acud_wake_delivery_seconds", sample) for sample in app.delivery.delivery_s.samples())
    failing = app.delivery.failing()
    for route in app.settings.wake.routes:
        yield "acud_wake_route_failing", flag(route in failing, route.value)


def reasons(app: App) -> list[str]:
    """Return why data is not fresh, one sentence each."""
    displays = [(watched, of_display(app, watched)) for watched in app.watched_displays.by_name.values()]
    children = [(child, of_child(app, child)) for child in app.keeper.slots.values()]
    return [f"display {watched.name}: {why}" for watched, why in displays if why] + [
        f"{child.kind} {child.name}: {why}" for child, why in children if why
    ]


def of_display(app: App, watched: WatchedDisplay) -> str:
    """Return why the display's newest frame is stale, "" when it is not (or the display is known to be down)."""
    source = app.sources.by_name.get(watched.name)
    if watched.state is not DisplayState.UP or source is None:
        return ""
    age_s, wanted_for_s = app.sources.age_s(source), app.sources.wanted_for_s(source)
    return stale_frame(age_s, wanted_for_s, app.settings.capture.floor_s, app.settings.daemon.late_s)


def of_child(app: App, child: Child) -> str:
    """Return why the child's last word is too old, "" when it is not; one that starts has said nothing yet."""
    if child.state is not ChildState.READY or child.process is None:
        return ""
    return late_beat(app.clock.monotonic_s() - child.last_beat_s, app.settings.daemon.late_s)


def stale_frame(age_s: float | None, wanted_for_s: float | None, floor_s: float, late_s: float) -> str:
    """Return why a frame is stale, "" when it is not.

    `age_s`: since a grab was last known to show what the screen shows (None: there was none). `wanted_for_s`: since
    when consumers want frames (None: nobody does; then no age is too great). While they do, a grab is made at least
    every `floor_s`, and told with the next heartbeat.
    """
    limit_s = floor_s + late_s
    if wanted_for_s is None:
        return ""
    if age_s is None:
        return f"no frame came for {wanted_for_s:.0f} s" if wanted_for_s > late_s else ""
    # A frame may be old because nobody wanted newer ones: the grab that a new demand causes gets the same time.
    if age_s > limit_s and wanted_for_s > late_s:
        return f"its newest frame was last compared with the screen {age_s:.0f} s ago"
    return ""


def late_beat(silent_s: float, late_s: float) -> str:
    """Return why a child that runs counts as not well, "" when it does; `silent_s`: since its last message."""
    return f"it has said nothing for {silent_s:.0f} s" if silent_s > late_s else ""
