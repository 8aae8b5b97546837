"""`analysis_config`: how the commentary is set up, and a change of that while it runs."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.analysis.nouns import AnalysisConfig
from acud.protocol.requests.spec import RequestSpec


class AnalysisConfigure(Struct, frozen=True, tag="analysis_config", forbid_unknown_fields=True):
    """Change what is given (None: as it is), and return the whole; without anything given nothing changes.

    Intervals and ages below the least are raised to it. The change lasts until the daemon ends. `backend` names the
    vision backend that is asked, `model` its model ("": its own); with `backend` "" the embedded commentary runs.
    """

    enabled: bool | None = None
    interval_ms: int | None = None
    model: str | None = None
    backend: str | None = None
    max_age_ms: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    push_to_feed: bool | None = None
    log_verbose: bool | None = None
    cadence: Literal["interval", "event"] | None = None


class AnalysisConfigReply(Struct, frozen=True, forbid_unknown_fields=True):
    """How it is set up now. `has_key`: whether there is a key for the backend named (a local one needs none)."""

    config: AnalysisConfig
    has_key: bool


SPEC = RequestSpec(AnalysisConfigure, AnalysisConfigReply, mutating=True)
