"""Where the password fields of a display are, as its accessibility bus tells, in the pixels of a shot of it."""

from __future__ import annotations

from msgspec.structs import replace

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Limits, Tree
from acud.config import AccessibilitySettings
from acud.errors import Unavailable
from acud.evaluator.accessibility.buses import Buses
from acud.evaluator.accessibility.mirrors import MAX_AGE_S, AtSpiProvider
from acud.evaluator.accessibility.reader import TreeReader
from acud.evaluator.shot import Shot
from acud.protocol.asks import ToldBy
from acud.types import Rect


class SecureFields:
    """Finds password fields. A bus that tells nothing tells of none: they show dots then, as they do on the screen.

    `mirrors` are the caller's: a display that is mirrored for its scenes need not be read anew.
    """

    def __init__(self, settings: AccessibilitySettings, mirrors: AtSpiProvider) -> None:
        self._mirrors = mirrors
        self._limits = Limits(settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s)
        self._buses = Buses()

    async def boxes(self, shot: Shot) -> list[Rect]:
        """Return the boxes of the fields that lie in `shot`; () for a shot that need not leave this machine."""
        told = shot.told
        if told is None:
            return []
        try:
            tree = await self._mirrored(shot.source, told) or await self._walked(told)
        except Unavailable:
            return []
        bounds = Rect(0, 0, shot.pixels.shape[1], shot.pixels.shape[0])
        dx, dy = -told.x - shot.crop.x, -told.y - shot.crop.y
        found = (node.box.moved(dx, dy).intersect(bounds) for node in tree.nodes if node.secure and node.box)
        return [box for box in found if box is not None]

    async def _mirrored(self, display: str, told: ToldBy) -> Tree | None:
        # With the limits of scenes: other ones would make the mirror read anew, for them and for us.
        limits = replace(self._limits, actions=True)
        ask = AccessibilityAsk(display, told.windows, told.bus_address, told.a11y_address, MAX_AGE_S, limits)
        try:
            return await self._mirrors.sure(ask)
        except Unavailable:
            return None  # its connection may have been the fault; the walk has one of its own

    async def _walked(self, told: ToldBy) -> Tree:
        bus = await self._buses.of(told.bus_address, told.a11y_address)
        return await TreeReader(bus).read(told.windows, self._limits)

    async def close(self) -> None:
        """Close every connection."""
        await self._buses.close()
