"""What several viewers need of one frame is made once, for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Thing = TypeVar("Thing")

_FRAMES = 2
"""Frames of which things are kept: viewers at one pace look at the newest, or the one before."""


class Shared(Generic[Thing]):
    """Things by frame number and key. For several threads; who comes second waits for who makes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[int, dict[Hashable, Future[Thing]]] = {}

    def get(self, frame: int, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """Return what `make` returns, or returned for the same frame and key. Raises: what it raises."""
        with self._lock:
            things = self._made.setdefault(frame, {})
            found = things.get(key)
            mine: Future[Thing] = Future() if found is None else found
            things[key] = mine
            for old in sorted(self._made)[:-_FRAMES]:
                del self._made[old]
        if found is None:
            self._make(mine, make)
        return mine.result()

    def _make(self, mine: Future[Thing], make: Callable[[], Thing]) -> None:
        try:
            mine.set_result(make())
        except BaseException as fault:
            mine.set_exception(fault)
            raise
