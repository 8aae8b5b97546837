"""Settings of scenes."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.types import Positive


class SceneSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[scene]`"""

    ocr_ttl_s: Positive = 30
    ax_max_age_s: Positive = 5
    kept: Annotated[int, Meta(ge=1, le=256)] = 16
