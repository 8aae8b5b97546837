"""The methods of this process, asked one after the other until one settles it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from msgspec.structs import replace

from acud.desktop import deciding
from acud.desktop.found import Found, GroundingMethod, Tried
from acud.evaluator.grounding.method import Looked, Method, Sight
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.asks import FindAsk


class Cascade:
    """Owns its methods; `close` ends them."""

    def __init__(self, methods: Mapping[GroundingMethod, Method]) -> None:
        self._methods = dict(methods)

    async def find(self, ask: FindAsk, shot: ViewPixels) -> Found:
        """Return `ask.before` with what the methods of `ask` found in `shot`."""
        sight = Sight(shot, shot.crop.moved(ask.origin.x, ask.origin.y))
        found = ask.before
        while (name := deciding.next_method(ask.methods, found)) is not None:
            looked = await self._look(name, replace(ask, before=found), sight)
            found = deciding.add(found, looked.tried, looked.candidates)
        return found

    async def _look(self, name: GroundingMethod, ask: FindAsk, sight: Sight) -> Looked:
        method = self._methods.get(name)
        if method is None:
            return Looked(Tried(name, "unavailable", f"this evaluator has no {name.value}"))
        started = time.perf_counter()
        looked = await method.find(ask, sight)
        spent_ms = round((time.perf_counter() - started) * 1000, 2)
        return looked._replace(tried=replace(looked.tried, ms=spent_ms))

    async def close(self) -> None:
        """Let go of every method's connections."""
        for method in self._methods.values():
            await method.close()
