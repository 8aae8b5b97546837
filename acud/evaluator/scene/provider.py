"""The seam for readers of text that others bring: a Python distribution names one in its entry points.

[project.entry-points."acud.ocr_providers"]
mine = "my_package:MyProvider"        # called without arguments, once, in each evaluator that reads
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.ocr.engine import Line

OCR_GROUP = "acud.ocr_providers"

EMBEDDED_PRIORITY = 0
"""Of the engine that comes with acud; a provider with a higher one is asked before it, one with a lower after it."""


@runtime_checkable
class OcrProvider(Protocol):
    """Reads text. `name` stands in the scene's `providers`; the one with the highest `priority` is asked first."""

    name: str
    priority: int

    def read(self, pixels: NDArray[np.uint8], fresh: bool) -> Sequence[Line]:
        """Return the lines in `pixels` (height x width x 4 uint8 BGRX, not to be written to), in their pixels.

        Called in a thread of its own, one picture at a time; may take seconds. `fresh`: nothing that was remembered of
        an earlier picture may be used. Whatever it raises is told as its reason, and the next provider is asked.
        """
        ...


Factory = Callable[[], OcrProvider]
