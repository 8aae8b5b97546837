"""Answer `feed_list`."""

from __future__ import annotations

from acud.protocol.requests.commentary import FeedList, FeedListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: FeedList, call: Call) -> FeedListReply:
    """Return the messages above a number."""
    app.commentary.attend()
    return FeedListReply(app.store.feed.above(request.after))
