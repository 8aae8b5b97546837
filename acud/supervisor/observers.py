"""Observers of events, in an order that each declares, and callers that wait for one event."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Generic, TypeVar

from acud.process.event_loop import EventLoop, Timer

Observer = TypeVar("Observer")
Key = TypeVar("Key")
Outcome = TypeVar("Outcome")


class Order(IntEnum):
    """Lower orders are called first; observers of the same order in the order in which they subscribed."""

    POLICY = 0
    """Redaction: it must know the hidden places before a picture of them is requested."""
    WAITS = 1
    """Waits: they must know what a frame changed before the callers that requested it are answered."""
    CORE = 2
    FEATURES = 3


class Observers(Generic[Observer]):
    """The observers of one kind of event. Iterating costs no more than with a tuple."""

    def __init__(self) -> None:
        self._added: list[tuple[Order, Observer]] = []
        self._sorted: tuple[Observer, ...] = ()

    def add(self, observer: Observer, order: Order) -> None:
        self._added.append((order, observer))
        self._added.sort(key=lambda one: one[0])
        self._sorted = tuple(observer for _, observer in self._added)

    def __iter__(self) -> Iterator[Observer]:
        return iter(self._sorted)


class ParkedCalls(Generic[Key, Outcome]):
    """Callers by the key that they wait for. Each gets one outcome, or another once its time is over."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._parked: dict[int, tuple[Key, Timer, Callable[[Outcome], None]]] = {}
        self._numbers = itertools.count()

    def park(self, key: Key, on_done: Callable[[Outcome], None], within_s: float, late: Callable[[], Outcome]) -> None:
        """Call `on_done` with the outcome that `answer_fitting` gives `key`, or `late` after `within_s`."""
        number = next(self._numbers)
        timer = self._loop.call_later(within_s, lambda: self._answer_call(number, late()))
        self._parked[number] = key, timer, on_done

    def answer_fitting(self, fits: Callable[[Key], bool], outcome: Outcome) -> None:
        """Answer the callers with a key that `fits`, in their order, without those that park meanwhile."""
        for number, (key, *_) in list(self._parked.items()):
            if number in self._parked and fits(key):
                self._answer_call(number, outcome)

    def _answer_call(self, number: int, outcome: Outcome) -> None:
        _, timer, done = self._parked.pop(number)
        timer.cancel()
        done(outcome)
