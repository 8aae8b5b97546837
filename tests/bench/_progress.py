"""What a long benchmark is at, on standard error: figures go to standard output alone."""

from __future__ import annotations

import sys
import time

_BEGAN_S = time.monotonic()


def say(text: str) -> None:
    sys.stderr.write(f"{time.monotonic() - _BEGAN_S:5.0f} s  {text}\n")
    sys.stderr.flush()
