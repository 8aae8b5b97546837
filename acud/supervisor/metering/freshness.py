"""Health as the freshness of data: what is too old to be called well, however alive the processes look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.metrics.freshness import late_beat, stale_frame
from acud.supervisor.child import Child, ChildState
from acud.supervisor.screens import Screen
from acud.types import DisplayState

if TYPE_CHECKING:
    from acud.supervisor.app import App


def reasons(app: App) -> list[str]:
    """Return why data is not fresh, one sentence each."""
    screens = [(screen, of_screen(app, screen)) for screen in app.screens.by_name.values()]
    children = [(child, of_child(app, child)) for child in app.keeper.slots.values()]
    return [f"display {screen.name}: {why}" for screen, why in screens if why] + [
        f"{child.kind} {child.name}: {why}" for child, why in children if why
    ]


def of_screen(app: App, screen: Screen) -> str:
    """Return why the display's newest frame is stale, "" when it is not (or the display is known to be down)."""
    source = app.sources.by_name.get(screen.name)
    if screen.state is not DisplayState.UP or source is None:
        return ""
    age_s, wanted_for_s = app.sources.age_s(source), app.sources.wanted_for_s(source)
    return stale_frame(age_s, wanted_for_s, app.settings.capture.floor_s, app.settings.daemon.late_s)


def of_child(app: App, child: Child) -> str:
    """Return why the child's last word is too old, "" when it is not; one that starts has said nothing yet."""
    if child.state is not ChildState.READY or child.process is None:
        return ""
    return late_beat(app.clock.monotonic_s() - child.last_beat_s, app.settings.daemon.late_s)
