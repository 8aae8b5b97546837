"""Answer `feed_post`."""

from __future__ import annotations

from acud.protocol.requests.commentary import FeedPost, Posted
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: FeedPost, call: Call) -> Posted:
    """Keep the message."""
    app.commentary.attend()
    return Posted(app.commentary.heard(request.text, request.priority, request.source))
