"""What the conditions of one job have in common is made once: the JPEG, the text, the answer to the same question."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Shared(NamedTuple, Generic[T]):
    """A value, and whether this caller is the one it was made for."""

    value: T
    first: bool


class Share:
    """Values by key, made by the first who asks; others await the same. Lives as long as its job."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._made: dict[Hashable, asyncio.Task[Any]] = {}

    async def once(self, key: Hashable, make: Coroutine[Any, Any, T]) -> Shared[T]:
        """Return what `make` gives for `key`; a later call with the same key leaves its own `make` unused."""
        found = self._made.get(key)
        if found is not None:
            make.close()
            return Shared(await found, first=False)
        task = self._made[key] = self._group.create_task(make)
        return Shared(await task, first=True)

    def made(self, kind: type[T]) -> list[T]:
        """Return every value of `kind` that was made."""
        values = (task.result() for task in self._made.values() if task.done() and not task.cancelled())
        return [value for value in values if isinstance(value, kind)]
