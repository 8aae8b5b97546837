"""Notes on a wait's target for the client that arms it, and the display of a window that is named by its title."""

from __future__ import annotations

from msgspec.structs import replace

from acud.supervisor.host_conditions import HostConditions
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.watched_displays import WatchedDisplays
from acud.types import DisplayState, Target, WindowInfo
from acud.waits.targets import find_titled_windows, parse_window_id

_MOST_NAMED = 4


class TargetNotes:
    """Looks at the windows of all displays."""

    def __init__(self, watched_displays: WatchedDisplays, host_conditions: HostConditions) -> None:
        self._watched_displays, self._host = watched_displays, host_conditions

    def collect(self, active: ActiveWait, window_id: int) -> list[str]:
        """Return notes on the target: several that match (`window_id` is watched), or one on another display."""
        watched = self._watched_displays.by_name.get(active.display)
        unread = self._host.explain_unknown(active.spec.until, watched) if watched is not None else []
        if watched is None or not watched.windows_known:
            return unread
        title = active.spec.target.window if parse_window_id(active.spec.target.window) is None else ""
        fitting = find_titled_windows(title, watched.windows) if title else []
        notes = [*unread, *([_describe_choice(title, fitting, window_id)] if len(fitting) > 1 else [])]
        others = self._displays_with(title) if title and not fitting else []
        notes += [f"a window of that name is on {', '.join(others[:_MOST_NAMED])}: give its display"] if others else []
        if watched.managed and not watched.is_used and active.spec.target.opened_by is None:
            elsewhere = self._describe_elsewhere(active.display)
            notes.append(f"display {active.display} is new and empty: no window is there{elsewhere}")
        return notes

    def with_display(self, target: Target) -> Target:
        """Return a target of a titled window with its display, if only one display has such a window; else as it is.
        Window ids do not identify the display.
        """
        if target.display or not target.window or parse_window_id(target.window) is not None:
            return target
        found = self._displays_with(target.window)
        return replace(target, display=found[0]) if len(found) == 1 else target

    def _displays_with(self, title: str) -> list[str]:
        shown = self._watched_displays.by_name.values()
        return [one.name for one in shown if one.state is DisplayState.UP and find_titled_windows(title, one.windows)]

    def _describe_elsewhere(self, display: str) -> str:
        others = [
            one.name for one in self._watched_displays.by_name.values() if one.name != display and any(one.windows)
        ]
        return f"; there are windows on {', '.join(others[:_MOST_NAMED])}" if others else ""


def _describe_choice(named: str, fitting: list[WindowInfo], watched: int) -> str:
    """Describe which of the windows that match a title is watched, and which are not."""
    words = {window.window_id: f'window:{window.window_id:#x} "{window.title}"' for window in fitting}
    others = [text for window, text in words.items() if window != watched][:_MOST_NAMED]
    chosen = words.get(watched, "none of them")
    return f'{len(fitting)} windows fit "{named}": {chosen} is watched, not {", ".join(others)}; name one by its id'
