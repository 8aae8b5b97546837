"""Where the password fields of a display are, as its accessibility bus tells, in the pixels of a shot of it."""

from __future__ import annotations

from acud.accessibility.nodes import Limits
from acud.config import AccessibilitySettings
from acud.errors import Unavailable
from acud.evaluator.accessibility.buses import Buses
from acud.evaluator.accessibility.reader import TreeReader
from acud.evaluator.shot import Shot
from acud.types import Rect


class SecureFields:
    """Finds password fields. A bus that tells nothing tells of none: they show dots then, as they do on the screen."""

    def __init__(self, settings: AccessibilitySettings) -> None:
        self._limits = Limits(settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s)
        self._buses = Buses()

    async def boxes(self, shot: Shot) -> list[Rect]:
        """Return the boxes of the fields that lie in `shot`; () for a shot that need not leave this machine."""
        told = shot.told
        if told is None:
            return []
        try:
            bus = await self._buses.of(told.bus_address, told.a11y_address)
            tree = await TreeReader(bus).read(told.windows, self._limits)
        except Unavailable:
            return []
        bounds = Rect(0, 0, shot.pixels.shape[1], shot.pixels.shape[0])
        dx, dy = -told.x - shot.crop.x, -told.y - shot.crop.y
        found = (node.box.moved(dx, dy).intersect(bounds) for node in tree.nodes if node.secure and node.box)
        return [box for box in found if box is not None]

    async def close(self) -> None:
        """Close every connection."""
        await self._buses.close()
