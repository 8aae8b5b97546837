"""Settings of notifications to a person at the desktop."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

NoticeKind = Literal[
    "wait_resolved", "wake_undelivered", "task_stuck", "task_failed", "task_ended", "display_down", "takeover_ended"
]
KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)


class NotifySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[notify]`"""

    enabled: bool = False
    kinds: tuple[NoticeKind, ...] = KINDS
    bus_address: str = ""
    per_minute: Annotated[int, Meta(ge=1, le=600)] = 6
    screen_text: bool = False
    timeout_s: Annotated[float, Meta(gt=0, le=60)] = 5.0
