"""Settings of recordings."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.types import Positive


class RecordingSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[recording]`"""

    enabled: bool = True
    fps: Annotated[float, Meta(ge=0.1, le=30)] = 2.0
    crf: Annotated[int, Meta(ge=0, le=51)] = 28
    keep_failed: bool = True
    max_mb: Positive = 5000
    keep_days: Positive = 30


LIVE = ("max_mb", "keep_days")
"""Keys that take effect while the daemon runs."""
