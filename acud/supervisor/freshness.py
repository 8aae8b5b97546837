"""Whether data is fresh: the frames of displays and the messages of children."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.supervisor.children import Child, ChildState
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState

if TYPE_CHECKING:
    from acud.supervisor.app import App


def list_stale(app: App) -> list[str]:
    displays = [(watched, explain_stale_display(app, watched)) for watched in app.watched_displays.by_name.values()]
    children = [(child, explain_late_child(app, child)) for child in app.keeper.slots.values()]
    return [f"display {watched.name}: {why}" for watched, why in displays if why] + [
        f"{child.kind} {child.name}: {why}" for child, why in children if why
    ]


def explain_stale_display(app: App, watched: WatchedDisplay) -> str:
    """Return why the display's newest frame is stale, "" when it is not (or the display is known to be down)."""
    source = app.sources.by_name.get(watched.name)
    if watched.state is not DisplayState.UP or source is None:
        return ""
    age_s, wanted_for_s = app.sources.age_s(source), app.sources.wanted_for_s(source)
    return explain_stale_frame(age_s, wanted_for_s, app.settings.capture.floor_s, app.settings.daemon.late_s)


def explain_late_child(app: App, child: Child) -> str:
    """Return why the child's last message is too old, "" when it is not; a starting child is not judged."""
    if child.state is not ChildState.READY or child.process is None:
        return ""
    return explain_late_beat(app.clock.monotonic_s() - child.silent_from_s, app.settings.daemon.late_s)


def explain_stale_frame(age_s: float | None, wanted_for_s: float | None, floor_s: float, late_s: float) -> str:
    """Return why a frame is stale, "" when it is not.

    `age_s`: since a grab last matched the screen (None: there was none). `wanted_for_s`: for how long consumers have
    wanted frames (None: none do; then no age is too great). While they do, a grab is made at least every `floor_s`, and
    reported with the next heartbeat.
    """
    limit_s = floor_s + late_s
    if wanted_for_s is None:
        return ""
    if age_s is None:
        return f"no frame came for {wanted_for_s:.0f} s" if wanted_for_s > late_s else ""
    # A frame may be old because no newer one was wanted: the grab that a new demand causes gets the same time.
    if age_s > limit_s and wanted_for_s > late_s:
        return f"its newest frame was last compared with the screen {age_s:.0f} s ago"
    return ""


def explain_late_beat(silent_s: float, late_s: float) -> str:
    """Return why a running child counts as unwell, "" if it is well; `silent_s`: since its last message."""
    return f"it has said nothing for {silent_s:.0f} s" if silent_s > late_s else ""
