"""Answers requests about the daemon itself."""

from __future__ import annotations

import os

from acud import __version__
from acud.process.child_process import rss_mb
from acud.protocol import VERSION
from acud.protocol.requests.daemon import (
    ChildStatus,
    DaemonDrain,
    DaemonDrainReply,
    DaemonReload,
    DaemonReloadReply,
    Doctor,
    DoctorReply,
    EvaluatorsRestart,
    EvaluatorsRestartReply,
    EventsSince,
    EventsSinceReply,
    Metrics,
    MetricsReply,
    Shutdown,
    ShutdownReply,
    Status,
    StatusReply,
    Usage,
    UsageReply,
)
from acud.supervisor import health
from acud.supervisor.app import App
from acud.supervisor.children import Child
from acud.supervisor.control import Call, handles
from acud.supervisor.health import findings
from acud.supervisor.metrics import collect


@handles(Status)
def status(app: App, request: Status, call: Call) -> StatusReply:
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
        displays=tuple(app.displays.infos()),
        children=tuple(_describe_child(app, child) for child in app.keeper.slots.values()),
        judges=app.pool.list_judges(),
        waits_live=totals.live,
        waits_ended=totals.ended,
        judge_calls=totals.judge_calls,
        cost_usd_today=app.store.usage.cost_usd_since(now.utc_s - now.utc_s % 86_400),
        queued_jobs=app.pool.queued,
        degraded=tuple(health.reasons(app)),
        rss_mb=round(rss_mb(), 1),
        wakes=app.store.outbox.counts(),
        waits={state.value: number for state, number in totals.by_state.items()},
        hidden_waits=app.waits.find_hidden(),
        wake_routes=tuple(app.settings.wake.routes),
        web=app.web.served_urls,
        fleet=app.status_of("fleet"),
    )


def _describe_child(app: App, child: Child) -> ChildStatus:
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


@handles(Doctor)
def doctor(app: App, request: Doctor, call: Call) -> DoctorReply:
    """Return the daemon's findings about its own health."""
    return DoctorReply(tuple(findings(app)))


@handles(Metrics)
def metrics(app: App, request: Metrics, call: Call) -> MetricsReply:
    return MetricsReply(collect(app))


_DAY_S = 86_400.0


@handles(Usage)
def answer_usage(app: App, request: Usage, call: Call) -> UsageReply:
    """Sum up the usage asked for; an unknown cost is never shown as zero."""
    task_id = app.ports.tasks.find(request.task_id).task_id if request.task_id else ""
    now = app.clock.instant().utc_s
    first = now - now % _DAY_S - (request.days - 1) * _DAY_S
    rows = app.store.usage.rows(first, task_id)
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    return UsageReply(
        rows=rows,
        evaluations=sum(row.evaluations for row in rows),
        cost_usd=sum(known) if known else None,
        unpriced=sum(row.unpriced for row in rows),
        kept_days=app.settings.store.keep_evaluations_days,
    )


@handles(EventsSince)
def events_since(app: App, request: EventsSince, call: Call) -> EventsSinceReply:
    found = app.store.events.since(request.after, request.topic, request.limit)
    return EventsSinceReply(found.events, found.newest, found.trimmed)


@handles(DaemonReload)
def daemon_reload(app: App, request: DaemonReload, call: Call) -> DaemonReloadReply:
    return app.settings_reload.reload()


@handles(DaemonDrain)
def daemon_drain(app: App, request: DaemonDrain, call: Call) -> DaemonDrainReply:
    return app.drain.ask(request)


@handles(EvaluatorsRestart)
async def evaluators_restart(app: App, request: EvaluatorsRestart, call: Call) -> EvaluatorsRestartReply:
    """Restart the evaluators; the reply waits for the last one."""
    return EvaluatorsRestartReply(await app.rolling_restart.run())


@handles(Shutdown)
def shutdown(app: App, request: Shutdown, call: Call) -> ShutdownReply:
    """Begin the end; the reply leaves first."""
    app.journal.event("daemon.stopping", "daemon", keep_displays=request.keep_displays)
    app.journal.after_commit(lambda: app.end(keep_displays=request.keep_displays))
    return ShutdownReply(os.getpid())
