"""/feed: messages in, messages out."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from acud.protocol.requests.commentary import FeedList, FeedListReply, FeedPost, Posted
from acud_web.answers import answer, fault
from acud_web.request_values import json_object, query_number, text

_LONGEST_TEXT = 100_000
_OWN = "agent"
"""The source of the commentary's own words, which count as no news to it: nobody else may take it."""


async def post(request: Request) -> Response:
    """Add a message."""
    posted = await request.state.desk.ask(drafted(await json_object(request)), Posted)
    return answer({"ok": True, "id": posted.id})


def drafted(body: dict[str, Any]) -> FeedPost:
    """Return the request for `body`. Raises: Fault."""
    words = body.get("text")
    if not isinstance(words, str) or not words:
        raise fault(400, "missing text")
    if len(words) > _LONGEST_TEXT:
        raise fault(413, f"text is longer than {_LONGEST_TEXT} characters")
    source = text("source", body.get("source") or "")
    if source == _OWN:
        raise fault(400, f"source {_OWN} is for the commentary itself")
    return FeedPost(words, text("priority", body.get("priority") or "normal"), source)


async def get(request: Request) -> Response:
    """List messages with an id above `after`, oldest first."""
    after = max(0, query_number(request, "after", 0))
    found = await request.state.desk.ask(FeedList(after), FeedListReply)
    return answer({"messages": found.messages})
