"""The seam between the cascade and one way of finding something."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from acud.desktop.found import Candidate, GroundingMethod, Tried
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.asks import FindAsk
from acud.types import Rect


class Sight(NamedTuple):
    """What a method looks at. `at`: the shot's place on its display; a pixel (x, y) of the shot is there the pixel
    (at.x + x, at.y + y).
    """

    shot: ViewPixels
    at: Rect


class Looked(NamedTuple):
    """What one method found. `sure`: exactly one candidate; `nothing` and `unavailable`: none; points and boxes are in
    display pixels, best first.
    """

    tried: Tried
    candidates: tuple[Candidate, ...] = ()


class Method(Protocol):
    """One way of finding. It never raises for what the world does: what could not look is `unavailable`, and why."""

    name: GroundingMethod

    async def find(self, ask: FindAsk, sight: Sight) -> Looked:
        """Return what `ask.description` describes in `sight`. `ask.before` holds what earlier methods found."""
        ...

    async def close(self) -> None:
        """Let go of connections; twice is harmless."""
        ...
