"""Subscriptions to events, in an order that each subscriber declares."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Generic, TypeVar

Observer = TypeVar("Observer")


class Order(IntEnum):
    """Which observers come first. Observers of the same order are called in the order in which they subscribed."""

    POLICY = 0
    """Redaction: it knows which places are hidden before anybody asks for a picture of them."""
    WAITS = 1
    """A wait knows what a frame changed before those are answered who asked for that frame."""
    CORE = 2
    FEATURES = 3


class Observers(Generic[Observer]):
    """The observers of one kind of event. Iterating costs no more than over a tuple."""

    def __init__(self) -> None:
        self._added: list[tuple[Order, Observer]] = []
        self._told: tuple[Observer, ...] = ()

    def add(self, observer: Observer, order: Order) -> None:
        """Tell `observer` from now on."""
        self._added.append((order, observer))
        self._added.sort(key=lambda one: one[0])
        self._told = tuple(observer for _, observer in self._added)

    def __iter__(self) -> Iterator[Observer]:
        return iter(self._told)
