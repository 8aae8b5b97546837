"""Answer `status`."""

from __future__ import annotations

import os

from acud import __version__
from acud.child_process import rss_mb
from acud.protocol import VERSION
from acud.protocol.requests.daemon import ChildStatus, Status, StatusReply
from acud.supervisor import degraded
from acud.supervisor.app import App
from acud.supervisor.child import Child
from acud.supervisor.control import Call


def handle(app: App, request: Status, call: Call) -> StatusReply:
    """Return what the daemon is doing now."""
    totals = app.store.waits.totals()
    now = app.clock.instant()
    return StatusReply(
        version=__version__,
        protocol=VERSION,
        pid=os.getpid(),
        started_utc_s=app.started.utc_s,
        uptime_s=now.boot_s - app.started.boot_s,
        home=str(app.paths.home),
        server_start=app.server_start,
        displays=tuple(app.hosting.infos()),
        children=tuple(_child(app, child) for child in app.keeper.slots.values()),
        judges=app.pool.judges(),
        waits_live=totals.live,
        waits_ended=totals.ended,
        judge_calls=totals.judge_calls,
        cost_usd_today=app.store.usage.cost_usd_since(now.utc_s - now.utc_s % 86_400),
        queued_jobs=app.pool.queued,
        degraded=tuple(degraded.reasons(app)),
        rss_mb=round(rss_mb(), 1),
        wakes=app.store.outbox.counts(),
        waits={state.value: number for state, number in totals.by_state.items()},
        wake_routes=tuple(app.settings.wake.routes),
        web=app.web.served(),
        fleet=app.fleet.told(),
    )


def _child(app: App, child: Child) -> ChildStatus:
    beat = child.beat
    return ChildStatus(
        name=child.name,
        kind=child.kind,
        state=child.state.value,
        pid=child.pid,
        restarts=child.restarts,
        beat_age_s=round(app.clock.monotonic_s() - child.last_beat_s, 3) if child.pid else None,
        rss_mb=beat.rss_mb if beat is not None else 0.0,
        busy_jobs=len(beat.jobs) if beat is not None else 0,
        reason=child.reason,
        counters=beat.counters if beat is not None else {},
    )
