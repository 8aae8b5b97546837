"""A regular expression held to its time: Python's engine backtracks, and on `(a+)+$` thirty letters take minutes.

The engine looks for pending signals while it searches (CPython, `_sre/sre_lib.h`: `MAYBE_CHECK_SIGNALS`), so a timer on
the CPU time of this process ends a search that runs away. Signal handlers run in the main thread only, and so must
this. `acud.waits.patterns` refuses the plainly explosive ones beforehand; this holds for the rest.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from acud.errors import AcudError

LIMIT_S = 0.2
"""CPU seconds for one search over a screen of text; sane patterns take under a millisecond."""


class PatternFault(AcudError):
    """The pattern is malformed, or its search took too long."""


class _OutOfTime(BaseException):
    """Raised by the timer inside the search."""


def search(pattern: str, text: str, flags: int) -> tuple[int, int] | None:
    """Return where `pattern` first matches in `text`, or None.

    Raises: PatternFault when it does not compile, or takes more than `LIMIT_S` of CPU time; RuntimeError when it is
    called in another thread than the main one.
    """
    try:
        with limited(LIMIT_S, f"the regular expression {pattern[:80]!r}"):
            match = re.search(pattern, text, flags)
    except (re.error, OverflowError, RecursionError) as fault:
        raise PatternFault(f"the regular expression is malformed: {fault}") from fault
    return match.span() if match is not None else None


@contextmanager
def limited(limit_s: float, what: str) -> Iterator[None]:
    """End searches inside after `limit_s` of CPU time. Raises: PatternFault, naming `what`; RuntimeError as above."""
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a regular expression is held to its time in the main thread only")
    try:
        with _timer(limit_s):
            yield
    except _OutOfTime:
        raise PatternFault(f"{what} took longer than {limit_s:g} s") from None


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
