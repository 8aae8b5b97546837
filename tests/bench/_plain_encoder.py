"""`python -m tests.bench._plain_encoder`: the obvious encoder in an ordinary process; one measurement per line read."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def plain(pixels: NDArray[np.uint8], size: tuple[int, int], quality: int) -> bytes:
    """Return BGRX `pixels` as JPEG the obvious way: convert to RGB, LANCZOS, save."""
    height, width = pixels.shape[:2]
    image = Image.frombytes("RGB", (width, height), pixels.tobytes(), "raw", "BGRX")
    buffer = io.BytesIO()
    image.resize(size, Image.Resampling.LANCZOS).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


class OrdinaryProcess:
    """A Python process whose memory nobody tuned. A context manager."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.bench._plain_encoder"]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.measure()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._child.communicate()

    def measure(self) -> float:
        """Have it encode once; return the milliseconds it took."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        return float(self._child.stdout.readline())


def main() -> None:
    """Measure once per line on standard input."""
    from tests.bench.encode import QUALITY, SIZE, screen

    pixels = screen()
    for _ in sys.stdin:
        plain(pixels, SIZE, QUALITY)  # the caches are another process's until now
        began = time.perf_counter()
        plain(pixels, SIZE, QUALITY)
        print((time.perf_counter() - began) * 1000, flush=True)


if __name__ == "__main__":
    main()
