"""Black boxes: a copy of a picture in which boxes cannot be seen."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from acud.types import Rect


def blackout(pixels: NDArray[np.uint8], boxes: Iterable[Rect]) -> NDArray[np.uint8]:
    """Return a C-contiguous copy of `pixels` (height x width x 4 uint8 BGRX) with `boxes` black; they may overhang.

    `pixels` is never written to. About 0.3 ms for 1280x720.
    """
    black = np.array(pixels, order="C", copy=True)
    bounds = Rect(0, 0, pixels.shape[1], pixels.shape[0])
    for box in boxes:
        inside = box.intersect(bounds)
        if inside is not None:
            black[inside.y : inside.bottom, inside.x : inside.right] = 0
    return black
