"""Numbers for X displays of tests: of their own among the processes that run tests side by side on one machine."""

from __future__ import annotations

import os
import random

_LOWEST, _HIGHEST = 2000, 59000
_SLICES = 8


def own_number() -> int:
    """Return a number to begin at. Processes of one run of the tests (pytest-xdist's workers) never meet, unless a test
    begins 100 displays; other runs and developers hardly.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    length = (_HIGHEST - _LOWEST) // _SLICES
    first = _LOWEST + (int(worker) % _SLICES) * length
    # Not the tests' own source of chance: it begins alike in each of those processes.
    return random.SystemRandom().randrange(first, first + length - 100)
