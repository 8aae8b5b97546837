"""Where a small picture stands in pixels: how alike it is to each place, and every place that is alike enough.

Three things are measured, and the least is the similarity:

- *Light and dark*: Lin's concordance correlation (Biometrics 45, 1989) in the colour channel in which the picture
  varies most: 2 cov / (var + var + difference of means ^ 2). It is 1 for equal values only; unlike a normalised
  correlation, paler, brighter and flat places are less alike, and a flat place is 0 instead of anything.
- *Colour*: 1 less the greatest difference of a channel's mean over any 8x8 pixels, as a share of 255. So a red lamp is
  no green one, however small it is in its picture.
- *The worst small window*: a concordance of every 9x9 pixels by themselves, at the best shift of up to a pixel each
  and in the contrast of the whole place. So one other letter, a tick or a badge makes another picture, and letters
  drawn half a pixel further do not. What is faint beside the picture's own contrast counts little.

The first is measured of every place at once (`acud.pixels.correlation`) and leaves out what is not alike; the rest is
measured exactly, so that what is found does not depend on how much is searched at once.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

from acud.pixels.correlation import PixelPattern, find_alike
from acud.pixels.filters import resize, sum_windows
from acud.types import Rect, Verdict, unknown

SCALES = (1.0, 0.95, 1.05, 0.9, 1.1)
"""Tried in this order until the picture is found."""
REACH_PX = 2
"""Of very many places only those are measured that none so near exceeds by the rough scores."""
_MOST_MEASURED = 256
_WINDOW_PX = 8
_FEWEST_PX = 64  # opaque pixels that a picture needs, half as many when scaled; of a window a quarter counts in full
_FLATTEST = 4.0  # the least variance: that of two levels up and down
_NO_VARIANCE = 1e-3
_ROUNDING = 0.01
"""The concordance of every place at once is off by less, by Fourier transforms in single precision."""
_FLAT = "what is opaque of the image is of one colour, or too little: take in more of what is around it"
_SIGN_PX, _FEWEST_SIGN_PX = 9, 6
_SHIFTS = sorted(
    ((y / 2, x / 2) for y in range(-2, 3) for x in range(-2, 3)), key=lambda one: abs(one[0]) + abs(one[1])
)
_FAINT, _FAINTEST = 0.08, 40.0
"""The variance that counts little in a window: a part of the picture's, and of noise."""
_SIGN_SHARE = 0.5
"""So much of what a window lacks counts: at a similarity of 0.9 the worst may have a concordance of 0.8. Chosen by text
of which one sign differs, and by the same text drawn between pixels, heavier, lighter and paler (measured)."""

Pixels = NDArray[np.uint8]
Differences = NDArray[np.float32]
Scores = NDArray[np.float64]


class Template(NamedTuple):
    """A picture in one size: height x width x 3 uint8 BGR, and which pixels count (None: all). `channel`: in which it
    varies most, with its `mean` and `variance` over the pixels that count. `pattern`: that channel.
    """

    scale: float
    bgr: Pixels
    opaque: NDArray[np.bool_] | None
    channel: int
    mean: float
    variance: float
    pattern: PixelPattern

    @property
    def width(self) -> int:
        return int(self.bgr.shape[1])

    @property
    def height(self) -> int:
        return int(self.bgr.shape[0])


class ImagePlace(NamedTuple):
    """A match of a picture: its top left pixel, and how alike the pixels there are."""

    x: int
    y: int
    similarity: float


def templates(png: bytes) -> tuple[Template, ...] | Verdict:
    """Return the picture in each of `SCALES` that changes its size, or an unknown verdict if it is of no use."""
    rgba = _decode_png(png)
    if isinstance(rgba, Verdict):
        return rgba
    bgr = np.ascontiguousarray(rgba[:, :, 2::-1])
    alpha = rgba[:, :, 3]
    opaque = None if alpha.min() >= 128 else alpha >= 128
    found: dict[tuple[int, int], Template] = {}
    for scale in SCALES:
        size = round(bgr.shape[1] * scale), round(bgr.shape[0] * scale)
        if size in found:
            continue
        template = _scale_template(bgr, opaque, scale, size)
        if template is None:
            return unknown("image_flat", _FLAT)
        found[size] = template
    return tuple(found.values())


def places(template: Template, pixels: Pixels, similarity: float) -> list[ImagePlace]:
    """Return the places in `pixels` (height x width x 4 uint8 BGRX) that are at least so alike, best first. A picture
    larger than `pixels` is nowhere. Blocks; safe in threads.
    """
    height, width = pixels.shape[:2]
    if template.height > height or template.width > width:
        return []
    plane = np.ascontiguousarray(pixels[:, :, template.channel])
    measured = (
        ImagePlace(x, y, similarity_at(template, pixels, x, y))
        for x, y in _find_candidates(template, plane, similarity - _ROUNDING)
    )
    found = [one for one in measured if one.similarity >= similarity]
    return sorted(found, key=lambda one: (-one.similarity, one.y, one.x))


def box_of(template: Template, place: ImagePlace) -> Rect:
    return Rect(place.x, place.y, template.width, template.height)


def _decode_png(png: bytes) -> Pixels | Verdict:
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            return np.asarray(image.convert("RGBA"), np.uint8)
    except (OSError, SyntaxError, ValueError, struct.error, zlib.error, Image.DecompressionBombError) as fault:
        return unknown("image_unreadable", f"the PNG of the image can't be decoded: {fault}")


