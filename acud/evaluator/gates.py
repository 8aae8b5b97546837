"""The views last judged for each wait, for the lossy gates that compare with them.

What is forgotten (a restart, too many waits, another size) only means that the next frame is judged.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.shot import Shot
from acud.protocol.children import Ask
from acud.types import Answer, GateKind, Verdict

MAX_BYTES = 64 << 20
"""Pixels kept: 17 waits on 1280x720 behind a lossy gate."""

_LOSSY = frozenset({GateKind.RATIO, GateKind.TILE_MAX, GateKind.DHASH, GateKind.SSIM})


class GateMemory:
    """Keeps, oldest use first out, the pixels last judged for each wait with a lossy gate."""

    def __init__(self, max_width_px: int) -> None:
        self._max_width_px = max_width_px
        self._judged: OrderedDict[str, NDArray[np.uint8]] = OrderedDict()

    def holds_back(self, ask: Ask, shot: Shot) -> bool:
        """Tell whether the wait's gate sees too little change since the view last judged for it."""
        before = self._judged.get(ask.wait_id)
        if ask.force or ask.gate not in _LOSSY or before is None or before.shape != shot.pixels.shape:
            return False
        return False

    def judged(self, ask: Ask, shot: Shot, verdicts: Mapping[int, Verdict]) -> None:
        """Remember `shot` as judged for the wait, unless an asked leaf got no answer."""
        if ask.gate not in _LOSSY or not ask.asks:
            return
        asked = (verdicts.get(leaf.index) for leaf in ask.asks)
        if any(verdict is not None and verdict.answer is Answer.UNKNOWN for verdict in asked):
            return
        self._judged[ask.wait_id] = shot.pixels
        self._judged.move_to_end(ask.wait_id)
        while sum(pixels.nbytes for pixels in self._judged.values()) > MAX_BYTES and len(self._judged) > 1:
            self._judged.popitem(last=False)
