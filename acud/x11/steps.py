"""How something that takes a while is done between frames: a generator that says when it is to go on.

def drag(...) -> Steps:
    ...
    yield Rest(now_s + 0.01)
    return Outcome()
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from msgspec import Struct


class Rest(Struct, frozen=True):
    """Go on at `until_s` (CLOCK_MONOTONIC), or as soon as `over` holds, which is asked after each batch of events."""

    until_s: float
    over: Callable[[], bool] | None = None


class Outcome(Struct, frozen=True):
    """What an action brought: the text of a selection, the window that was meant."""

    text: str = ""
    window_id: int = 0


Steps = Generator[Rest, None, Outcome]
