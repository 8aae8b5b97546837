"""Answer `usage`."""

from __future__ import annotations

from acud.protocol.requests.daemon import Usage, UsageReply
from acud.supervisor.app import App
from acud.supervisor.control import Call

_DAY_S = 86_400.0


def handle(app: App, request: Usage, call: Call) -> UsageReply:
    """Add up what was asked; a cost that is not known is never shown as nothing."""
    task_id = app.tasks.find(request.task_id).task_id if request.task_id else ""
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
