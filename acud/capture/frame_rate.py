"""When a source is grabbed next, whether grabs may have missed movement, and counts of grabs; pure.

A picture that blinks in step with its grabs looks quiet. So where a wait needs quiet each paint is grabbed within
`PROMPT_NS`, as long as paint comes that changes nothing: if a repaint and the one before are grabbed so soon, the
pixels really are the same. A paint that could not be grabbed in time leaves a doubt, which goes with the next notice
and restarts the quiet. So does a change that no tile reports, since the tiles lie only partly in the box. Times are
seconds or nanoseconds of CLOCK_MONOTONIC, as names say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple

from acud.types import Rect
from acud.waits.tiles import bounding_box

PROMPT_NS = 9_000_000
"""Less than half of the shortest period that counts as movement: 20 ms."""
PROBE_S = 0.003
"""Between two grabs while paint that changes nothing is examined."""
RESTLESS_NS = 1_000_000_000
"""How long after paint that changed nothing more of it is expected."""
MOST_PAINTS = 256
_FAR_MS = 60_000


def painted_ns(time_ms: int, now_ns: int) -> int:
    """Return when something was painted, by the server's clock: CLOCK_MONOTONIC in 32 bits where it runs here. A server
    with another clock is assumed to have painted just now.
    """
    age_ms = (now_ns // 1_000_000 - time_ms) & 0xFFFFFFFF
    return now_ns - age_ms * 1_000_000 if age_ms < _FAR_MS else now_ns


class Paint(NamedTuple):
    """A box that was painted, and when (CLOCK_MONOTONIC, ns)."""

    box: Rect
    at_ns: int


class PaintEffect(Enum):
    """The effect of paint on a box, as a grab shows it."""

    SAME = "same"
    TILES = "tiles"
    """A tile wholly in it changed, which its notice reports."""
    PIXELS = "pixels"
    """Pixels in it changed, but only in tiles that lie partly in it."""


class _WatchedBox:
    """A box that a wait needs to be quiet. `streak`: prompt grabs in a row in which paint did not change it."""

    def __init__(self, box: Rect) -> None:
        self.box = box
        self.streak = 0
        self.doubt = False

    def examine(self, effect: PaintEffect, paints: list[Paint], now_ns: int) -> bool:
        """Compare the box in a new grab; return whether it was painted and looks the same."""
        if effect is not PaintEffect.SAME:
            self.streak, self.doubt = 0, effect is PaintEffect.PIXELS
            return False
        hits = [paint.at_ns for paint in paints if paint.box.intersect(self.box)]
        if not hits:
            return False
        prompt = now_ns - min(hits) <= PROMPT_NS
        self.streak = self.streak + 1 if prompt else 0
        self.doubt = not prompt or (self.doubt and self.streak < 2)
        return True


class QuietWatch:
    """The paint in the watched boxes."""

    def __init__(self) -> None:
        self._spots: dict[Rect, _WatchedBox] = {}
        self._paints: list[Paint] = []
        self._restless_ns = 0

    def watch_boxes(self, boxes: Iterable[Rect]) -> None:
        """Watch these boxes; the state of boxes watched before stays."""
        self._spots = {box: self._spots.get(box) or _WatchedBox(box) for box in boxes}

    def note_painted(self, box: Rect, at_ns: int) -> bool:
        """Note that `box` was painted; return whether to grab it at once."""
        if not any(box.intersect(spot) for spot in self._spots):
            return False
        self._paints.append(Paint(box, at_ns))
        if len(self._paints) > MOST_PAINTS:
            around = bounding_box(paint.box for paint in self._paints) or box
            self._paints = [Paint(around, min(paint.at_ns for paint in self._paints))]
        return at_ns < self._restless_ns

    def forget_paint(self) -> None:
        self._paints.clear()

    def take_paints(self) -> list[Paint]:
        """Return the paint that a grab beginning now is to examine; later paint is for the next one."""
        paints, self._paints = self._paints, []
        return paints

    def examine(self, paint_effect: Callable[[Rect], PaintEffect], paints: list[Paint], now_ns: int) -> None:
        """Process a grab that ended at `now_ns`."""
        for spot in self._spots.values():
            if spot.examine(paint_effect(spot.box), paints, now_ns):
                self._restless_ns = now_ns + RESTLESS_NS

    def doubts(self) -> list[Rect]:
        """Return the boxes whose quiet restarts and which no tile covers, since the last call."""
        doubtful = [spot for spot in self._spots.values() if spot.doubt]
        for spot in doubtful:
            spot.doubt, spot.streak = False, 0
        return [spot.box for spot in doubtful]


class GrabSchedule:
    """Damage under a rate cap with a trailing grab, demanded grabs at once, and a floor.

    `max_fps` caps what is demanded. `floor_s`: a grab at least so often while frames are wanted, since a compositor can
    swallow damage. Without damage events (`polled`) every interval is due. `fps` 0: only demanded grabs are due.
    """

    def __init__(self, max_fps: float, floor_s: float, *, polled: bool = False) -> None:
        self.fps = 0.0
        self.asked = 0
        self.answered = 0
        self.damaged = True  # what was there before us has never been seen
        self.hurried = False  # whether paint is to be examined at once (`acud.capture.frame_rate`), rate cap or not
        self._max_fps, self._floor_s, self._polled = max_fps, floor_s, polled
        self._last_s = -math.inf
        self._answered_before = 0

    def apply_demand(self, fps: float, grab: int) -> None:
        """Apply the consumers' demand; a new `grab` number asks for one frame at once."""
        self.fps = min(fps, self._max_fps)
        self.asked = max(self.asked, grab)

    @property
    def is_asked(self) -> bool:
        """Whether a demanded grab is still owed."""
        return self.asked > self.answered

    def due_s(self) -> float | None:
        """Return when to grab next: -inf means now, None means not before something changes."""
        if self.is_asked:
            return -math.inf
        if self.fps <= 0:
            return None
        wait_s = 1 / self.fps if self.damaged or self._polled else self._floor_s
        return self._last_s + (min(wait_s, PROBE_S) if self.hurried else wait_s)

    def begin_grab(self, now_s: float) -> int:
        """Note that a grab begins now, and return the demanded number it satisfies (0: none was owed). Damage reported
        from now on counts for the next grab.
        """
        number = self.asked if self.is_asked else 0
        self._answered_before, self.answered = self.answered, self.asked
        self.damaged = self.hurried = False
        self._last_s = now_s
        return number

    def note_failed_grab(self) -> None:
        """Note that the grab just begun gave no pixels: what it owed is still owed."""
        self.answered = self._answered_before
        self.damaged = True


