"""Answer requests: the feed, the senses and the analyses."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from acud.errors import InvalidRequest
from acud.features.commentary.prompt import user_prompt
from acud.protocol.requests.commentary import (
    AnalysisConfigReply,
    AnalysisConfigure,
    AnalysisContextGet,
    AnalysisContextReply,
    AnalysisHistory,
    AnalysisHistoryReply,
    AnalysisStatus,
    AnalysisStatusReply,
    FeedList,
    FeedListReply,
    FeedPost,
    Posted,
    SenseList,
    SenseListReply,
    SensePost,
)
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.handlers.registry import handles
from acud.types.commentary import AnalysisConfig, SenseEvent


@handles(FeedPost)
def feed_post(app: App, request: FeedPost, call: Call) -> Posted:
    """Keep the message."""
    app.commentary.attend()
    return Posted(app.commentary.heard(request.text, request.priority, request.source))


@handles(FeedList)
def feed_list(app: App, request: FeedList, call: Call) -> FeedListReply:
    """Return the messages above a number."""
    app.commentary.attend()
    return FeedListReply(app.commentary.feed.above(request.after))


_DEPTH = 32
"""SQLite's JSON gives up at 1,000: one event must not make the whole ring unreadable."""


@handles(SensePost)
def sense_post(app: App, request: SensePost, call: Call) -> Posted:
    """Keep what was seen elsewhere."""
    pictures = (request.roi, request.diff, request.observation)
    if any(_deeper_than(_DEPTH, picture) for picture in pictures):
        raise InvalidRequest(f"roi, diff or observation is nested deeper than {_DEPTH}", hint="send it flatter")
    app.commentary.attend()
    return Posted(app.commentary.seen(SenseEvent(0, request.kind, request.ts, 0, request.ocr, request.meta, *pictures)))


def _deeper_than(depth: int, value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth < 0 or any(_deeper_than(depth - 1, one) for one in inside)


@handles(SenseList)
def sense_list(app: App, request: SenseList, call: Call) -> SenseListReply:
    """Return the events above a number."""
    app.commentary.attend()
    return SenseListReply(app.commentary.sense.above(request.after, pictures=not request.meta_only))


@handles(AnalysisStatus)
def analysis_status(app: App, request: AnalysisStatus, call: Call) -> AnalysisStatusReply:
    """Return how the loop is doing; asking is no listening."""
    return app.commentary.status()


@handles(AnalysisHistory)
def analysis_history(app: App, request: AnalysisHistory, call: Call) -> AnalysisHistoryReply:
    """Return the newest results."""
    app.commentary.attend()
    return AnalysisHistoryReply(app.commentary.analyses.newest(request.limit))


@handles(AnalysisContextGet)
def analysis_context(app: App, request: AnalysisContextGet, call: Call) -> AnalysisContextReply:
    """Return the window as of now."""
    app.commentary.attend()
    window = app.commentary.window()
    return AnalysisContextReply(window, user_prompt(window))


_LEAST = {"interval_ms": 5000, "max_age_ms": 10_000}


@handles(AnalysisConfigure)
def analysis_config(app: App, request: AnalysisConfigure, call: Call) -> AnalysisConfigReply:
    """Change what is given; nothing when any of it cannot be."""
    given = {name: value for name, value in msgspec.structs.asdict(request).items() if value is not None}
    if given:
        config = _changed(app.commentary.config, given)
        app.journal.after_commit(lambda: app.commentary.configure(config))
        return _reply(app, config)
    return _reply(app, app.commentary.config)


def _changed(config: AnalysisConfig, given: dict[str, Any]) -> AnalysisConfig:
    for name, least in _LEAST.items():
        if name in given:
            given[name] = max(least, given[name])
    if not math.isfinite(given.get("temperature", 0.0)):
        raise InvalidRequest("temperature is not a number", hint="0 to 2")
    try:
        return msgspec.convert(msgspec.structs.asdict(config) | given, AnalysisConfig)
    except msgspec.ValidationError as fault:
        raise InvalidRequest(
            str(fault).replace(" - at `$.", " (").replace("`", ")"), hint="docs/commentary.md"
        ) from fault


def _reply(app: App, config: AnalysisConfig) -> AnalysisConfigReply:
    key = app.keys.get(config.backend)
    return AnalysisConfigReply(config, has_key=key is not None and bool(key.value))
