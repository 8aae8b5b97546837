"""What the daemon says, in the words that clients of these endpoints read."""

from __future__ import annotations

from typing import Any

import msgspec

from acud.protocol.requests.commentary import AnalysisConfigReply, AnalysisStatusReply
from acud.types.commentary import AnalysisResult, ContextWindow, ScreenMoment, SenseEvent

_COST_PLACES = 6

View = dict[str, Any]


def result(found: AnalysisResult) -> View:
    """Return one analysis; a cost or a number of tokens that nobody knows is null."""
    return {
        "id": found.id,
        "ts": found.ts,
        "analysis": found.analysis,
        "context": found.context,
        "pushed": found.pushed,
        "model": found.model,
        "latencyMs": found.latencyMs,
        "tokensIn": found.tokensIn,
        "tokensOut": found.tokensOut,
        "cost": None if found.cost_usd is None else round(found.cost_usd, _COST_PLACES),
    }


def event(found: SenseEvent) -> View:
    """Return a sense event: its words and its meta always, what came with it where something came."""
    meta: View = {"app": found.meta.app, "windowTitle": found.meta.windowTitle, "screen": found.meta.screen}
    if found.meta.ssim is not None:
        meta["ssim"] = found.meta.ssim
    return {**msgspec.to_builtins(found), "ocr": found.ocr, "meta": meta}


def context(window: ContextWindow) -> View:
    """Return a context window."""
    return {
        "currentApp": window.currentApp,
        "audio": window.audio,
        "screen": [_moment(moment) for moment in window.screen],
        "audioCount": window.audioCount,
        "screenCount": window.screenCount,
        "windowMs": window.windowMs,
    }


def _moment(moment: ScreenMoment) -> View:
    view: View = {"ts": moment.ts, "type": moment.type, "app": moment.app, "ocr": moment.ocr}
    if moment.ssim is not None:
        view["ssim"] = moment.ssim
    if moment.windowTitle:
        view["windowTitle"] = moment.windowTitle
    return view


def config(reply: AnalysisConfigReply) -> View:
    """Return how the commentary runs; keys stay where they are kept, `hasApiKey` tells of one."""
    found = reply.config
    return {
        "enabled": found.enabled,
        "intervalMs": found.interval_ms,
        "model": found.model,
        "backend": found.backend,
        "maxAgeMs": found.max_age_ms,
        "maxTokens": found.max_tokens,
        "temperature": found.temperature,
        "pushToFeed": found.push_to_feed,
        "logVerbose": found.log_verbose,
        "cadence": found.cadence,
        "hasApiKey": reply.has_key,
    }


def health(status: AnalysisStatusReply) -> View:
    """Return how the commentary does. `estimatedCost` is USD over the calls whose price is known; `unpricedCalls`
    counts the others, and `fault` says why the newest call came to nothing (null: it did not).
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
