"""Answer `sense_post`."""

from __future__ import annotations

from acud.analysis.nouns import SenseEvent
from acud.protocol.requests.feed_post import Posted
from acud.protocol.requests.sense_post import SensePost
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: SensePost, call: Call) -> Posted:
    """Keep what was seen elsewhere."""
    app.commentary.attend()
    pictures = (request.roi, request.diff, request.observation)
    return Posted(app.commentary.seen(SenseEvent(0, request.kind, request.ts, 0, request.ocr, request.meta, *pictures)))
