"""How often a wait is judged, and on which frames."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct


class Cadence(StrEnum):
    """When a wait's view is judged."""

    EVENT = "event"
    FIXED = "fixed"
    ADAPTIVE = "adaptive"


class GateKind(StrEnum):
    """What lets a changed frame through to the judge; only `none` and `exact` never miss a change."""

    NONE = "none"
    EXACT = "exact"
    RATIO = "ratio"
    TILE_MAX = "tile_max"
    DHASH = "dhash"
    BLOCKS = "blocks"
    SSIM = "ssim"


class Priority(StrEnum):
    """Whose judgements go first when there are more than evaluators can make."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class OnDisplayLost(StrEnum):
    """What becomes of a wait whose managed display ended or was removed: nothing starts that again."""

    FAIL = "fail"
    """It fails at once, saying why."""
    WAIT = "wait"
    """It goes on to its deadline, for a display that is added under that name."""


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """How often to judge, and on which frames. See docs/waiting.md for each default's reason."""

    cadence: Cadence = Cadence.EVENT
    interval_s: Annotated[float, Meta(ge=0.05, le=3600)] = 1.0
    min_interval_s: Annotated[float, Meta(ge=0, le=3600)] = 2.0
    force_after_s: Annotated[float, Meta(ge=0.5, le=86_400)] = 30.0
    gate: GateKind | None = None
    """None: `exact` for `event` and `adaptive`, `none` for `fixed`."""
    gate_threshold: Annotated[float, Meta(ge=0)] | None = None
    confirm: Annotated[int, Meta(ge=1, le=20)] = 1
    priority: Priority = Priority.NORMAL
    """Only orders what waits for a judge; between displays time is shared evenly all the same. See docs/scaling.md."""
    on_display_lost: OnDisplayLost = OnDisplayLost.FAIL
