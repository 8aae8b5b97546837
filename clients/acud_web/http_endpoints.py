"""The HTTP endpoints of docs/relay.md: /feed, /sense, /agent/* and /health, in the words that their clients read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from acud.base.errors import InvalidRequest
from acud.protocol import codec
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
from acud.types.commentary import AnalysisResult, ContextWindow, SenseEvent
from acud_http.errors import HttpFault, answer, fault
from acud_web.route_table import CONFIG_LIMIT_BYTES, Row, json_object, number, query_number, switch, text, whole

View = dict[str, Any]

# ---- /feed: messages in, messages out --------------------------------------------------------------------------------

_LONGEST_TEXT = 100_000
_OWN = "agent"
"""The source of the commentary's own words, which are no news to it: no client may use it."""


async def post_feed(request: Request) -> Response:
    body = await json_object(request)
    words = body.get("text")
    if not isinstance(words, str) or not words:
        raise fault(400, "missing text")
    if len(words) > _LONGEST_TEXT:
        raise fault(413, f"text is longer than {_LONGEST_TEXT} characters")
    source = text("source", body.get("source") or "")
    if source == _OWN:
        raise fault(400, f"source {_OWN} is for the commentary itself")
    posting = FeedPost(words, text("priority", body.get("priority") or "normal"), source)
    return answer({"ok": True, "id": (await request.state.gateway.ask(posting, Posted)).id})


async def get_feed(request: Request) -> Response:
    """List messages with an id above `after`, oldest first."""
    after = max(0, query_number(request, "after", 0))
    found = await request.state.gateway.ask(FeedList(after), FeedListReply)
    return answer({"messages": found.messages})


# ---- /sense: what was seen, in and out -------------------------------------------------------------------------------

_KEPT = ("ocr", "meta", "roi", "diff", "observation")
_LONGEST_OCR = 100_000
_ENVELOPE_BYTES = 1024
"""What the request's id and version take on top of it."""


async def post_sense(request: Request) -> Response:
    posted = await request.state.gateway.ask(_sense_post(await json_object(request)), Posted)
    return answer({"ok": True, "id": posted.id})


def _sense_post(body: dict[str, Any]) -> SensePost:
    """Return the request for `body`; keys that are not part of an event are left out. Raises: Fault."""
    if not body.get("type") or not body.get("ts"):
        raise fault(400, "missing type or ts")
    given = {name: body[name] for name in _KEPT if body.get(name) is not None}
    if isinstance(given.get("meta"), dict):
        given["meta"] = {name: value for name, value in given["meta"].items() if value is not None}
    if isinstance(given.get("ocr"), str) and len(given["ocr"]) > _LONGEST_OCR:
        raise fault(413, f"ocr is longer than {_LONGEST_OCR} characters")
    try:
        event = codec.convert(
            {"type": "sense_post", "kind": body["type"], "ts": whole("ts", body["ts"]), **given}, SensePost
        )
    except InvalidRequest as found:
        raise _build_refusal(found, {"kind": "type"}) from None
    if len(codec.encode(event)) + _ENVELOPE_BYTES > codec.MAX_MESSAGE_BYTES:
        raise fault(413, f"an event with its pictures may take {codec.MAX_MESSAGE_BYTES} bytes")
    return event


async def get_sense(request: Request) -> Response:
    """List events with an id above `after`, oldest first; with `meta_only=true` without the pictures themselves."""
    after = max(0, query_number(request, "after", 0))
    meta_only = request.query_params.get("meta_only") == "true"
    found = await request.state.gateway.ask(SenseList(after, meta_only), SenseListReply)
    return answer({"events": [_event_view(event) for event in found.events]})


def _event_view(event: SenseEvent) -> View:
    """Return a sense event as JSON: `ocr` and `meta` always, the other fields where they are set."""
    meta: View = {"app": event.meta.app, "windowTitle": event.meta.windowTitle, "screen": event.meta.screen}
    if event.meta.ssim is not None:
        meta["ssim"] = event.meta.ssim
    return {**msgspec.to_builtins(event), "ocr": event.ocr, "meta": meta}


# ---- /agent: the commentary's words, what it would be made from, and how it runs -------------------------------------

_MOST = 50
_DEFAULT = 10
_COST_PLACES = 6
_CONFIG: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "enabled": ("enabled", switch),
    "intervalMs": ("interval_ms", whole),
    "model": ("model", text),
    "backend": ("backend", text),
    "maxAgeMs": ("max_age_ms", whole),
    "maxTokens": ("max_tokens", whole),
    "temperature": ("temperature", number),
    "pushToFeed": ("push_to_feed", switch),
    "logVerbose": ("log_verbose", switch),
    "cadence": ("cadence", text),
}
"""What may be read and set, the name the daemon has for it, and what it is."""
_SETTABLE = {**_CONFIG, "maxAge": _CONFIG["maxAgeMs"]}
"""`maxAge` is read back as `maxAgeMs`."""


