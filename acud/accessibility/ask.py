"""The contract of accessibility providers: their requests and answers."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from acud.accessibility.nodes import Limits, Tree
from acud.types import Rect, WindowInfo


class AccessibilityAsk(Struct, frozen=True):
    """Which widgets are wanted. `display`: its name, such as `:100`; `windows`: its client windows, topmost first.

    `max_age_s`: the oldest acceptable answer (0: read everything now). `changed`: where the display's pixels changed
    since the last ask; None: not known. `bus_address`: its session bus, `a11y_address`: the accessibility bus that the
    display itself names; "" for none.
    """

    display: str
    windows: tuple[WindowInfo, ...] = ()
    bus_address: str = ""
    a11y_address: str = ""
    max_age_s: float = 0.0
    limits: Limits = Limits()
    changed: tuple[Rect, ...] | None = None


class AccessibilityProvider(Protocol):
    """Reads the widgets of displays. `name` is shown to users; the available provider of the highest `priority` answers
    (AT-SPI has 100).

    An entry point of the group `acud.accessibility_providers` names a callable that returns one, without arguments.
    """

    name: str
    priority: int

    async def read(self, ask: AccessibilityAsk) -> Tree:
        """Return the widgets in document order (parents first), boxes in display pixels.

        Must not block the event loop, and must end soon after `ask.limits.walk_s`. Raises: Unavailable when it can't
        look; a display without widgets is an empty tree.
        """

    async def close(self) -> None:
        """Release everything; a second call is harmless."""


class ProviderFault(Struct, frozen=True):
    """A provider that did not answer, and why."""

    name: str
    reason: str


class ProvidedTree(Struct, frozen=True):
    """A tree, the provider that read it, and the faults of the providers tried before."""

    tree: Tree
    provider: str
    faults: tuple[ProviderFault, ...] = ()
