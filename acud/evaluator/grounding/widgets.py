"""The accessibility method as the cascade asks for it."""

from __future__ import annotations

from acud.config import AccessibilitySettings
from acud.desktop.found import GroundingMethod
from acud.evaluator.grounding.accessibility import AccessibilityGrounding
from acud.evaluator.grounding.method import Looked, Sight
from acud.protocol.asks import FindAsk


class AccessibilityMethod:
    """Finds widgets in the part of the display that is looked at. Owns the connections to the buses."""

    name = GroundingMethod.ACCESSIBILITY

    def __init__(self, settings: AccessibilitySettings) -> None:
        self._grounding = AccessibilityGrounding(settings)

    async def find(self, ask: FindAsk, sight: Sight) -> Looked:
        """Return the widgets that fit; see `Method`."""
        return Looked(*await self._grounding.find(ask, sight.at))

    async def close(self) -> None:
        """Close every connection."""
        await self._grounding.close()
