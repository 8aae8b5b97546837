"""One view of one frame, taken out of its ring: what every judge of a job looks at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.protocol.asks import ToldBy
from acud.redaction.screen_boxes import Hidden
from acud.types import Rect


class Shot(NamedTuple):
    """A view's pixels (height x width x 4 uint8 BGRX, our own memory, ignored boxes painted black) and what they are.

    `crop` is the part of the source's frame that was taken. `identity` is XXH3-64 hex of the masked BGR pixels, also of
    a redacted copy: it is the key by which answers are remembered, and what is hidden may be what changed. `hide`: what
    redaction rules hide of it, in the shot's own pixels; `hide_fault`: why that is not known.
    """

    source: str
    epoch: int
    frame: int
    mono_ns: int
    crop: Rect
    pixels: NDArray[np.uint8]
    identity: str
    ignore: tuple[Rect, ...] = ()
    hide: tuple[Hidden, ...] = ()
    hide_fault: str = ""
    told: ToldBy | None = None
    """Who tells of the display's widgets; set for a shot whose picture may leave."""


def paint(pixels: NDArray[np.uint8], boxes: Iterable[Rect]) -> None:
    """Paint `boxes` black in `pixels` (height x width x 4), in place."""
    for box in boxes:
        pixels[box.y : box.bottom, box.x : box.right, :] = 0
