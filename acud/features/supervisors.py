"""The features of a supervisor, in the order in which they start: each after those whose ports it asks."""

from __future__ import annotations

from acud.config import Settings
from acud.supervisor.feature import Feature
from acud.supervisor.frame_sources import Sources
from acud.supervisor.redaction import NoRedaction, Redaction
from acud.supervisor.watched_displays import WatchedDisplays

FEATURES = (
    Feature("redaction", "acud.features.redaction.supervisor"),
    Feature("tasks", "acud.features.tasks.supervisor.feature"),
    Feature("scene", "acud.features.scene.supervisor.feature"),
    Feature("grounding", "acud.features.grounding.supervisor"),
    Feature("actions", "acud.features.actions.supervisor.feature"),
    Feature("agent", "acud.features.agent.supervisor.feature"),
    Feature("recording", "acud.features.recording.supervisor.feature"),
    Feature("commentary", "acud.features.commentary.supervisor.feature"),
    Feature("notifications", "acud.features.notifications.supervisor.feature"),
    Feature("fleet", "acud.features.fleet.supervisor"),
)


def redaction(settings: Settings, watched_displays: WatchedDisplays, sources: Sources) -> Redaction:
    """Return the policy of redaction; one that hides nothing where the feature is off."""
    if not settings.features.redaction:
        return NoRedaction()
    from acud.features.redaction.supervisor import policy  # only where it is on

    return policy(settings, watched_displays, sources)