def _scale_template(
    bgr: Pixels, opaque: NDArray[np.bool_] | None, scale: float, size: tuple[int, int]
) -> Template | None:
    """Return the picture in another size; None when it is too flat there to be found."""
    if scale != 1.0:
        bgr = np.rint(resize(bgr, size)).astype(np.uint8)
        if opaque is not None:  # what a transparent pixel has a part in does not count
            opaque = resize(opaque, size) > 0.99
    counted = bgr.reshape(-1, 3) if opaque is None else bgr[opaque]
    variances = counted.astype(np.float64).var(axis=0) if len(counted) >= _FEWEST_PX // 2 else np.zeros(3)
    channel = int(variances.argmax())
    if variances[channel] < _FLATTEST:
        return None
    mean = float(counted[:, channel].mean(dtype=np.float64))
    variance = float(variances[channel])
    counts = None if opaque is None else opaque.astype(np.float32)
    values = (bgr[:, :, channel] - mean).astype(np.float32) * (1 if counts is None else counts)
    pattern = PixelPattern(values, counts, mean, variance * len(counted))
    return Template(scale, bgr, opaque, channel, mean, variance, pattern)


def _find_candidates(template: Template, plane: Pixels, least: float) -> list[tuple[int, int]]:
    """Return (column, row) of each place whose concordance may reach `least`; of very many only the local maxima."""
    rows, columns, scores = find_alike(template.pattern, plane, least)
    if len(rows) > _MOST_MEASURED:
        known = np.full([side + 2 * REACH_PX for side in plane.shape], -1.0, np.float32)
        known[rows + REACH_PX, columns + REACH_PX] = scores
        around = sliding_window_view(known, (2 * REACH_PX + 1, 2 * REACH_PX + 1))[rows, columns]
        peaks = around[:, REACH_PX, REACH_PX] >= around.max(axis=(1, 2))
        rows, columns = rows[peaks], columns[peaks]
    return list(zip(columns.tolist(), rows.tolist(), strict=True))


def similarity_at(template: Template, pixels: Pixels, x: int, y: int) -> float:
    """Return the similarity of the picture to the place with the top left pixel (x, y)."""
    shown = pixels[y : y + template.height, x : x + template.width, :3]
    difference = shown.astype(np.float32) - template.bgr
    whole = min(_measure_concordance(template, shown), 1.0 - _colour_difference(template, difference) / 255.0)
    return min(whole, _worst_window(template, shown, whole))


def _worst_window(template: Template, pixels: Pixels, enough: float) -> float:
    """Return the similarity of the worst small window; stops trying shifts once it reaches `enough`."""
    if min(pixels.shape[:2]) < _FEWEST_SIGN_PX:
        return enough
    wanted = template.bgr[:, :, template.channel].astype(np.float64)
    values = pixels[:, :, template.channel].astype(np.float64)
    seen = values if template.opaque is None else values[template.opaque]
    # How much paler or brighter the whole is was measured before.
    values = (values - seen.mean()) * math.sqrt(template.variance / max(seen.var(), _NO_VARIANCE))
    weights = np.ones(wanted.shape) if template.opaque is None else template.opaque.astype(np.float64)
    wanted, weights = wanted[1:-1, 1:-1] - template.mean, weights[1:-1, 1:-1]
    size = min(_SIGN_PX, wanted.shape[1]), min(_SIGN_PX, wanted.shape[0])
    counts = np.maximum(sum_windows(weights, *size), 1.0)
    means = sum_windows(wanted * weights, *size) / counts
    variances = sum_windows(wanted**2 * weights, *size) / counts - means**2
    faint = max(_FAINTEST, _FAINT * template.variance)
    best: Scores = np.full(counts.shape, -1.0)
    for shift in _SHIFTS:
        moved = _shift_values(values, *shift)
        others = sum_windows(moved * weights, *size) / counts
        together = sum_windows(wanted * moved * weights, *size) / counts - means * others
        spread = sum_windows(moved**2 * weights, *size) / counts - others**2
        scores = (2.0 * together + faint) / (variances + spread + (means - others) ** 2 + faint)
        best = np.maximum(best, scores)
        worst = 1.0 - _SIGN_SHARE * (1.0 - float(best.min()))
        if worst >= enough:
            break
    return worst


def _shift_values(values: Scores, down: float, right: float) -> Scores:
    """Return the inside of `values`, shifted by up to a pixel in halves; a half takes the mean of neighbours."""
    y, x = 1 + int(np.floor(down)), 1 + int(np.floor(right))
    rows = [y] if down == int(down) else [y, y + 1]
    columns = [x] if right == int(right) else [x, x + 1]
    height, width = values.shape[0] - 2, values.shape[1] - 2
    parts = [values[row : row + height, column : column + width] for row in rows for column in columns]
    return np.asarray(sum(parts) / len(parts), np.float64)


def _measure_concordance(template: Template, pixels: Pixels) -> float:
    away, wanted = (one[:, :, template.channel] - template.mean for one in (pixels, template.bgr))
    if template.opaque is not None:
        away, wanted = away[template.opaque], wanted[template.opaque]
    return float(2.0 * (away * wanted).sum() / ((away**2).sum() + (wanted**2).sum()))


def _colour_difference(template: Template, difference: Differences) -> float:
    """Return the greatest difference of a channel's mean over any 8x8 pixels."""
    size = min(_WINDOW_PX, template.width), min(_WINDOW_PX, template.height)
    if template.opaque is None:
        counts: Differences | float = float(size[0] * size[1])
    else:
        difference = difference * template.opaque[:, :, None]
        counts = np.maximum(sum_windows(template.opaque.astype(np.float32), *size), _FEWEST_PX / 4)[:, :, None]
    return float(np.abs(sum_windows(difference, *size) / counts).max())
