"""Where labels go on a picture: beside what they name, on as little else as can be, hardly ever on one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from acud.types import Rect

_ON_LABEL = 100
"""What a pixel of another label costs; one of an element's box costs 1."""
_RINGS = 3
"""How many heights of itself a label may stand off from its box."""

Cost = NDArray[np.int32]


def placed(boxes: Sequence[Rect], sizes: Sequence[tuple[int, int]], width: int, height: int) -> list[Rect]:
    """Return where the label of each of `boxes` goes, given its size, inside a `width` x `height` picture.

    Small boxes choose first; the same input gives the same answer. A label wider or higher than the picture starts at
    its edge.
    """
    cost = _taken(boxes, width, height)
    chosen: dict[int, Rect] = {}
    for index in sorted(range(len(boxes)), key=lambda one: (boxes[one].area, one)):
        label = _cheapest(boxes[index], sizes[index], cost)
        chosen[index] = label
        cost[_part(label)] += _ON_LABEL
    return [chosen[index] for index in range(len(boxes))]


def _taken(boxes: Sequence[Rect], width: int, height: int) -> Cost:
    cost: Cost = np.zeros((height, width), np.int32)
    for box in boxes:
        inside = box.intersect(Rect(0, 0, width, height))
        if inside is not None:
            cost[_part(inside)] += 1
    return cost


def _cheapest(box: Rect, size: tuple[int, int], cost: Cost) -> Rect:
    """Return the first of the cheapest places; what costs nothing ends the search."""
    best, least = Rect(0, 0, *size), -1
    for place in _places(box, size, cost.shape[1], cost.shape[0]):
        price = int(cost[_part(place)].sum())
        if least < 0 or price < least:
            best, least = place, price
        if least == 0:
            break
    return best


def _places(box: Rect, size: tuple[int, int], width: int, height: int) -> Iterator[Rect]:
    """Yield places for a label, best first: outside at the corners, beside, inside, then further and further off."""
    for x, y in _origins(box, *size):
        yield Rect(min(max(x, 0), max(0, width - size[0])), min(max(y, 0), max(0, height - size[1])), *size)


def _origins(box: Rect, w: int, h: int) -> Iterator[tuple[int, int]]:
    middle = box.y + (box.h - h) // 2
    yield from ((box.x, box.y - h), (box.right - w, box.y - h), (box.x, box.bottom), (box.right - w, box.bottom))
    yield from ((box.x - w, middle), (box.right, middle), (box.x - w, box.y - h), (box.right, box.y - h))
    yield from ((box.right - w, box.y), (box.x, box.y), (box.right - w, middle))
    for ring in range(1, _RINGS + 1):
        far = ring * h
        yield from ((box.x, box.y - h - far), (box.right - w, box.y - h - far))
        yield from ((box.x, box.bottom + far), (box.right - w, box.bottom + far))
        yield from ((box.x - w - far, middle), (box.right + far, middle))


def _part(box: Rect) -> tuple[slice, slice]:
    return slice(box.y, box.bottom), slice(box.x, box.right)
