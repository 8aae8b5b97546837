"""The views last judged for each wait, for the lossy gates that compare with them.

What is forgotten (a restart, too many waits, another size) only means that the next frame is judged.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.shot import Shot
from acud.pixels.gates import DEFAULTS, passes
from acud.protocol.asks import Ask
from acud.types import Answer, GateKind, Verdict

MAX_BYTES = 64 << 20
"""Pixels kept: 17 waits on 1280x720 behind a lossy gate."""


class GateMemory:
    """Keeps, oldest use first out, the pixels last judged for each wait with a lossy gate."""

    def __init__(self, max_width_px: int) -> None:
        self._max_width_px = max_width_px
        self._judged: OrderedDict[str, NDArray[np.uint8]] = OrderedDict()

    def holds_back(self, ask: Ask, shot: Shot) -> bool:
        """Tell whether the wait's gate sees too little change since the view last judged for it.

        Blocks for up to 0.1 s (`ssim`); safe in a thread.
        """
        before = self._judged.get(ask.wait_id)
        if before is None or not self.applies(ask):
            return False
        kind = GateKind(ask.gate)
        return not passes(kind, before, shot.pixels, ask.gate_threshold, self._max_width_px)

    def applies(self, ask: Ask) -> bool:
        """Tell whether `ask` has a lossy gate to pass."""
        return not ask.force and ask.gate in DEFAULTS

    def forget(self, wait_id: str) -> None:
        """Forget what was judged for a wait that ended."""
        self._judged.pop(wait_id, None)

    def judged(self, ask: Ask, shot: Shot, verdicts: Mapping[int, Verdict]) -> None:
        """Remember `shot` as judged for the wait, if every leaf asked about got a yes or a no."""
        if ask.gate not in DEFAULTS or not ask.asks:
            return
        asked = (verdicts.get(leaf.index) for leaf in ask.asks)
        if any(verdict is None or verdict.answer is Answer.UNKNOWN for verdict in asked):
            return
        self._judged[ask.wait_id] = shot.pixels
        self._judged.move_to_end(ask.wait_id)
        while sum(pixels.nbytes for pixels in self._judged.values()) > MAX_BYTES and len(self._judged) > 1:
            self._judged.popitem(last=False)
