"""Settings of waits, of their use of the machine, and of terminals."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.types import Count, Positive


class WaitSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[wait]`"""

    timeout_s: Positive = 300
    max_timeout_s: Positive = 604_800
    max_live: Count = 10_000
    max_per_display: Count = 2000
    max_per_task: Count = 1000
    max_new_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    diff_max_width: Annotated[int, Meta(ge=0, le=16384)] = 320
    longest_pause_s: Annotated[float, Meta(ge=0, le=5)] = 5


class HostConditionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[host_conditions]`"""

    paths: tuple[str, ...] = ("~",)

    def __post_init__(self) -> None:
        """Refuse paths that are not folders of this machine."""
        for path in self.paths:
            if not (path.startswith(("/", "~/")) or path == "~") or "\0" in path:
                raise ValueError(f"paths takes folders that begin with / or ~, not {path[:80]!r}")


class PtySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[pty]`"""

    poll_s: Annotated[float, Meta(ge=0.1, le=60)] = 1.0
    timeout_s: Positive = 2
    tmux: str = "tmux"