async def last(request: Request) -> Response:
    """Return the newest result, or null."""
    found = await request.state.gateway.ask(AnalysisHistory(1), AnalysisHistoryReply)
    return answer({"ok": True, "result": result_view(found.results[0]) if found.results else None})


async def history(request: Request) -> Response:
    """Return the newest results, newest first: 10, or `limit` (1 to 50)."""
    limit = min(_MOST, max(1, query_number(request, "limit", _DEFAULT)))
    found = await request.state.gateway.ask(AnalysisHistory(limit), AnalysisHistoryReply)
    return answer({"ok": True, "results": [result_view(one) for one in found.results]})


def result_view(result: AnalysisResult) -> View:
    """Return one analysis; a cost or a number of tokens that is not known is null."""
    view: View = msgspec.to_builtins(result)
    cost_usd = view.pop("cost_usd")
    return {**view, "cost": None if cost_usd is None else round(cost_usd, _COST_PLACES)}


async def context(request: Request) -> Response:
    """Return the context window as of now."""
    found = await request.state.gateway.ask(AnalysisContextGet(), AnalysisContextReply)
    return answer({"ok": True, "context": _context_view(found.context)})


def _context_view(window: ContextWindow) -> View:
    """Return a context window; its moments have their words always, the rest where there is something."""
    words = dict.fromkeys(("ts", "type", "app", "ocr"), "")
    return {**msgspec.to_builtins(window), "screen": [{**words, **msgspec.to_builtins(one)} for one in window.screen]}


async def get_config(request: Request) -> Response:
    return _answer_config(await request.state.gateway.ask(AnalysisConfigure(), AnalysisConfigReply))


async def set_config(request: Request) -> Response:
    """Change what is given, and return the whole; unknown keys are ignored, null leaves a value as it is."""
    body = await json_object(request, CONFIG_LIMIT_BYTES)
    given = [(name, *_SETTABLE[name]) for name in _SETTABLE if body.get(name) is not None]
    values = {ours: read(name, body[name]) for name, ours, read in given}
    try:
        change = codec.convert({"type": "analysis_config", **values}, AnalysisConfigure)
        return _answer_config(await request.state.gateway.ask(change, AnalysisConfigReply))
    except InvalidRequest as found:
        raise _build_refusal(found, {ours: name for name, ours, _ in given}) from None


def _build_refusal(error: InvalidRequest, names: Mapping[str, str]) -> HttpFault:
    """Return the answer 400 with the words of `error`, its field as the caller calls it: `names` by the daemon's."""
    field = str(error.facts.get("field", ""))
    named = field in names and error.message.startswith(field)
    return fault(400, names[field] + error.message.removeprefix(field) if named else error.message)


def _answer_config(reply: AnalysisConfigReply) -> Response:
    """Return the configuration. Keys of backends stay where they are kept; `hasApiKey`: whether there is one."""
    told = {name: getattr(reply.config, ours) for name, (ours, _) in _CONFIG.items()}
    return answer({"ok": True, "config": {**told, "hasApiKey": reply.has_key}})


async def health(request: Request) -> Response:
    """Return the state of rings and loop of the commentary; 503 with the reason when the daemon does not answer."""
    return answer(health_view(await request.state.gateway.ask(AnalysisStatus(), AnalysisStatusReply)))


def health_view(status: AnalysisStatusReply) -> View:
    """Return how the commentary does. `estimatedCost` is USD over the calls whose price is known; `unpricedCalls`
    counts the others, and `fault`: why the newest call failed (null: it did not).
    """
    return {
        "ok": True,
        "messages": status.messages,
        "senseEvents": status.sense_events,
        "agent": {
            "enabled": status.config.enabled,
            "lastAnalysis": status.last.ts if status.last is not None else None,
            "totalCalls": status.calls,
            "totalTokens": {"in": status.tokens_in, "out": status.tokens_out},
            "estimatedCost": round(status.cost_usd, _COST_PLACES),
            "model": status.model,
            "unpricedCalls": status.unpriced,
            "intervalMs": status.interval_ms,
            "fault": status.fault or None,
        },
    }


def _make_row(method: str, path: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Row:
    return Row(method, path, endpoint, None, checks_body=False)


ROWS = (
    _make_row("POST", "/feed", post_feed),
    _make_row("GET", "/feed", get_feed),
    _make_row("POST", "/sense", post_sense),
    _make_row("GET", "/sense", get_sense),
    _make_row("GET", "/health", health),
    _make_row("GET", "/agent/last", last),
    _make_row("GET", "/agent/history", history),
    _make_row("GET", "/agent/context", context),
    _make_row("GET", "/agent/config", get_config),
    _make_row("POST", "/agent/config", set_config),
)