class CaptureCounters:
    """Totals since the start, and means of the interval that `take_figures` ends. `_ms` in a name: milliseconds."""

    def __init__(self, now_s: float) -> None:
        self.grabs = 0
        self.damage_events = 0
        self.skipped = 0
        self._since_s = now_s
        self._reset_counts()

    def _reset_counts(self) -> None:
        self._grabs = 0
        self._published = 0
        self._grab_ms = 0.0
        self._compare_ms = 0.0

    def count_grab(self, grab_ms: float, compare_ms: float, *, published: bool) -> None:
        """Count one grab; a grab without changes is `skipped`."""
        self.grabs += 1
        self._grabs += 1
        self._grab_ms += grab_ms
        self._compare_ms += compare_ms
        self._published += published
        self.skipped += not published

    def take_figures(self, now_s: float) -> dict[str, float]:
        """Return all figures by name, and begin a new interval. `fps`: frames published a second."""
        interval_s = max(now_s - self._since_s, 1e-3)
        figures = {
            "fps": self._published / interval_s,
            "grabs": float(self.grabs),
            "damage_events": float(self.damage_events),
            "skipped": float(self.skipped),
            "grab_ms": self._grab_ms / max(self._grabs, 1),
            "compare_ms": self._compare_ms / max(self._grabs, 1),
        }
        self._since_s = now_s
        self._reset_counts()
        return figures
