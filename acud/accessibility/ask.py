"""The contract of accessibility providers: their requests and answers."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from acud.accessibility.nodes import Limits, Tree
from acud.types import Rect, WindowInfo


class AccessibilityAsk(Struct, frozen=True):
    """Which widgets are wanted. `display`: its name, such as `:100`; `windows`: its client windows, topmost first.

    `max_age_s`: nothing older may be answered (0: all is read now). `changed`: where the display's pixels changed since
    the ask before; None: not known. `bus_address`: its session bus, `a11y_address`: the accessibility bus that the
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
    """Reads the widgets of displays. `name` is shown to users; of several, the one of the highest `priority`
    that is available answers (AT-SPI has 100).

    Entry points of the group `acud.accessibility_providers` name something that is called without arguments for one.
    """

    name: str
    priority: int

    async def read(self, ask: AccessibilityAsk) -> Tree:
        """Return the widgets in document order (parents before what is in them), boxes in display pixels.

        Must not block the event loop, and end soon after `ask.limits.walk_s`. Raises: Unavailable when it can't look;
        a display without widgets is an empty tree.
        """
        ...

    async def close(self) -> None:
        """Let go of everything; twice is harmless."""
        ...


class ProviderFault(Struct, frozen=True):
    """A provider that did not answer, and why."""

    name: str
    reason: str


class ProvidedTree(Struct, frozen=True):
    """A tree, who read it, and who had been asked before, in vain."""

    tree: Tree
    provider: str
    faults: tuple[ProviderFault, ...] = ()
