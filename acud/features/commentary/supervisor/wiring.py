"""The parts of the commentary, put together."""

from __future__ import annotations

from collections.abc import Callable

from acud.clock import Clock
from acud.config import Settings
from acud.event_loop import EventLoop
from acud.features.commentary.supervisor.model_question import Thinking
from acud.features.commentary.supervisor.scene_events import SceneEvents
from acud.features.commentary.supervisor.service import Commentary
from acud.features.commentary.supervisor.window_events import WindowEvents
from acud.features.redaction.supervisor import RedactionPolicy
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.journal import Journal
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays


def wired(
    settings: Settings,
    journal: Journal,
    usage_log: UsageLog,
    loop: EventLoop,
    clock: Clock,
    pool: EvaluatorPool,
    redaction: RedactionPolicy,
    watched_displays: WatchedDisplays,
    numbered: Callable[[int], WatchedDisplay | None],
) -> tuple[Commentary, SceneEvents]:
    """Return the commentary, and what is to be shown each scene that differs from the one before."""
    backends = settings.backends().named()
    mind = Thinking(pool, lambda name: not backends[name].is_local, redaction.written)
    commentary = Commentary(journal, loop, clock, settings.analysis, mind, redaction.written, usage_log)

    def wanted() -> bool:
        return commentary.sensing

    parts = (loop, clock, wanted, lambda screen, window: redaction.title(screen, window)[0], commentary.sensed)
    commentary.on_attended(WindowEvents(watched_displays, *parts).look)
    return commentary, SceneEvents(numbered, *parts)
