"""Writes where keyed widgets are once they stay there: what every program of the grounding set's halves does."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

Boxes = dict[str, list[int]]
_ROUNDS = 4
EVERY_MS = 150


class TruthFile:
    """`boxes` returns `{key: [x, y, w, h]}`, or None while a widget has no place yet."""

    def __init__(self, boxes: Callable[[], Boxes | None]) -> None:
        self._told = Path(sys.argv[1])
        self._boxes = boxes
        self._last: Boxes | None = None
        self._same = 0

    def tell(self) -> bool:
        """Look once. Return whether to look again: False once the boxes have stayed and are written."""
        now = self._boxes()
        self._same = self._same + 1 if now is not None and now == self._last else 0
        self._last = now
        if self._same < _ROUNDS:
            return True
        part = self._told.with_suffix(".part")
        part.write_text(json.dumps(now))
        part.replace(self._told)
        return False
