"""Frame-sized buffers without page faults, and what was freed given back before it adds up."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

# malloc.h; the numbers are glibc's.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_MMAP_FROM_BYTES = 32 << 20
_TRIM_FROM_BYTES = 256 << 20
_REST_S = 5.0
"""Giving back takes 5 to 9 ms (`scripts/bench growth`), and 1 ms for the next frame, whose pages are mapped anew."""
_BUSY_S = 30.0


def keep_freed_memory() -> bool:
    """Have malloc keep freed frame-sized blocks for the next frame; False where the C library has no such setting.

    Otherwise each block over 128 KB is mapped anew and faulted in page by page: copying a 1280x720 frame takes 1.3 ms
    instead of 0.14, encoding one 0.8 ms more (`scripts/bench encode`). What is kept is at most the peak in use.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _MMAP_FROM_BYTES) and mallopt(_M_TRIM_THRESHOLD, _TRIM_FROM_BYTES))


def give_back() -> bool:
    """Have malloc give all its free pages to the system; False where the C library can't.

    An engine frees buffers of another size for each line of text, between blocks that stay: without this a process
    that reads text holds some 100 MB more than it uses (`scripts/bench growth`), and takes hours to get there.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))


class MemoryTrim:
    """Says when `give_back` is due: after work, once it rests, and under work that never rests now and then."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._now = monotonic_s
        self._last_s = monotonic_s()
        self._worked = False

    def worked(self) -> None:
        """Note that memory was used and freed."""
        self._worked = True

    def due(self, *, busy: bool) -> bool:
        """Tell whether to give back now; then it is not due again before there was more work."""
        now_s = self._now()
        if not self._worked or now_s - self._last_s < (_BUSY_S if busy else _REST_S):
            return False
        self._last_s, self._worked = now_s, False
        return True
