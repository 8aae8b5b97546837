"""What the tests of finding share: a view on a display, a question, and a settled `prepare`."""

import msgspec
import numpy as np

from acud.base.errors import Unavailable
from acud.evaluator.judges.provider import Backend
from acud.evaluator.view_pixels import ViewPixels
from acud.features.grounding.evaluator.method import SearchView
from acud.protocol.questions import FindAsk
from acud.types import Rect
from acud.types.grounding import GroundingBackend


def sight(width: int, height: int, at: tuple[int, int] = (0, 0)) -> SearchView:
    """Return a view of that size whose top left pixel is at `at` on its display."""
    pixels = np.random.default_rng(7).integers(0, 255, (height, width, 4), np.uint8)
    box = Rect(*at, width, height)
    return SearchView(ViewPixels(":1", 1, 1, 0, box, pixels, "abc"), box)


def ask(description: str = "the Export button") -> FindAsk:
    """Return the question; only its description is read by methods that ask a model."""
    names = {field.name for field in msgspec.structs.fields(FindAsk)}
    more = {"backend": GroundingBackend.AUTO} if "backend" in names else {"methods": ()}
    return FindAsk(description, **more)  # type: ignore[arg-type]


async def as_it_is(shot: ViewPixels, backend: Backend) -> ViewPixels:
    return shot


async def withheld(shot: ViewPixels, backend: Backend) -> ViewPixels:
    raise Unavailable("the screen's text could not be read, so nothing is sent")
