"""Orders the readings of views: one thread, and between two steps of a reading another one may go first.

A reading of what changed in a known view takes a tenth of a second; the first reading of a view, or one of a view that
changed all over, takes seconds. So short readings overtake long ones, also one that has begun: a long one is a first
one, or one that was not done within `SHORT_STEPS`. Of several readings of one view the newest goes first, but not
before one that has begun; of several views the one that was read longest ago. At most `MOST_OVERTAKEN` readings
overtake another one, then it is done first. A reading that nobody waits for any more is dropped.

While the queue is crowded, frames come faster than they are read. Then a reading takes the newest frame when its turn
comes (`crowded`), and an older one of a view that was read since is not made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

from acud.frames.ring import FrameGone
from acud.protocol.evaluation import MOST_READINGS_HELD

T = TypeVar("T")
Steps = Generator[None, None, T]
MOST_OVERTAKEN = 4
SHORT_STEPS = 3
_MOST_ENDS = 1024


class _QueuedReading(Generic[T]):
    """A requested reading. `begin` gives its steps, `is_known` returns whether it reads changes alone. `is_look`: it is
    one of many looks at its view.
    """

    def __init__(
        self, key: object, begin: Callable[[], Steps[T]], is_known: Callable[[], bool], *, is_look: bool
    ) -> None:
        self.key, self.is_look = key, is_look
        self.passed = False  # whether a newer reading of its view was done since
        self.begin, self.known = begin, is_known
        self.steps: Steps[T] | None = None
        self.taken = 0  # steps taken
        self.overtaken = 0
        self.done: Future[T] = Future()


class ReadingQueue(Generic[T]):
    """Owns the thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ocr")
        self._lock = threading.Lock()
        self._waiting: list[_QueuedReading[T]] = []
        self._ends: dict[object, int] = {}  # by view: how many readings had ended when its last one did
        self._ended = 0
        self._closed = False

    def ask(
        self, key: object, begin: Callable[[], Steps[T]], is_known: Callable[[], bool], *, is_look: bool = False
    ) -> Future[T]:
        """Return what the steps will return or raise. Cancelled, the reading ends before its next step. With `is_look`
        it raises FrameGone where the queue is crowded and a newer reading of the view was done.
        """
        asked = _QueuedReading(key, begin, is_known, is_look=is_look)
        with self._lock:
            self._waiting.append(asked)
        self._thread.submit(self._run_readings)
        return asked.done

    @property
    def idle(self) -> bool:
        """Whether nothing is read, nor waits to be."""
        with self._lock:
            return not self._waiting

    @property
    def crowded(self) -> bool:
        """Whether as much is held as may be, but for one that is being replaced."""
        with self._lock:
            return len(self._waiting) >= MOST_READINGS_HELD - 1

    def close(self) -> None:
        """End the thread after the step it is at; what was asked for is cancelled."""
        self._closed = True
        with self._lock:
            for asked in self._waiting:
                asked.done.cancel()
        self._thread.shutdown(cancel_futures=True)

    def _run_readings(self) -> None:
        while (asked := self._find_next()) is not None:
            self._step_reading(asked)

    def _find_next(self) -> _QueuedReading[T] | None:
        with self._lock:
            for dropped in [one for one in self._waiting if one.done.cancelled()]:
                self._waiting.remove(dropped)
                if dropped.steps is not None:
                    dropped.steps.close()
            if self._closed or not self._waiting:
                return None
            late = next((one for one in self._waiting if one.overtaken >= MOST_OVERTAKEN), None)
            return late or self._pick_reading()

    def _pick_reading(self) -> _QueuedReading[T]:
        turn: dict[object, _QueuedReading[T]] = {}
        for one in self._waiting:
            before = turn.get(one.key)
            if before is None or before.steps is None:
                turn[one.key] = one
        readings = list(turn.values())
        short = [one for one in readings if one.taken < SHORT_STEPS and one.known()]
        return min(short or readings, key=lambda one: self._ends.get(one.key, 0))

    def _step_reading(self, reading: _QueuedReading[T]) -> None:
        try:
            if reading.steps is None:
                reading.steps = self._begin_reading(reading)
            reading.taken += 1
            next(reading.steps)
        except StopIteration as end:
            self._end_reading(reading)
            with suppress(InvalidStateError):
                reading.done.set_result(end.value)
        except BaseException as fault:  # noqa: BLE001 - raised at the caller
            self._end_reading(reading)
            with suppress(InvalidStateError):
                reading.done.set_exception(fault)

    def _begin_reading(self, reading: _QueuedReading[T]) -> Steps[T]:
        if reading.is_look and reading.passed and self.crowded:
            raise FrameGone("a newer frame of the view was read before its turn came")
        return reading.begin()

    def _end_reading(self, reading: _QueuedReading[T]) -> None:
        with self._lock:
            place = self._waiting.index(reading)
            for older in self._waiting[:place]:
                older.overtaken += 1
                older.passed |= older.key == reading.key
            del self._waiting[place]
            self._ended += 1
            if len(self._ends) >= _MOST_ENDS:
                self._ends.clear()
            self._ends[reading.key] = self._ended
