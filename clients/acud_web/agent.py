"""/agent/*: what the commentary said, what it would be made from, and how it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from acud.errors import InvalidRequest
from acud.protocol import codec
from acud.protocol.requests.commentary import (
    AnalysisConfigReply,
    AnalysisConfigure,
    AnalysisContextGet,
    AnalysisContextReply,
    AnalysisHistory,
    AnalysisHistoryReply,
)
from acud_web import views
from acud_web.answers import answer, fault
from acud_web.request_values import (
    CONFIG_LIMIT_BYTES,
    json_object,
    number,
    query_number,
    switch,
    text,
    whole,
)

_MOST = 50
_DEFAULT = 10

_KNOWN: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "enabled": ("enabled", switch),
    "intervalMs": ("interval_ms", whole),
    "model": ("model", text),
    "backend": ("backend", text),
    "maxAgeMs": ("max_age_ms", whole),
    "maxAge": ("max_age_ms", whole),
    "maxTokens": ("max_tokens", whole),
    "temperature": ("temperature", number),
    "pushToFeed": ("push_to_feed", switch),
    "logVerbose": ("log_verbose", switch),
    "cadence": ("cadence", text),
}
"""What may be set, the name the daemon has for it, and what it is. `maxAge` is read back as `maxAgeMs`."""


async def last(request: Request) -> Response:
    """Return the newest result, or null."""
    found = await request.state.desk.ask(AnalysisHistory(1), AnalysisHistoryReply)
    return answer({"ok": True, "result": views.result(found.results[0]) if found.results else None})


async def history(request: Request) -> Response:
    """Return the newest results, newest first: 10, or `limit` (1 to 50)."""
    limit = min(_MOST, max(1, query_number(request, "limit", _DEFAULT)))
    found = await request.state.desk.ask(AnalysisHistory(limit), AnalysisHistoryReply)
    return answer({"ok": True, "results": [views.result(one) for one in found.results]})


async def context(request: Request) -> Response:
    """Return the context window as of now."""
    found = await request.state.desk.ask(AnalysisContextGet(), AnalysisContextReply)
    return answer({"ok": True, "context": views.context(found.context)})


async def get_config(request: Request) -> Response:
    """Return how the commentary runs."""
    return _config(await request.state.desk.ask(AnalysisConfigure(), AnalysisConfigReply))


async def set_config(request: Request) -> Response:
    """Change what is given, and return the whole."""
    change = drafted(await json_object(request, CONFIG_LIMIT_BYTES))
    return _config(await request.state.desk.ask(change, AnalysisConfigReply))


def drafted(body: dict[str, Any]) -> AnalysisConfigure:
    """Return the request for `body`; unknown keys are ignored, null leaves a value as it is. Raises: Fault."""
    given = [(name, *_KNOWN[name]) for name in _KNOWN if body.get(name) is not None]
    values = {ours: read(name, body[name]) for name, ours, read in given}
    try:
        return codec.convert({"type": "analysis_config", **values}, AnalysisConfigure)
    except InvalidRequest as found:
        raise fault(400, found.message) from None


def _config(reply: AnalysisConfigReply) -> Response:
    return answer({"ok": True, "config": views.config(reply)})
