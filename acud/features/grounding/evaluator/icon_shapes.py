"""What an icon means by its shape alone: silhouettes on the screen beside those of the icon themes of this machine.

A silhouette is how far each pixel is from what the icon lies on, whatever the colours, cut to the ink and drawn into a
small square. The templates are the pictures of installed themes, read the first time that an icon is looked for by its
shape; a machine without a theme has the drawn ones alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from acud.features.grounding.icon_words import icon_table
from acud.types import Rect

_SIDE = 24
_INK = 0.25
"""Of the strongest difference from the ground: what is fainter is a shadow."""
_LEAST_INK = 40
"""The least difference from the ground, of 255, that an icon is drawn with."""
LIKE = 0.80
"""The least likeness of an icon to a template that says what it means."""
_MARGIN = 0.02
"""Meanings whose best template is no more than this behind are possible too."""
_SIZES = ("24x24", "16x16")
_MOST_PX = 64
_LIGHT = 0.96
_SOLID = 0.45
"""A picture with colours of its own is no silhouette from this mean ink on: it is a plate with something on it."""
_LINE_PX = 3
_GLYPH_PX = 40
_UNASSIGNED = "\uf8ff"
"""A character that no font draws but as a box with nothing in it."""

Silhouette = NDArray[np.float32]


def shape_meanings(pixels: NDArray[np.uint8], box: Rect) -> Mapping[str, float]:
    """Return what the icon in `box` of `pixels` (height x width x 4 uint8 BGRX) may mean by its shape, with how like
    its nearest template is; usually one meaning or none, several where templates are about as like.
    """
    shape = silhouette(pixels, box)
    if shape is None:
        return {}
    likes = shape_likeness(shape)
    best = max(likes.values(), default=0.0)
    return {meaning: min(like, 1.0) for meaning, like in likes.items() if like >= max(LIKE, best - _MARGIN)}


def shape_likeness(shape: Silhouette) -> Mapping[str, float]:
    """Return for each meaning how like (-1 to 1) the nearest of its templates is."""
    names, firsts, stack = _templates()
    if not names:
        return {}
    likes = np.maximum.reduceat(stack @ shape.ravel(), firsts)
    return dict(zip(names, likes.tolist(), strict=True))


def silhouette(pixels: NDArray[np.uint8], box: Rect) -> Silhouette | None:
    """Return the silhouette of the icon in the middle of `box`; None when nothing the size of one is there."""
    part = pixels[max(box.y, 0) : max(box.bottom, 0), max(box.x, 0) : max(box.right, 0), :3].astype(np.float32)
    if min(part.shape[:2]) < 8:
        return None
    inset = [min(3, (size - 8) // 4) for size in part.shape[:2]]
    inner = part[inset[0] : part.shape[0] - inset[0], inset[1] : part.shape[1] - inset[1]]
    rim = np.concatenate((inner[0], inner[-1], inner[:, 0], inner[:, -1]))
    ground = np.sort(rim, axis=0)[len(rim) // 2]
    ink = np.abs(inner - ground).max(axis=2)
    if ink.max() < _LEAST_INK:
        return None
    return _drawn(_without_rim(ink / ink.max()))


def _without_rim(ink: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `ink` without what reaches from one side to the other: a button's border, a highlight."""
    flags = (ink > _INK).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(flags, connectivity=8)
    kept = ink.copy()
    for at in range(1, count):
        w, h = stats[at][2:4]
        across, down = w == ink.shape[1], h == ink.shape[0]
        if (across and down) or (across and h <= _LINE_PX) or (down and w <= _LINE_PX):
            kept[labels == at] = 0
    return kept


