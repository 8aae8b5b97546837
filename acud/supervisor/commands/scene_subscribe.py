"""Answer `scene_subscribe`."""

from __future__ import annotations

from acud.protocol.requests.scenes import SceneSubscribe, SceneSubscribed
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: SceneSubscribe, call: Call) -> SceneSubscribed:
    """Begin, prolong or end a subscription."""
    names = frozenset(app.screens.get(name).name for name in request.displays)
    subscription = app.subscriptions.subscribe(names, request.for_s, request.subscription)
    return SceneSubscribed(subscription, app.scenes.scene_id)
