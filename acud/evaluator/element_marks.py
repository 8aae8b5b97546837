"""A picture with marks drawn on: a box around each element, and its id beside it, legible on any ground.

Labels go beside what they name, on as little else as can be, hardly ever on one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from acud.pixels.gates import luma
from acud.types import Rect
from acud.types.scene import ElementMark

_ON_LABEL = 100  # what a pixel of another label costs; one of an element's box costs 1
_RINGS = 3  # how many heights of itself a label may stand off from its box

Cost = NDArray[np.int32]

FONT_PX = 11
_PAD_PX = 2
_EDGE_PX = 2  # box and halo lie outside the element: nothing of it is covered

Colour = tuple[int, int, int]

BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)
ON_LIGHT: tuple[Colour, ...] = ((192, 0, 0), (0, 60, 190), (0, 105, 30), (130, 0, 150), (150, 65, 0), (0, 95, 110))

ON_DARK: tuple[Colour, ...] = (
    (255, 220, 0),
    (0, 230, 255),
    (130, 255, 90),
    (255, 160, 225),
    (255, 170, 70),
    (190, 190, 255),
)

_DARK_GROUND = 110  # mean luma below which the ground counts as dark


def place_labels(boxes: Sequence[Rect], sizes: Sequence[tuple[int, int]], width: int, height: int) -> list[Rect]:
    """Return where the label of each of `boxes` goes, given its size, inside a `width` x `height` picture. Small boxes
    choose first; the same input gives the same answer. A label wider or higher than the picture starts at its edge.
    """
    cost = _measure_cost(boxes, width, height)
    chosen: dict[int, Rect] = {}
    for index in sorted(range(len(boxes)), key=lambda one: (boxes[one].area, one)):
        label = _choose_cheapest(boxes[index], sizes[index], cost)
        chosen[index] = label
        cost[_slices(label)] += _ON_LABEL
    return [chosen[index] for index in range(len(boxes))]


class _Drawn(NamedTuple):
    mark: ElementMark
    label: Rect
    colour: Colour
    ink: Colour


def draw_marks(pixels: NDArray[np.uint8], marks: Sequence[ElementMark]) -> NDArray[np.uint8]:
    """Return a copy of `pixels` (height x width x 4 uint8 BGRX) with the marks drawn on it; boxes in its pixels."""
    height, width = pixels.shape[:2]
    image = Image.frombuffer("RGB", (width, height), np.ascontiguousarray(pixels), "raw", "BGRX", 0, 1).copy()
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(FONT_PX)
    labels = place_labels(
        [_grow_box(one.bbox) for one in marks], [_measure_words(one.id, font) for one in marks], width, height
    )
    drawn = [_choose_colours(mark, label, pixels, n) for n, (mark, label) in enumerate(zip(marks, labels, strict=True))]
    for one in drawn:
        box = one.mark.bbox
        if not _grow_box(_grow_box(box)).intersect(one.label):
            draw.line([_centre(one.label), _find_nearest_point(box, one.label)], one.colour)
        for out, colour in ((_EDGE_PX, one.ink), (_EDGE_PX - 1, one.colour)):
            draw.rectangle((box.x - out, box.y - out, box.right - 1 + out, box.bottom - 1 + out), outline=colour)
    for one in drawn:
        _draw_label(draw, one, font)
    return _bgrx(image)


def scale_marks(marks: Sequence[ElementMark], across: float, down: float) -> list[ElementMark]:
    """Return the marks for a picture `across` times as wide and `down` times as high."""
    return [ElementMark(one.id, one.kind, _scale_box(one.bbox, across, down)) for one in marks]


def _measure_cost(boxes: Sequence[Rect], width: int, height: int) -> Cost:
    cost: Cost = np.zeros((height, width), np.int32)
    for box in boxes:
        inside = box.intersect(Rect(0, 0, width, height))
        if inside is not None:
            cost[_slices(inside)] += 1
    return cost


def _choose_cheapest(box: Rect, size: tuple[int, int], cost: Cost) -> Rect:
    """Return the first of the cheapest places; what costs nothing ends the search."""
    best, least = Rect(0, 0, *size), -1
    for place in _list_places(box, size, cost.shape[1], cost.shape[0]):
        price = int(cost[_slices(place)].sum())
        if least < 0 or price < least:
            best, least = place, price
        if least == 0:
            break
    return best


def _list_places(box: Rect, size: tuple[int, int], width: int, height: int) -> Iterator[Rect]:
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


def _slices(box: Rect) -> tuple[slice, slice]:
    return slice(box.y, box.bottom), slice(box.x, box.right)


def _scale_box(box: Rect, across: float, down: float) -> Rect:
    x, y = round(box.x * across), round(box.y * down)
    return Rect(x, y, max(1, round(box.right * across) - x), max(1, round(box.bottom * down) - y))


def _measure_words(words: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> tuple[int, int]:
    left, top, right, bottom = font.getbbox(words)
    return int(right - left) + 2 * _PAD_PX, int(bottom - top) + 2 * _PAD_PX


def _choose_colours(mark: ElementMark, label: Rect, pixels: NDArray[np.uint8], number: int) -> _Drawn:
    """Choose a colour that shows on the ground, another one than its neighbours in the list have."""
    dark = _measure_ground(mark.bbox, pixels) < _DARK_GROUND
    colours, ink = (ON_DARK, BLACK) if dark else (ON_LIGHT, WHITE)
    return _Drawn(mark, label, colours[number % len(colours)], ink)


def _grow_box(box: Rect) -> Rect:
    return Rect(box.x - _EDGE_PX, box.y - _EDGE_PX, box.w + 2 * _EDGE_PX, box.h + 2 * _EDGE_PX)


def _measure_ground(box: Rect, pixels: NDArray[np.uint8]) -> float:
    """Return the mean luma around the box (of the part that the picture shows)."""
    height, width = pixels.shape[:2]
    shown = _grow_box(box).intersect(Rect(0, 0, width, height))
    if shown is None:
        return 0.0
    rows = np.unique(np.linspace(shown.y, shown.bottom - 1, 9, dtype=np.intp))
    columns = np.unique(np.linspace(shown.x, shown.right - 1, 9, dtype=np.intp))
    return float(luma(pixels[rows[:, None], columns[None, :]]).mean())


def _draw_label(draw: ImageDraw.ImageDraw, one: _Drawn, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> None:
    label = one.label
    draw.rectangle((label.x, label.y, label.right - 1, label.bottom - 1), fill=one.colour)
    left, top, _, _ = font.getbbox(one.mark.id)
    draw.text((label.x + _PAD_PX - left, label.y + _PAD_PX - top), one.mark.id, one.ink, font=font)


def _centre(box: Rect) -> tuple[int, int]:
    return box.x + box.w // 2, box.y + box.h // 2


def _find_nearest_point(box: Rect, to: Rect) -> tuple[int, int]:
    x, y = _centre(to)
    return min(max(x, box.x), box.right - 1), min(max(y, box.y), box.bottom - 1)


def _bgrx(image: Image.Image) -> NDArray[np.uint8]:
    rgb = np.asarray(image)
    pixels = np.zeros((*rgb.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = rgb[:, :, ::-1]
    return pixels
