"""Signs that fonts for code (Fira Code, JetBrains Mono) draw for several characters, spelt as programs spell them.

The engine reads `!=` and `!==` as the same sign, and `==` as `=`. Such fonts draw each as wide as its characters: where
the letters around show the width of one, the sign shows how many it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.ocr.changes import runs
from acud.evaluator.ocr.engine import Bgr, Reading
from acud.evaluator.ocr.text_layout import letter_columns

SPELLINGS = {
    "≠": "!=", "⇒": "=>", "→": "->", "←": "<-", "≥": ">=", "≤": "<=", "≡": "===", "∥": "||", "⇔": "<=>", "=": "=",
}  # fmt: skip
_STRETCHED = "=≠≡⇒→←⇔"  # those that are drawn longer for more characters: `==>`, `-->`
_BEARING, _BEARING_OFF = 0.25, 0.2
"""Part of a character's width that these leave free for more than one, and how far it may differ (measured in Fira Code
and JetBrains Mono, 12 to 24 px)."""
_LEAST_INK_X, _MOST_INK_X, _LEAST_X = 1.0, 1.45, 0.33
"""A character is so wide, in widths of a usual letter's ink; and at least so wide in heights of its line."""
_MOST_OFF, _FEWEST_STEPS = 0.1, 2
"""How far letters may stand from where equal widths put them, in these widths, on average; and over how many steps, one
more for "=", which any font draws.
"""


def with_ligatures(reading: Reading, crop: Bgr) -> Reading:
    """Return a reading with the signs spelt out that its crop shows as wide as several characters."""
    places = [n for n, letter in enumerate(reading.text) if letter != " "]
    if not reading.middles or not any(letter in _STRETCHED for letter in reading.text):
        return reading
    letters = [reading.text[n] for n in places]
    counts = _count_characters(letters, _find_inks([reading.middles[n] for n in places], crop), crop.shape[0])
    marks = iter(counts)
    spelt = [letter if letter == " " else _spell_out(letter, next(marks)) for letter in reading.text]
    middles = [middle for middle, part in zip(reading.middles, spelt, strict=True) for _ in part]
    return reading._replace(text="".join(spelt), middles=tuple(middles))


def _spell_out(sign: str, count: int) -> str:
    """Return the `count` characters that are drawn as `sign`: the usual ones, or with more of "=" or "-"."""
    usual = SPELLINGS.get(sign, sign)
    more = re.sub("[=-]", lambda one: one[0] * (1 + count - len(usual)), usual, count=1)
    return more if count > 1 and len(more) == count else sign


def _find_inks(middles: Sequence[float], crop: Bgr) -> NDArray[np.float64]:
    """Return where the ink of each letter begins and ends; nan where it has none. What touches is cut halfway."""
    found, where = np.full((len(middles), 2), np.nan), np.array(middles)
    for left, right in runs(letter_columns(crop), 1):
        inside = np.flatnonzero((left <= where) & (where < right))
        owners = inside if len(inside) else [np.abs(where - (left + right) / 2).argmin()]
        cuts = [left, *((where[owners[1:]] + where[owners[:-1]]) / 2), right]
        for owner, begin, end in zip(owners, cuts, cuts[1:], strict=False):
            found[owner] = np.nanmin([found[owner][0], begin]), np.nanmax([found[owner][1], end])
    return found


def _count_characters(letters: Sequence[str], inks: NDArray[np.float64], height: int) -> list[int]:
    """Return how many characters each letter is as wide as; 1 for all where the letters show no one width."""
    beside = zip(["", *letters], letters, [*letters[1:], ""], strict=False)
    is_sign = np.array([one in _STRETCHED and not set(left + right) & set("!<=>-") for left, one, right in beside])
    known = np.flatnonzero(~np.isnan(inks[:, 0]) & (is_sign | [letter.isalnum() for letter in letters]))
    is_sign, widths, middles = is_sign[known], inks[known, 1] - inks[known, 0], inks[known].mean(axis=1)
    best, least_off = np.ones(len(letters), np.int_), _MOST_OFF
    if is_sign.all() or not is_sign.any() or len(known) <= _FEWEST_STEPS + ("=" in letters):
        return best.tolist()
    ink = np.median(widths[~is_sign])
    least, most = max(_LEAST_INK_X * ink, _LEAST_X * height), _MOST_INK_X * ink
    for width in np.linspace(least, most, 30) if least < most else ():
        exact = np.where(is_sign, widths / width + _BEARING, 1)
        counts = np.maximum(exact.round(), 1)
        if np.any((counts > 1) & (np.abs(exact - counts) > _BEARING_OFF)):
            continue
        steps = np.diff(middles) / width - (counts[1:] + counts[:-1]) / 2
        off = float(np.abs(steps - np.maximum(steps.round(), np.diff(known) - 1)).mean())
        if off < least_off:
            best[known], least_off = counts, off
    return best.tolist()
