"""Answer `analysis_config`."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from acud.analysis.nouns import AnalysisConfig
from acud.errors import InvalidRequest
from acud.protocol.requests.commentary import AnalysisConfigReply, AnalysisConfigure
from acud.supervisor.app import App
from acud.supervisor.control import Call

_LEAST = {"interval_ms": 5000, "max_age_ms": 10_000}


def handle(app: App, request: AnalysisConfigure, call: Call) -> AnalysisConfigReply:
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
