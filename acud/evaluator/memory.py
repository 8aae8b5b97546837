"""Frame-sized buffers without page faults, and what was freed given back before it adds up."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

# malloc.h; the numbers are glibc's.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_MMAP_FROM_BYTES = 32 << 20
_TRIM_FROM_BYTES = 256 << 20
_WORTH_MB = 48
"""Giving back takes 5 to 9 ms (`scripts/bench growth`), and costs the next frame 3 to 7 ms, as its pages are mapped
anew: some 15 MB that frames need are kept, the 100 MB of an engine are not."""
_REST_S = 5.0
_BUSY_S = 30.0


def keep_freed_memory() -> bool:
    """Have malloc keep freed frame-sized blocks for the next frame, in one heap for all threads; False where the C
    library has no such setting.

    Otherwise each block over 128 KB is mapped anew and faulted in page by page: copying a 1280x720 frame takes 1.3 ms
    instead of 0.14, encoding one 0.8 ms more (`scripts/bench encode`). What is kept is at most the peak in use.
    One heap, as each thread else keeps frames of its own, and `give_back` does not reach the end of their heaps: after
    the first judgements of 32 waits that held 47 to 106 MB (`scripts/bench memory`).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    mallopt(_M_ARENA_MAX, 1)
    return bool(mallopt(_M_MMAP_THRESHOLD, _MMAP_FROM_BYTES) and mallopt(_M_TRIM_THRESHOLD, _TRIM_FROM_BYTES))


def give_back() -> bool:
    """Have malloc give all its free pages to the system; False where the C library can't.

    An engine frees buffers of another size for each line of text, between blocks that stay: without this a process
    that reads text holds some 100 MB more than it uses (`scripts/bench growth`), and takes hours to get there.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))


def held_mb() -> float:
    """Return what this process holds for itself alone, in MB (proc_pid_statm(5): resident less shared)."""
    with open("/proc/self/statm", "rb", buffering=0) as statm:  # noqa: PTH123 - asked for at each heartbeat
        _, resident, shared, *_ = statm.read().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") / 1e6


class MemoryTrim:
    """Gives memory back when that is due: after work that left much, once it rests; now and then if it never rests.

    `held_mb` measures what the process holds, and `give_back` lowers it.
    """

    def __init__(
        self,
        monotonic_s: Callable[[], float],
        held_mb: Callable[[], float] = held_mb,
        give_back: Callable[[], object] = give_back,
    ) -> None:
        self._now = monotonic_s
        self._held_mb, self._give_back = held_mb, give_back
        self._least_mb = held_mb()
        self._last_s = monotonic_s()
        self._worked = False

    def note_work(self) -> None:
        """Note that memory was used and freed."""
        self._worked = True

    def trim_if_due(self, *, busy: bool) -> None:
        """Give back if that is due; then it is not due again before there was more work."""
        now_s = self._now()
        if not self._worked or now_s - self._last_s < (_BUSY_S if busy else _REST_S):
            return
        if self._held_mb() - self._least_mb < _WORTH_MB:
            return
        self._give_back()
        self._least_mb, self._last_s, self._worked = self._held_mb(), now_s, False
