"""Settings of the commentary."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class AnalysisSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[analysis]`"""

    enabled: bool = True
    interval_ms: Annotated[int, Meta(ge=5000, le=3_600_000)] = 10_000
    cadence: Literal["interval", "event"] = "interval"
    backend: str = ""
    model: str = ""
    max_age_ms: Annotated[int, Meta(ge=10_000, le=86_400_000)] = 120_000
    max_tokens: Annotated[int, Meta(ge=1, le=4000)] = 100
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.3
    push_to_feed: bool = True
    log_verbose: bool = False


SEED_NAMES = {
    "AGENT_ENABLED": "enabled",
    "AGENT_INTERVAL_MS": "interval_ms",
    "AGENT_MODEL": "model",
    "AGENT_MAX_AGE_MS": "max_age_ms",
    "AGENT_MAX_TOKENS": "max_tokens",
    "AGENT_TEMPERATURE": "temperature",
    "AGENT_PUSH_TO_FEED": "push_to_feed",
    "AGENT_LOG_VERBOSE": "log_verbose",
}
"""Environment names that existing installations use, and the key each one means."""

NAMING_BACKENDS = ("backend",)
"""Keys that hold the name of a backend."""
