"""The evaluator's source of views in a replay: the frame of the recording at the current time.

Only the whole frame's identity was recorded. Equal identities of a view mean equal pixels, as live. Different ones may
have equal pixels where the frame around the view differs: a view that returns to earlier pixels is then judged again,
where live it would be remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from acud.base.errors import NotFound, Unavailable
from acud.evaluator.view_pixels import ViewPixels, crop_ignored_boxes, hiding, paint
from acud.features.recording.replay.recording import RecordedFrame, RecordedSegment, VideoReader
from acud.protocol.evaluation import Job
from acud.protocol.questions import Hide
from acud.types import Rect
from acud.waits.tiles import Grid, Masks, bits, masks

Pixels = NDArray[np.uint8]

APART = 96
"""Steps of 255 by which a colour must differ to count as another: the codec moves unchanged pixels by up to 62, and of
tiles that letters change 99 % differ by 136 or more (`scripts/bench replay`)."""


class ViewIdentities:
    """The identities of one view: `crop` of the frame without `ignore` boxes, which are relative to it."""

    def __init__(self, grid: Grid, crop: Rect, ignore: tuple[Rect, ...]) -> None:
        self._grid = grid
        self._crop = crop
        self._ignore = ignore
        self._masks: Masks = masks(grid, crop, ignore)
        self._whole = crop == Rect(0, 0, grid.width, grid.height) and not ignore
        self._by_frame: dict[str, str] = {}
        self._identity = ""
        self._pixels: Pixels | None = None
        self.guessed = 0
        """How often only the video could decide whether the view changed."""

    def identity(self, frame_identity: str, tiles: int, picture: Callable[[], Pixels]) -> str:
        """Return the identity of the view in the frame of `frame_identity`.

        `tiles`: the changes since the frame of the previous call. `picture`: the frame from the video.
        """
        if self._whole:
            return frame_identity
        known = self._by_frame.get(frame_identity)
        if known is None:
            known = self._by_frame[frame_identity] = self._make_identity(frame_identity, tiles, picture)
        if self._masks.touching & ~self._masks.whole:
            self._pixels = picture()
        self._identity = known
        return known

    def _make_identity(self, frame_identity: str, tiles: int, picture: Callable[[], Pixels]) -> str:
        hit = tiles & self._masks.touching
        if self._identity and not hit:
            return self._identity
        if self._identity and not hit & self._masks.whole and not self._has_changed(hit, picture()):
            return self._identity
        place = f"{frame_identity} {self._crop} {self._ignore}"
        return blake2b(place.encode(), digest_size=8).hexdigest()

    def _has_changed(self, tiles: int, now: Pixels) -> bool:
        """Return whether the partial `tiles` changed in the view, by the video's pixels."""
        self.guessed += 1
        before = self._pixels
        if before is None:
            return True
        seen = np.zeros(now.shape[:2], np.bool_)
        for index in bits(tiles):
            part = self._grid.tile(index).intersect(self._crop)
            if part is not None:
                seen[part.y : part.bottom, part.x : part.right] = True
        for box in (spot.shift(self._crop.x, self._crop.y) for spot in self._ignore):
            seen[max(0, box.y) : box.bottom, max(0, box.x) : box.right] = False
        apart = np.abs(now[:, :, :3][seen].astype(np.int16) - before[:, :, :3][seen])
        return bool(apart.size and apart.max() >= APART)


class _Watched(Struct):
    looks: ViewIdentities
    tiles: int


class FrameSource:
    """The newest frame of a recording, as `view_pixels.Frames`. `hide`: what redaction rules hide of it."""

    def __init__(self, hide: Hide | None) -> None:
        self._hide = hide
        self._video: VideoReader | None = None
        self._stretch: RecordedSegment | None = None
        self._shown: RecordedFrame | None = None
        self._watched: dict[tuple[Rect, tuple[Rect, ...]], _Watched] = {}
        self.faults: list[str] = []
        """Pictures that could not be decoded."""

    def show(self, stretch: RecordedSegment, shown: RecordedFrame) -> None:
        if stretch is not self._stretch:
            same = self._stretch is not None and self._stretch.video == stretch.video
            self.close()
            self._watched = self._watched if same else {}
            self._stretch, self._video = stretch, VideoReader(stretch)
        self._shown = shown
        for watched in self._watched.values():
            watched.tiles |= shown.tiles

    def take_view(self, job: Job) -> ViewPixels:
        """Return the view from the video. Raises: Unavailable, naming the place in the recording; NotFound."""
        stretch, shown, video = self._stretch, self._shown, self._video
        if stretch is None or shown is None or video is None:
            raise Unavailable("nothing of the recording shows yet")
        bounds = Rect(0, 0, stretch.width, stretch.height)
        crop = bounds if job.view.crop is None else job.view.crop.intersect(bounds)
        if crop is None:
            raise NotFound("the view lies outside the frame", crop=str(job.view.crop), size=f"{bounds.w}x{bounds.h}")
        frame = video.picture(shown)
        spots = crop_ignored_boxes(job.view, crop)
        identity = self._hash_view(video, shown, Grid(bounds.w, bounds.h), crop, spots)
        pixels = frame[crop.y : crop.bottom, crop.x : crop.right].copy()
        paint(pixels, spots)
        row = shown.row
        shot = ViewPixels(job.view.source, row.epoch, row.frame, row.mono_ns, crop, pixels, identity, spots)
        return hiding(shot, self._hide)

    def _hash_view(
        self, video: VideoReader, shown: RecordedFrame, grid: Grid, crop: Rect, spots: tuple[Rect, ...]
    ) -> str:
        watched = self._watched.setdefault((crop, spots), _Watched(ViewIdentities(grid, crop, spots), grid.all))
        found = watched.looks.identity(shown.row.identity, watched.tiles, lambda: video.picture(shown))
        watched.tiles = 0
        return found

    @property
    def guessed(self) -> int:
        """How often only the video could decide whether a view changed."""
        return sum(watched.looks.guessed for watched in self._watched.values())

    def free_unneeded(self) -> None:
        """Do nothing: everything is kept to the end."""

    def close(self) -> None:
        """Close the video, and keep its decoding fault."""
        if self._video is not None:
            self.faults += [self._video.fault] if self._video.fault else []
            self._video.close()
        self._video = None
