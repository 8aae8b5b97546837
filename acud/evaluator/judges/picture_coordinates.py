"""Coordinates from what a model counts in, over the picture it was shown and its view, to the display."""

from __future__ import annotations

import math
from typing import NamedTuple

from acud.evaluator.judges.judge import JudgePicture
from acud.types import Rect
from acud.types.actions import Point

Spot = tuple[float, float]
Corners = tuple[float, float, float, float]
"""x1, y1, x2, y2."""


class Size(NamedTuple):
    """Width and height, in pixels or in the units of a model."""

    width: int
    height: int


def rescale(spot: Spot, space: Size, into: Size) -> Spot:
    """Return `spot` of a space `space` units wide and high, in one of size `into`."""
    return spot[0] * into.width / space.width, spot[1] * into.height / space.height


def rescale_corners(corners: Corners, space: Size, into: Size) -> Corners:
    return (*rescale(corners[:2], space, into), *rescale(corners[2:], space, into))


def holds(space: Size, spot: Spot) -> bool:
    """Return whether `spot` is in `space`, its right and lower edge included (models count to the edge itself)."""
    return 0 <= spot[0] <= space.width and 0 <= spot[1] <= space.height


def to_display(spot: Spot, picture: JudgePicture, at: Rect) -> Point:
    """Return the display pixel of `spot` in `picture`, a picture of the view `at`; the far edge is the last pixel."""
    x, y = rescale(spot, Size(picture.width, picture.height), Size(picture.view_width, picture.view_height))
    return Point(at.x + _round_to_pixel(x, picture.view_width), at.y + _round_to_pixel(y, picture.view_height))


def box_to_display(corners: Corners, picture: JudgePicture, at: Rect) -> Rect:
    """Return the display box of `corners` in `picture`, at least one pixel wide and high."""
    first, last = to_display(corners[:2], picture, at), to_display(corners[2:], picture, at)
    return Rect(first.x, first.y, max(1, last.x - first.x), max(1, last.y - first.y))


def _round_to_pixel(value: float, side: int) -> int:
    return min(max(math.floor(value + 0.5), 0), side - 1)
