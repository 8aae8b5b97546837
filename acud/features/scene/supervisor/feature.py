"""Scenes in the supervisor: started with the core, and what they provide to others."""

from __future__ import annotations

from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor import handlers as handlers  # registers them
from acud.features.scene.supervisor.annotations import SceneAnnotations
from acud.features.scene.supervisor.element_locator import ElementLocator
from acud.features.scene.supervisor.service import Scenes
from acud.features.scene.supervisor.subscriptions import SceneSubscriptions
from acud.features.scene.tables import ReservedNumbers
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.supervisor.watched_displays import WatchedDisplay


class SceneFeature(RunningFeature):
    """What is on the displays, as structure."""

    def __init__(self, core: Core) -> None:
        self.displays = core.displays
        self.watched_displays = core.watched_displays
        self.sources = core.sources
        self.screenshots = core.screenshots
        self.fresh_frames = core.fresh_frames
        self.tasks = core.ports.tasks
        numbers = ReservedNumbers.stored(core.journal)
        self.annotations = SceneAnnotations(
            core.waits.targets, numbers, core.pool, core.redaction, core.settings, core.usage_log
        )
        self.scenes = Scenes(
            core.pool,
            core.watched_displays,
            core.sources,
            core.frame_requests,
            core.displays,
            core.redaction,
            core.journal,
            core.clock,
            core.settings.of(SceneSettings),
            core.display_pids,
            numbers,
            self.annotations,
        )
        self.scenes.shown.add(core.daemon_events.scene_made, Order.CORE)
        self.subscriptions = SceneSubscriptions(
            self.scenes,
            core.watched_displays,
            core.sources,
            core.loop,
            core.settings.of(SceneSettings),
            core.clock.monotonic_s,
        )
        core.watched_displays.removed.add(self.annotations.forget, Order.FEATURES)
        core.ports.provide(elements=ElementLocator(self.scenes, core.watched_displays.numbered, self._follow_windows))

    def _follow_windows(self, watched: WatchedDisplay) -> None:
        self.watched_displays.follow(
            watched, "handles", (0,)
        )  # no window's own pixels, but its place before each frame


def start(core: Core) -> SceneFeature:
    """Start the feature."""
    return SceneFeature(core)
