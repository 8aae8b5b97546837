"""Settings of the daemon, its children, displays, capture and store."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.types import Count, Positive

LocalDisplay = Annotated[
    str, Meta(pattern=r"^((unix)?:[0-9]{1,5}(\.[0-9]{1,2})?)?$", description="a display of this host, such as :0")
]
"""Or "". acud cannot check the user that serves another machine's display, and its cookie would travel in the clear."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(=[^\0]*)?", re.DOTALL)
_OF_A_DISPLAY = ("DISPLAY", "XAUTHORITY")


class DaemonSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[daemon]`"""

    debug: bool = False
    log_max_mb: Positive = 20
    log_files: Annotated[int, Meta(ge=1, le=100)] = 3
    heartbeat_s: Annotated[float, Meta(ge=1, le=60)] = 1.0
    child_silent_s: Annotated[float, Meta(ge=2)] = 10.0
    child_start_s: Annotated[float, Meta(ge=2)] = 45.0
    late_s: Positive = 5.0
    restart_limit: Count = 5
    restart_window_s: Positive = 60
    max_parked_replies: Count = 4096


class FeatureSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[features]`: which features run. The stored data of a feature stays while it is off."""

    actions: bool = True
    agent: bool = True
    commentary: bool = True
    fleet: bool = True
    grounding: bool = True
    notifications: bool = True
    recording: bool = True
    redaction: bool = True
    scene: bool = True
    tasks: bool = True


class DisplaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[display]`"""

    default: LocalDisplay = ""
    width: Annotated[int, Meta(ge=16, le=16384)] = 1280
    height: Annotated[int, Meta(ge=16, le=16384)] = 720
    max: Count = 64
    first_number: Annotated[int, Meta(ge=1, le=60000)] = 100
    start_deadline_s: Positive = 15
    starts_at_once: Annotated[int, Meta(ge=0, le=1000)] = 0
    window_manager: str = "openbox"
    session_bus: bool = True
    notifications: bool = True
    memory_mb: Annotated[float, Meta(ge=0)] = 0
    processes: Annotated[int, Meta(ge=0)] = 0
    limits_check_s: Annotated[float, Meta(ge=0.1, le=60)] = 5.0
    environment: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse invalid variables, and those that each display sets by itself."""
        for entry in self.environment:
            name = entry.partition("=")[0]
            if not _VARIABLE.fullmatch(entry) or name in _OF_A_DISPLAY:
                raise ValueError(f"environment takes NAME or NAME=value, not {name[:80]!r}")


class CaptureSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[capture]`"""

    slots: Annotated[int, Meta(ge=2, le=64)] = 4
    max_fps: Annotated[float, Meta(gt=0, le=240)] = 30.0
    max_total_fps: Annotated[float, Meta(ge=0, le=100_000)] = 0
    max_megapixels: Annotated[float, Meta(gt=0, le=4096)] = 64
    floor_s: Positive = 30
    method: Literal["auto", "attachfd", "sysv", "getimage"] = "auto"


class EvaluatorSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[evaluator]`"""

    workers: Annotated[int, Meta(ge=0, le=256)] = 0
    jobs_per_worker: Count = 64
    lease_s: Positive = 30
    job_max_s: Positive = 900


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store]`"""

    keep_days: Positive = 30
    keep_evaluations_days: Positive = 7
    keep_evaluations: Annotated[int, Meta(ge=1000)] = 1_000_000
    keep_actions: Annotated[int, Meta(ge=1000)] = 200_000
    keep_events: Annotated[int, Meta(ge=1000)] = 200_000
    evidence_max_mb: Positive = 2000
    verdict_pictures_max_mb: Annotated[float, Meta(ge=0)] = 100
    keep_backups: Count = 3
    busy_timeout_s: Positive = 2
