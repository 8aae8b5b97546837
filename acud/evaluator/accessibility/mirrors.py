"""The default provider: a mirror for each display's accessibility bus, kept while somebody asks for it."""

from __future__ import annotations

import asyncio
from typing import Any

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Tree
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.mirror import Mirror

MOST_MIRRORS = 32
"""Beyond so many displays, the one that was asked for the longest time ago begins anew."""

MAX_AGE_S = 30.0
"""What a mirror may still believe when nothing made it doubtful."""

_Key = tuple[str, str]


class AtSpiProvider:
    """Reads over D-Bus. Owns its mirrors: each is closed `ttl_s` after the last ask for it, `close` ends them all.

    Lives in one event loop.
    """

    name = "at-spi"
    priority = 100

    def __init__(self, ttl_s: float) -> None:
        self._ttl_s = ttl_s
        self._mirrors: dict[_Key, Mirror] = {}
        self._timers: dict[_Key, asyncio.TimerHandle] = {}
        self._asks: dict[_Key, int] = {}
        self._closing: set[asyncio.Task[Any]] = set()

    @property
    def displays(self) -> int:
        """How many displays are mirrored now."""
        return len(self._mirrors)

    async def read(self, ask: AccessibilityAsk) -> Tree:
        """See AccessibilityProvider."""
        key = (ask.bus_address, ask.a11y_address)
        mirror = self._mirrors.pop(key, None) or Mirror(AccessibilityBus(*key))
        self._mirrors[key] = mirror  # the newest comes last
        self._asks[key] = self._asks.get(key, 0) + 1
        self._end_oldest()
        try:
            return await mirror.tree(ask.max_age_s, ask.limits, ask.windows, ask.changed)
        finally:
            self._asks[key] -= 1
            self._end_later(key)

    async def sure(self, ask: AccessibilityAsk) -> Tree | None:
        """Return what a mirror tells that is kept already, where it is as good as a fresh reading; else None.

        Raises: Unavailable, as `read` does.
        """
        mirror = self._mirrors.get((ask.bus_address, ask.a11y_address))
        if mirror is None:
            return None
        tree = await self.read(ask)
        return tree if mirror.is_sure else None

    async def close(self) -> None:
        """See AccessibilityProvider."""
        for key in list(self._mirrors):
            self._end(key)
        await asyncio.gather(*self._closing)

    def _end_oldest(self) -> None:
        idle = [key for key in self._mirrors if not self._asks.get(key)]
        for key in idle[: max(0, len(self._mirrors) - MOST_MIRRORS)]:
            self._end(key)

    def _end_later(self, key: _Key) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        if key in self._mirrors and not self._asks[key]:
            self._timers[key] = asyncio.get_running_loop().call_later(self._ttl_s, self._end, key)

    def _end(self, key: _Key) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        self._asks.pop(key, None)
        task = asyncio.ensure_future(self._mirrors.pop(key).close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
