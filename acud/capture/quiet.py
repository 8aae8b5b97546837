"""Whether what was painted and looks the same was the same all the time; pure.

A picture that blinks in step with its grabs looks quiet. So where somebody waits for quiet each paint is grabbed
within `PROMPT_NS`, as long as paint comes that changes nothing: a repaint that is grabbed so soon, and so was the one
before, shows the same pixels by itself. One that could not be grabbed in time leaves a doubt, which is told with the
next notice and starts the quiet anew. So does a change that tiles do not tell of, since they lie in the box in part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple

from acud.types import Rect

PROMPT_NS = 9_000_000
"""Less than half of the shortest period that is told from quiet: 20 ms."""
PROBE_S = 0.003
"""Between two grabs while paint that changes nothing is looked into."""
RESTLESS_NS = 1_000_000_000
"""For so long after paint that changed nothing more of it is expected."""
MOST_PAINTS = 256
_FAR_MS = 60_000


def painted_ns(time_ms: int, now_ns: int) -> int:
    """Return when something was painted by the server's clock: CLOCK_MONOTONIC in 32 bits where it runs here.

    A server whose clock is another one is taken to have painted just now.
    """
    age_ms = (now_ns // 1_000_000 - time_ms) & 0xFFFFFFFF
    return now_ns - age_ms * 1_000_000 if age_ms < _FAR_MS else now_ns


class Paint(NamedTuple):
    """A box that was painted, and when (CLOCK_MONOTONIC, ns)."""

    box: Rect
    at_ns: int


class Seen(Enum):
    """What a grab found in a box."""

    SAME = "same"
    TILES = "tiles"
    """A tile wholly in it changed, which its notice tells."""
    PIXELS = "pixels"
    """Pixels in it changed, but only in tiles that lie in it in part."""


class _Spot:
    """A box in which somebody waits for quiet. `streak`: prompt grabs in a row that found it unchanged by paint."""

    def __init__(self, box: Rect) -> None:
        self.box = box
        self.streak = 0
        self.doubt = False

    def examine(self, seen: Seen, paints: list[Paint], now_ns: int) -> bool:
        """Take in a grab; return whether it was painted and looks the same."""
        if seen is not Seen.SAME:
            self.streak, self.doubt = 0, seen is Seen.PIXELS
            return False
        hits = [paint.at_ns for paint in paints if paint.box.intersect(self.box)]
        if not hits:
            return False
        prompt = now_ns - min(hits) <= PROMPT_NS
        self.streak = self.streak + 1 if prompt else 0
        self.doubt = not prompt or (self.doubt and self.streak < 2)
        return True


class Quiet:
    """What is known of paint in the boxes that are watched."""

    def __init__(self) -> None:
        self._spots: dict[Rect, _Spot] = {}
        self._paints: list[Paint] = []
        self._restless_ns = 0

    @property
    def is_watched(self) -> bool:
        """Whether anybody waits for quiet."""
        return bool(self._spots)

    def watch(self, boxes: Iterable[Rect]) -> None:
        """Watch these boxes; what is known of those that were watched before stays."""
        self._spots = {box: self._spots.get(box) or _Spot(box) for box in boxes}

    def painted(self, box: Rect, at_ns: int) -> bool:
        """Note that `box` was painted; return whether it is to be grabbed at once."""
        if not any(box.intersect(spot) for spot in self._spots):
            return False
        self._paints.append(Paint(box, at_ns))
        if len(self._paints) > MOST_PAINTS:
            self._paints = [Paint(_around(self._paints), min(paint.at_ns for paint in self._paints))]
        return at_ns < self._restless_ns

    def forget(self) -> None:
        """Forget all paint so far."""
        self._paints.clear()

    def take(self) -> list[Paint]:
        """Return the paint that a grab which begins now is to look into; what comes later is for the next one."""
        paints, self._paints = self._paints, []
        return paints

    def examine(self, found: Callable[[Rect], Seen], paints: list[Paint], now_ns: int) -> None:
        """Take in a grab that ended at `now_ns`."""
        for spot in self._spots.values():
            if spot.examine(found(spot.box), paints, now_ns):
                self._restless_ns = now_ns + RESTLESS_NS

    def doubts(self) -> list[Rect]:
        """Return the boxes whose quiet is to begin anew, and which no tile tells of, since this was asked last."""
        doubtful = [spot for spot in self._spots.values() if spot.doubt]
        for spot in doubtful:
            spot.doubt, spot.streak = False, 0
        return [spot.box for spot in doubtful]


def _around(paints: list[Paint]) -> Rect:
    boxes = [paint.box for paint in paints]
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    return Rect(x, y, max(box.right for box in boxes) - x, max(box.bottom for box in boxes) - y)
