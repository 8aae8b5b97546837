"""Why the daemon is not fully well, in a line for each reason; `acud doctor` says more (`health.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.store import damaged_log
from acud.supervisor.child import ChildState
from acud.supervisor.metering import freshness, tracing
from acud.types import DisplayState, WakeState

if TYPE_CHECKING:
    from acud.supervisor.app import App


def reasons(app: App) -> list[str]:
    """Return every reason."""
    found = [] if app.journal.fault is None else [f"store: {app.journal.fault.message}"]
    found += [f"store: {one.words()}" for one in damaged_log.rescued_logs(app.paths.home)]
    found += [
        f"display {screen.name} is {screen.state.value}: {screen.reason}"
        for screen in app.screens.by_name.values()
        if screen.state is not DisplayState.UP
    ]
    found += [
        f"{child.kind} {child.name} was given up: {child.reason}"
        for child in app.keeper.slots.values()
        if child.state is ChildState.FAILED
    ]
    found += freshness.reasons(app)
    missing = tracing.missing(app.settings.otel)
    found += [f"traces: {missing}"] if missing else []
    found += [f"web: {app.web.fault}"] if app.web.fault else []
    found += [f"fleet: {app.fleet.fault}"] if app.fleet.fault else []
    return found + [text for text, _ in unlisted(app)]


def unlisted(app: App) -> list[tuple[str, str]]:
    """Return the reasons, each with what to do, that are about no part which `acud doctor` looks at by itself."""
    found = [
        (f"wake route {name.value} fails: {reason}", "acud wake test; docs/wakes.md")
        for name, reason in app.relay.failing().items()
    ]
    undelivered = app.store.outbox.counts().get(WakeState.UNDELIVERED, 0) if app.settings.wake.routes else 0
    if undelivered:
        found.append((f"{undelivered} wakes are undelivered: acud wake list", "acud wake retry"))
    if app.control.internal_faults:
        words = f"{app.control.internal_faults} requests met a fault of acud itself: acud logs --level error"
        found.append((words, "acud daemon restart; report it"))
    if app.journal.dropped:
        found.append((f"{app.journal.dropped} evaluations could not be recorded", "acud logs --level error"))
    if app.upkeep.draining.reason:
        found.append((app.upkeep.draining.reason, "acud daemon drain --cancel takes new work again"))
    return found
