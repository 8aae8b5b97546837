"""The commentary in the supervisor: started with the core, and what doctor tells of it."""

from __future__ import annotations

from collections.abc import Iterator

from acud.features.commentary.settings import AnalysisSettings
from acud.features.commentary.supervisor import handlers as handlers  # registers them
from acud.features.commentary.supervisor.model_question import Thinking
from acud.features.commentary.supervisor.scene_events import SceneEvents
from acud.features.commentary.supervisor.service import Commentary
from acud.features.commentary.supervisor.window_events import WindowEvents
from acud.protocol.requests.daemon import Finding
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import WindowInfo


class CommentaryFeature(RunningFeature):
    """The feed, the senses and the analyses."""

    def __init__(self, core: Core) -> None:
        self.settings = core.settings
        self.keys = core.keys
        self.journal = core.journal
        self._redaction = core.redaction
        written = core.redaction.redact
        model = Thinking(core.pool, self._leaves, written)
        self.commentary = Commentary(
            core.journal, core.loop, core.clock, core.settings.of(AnalysisSettings), model, written, core.usage_log
        )
        parts = (core.loop, core.clock, self._sensing, self._title, self.commentary.sensed)
        self.commentary.on_attended(WindowEvents(core.watched_displays, *parts).look)
        scenes = SceneEvents(core.watched_displays.numbered, *parts)
        core.ports.elements.on_scene(scenes.shown)
        core.watched_displays.removed.add(scenes.forget, Order.FEATURES)

    def _leaves(self, backend: str) -> bool:
        return not self.settings.backends().named()[backend].is_local

    def _sensing(self) -> bool:
        return self.commentary.sensing

    def _title(self, watched: WatchedDisplay, window: WindowInfo) -> str:
        return self._redaction.title(watched, window)[0]

    def start(self) -> None:
        """Take up what a former supervisor left unanswered."""
        self.commentary.start()

    def backends(self) -> Iterator[str]:
        """Yield the backend that comments."""
        yield self.commentary.config.backend

    def findings(self) -> Iterator[Finding]:
        """Yield who speaks, where that is a model, and why nobody does."""
        status = self.commentary.status()
        backend = status.config.backend
        if status.fault:
            yield Finding("commentary", "warning", status.fault, "acud analysis config; docs/commentary.md")
        elif backend and status.config.enabled:
            text = f"{status.model} of {backend}"
            leaves = "; what is said and seen leaves for it" if self._leaves(backend) else ""
            yield Finding("commentary", "ok", text + leaves)


def start(core: Core) -> CommentaryFeature:
    """Start the feature."""
    return CommentaryFeature(core)
