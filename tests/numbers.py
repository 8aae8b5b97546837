"""Numbers for X displays of tests: of their own among the processes that run tests side by side on one machine."""

from __future__ import annotations

import os
import random
from pathlib import Path

_LOWEST, _HIGHEST = 2000, 59000
_SLICES = 8
_IN_A_ROW = 10
_X = Path("/tmp")


def own_number() -> int:
    """Return a number to begin at, nobody's like the next ones. Processes of one run of the tests (pytest-xdist's
    workers) never meet, unless a test begins 100 displays; other runs and developers hardly.
    """
    numbers = own_slice(range(_LOWEST, _HIGHEST))
    while True:
        # Not the tests' own source of chance: it begins alike in each of those processes.
        number = random.SystemRandom().choice(numbers[:-100])
        # Killed servers leave their sockets, and a test that begins here counts on the numbers that follow.
        if not any(_is_taken(number + more) for more in range(_IN_A_ROW)):
            return number


def _is_taken(number: int) -> bool:
    return (_X / f".X{number}-lock").exists() or (_X / ".X11-unix" / f"X{number}").exists()


def own_slice(numbers: range) -> range:
    """Return the part of `numbers` that is this process's among those that run side by side: pytest-xdist's workers,
    and one that is none of them, such as the soak's.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", f"gw{_SLICES - 1}").removeprefix("gw")
    length = len(numbers) // _SLICES
    first = int(worker) % _SLICES * length
    return numbers[first : first + length]
