"""The result of a search on a screen: one answer, several, none, or unknown."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.types import Rect
from acud.types.actions import Point


class GroundingMethod(StrEnum):
    """The methods of finding something by its description, cheapest first."""

    DIRECT = "direct"
    """Coordinates in the description."""
    SCENE = "scene"
    """The id of an element of a scene."""
    ACCESSIBILITY = "accessibility"
    """A widget's role and name."""
    OCR = "ocr"
    """Visible text, and the control beside it."""
    UITARS = "uitars"
    CLAUDE_CU = "claude_cu"
    OMNIPARSER = "omniparser"


class GroundingBackend(StrEnum):
    """Which methods may be tried: `auto` is the local cascade (direct, accessibility, ocr); a model's name adds that
    model after it.
    """

    AUTO = "auto"
    DIRECT = "direct"
    UITARS = "uitars"
    CLAUDE_CU = "claude_cu"
    OMNIPARSER = "omniparser"


COVERED = "covered by another window"
"""Ends the reason of a search that found its object hidden by a window or an open menu."""
TEXT_AREA = "text area"
"""The role of a field of several lines that was found by its pixels."""


class Candidate(Struct, frozen=True, forbid_unknown_fields=True):
    """A possible match. `point`: where to click; `box`: its extents (None: not known); both in display pixels. `label`,
    `role` and `window` are words from the screen. `disabled`: it can't be used now. `checked`: whether it is ticked
    (None: it can't be, or that is not known).
    """

    point: Point
    box: Rect | None
    confidence: Annotated[float, Meta(ge=0, le=1)]
    method: GroundingMethod
    label: str = ""
    role: str = ""
    window: str = ""
    disabled: bool = False
    checked: bool | None = None


class Tried(Struct, frozen=True, forbid_unknown_fields=True):
    """One method of the cascade. `unavailable`: it could not look (a dead bus, a model that is down), which is never
    the same as finding nothing.
    """

    method: GroundingMethod
    outcome: Literal["sure", "ambiguous", "unsure", "nothing", "unavailable"]
    reason: str = ""
    ms: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = 0.0

    @property
    def is_paid(self) -> bool:
        """Whether the method asked a model, even a free model."""
        return self.tokens_in is not None or self.cost_usd != 0.0


class Found(Struct, frozen=True, forbid_unknown_fields=True):
    """`found`: `candidates` has exactly one. `ambiguous`: several fit, best first, and none is chosen. `not_found`:
    every method looked and saw nothing. `unknown`: nothing was found, and a method could not look.
    """

    status: Literal["found", "ambiguous", "not_found", "unknown"]
    candidates: tuple[Candidate, ...] = ()
    tried: tuple[Tried, ...] = ()
    reason: str = ""
