"""The tool `commentary`: what is going on, as the running commentary has it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from acud.analysis.nouns import AnalysisConfig, AnalysisResult, FeedItem
from acud.analysis.window import ContextWindow
from acud.protocol.requests.commentary import (
    AnalysisConfigReply,
    AnalysisConfigure,
    AnalysisContextGet,
    AnalysisContextReply,
    AnalysisHistory,
    AnalysisHistoryReply,
    FeedList,
    FeedListReply,
    FeedPost,
    Posted,
)
from acud_mcp.tool import Asking
from acud_mcp.views import UNTRUSTED


class CommentaryArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `commentary`. `post` comes before `what`."""

    what: Literal["last", "history", "context", "config", "feed"] = "last"
    post: Annotated[str, Meta(max_length=100_000)] = ""
    after: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class CommentaryView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked for; `posted`: the number of the message that was put into the feed."""

    results: tuple[AnalysisResult, ...] = ()
    messages: tuple[FeedItem, ...] = ()
    context: ContextWindow | None = None
    config: AnalysisConfig | None = None
    posted: int = 0
    untrusted: str = ""


async def commentary(call: Asking, given: CommentaryArguments) -> CommentaryView:
    """Return what was asked for."""
    if given.post:
        posted: Posted = await call.ask(FeedPost(given.post))
        return CommentaryView(posted=posted.id)
    if given.what == "config":
        setup: AnalysisConfigReply = await call.ask(AnalysisConfigure())
        return CommentaryView(config=setup.config)
    return await _words(call, given)


async def _words(call: Asking, given: CommentaryArguments) -> CommentaryView:
    if given.what == "context":
        window: AnalysisContextReply = await call.ask(AnalysisContextGet())
        return CommentaryView(context=window.context, untrusted=UNTRUSTED)
    if given.what == "feed":
        feed: FeedListReply = await call.ask(FeedList(given.after))
        return CommentaryView(messages=feed.messages[-given.limit :], untrusted=UNTRUSTED)
    said: AnalysisHistoryReply = await call.ask(AnalysisHistory(1 if given.what == "last" else given.limit))
    return CommentaryView(results=said.results, untrusted=UNTRUSTED)
