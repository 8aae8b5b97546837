"""What the parts of the supervisor tell of themselves, as events: displays, children, judges, scenes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from acud.protocol.evaluation import JudgeHealth
from acud.protocol.events import Event
from acud.supervisor.children import Child, ChildState
from acud.supervisor.journal import Journal
from acud.supervisor.publisher import Publisher
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types.scene import Scene


class DaemonEvents:
    """Writes events of what it hears; all but scenes may be given up when the disk takes none."""

    def __init__(self, journal: Journal, publisher: Publisher, utc_s: Callable[[], float]) -> None:
        self._journal = journal
        self._publisher = publisher
        self._utc_s = utc_s
        self._judges: Mapping[str, str] = {}

    def display_changed(self, watched: WatchedDisplay, topic: str) -> None:
        """Tell that a display is up or down, and why."""
        if topic == "display.ended":
            return  # the row's end tells it
        reason = watched.reason
        self._journal.keep(lambda: self._journal.event(topic, watched.name, reason=reason), droppable=True)

    def scene_made(self, scene: Scene) -> None:
        """Tell of a scene that differs. It is never stored: four a second would fill the store with what is in it."""
        data = {"reason": scene.reason.value, "displays": [display.id for display in scene.displays]}
        event = Event(0, 0, "scene.updated", self._utc_s(), str(scene.scene_id), data)
        self._journal.after_commit(lambda: self._publisher.tell(event))

    def child_ended(self, child: Child) -> None:
        """Tell that a child died, and whether it was given up; one that was to end is no news."""
        topic = "child.failed" if child.state is ChildState.FAILED else "child.restarted"
        name, reason = f"{child.kind} {child.name}", child.reason
        if child.state is not ChildState.STOPPED:
            self._journal.keep(lambda: self._journal.event(topic, name, reason=reason), droppable=True)

    def judges_changed(self, judges: Iterable[JudgeHealth]) -> bool:
        """Tell of judges whose state differs from what was told last; return whether any does."""
        states = {judge.name: judge.state for judge in judges}
        if states == self._judges:
            return False
        self._judges = states
        self._journal.keep(lambda: self._journal.event("judge.changed", "judges", **states), droppable=True)
        return True
