"""Sizes and coordinates: from what a model counts in, over the picture it was shown and its view, to the display.

A place is scaled per axis, once, and rounded once, at the end; a picture's sides need not keep the view's aspect.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from acud.desktop.actions import Point
from acud.evaluator.judges.judge import Picture
from acud.types import Rect

Spot = tuple[float, float]
Corners = tuple[float, float, float, float]
"""x1, y1, x2, y2."""


class Size(NamedTuple):
    """Width and height, in pixels or in whatever a model counts."""

    width: int
    height: int


def rescale(spot: Spot, space: Size, into: Size) -> Spot:
    """Return `spot` of a space `space` units wide and high, in one of size `into`."""
    return spot[0] * into.width / space.width, spot[1] * into.height / space.height


def rescale_corners(corners: Corners, space: Size, into: Size) -> Corners:
    """Return both corners in a space of size `into`."""
    return (*rescale(corners[:2], space, into), *rescale(corners[2:], space, into))


def holds(space: Size, spot: Spot) -> bool:
    """Return whether `spot` is in `space`, its right and lower edge included (models count to the edge itself)."""
    return 0 <= spot[0] <= space.width and 0 <= spot[1] <= space.height


def to_display(spot: Spot, picture: Picture, at: Rect) -> Point:
    """Return the display pixel of `spot` in `picture`, whose view is `at` there; the far edge is the last pixel."""
    x, y = rescale(spot, Size(picture.width, picture.height), Size(picture.view_width, picture.view_height))
    return Point(at.x + _pixel(x, picture.view_width), at.y + _pixel(y, picture.view_height))


def box_to_display(corners: Corners, picture: Picture, at: Rect) -> Rect:
    """Return the display box of `corners` in `picture`, at least one pixel wide and high."""
    first, last = to_display(corners[:2], picture, at), to_display(corners[2:], picture, at)
    return Rect(first.x, first.y, max(1, last.x - first.x), max(1, last.y - first.y))


def _pixel(value: float, side: int) -> int:
    return min(max(math.floor(value + 0.5), 0), side - 1)


def smart_size(width: int, height: int, min_pixels: int, max_pixels: int, factor: int = 28) -> Size | None:
    """Return the size that Qwen2-VL's and Qwen2.5-VL's preprocessing gives a picture: sides that are multiples of
    `factor`, an area between the two limits, the aspect nearly kept (`smart_resize` of qwen-vl-utils and of UI-TARS).

    None for a side more than 200 times the other, which that preprocessing refuses.
    """
    if min(width, height) < 1 or max(width, height) > 200 * min(width, height):
        return None
    wide, high = (max(factor, round(side / factor) * factor) for side in (width, height))
    if wide * high > max_pixels:
        shrink = math.sqrt(width * height / max_pixels)
        wide, high = (max(factor, math.floor(side / shrink / factor) * factor) for side in (width, height))
    elif wide * high < min_pixels:
        grow = math.sqrt(min_pixels / (width * height))
        wide, high = (math.ceil(side * grow / factor) * factor for side in (width, height))
    return Size(wide, high)


def fitting(width: int, height: int, max_side: int, max_pixels: int) -> Size:
    """Return the largest size of the same aspect, no larger than it is, within both limits; no side falls below 1."""
    shrink = min(1.0, max_side / max(width, height), math.sqrt(max_pixels / (width * height)))
    if shrink == 1:
        return Size(width, height)
    return Size(max(1, math.floor(width * shrink)), max(1, math.floor(height * shrink)))
