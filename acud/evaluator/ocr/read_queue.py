"""Whose view is read next: one thread, and between two steps of a reading another one may go first.

A reading of what changed in a known view takes a tenth of a second; the first reading of a view takes seconds. So
changes overtake first readings, also one that has begun; at most `MOST_OVERTAKEN` do, then it is done first. Readings
of one view are done in the order in which they were asked for. A reading that nobody waits for any more is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]
MOST_OVERTAKEN = 4


class _QueuedReading(Generic[T]):
    """A reading asked for. `begin` gives its steps, `known` tells whether it reads changes alone."""

    def __init__(self, key: object, begin: Callable[[], Steps[T]], known: Callable[[], bool]) -> None:
        self.key = key
        self.begin = begin
        self.known = known
        self.steps: Steps[T] | None = None
        self.overtaken = 0
        self.done: Future[T] = Future()


class ReadingQueue(Generic[T]):
    """Owns the thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ocr")
        self._lock = threading.Lock()
        self._waiting: list[_QueuedReading[T]] = []
        self._closed = False

    def ask(self, key: object, begin: Callable[[], Steps[T]], known: Callable[[], bool]) -> Future[T]:
        """Return what the steps will return or raise. Cancelled, the reading ends before its next step."""
        asked = _QueuedReading(key, begin, known)
        with self._lock:
            self._waiting.append(asked)
        self._thread.submit(self._work)
        return asked.done

    def close(self) -> None:
        """End the thread after the step it is at; what was asked for is cancelled."""
        self._closed = True
        with self._lock:
            for asked in self._waiting:
                asked.done.cancel()
        self._thread.shutdown(cancel_futures=True)

    def _work(self) -> None:
        while (asked := self._next()) is not None:
            self._step(asked)

    def _next(self) -> _QueuedReading[T] | None:
        with self._lock:
            for dropped in [one for one in self._waiting if one.done.cancelled()]:
                self._waiting.remove(dropped)
                if dropped.steps is not None:
                    dropped.steps.close()
            if self._closed or not self._waiting:
                return None
            oldest: dict[object, _QueuedReading[T]] = {}
            for one in self._waiting:
                oldest.setdefault(one.key, one)
            turn = list(oldest.values())
            late = [one for one in turn if one.overtaken >= MOST_OVERTAKEN]
            return (late or [one for one in turn if one.known()] or turn)[0]

    def _step(self, asked: _QueuedReading[T]) -> None:
        try:
            if asked.steps is None:
                asked.steps = asked.begin()
            next(asked.steps)
        except StopIteration as end:
            self._end(asked)
            with suppress(InvalidStateError):
                asked.done.set_result(end.value)
        except BaseException as fault:  # noqa: BLE001 - whoever asked is told
            self._end(asked)
            with suppress(InvalidStateError):
                asked.done.set_exception(fault)

    def _end(self, asked: _QueuedReading[T]) -> None:
        with self._lock:
            place = self._waiting.index(asked)
            for older in self._waiting[:place]:
                older.overtaken += 1
            del self._waiting[place]
