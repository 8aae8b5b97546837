"""Where the evaluator has its views from in a replay: the frame of the recording that shows now."""

from __future__ import annotations

from msgspec import Struct

from acud.errors import NotFound, Unavailable
from acud.evaluator.view_pixels import (
    ViewPixels,
    hiding,
    ignored,
    paint,
)
from acud.protocol.asks import Hide
from acud.protocol.evaluation import Job
from acud.replay.looks import Looks
from acud.replay.reel import Reel
from acud.replay.tape import Shown, Stretch
from acud.types import Rect
from acud.waits.tiles import Grid


class _Watched(Struct):
    looks: Looks
    tiles: int


class Projector:
    """The newest frame of a recording, as `view_pixels.Frames`. `hide`: what redaction rules hide of it."""

    def __init__(self, hide: Hide | None) -> None:
        self._hide = hide
        self._reel: Reel | None = None
        self._stretch: Stretch | None = None
        self._shown: Shown | None = None
        self._watched: dict[tuple[Rect, tuple[Rect, ...]], _Watched] = {}
        self.faults: list[str] = []
        """Pictures that could not be had."""

    def show(self, stretch: Stretch, shown: Shown) -> None:
        """Show a frame from now on."""
        if stretch is not self._stretch:
            same = self._stretch is not None and self._stretch.reel == stretch.reel
            self.close()
            self._watched = self._watched if same else {}
            self._stretch, self._reel = stretch, Reel(stretch)
        self._shown = shown
        for watched in self._watched.values():
            watched.tiles |= shown.tiles

    def take(self, job: Job) -> ViewPixels:
        """Return the view as the video has it. Raises: Unavailable, naming the place in the recording; NotFound."""
        stretch, shown, reel = self._stretch, self._shown, self._reel
        if stretch is None or shown is None or reel is None:
            raise Unavailable("nothing of the recording shows yet")
        bounds = Rect(0, 0, stretch.width, stretch.height)
        crop = bounds if job.view.crop is None else job.view.crop.intersect(bounds)
        if crop is None:
            raise NotFound("the view lies outside the frame", crop=str(job.view.crop), size=f"{bounds.w}x{bounds.h}")
        frame = reel.picture(shown)
        spots = ignored(job.view, crop)
        identity = self._identity(reel, shown, Grid(bounds.w, bounds.h), crop, spots)
        pixels = frame[crop.y : crop.bottom, crop.x : crop.right].copy()
        paint(pixels, spots)
        row = shown.row
        shot = ViewPixels(job.view.source, row.epoch, row.frame, row.mono_ns, crop, pixels, identity, spots)
        return hiding(shot, self._hide)

    def _identity(self, reel: Reel, shown: Shown, grid: Grid, crop: Rect, spots: tuple[Rect, ...]) -> str:
        watched = self._watched.setdefault((crop, spots), _Watched(Looks(grid, crop, spots), grid.all))
        found = watched.looks.identity(shown.row.identity, watched.tiles, lambda: reel.picture(shown))
        watched.tiles = 0
        return found

    @property
    def guessed(self) -> int:
        """How often only the video could tell whether a view changed."""
        return sum(watched.looks.guessed for watched in self._watched.values())

    def sweep(self) -> None:
        """There is nothing to let go of before the end."""

    def close(self) -> None:
        """Let go of the video, keeping in mind what of it could not be decoded."""
        if self._reel is not None:
            self.faults += [self._reel.fault] if self._reel.fault else []
            self._reel.close()
        self._reel = None
