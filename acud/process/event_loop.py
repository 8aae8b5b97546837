"""The event loop of the supervisor and of capture processes, on ZeroMQ's poller.

One turn: wait for sockets, descriptors and the next timer; call the callbacks that are due; then `after_turn`. So all
changes of one turn can share one database transaction, and replies are sent after its commit. Single-threaded; a
callback that raises ends the loop (`child_process.py` and the supervisor's request boundary decide what is survivable).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any, Protocol

import zmq

Callback = Callable[[], None]

_FEW = 64  # up to so many timers are never tidied, as they cost nothing


class Watchable(Protocol):
    """An object with a file descriptor."""

    def fileno(self) -> int:
        """Return the file descriptor."""


class Timer:
    """A callback with its time; `cancel` is harmless at any time."""

    __slots__ = ("at_s", "callback")

    def __init__(self, at_s: float, callback: Callback) -> None:
        self.at_s = at_s
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        self.callback = None


class EventLoop:
    """Sockets, descriptors and timers in one poll.

    `monotonic_s`: the clock of the timers (seconds). `after_turn`: called once after the callbacks of each turn.
    """

    def __init__(
        self,
        monotonic_s: Callable[[], float],
        after_turn: Callback | None = None,
        on_turned: Callable[[float], None] | None = None,
    ) -> None:
        self.now_s = monotonic_s
        self._after_turn = after_turn
        self._poller = zmq.Poller()
        self._callbacks: dict[object, Callback] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._tidy_at = _FEW
        self._order = itertools.count()
        self._wake_s: float | None = None
        self._stopping = False
        self._on_turned = on_turned
        """Called with the time that each turn took, without the poll (seconds); None: turns are not timed."""

    def watch(self, what: zmq.Socket[bytes] | Watchable | int, callback: Callback) -> None:
        """Call `callback` in each turn in which `what` is readable; it must read until nothing is left."""
        key = _find_key(what)
        self._callbacks[key] = callback
        self._poller.register(key, zmq.POLLIN)

    def unwatch(self, what: zmq.Socket[bytes] | Watchable | int) -> None:
        """Stop watching; unwatching twice is harmless."""
        key = _find_key(what)
        if self._callbacks.pop(key, None) is not None:
            self._poller.unregister(key)

    def call_at(self, at_s: float, callback: Callback) -> Timer:
        """Call `callback` once, in the first turn at or after `at_s` on the loop's clock."""
        timer = Timer(at_s, callback)
        heapq.heappush(self._timers, (at_s, next(self._order), timer))
        if len(self._timers) > self._tidy_at:
            self._drop_cancelled()
        return timer

    def _drop_cancelled(self) -> None:
        """Drop cancelled timers, as an unneeded deadline in a week would stay for a week. Done each time the number has
        doubled, so that it costs a constant time for each timer.
        """
        self._timers = [entry for entry in self._timers if entry[2].callback is not None]
        heapq.heapify(self._timers)
        self._tidy_at = max(_FEW, 2 * len(self._timers))

    def call_later(self, delay_s: float, callback: Callback) -> Timer:
        """Call `callback` once, `delay_s` from now."""
        return self.call_at(self.now_s() + delay_s, callback)

    def call_each(self, period_s: float, callback: Callback) -> None:
        """Call `callback` at each multiple of `period_s` on the loop's clock, so that those of one period share a turn.
        A callback that raises ends the loop, as any other.
        """

        def again() -> None:
            self.call_at((self.now_s() // period_s + 1) * period_s, fire)

        def fire() -> None:
            again()
            callback()

        again()

    def wake_at(self, at_s: float | None) -> None:
        """Begin a turn at `at_s`, in place of the time set before (None: no such turn)."""
        self._wake_s = at_s

    def stop(self) -> None:
        """End `run` after the current turn."""
        self._stopping = True

    def run(self) -> None:
        """Run turns until `stop`."""
        while not self._stopping:
            self.turn()

    def turn(self, max_wait_s: float | None = None) -> None:
        """Wait for the next events or timer, at most `max_wait_s`, and call their callbacks."""
        ready = self._poller.poll(self._wait_ms(max_wait_s))
        if self._on_turned is None:
            self._go_round(ready)
        else:
            began_s = self.now_s()
            self._go_round(ready)
            self._on_turned(self.now_s() - began_s)

    def _go_round(self, ready: list[tuple[Any, int]]) -> None:
        for key, _ in ready:
            callback = self._callbacks.get(key)
            if callback is not None:
                callback()
        self._fire_timers()
        if self._after_turn is not None:
            self._after_turn()

    def _wait_ms(self, max_wait_s: float | None) -> int | None:
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        dues = [at_s for at_s in (self._timers[0][0] if self._timers else None, self._wake_s) if at_s is not None]
        waits = [max_wait_s] if max_wait_s is not None else []
        waits += [min(dues) - self.now_s()] if dues else []
        # Round up: a poll that ends just before a timer would spin until it is due.
        return max(0, int(min(waits) * 1000 + 0.999)) if waits else None

    def _fire_timers(self) -> None:
        now = self.now_s()
        if self._wake_s is not None and self._wake_s <= now:
            self._wake_s = None
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            callback, timer.callback = timer.callback, None
            if callback is not None:
                callback()


def _find_key(what: zmq.Socket[bytes] | Watchable | int) -> zmq.Socket[bytes] | int:
    if isinstance(what, zmq.Socket | int):
        return what
    return what.fileno()
