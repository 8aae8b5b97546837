"""The frames that scenes were read of, to tell where a newer one differs."""

from __future__ import annotations

import threading
from collections import OrderedDict

from acud.evaluator.ocr.changes import changed_boxes
from acud.evaluator.view_pixels import ViewPixels
from acud.types import Rect

MAX_KEPT_BYTES = 32 << 20
"""Eight displays of 1280x720."""

_MOST_BOXES = 64


class Frames:
    """The last frame of each display whose widgets were read. Safe in threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, ViewPixels] = OrderedDict()
        self._lock = threading.Lock()

    def changed(self, shot: ViewPixels) -> tuple[Rect, ...] | None:
        """Return where `shot` differs from the frame before, in display pixels, and keep it as the next one's.

        None when there is none to compare with, or it changed in too many places to tell them apart.
        """
        with self._lock:
            before = self._kept.pop(shot.source, None)
            self._kept[shot.source] = shot
            while len(self._kept) > 1 and sum(one.pixels.nbytes for one in self._kept.values()) > MAX_KEPT_BYTES:
                self._kept.popitem(last=False)
        if before is None or before.crop != shot.crop or before.epoch != shot.epoch:
            return None
        boxes = [box.moved(shot.crop.x, shot.crop.y) for box in changed_boxes(before.pixels, shot.pixels)]
        return tuple(boxes) if len(boxes) <= _MOST_BOXES else None