def _drawn(ink: NDArray[np.float32]) -> Silhouette | None:
    """Return `ink` (0 to 1) cut to what is drawn, in a square, its middle 0 and its length 1."""
    rows, columns = np.flatnonzero((ink > _INK).any(axis=1)), np.flatnonzero((ink > _INK).any(axis=0))
    if not rows.size or not columns.size:
        return None
    cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height, width = cut.shape
    if not 5 <= max(height, width) <= _MOST_PX:
        return None
    scale = (_SIDE - 4) / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(cut, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    square = np.zeros((_SIDE, _SIDE), np.float32)
    top, left = (_SIDE - size[1]) // 2, (_SIDE - size[0]) // 2
    square[top : top + size[1], left : left + size[0]] = small
    soft = cv2.GaussianBlur(square, (0, 0), 1.0)
    soft -= soft.mean()
    length = float(np.linalg.norm(soft))
    return (soft / length).astype(np.float32) if length > 0 else None


# ---- templates -----------------------------------------------------------------------------------------------------


@cache
def _templates() -> tuple[list[str], NDArray[np.intp], NDArray[np.float32]]:
    """Return the meanings, the row that each one's templates begin at, and the templates as rows."""
    by_meaning: dict[str, list[Silhouette]] = {}
    for meanings, ink in (*_themed(), *_written()):
        shape = _drawn(ink)
        for meaning in meanings if shape is not None else ():  # None: an empty picture, or one larger than an icon
            assert shape is not None
            by_meaning.setdefault(meaning, []).append(shape)
    counts = [len(shapes) for shapes in by_meaning.values()]
    firsts = np.cumsum([0, *counts[:-1]]).astype(np.intp)
    rows = [shape.ravel() for shapes in by_meaning.values() for shape in shapes]
    return list(by_meaning), firsts, np.array(rows, np.float32).reshape(len(rows), _SIDE * _SIDE)


def _themed() -> Iterator[tuple[frozenset[str], NDArray[np.float32]]]:
    """Yield the ink (0 to 1) of each picture of a theme whose name has a meaning."""
    themes = icon_table().by_theme
    for folder in _data_folders():
        for size in _SIZES:
            for file in sorted((folder / "icons").glob(f"*/{size}/*/*.png")):
                name = file.name.removesuffix(".png").removesuffix(".symbolic").removesuffix("-symbolic")
                if name in themes:
                    ink = _ink_of(file)
                    if "symbolic" in file.name or ink.mean() < _SOLID:
                        yield themes[name], ink


def _written() -> Iterator[tuple[frozenset[str], NDArray[np.float32]]]:
    """Yield the ink of each character that programs draw as an icon, from the fonts of this machine that have it."""
    fonts = [ImageFont.truetype(str(file), _GLYPH_PX) for file in _fonts()]
    for font in fonts:
        missing = _glyph_ink(font, _UNASSIGNED)
        for glyph, meanings in icon_table().by_glyph.items():
            ink = _glyph_ink(font, glyph)
            if ink.any() and not np.array_equal(ink, missing):
                yield meanings, ink


def _glyph_ink(font: ImageFont.FreeTypeFont, glyph: str) -> NDArray[np.float32]:
    image = Image.new("L", (4 * _GLYPH_PX, 2 * _GLYPH_PX))
    ImageDraw.Draw(image).text((_GLYPH_PX, _GLYPH_PX // 4), glyph, fill=255, font=font)
    return (np.asarray(image, np.float32) / 255).astype(np.float32)


def _fonts() -> list[Path]:
    return [file for place in _data_folders() for file in sorted((place / "fonts").rglob("DejaVuSans.ttf"))]


def _ink_of(file: Path) -> NDArray[np.float32]:
    """Return the ink of a theme's picture; of one with colours of its own, as it is on a light ground."""
    with Image.open(file) as image:
        bands = (np.asarray(image.convert("RGBA"), np.float32) / 255).astype(np.float32)
    if "symbolic" in file.name:
        return bands[:, :, 3]
    ink: NDArray[np.float32] = (np.abs(_LIGHT - bands[:, :, :3]).max(axis=2)) * bands[:, :, 3]
    return (ink / max(float(ink.max()), 1e-3)).astype(np.float32)


def _data_folders() -> Sequence[Path]:
    places = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    return [Path(place) for place in places.split(":") if Path(place).is_dir()]
