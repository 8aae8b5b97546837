"""How something that takes a while is done between frames: a generator that says when it is to go on.

def drag(...) -> Steps:
    ...
    yield Rest(now_s + 0.01)
    return Outcome()
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

from msgspec import Struct

_PARTS = 8


class Rest(Struct, frozen=True):
    """Go on at `until_s` (CLOCK_MONOTONIC), or as soon as `over` holds, which is asked after each batch of events."""

    until_s: float
    over: Callable[[], bool] | None = None


class ActOutcome(Struct, frozen=True):
    """What an action brought: the text or the picture (PNG) of a selection, the window that was meant."""

    text: str = ""
    png: bytes = b""
    window_id: int = 0


Steps = Generator[Rest, None, ActOutcome]


def rest_for(seconds: float, over: Callable[[], bool] = lambda: False) -> Iterator[Rest]:
    """Rest for `seconds`, or until `over` holds.

    In parts: a machine that stood still is one of them and not all, for whoever is waited for stood still, too.
    """
    for _ in range(_PARTS):
        if over():
            return
        yield Rest(time.monotonic() + seconds / _PARTS, over)
