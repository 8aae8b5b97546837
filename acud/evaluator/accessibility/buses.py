"""The connections to the accessibility buses of many displays: one each, the longest unused ones closed."""

from __future__ import annotations

from collections import OrderedDict

from acud.evaluator.accessibility.bus import AccessibilityBus

MOST_BUSES = 16


class Buses:
    """Owns the connections; `close` ends them, twice is harmless."""

    def __init__(self) -> None:
        self._buses: OrderedDict[tuple[str, str], AccessibilityBus] = OrderedDict()

    async def of(self, bus_address: str, a11y_address: str) -> AccessibilityBus:
        """Return the bus behind a display's session bus, or the one the display itself names; not connected yet."""
        key = (bus_address, a11y_address)
        bus = self._buses.pop(key, None) or AccessibilityBus(*key)
        self._buses[key] = bus
        while len(self._buses) > MOST_BUSES:
            _, unused = self._buses.popitem(last=False)
            await unused.close()
        return bus

    async def close(self) -> None:
        """Close every connection."""
        while self._buses:
            _, bus = self._buses.popitem()
            await bus.close()
