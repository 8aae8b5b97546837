"""Icons by their shape: each icon set's drawings asked for with the templates of all other sets.

What is asked is painted as on a screen, in sizes of 16 to 24 pixels, dark on light and light on dark. `right`: the
meanings that are told have the true one among them. `sure`: the share that is told as sure; `wrong` of those: none of
the meanings told is true. A screen has about a dozen icons beside the one that is meant, so `found` asks for one among
eleven others of the same set: right when the true one is the likest that is told, alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from acud.features.grounding.evaluator.icon_sets import IconDrawing, drawings
from acud.features.grounding.evaluator.icon_shapes import (
    LIKE,
    MARGIN,
    SURE,
    IconTemplates,
    inks,
    outline_of,
    templates_of,
)  # fmt: skip
from acud.types import Rect

SIZES = (16, 20, 24)
GROUNDS = ((245, 50), (35, 225))
SCREENS, ICONS = 150, 12


def run(*, quick: bool = False) -> dict[str, Any]:
    templates = list(drawings())
    asked = [one for size in SIZES for one in list(drawings(size))[size // 4 % 3 :: 12 if quick else 3]]
    origins = sorted({one.origin for one in asked} - {"characters"})
    sets = {
        origin: _of_set(
            [one for one in asked if one.origin == origin],
            templates_of(one for one in templates if one.origin != origin),
        )
        for origin in origins
    }
    total = sum(one["n"] for one in sets.values())
    everything = {
        key: sum(one[key] * one["n"] for one in sets.values()) / total
        for key in ("right", "sure", "wrong", "found", "found_sure", "found_wrong")
    }
    return {"sets": sets, "all": {"n": total, **everything}}


def table(figures: dict[str, Any]) -> str:
    lines = [f"{'set':16} {'n':>5} {'right':>7} {'sure':>7} {'wrong':>7} {'found':>7} {'as sure':>8} {'wrong':>7}"]
    for name, one in [*figures["sets"].items(), ("all", figures["all"])]:
        lines.append(
            f"{name:16} {one['n']:5} {one['right']:7.1%} {one['sure']:7.1%} {one['wrong']:7.1%} "
            f"{one['found']:7.1%} {one['found_sure']:8.1%} {one['found_wrong']:7.1%}"
        )
    return "\n".join(lines)


def painted(ink: NDArray[np.float32], ground: int, colour: int) -> NDArray[np.uint8]:
    """Return a picture (height x width x 4 uint8 BGRX) of `ink` on a plain ground, with some of it around."""
    rows, columns = np.flatnonzero(ink.max(axis=1) > 0), np.flatnonzero(ink.max(axis=0) > 0)
    cut = np.pad(ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1], 6)
    return np.repeat((ground + (colour - ground) * cut)[:, :, None], 4, axis=2).astype(np.uint8)


def _of_set(asked: Sequence[IconDrawing], templates: IconTemplates) -> dict[str, Any]:
    known = [one for one in asked if one.ink.any() and not one.meanings.isdisjoint(templates.meanings)]
    likes = np.array([_likes(one, at, templates) for at, one in enumerate(known)])
    told = [_told(row, templates) for row in likes]
    right = [not meanings.isdisjoint(one.meanings) for meanings, one in zip(told, known, strict=True)]
    sure = likes.max(axis=1) >= SURE
    found, found_sure, found_wrong = _screens(known, likes, templates)
    return {
        "n": len(known), "right": float(np.mean(right)), "sure": float(sure.mean()),
        "wrong": float((sure & ~np.array(right)).sum() / max(sure.sum(), 1)), "found": found, "found_sure": found_sure,
        "found_wrong": found_wrong,
    }  # fmt: skip


def _likes(one: IconDrawing, at: int, templates: IconTemplates) -> NDArray[np.float32]:
    picture = painted(one.ink, *GROUNDS[at % len(GROUNDS)])
    seen = [outline_of(ink) for ink in inks(picture, Rect(0, 0, picture.shape[1], picture.shape[0]))]
    outlines = [outline for outline in seen if outline is not None]
    if not outlines:
        return np.full(len(templates.meanings), -1, np.float32)
    likes = templates.likenesses(outlines)
    return np.asarray(likes[likes.max(axis=1).argmax()])


def _told(likes: NDArray[np.float32], templates: IconTemplates) -> frozenset[str]:
    best = float(likes.max())
    near = np.flatnonzero(likes >= max(LIKE, best - MARGIN))
    return frozenset(templates.meanings[int(one)] for one in near)


def _screens(
    known: Sequence[IconDrawing], likes: NDArray[np.float32], templates: IconTemplates
) -> tuple[float, float, float]:
    """Return the shares of descriptions answered rightly, of those told as sure, and of wrong ones among these."""
    dice = np.random.default_rng(7)
    right = sure = wrong = count = 0
    for _ in range(SCREENS):
        shown = dice.permutation(len(known))[:ICONS]
        meaning = next((one for one in sorted(known[shown[0]].meanings) if one in templates.meanings), None)
        if meaning is None or sum(meaning in known[at].meanings for at in shown) != 1:
            continue
        count += 1
        column = templates.meanings.index(meaning)
        fits = [at for at in shown if meaning in _told(likes[at], templates)]
        fits.sort(key=lambda at: -likes[at, column])
        if not fits:
            continue
        is_right = fits[0] == shown[0]
        right += is_right
        if likes[fits[0], column] >= SURE and len(fits) == 1:
            sure += 1
            wrong += not is_right
    return right / max(count, 1), sure / max(count, 1), wrong / max(sure, 1)
