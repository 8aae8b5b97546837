"""Settings of waits, terminals, tasks, the agent and the commentary."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.config.values import Count, Positive


class WaitSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[wait]`"""

    timeout_s: Positive = 300
    max_timeout_s: Positive = 604_800
    max_live: Count = 10_000
    max_per_display: Count = 2000
    max_per_task: Count = 1000
    max_new_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    diff_max_width: Annotated[int, Meta(ge=0, le=16384)] = 320


class PtySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[pty]`"""

    poll_s: Annotated[float, Meta(ge=0.1, le=60)] = 1.0
    timeout_s: Positive = 2
    tmux: str = "tmux"


class TasksSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tasks]`"""

    stuck_detection: bool = True
    stuck_check_s: Positive = 60
    stuck_after_s: Positive = 300
    stuck_cooldown_s: Positive = 300


class GuiAgentSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[gui_agent]`"""

    backend: Literal["", "ollama", "vllm", "openrouter", "claude"] = ""
    model: str = ""
    check_timeout_s: Positive = 20
    effect_timeout_s: Positive = 3


class AnalysisSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[analysis]`: the commentary"""

    enabled: bool = True
    interval_ms: Annotated[int, Meta(ge=5000, le=3_600_000)] = 10_000
    cadence: Literal["interval", "event"] = "interval"
    backend: Literal["", "ollama", "vllm", "openrouter", "claude"] = ""
    model: str = ""
    max_age_ms: Annotated[int, Meta(ge=10_000, le=86_400_000)] = 120_000
    max_tokens: Annotated[int, Meta(ge=1, le=4000)] = 100
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.3
    push_to_feed: bool = True
    log_verbose: bool = False
