"""The luma that the hashes of a frame go by: Rec. 601 weights, truncated.

Scene Builder's arithmetic: .299 R + .587 G + .114 B in float64, added left to right, the fraction cut off (65 of 256
greys come out one lower; PIL's `convert("L")` differs).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def luma(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the luma of `pixels` (height x width x 4 uint8 BGRX, the fourth byte never looked at)."""
    blue, green, red = (pixels[:, :, channel].astype(np.float64) for channel in range(3))
    return np.asarray((red * 0.299 + green * 0.587 + blue * 0.114).astype(np.uint8))
