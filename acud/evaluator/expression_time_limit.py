"""Work of our own expressions held to its time: Python's engine backtracks, and texts are written by strangers.

The engine looks for pending signals while it searches (CPython, `_sre/sre_lib.h`: `MAYBE_CHECK_SIGNALS`), so a timer on
the CPU time of this process ends a search that runs away. Signal handlers run in the main thread only, and so must
this. Expressions that others bring are searched by `acud.base.patterns`, which needs no such end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from acud.base.errors import AcudError


class TookTooLong(AcudError):
    """The search was ended at its limit."""


class _OutOfTime(BaseException):
    """Raised by the timer inside the search."""


@contextmanager
def limit_cpu_time(limit_s: float, what: str) -> Iterator[None]:
    """End searches inside after `limit_s` of CPU time. Raises: TookTooLong, naming `what`; RuntimeError when it is
    called in another thread than the main one.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a regular expression is held to its time in the main thread only")
    try:
        with _timer(limit_s):
            yield
    except _OutOfTime:
        raise TookTooLong(f"{what} took longer than {limit_s:g} s") from None


@contextmanager
def _timer(limit_s: float) -> Iterator[None]:
    armed = True

    def expire(_number: int, _frame: FrameType | None) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise _OutOfTime

    previous = signal.signal(signal.SIGVTALRM, expire)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
