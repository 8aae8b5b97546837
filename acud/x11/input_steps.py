"""Long actions between frames: a generator yields when to continue.

def drag(...) -> Steps:
    ...
    yield Pause(now_s + 0.01)
    return ActOutcome()
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

from msgspec import Struct

_PARTS = 8


class Pause(Struct, frozen=True):
    """Continue at `until_s` (CLOCK_MONOTONIC), or as soon as `over` holds (checked after each batch of events)."""

    until_s: float
    over: Callable[[], bool] | None = None

    def is_due(self, now_s: float) -> bool:
        return self.until_s <= now_s or (self.over is not None and self.over())


class ActOutcome(Struct, frozen=True):
    """The result of an action: the text or the picture (PNG) of a selection, the target window."""

    text: str = ""
    png: bytes = b""
    window_id: int = 0


Steps = Generator[Pause, None, ActOutcome]


def pause_for(seconds: float, over: Callable[[], bool] = lambda: False) -> Iterator[Pause]:
    """Pause for `seconds`, or until `over` holds. In parts: a pause of the whole machine costs one of them and not all,
    as the awaited program paused, too.
    """
    for _ in range(_PARTS):
        if over():
            return
        yield Pause(time.monotonic() + seconds / _PARTS, over)
