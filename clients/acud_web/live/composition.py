"""The next step of a viewer's picture, out of the ring: which parts changed for it, copied under one check, encoded.

What several viewers need of one frame is made once. All of it is for threads other than the loop's: numpy, zlib and the
JPEG encoder let go of the interpreter's lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from PIL import Image

from acud.base import png
from acud.frames.reader import FrameGone, FrameView, RingReader
from acud.types import TILE_PX, Rect
from acud_web.live import picture_parts
from acud_web.live.messages import Block, Head, utc_ms
from acud_web.live.picture_parts import Pixels

Thing = TypeVar("Thing")

_FRAMES = 2
"""Frames of which things are kept: viewers at one pace look at the newest, or the one before."""


class Shared(Generic[Thing]):
    """Values by frame number and key. Thread-safe; a second caller waits while the first makes one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[int, dict[Hashable, Future[Thing]]] = {}

    def get(self, frame: int, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """Return what `make` returns, or returned for the same frame and key. Raises: what it raises."""
        with self._lock:
            things = self._made.setdefault(frame, {})
            found = things.get(key)
            mine: Future[Thing] = Future() if found is None else found
            things[key] = mine
            for old in sorted(self._made)[:-_FRAMES]:
                del self._made[old]
        if found is None:
            self._make_value(mine, make)
        return mine.result()

    def _make_value(self, mine: Future[Thing], make: Callable[[], Thing]) -> None:
        try:
            mine.set_result(make())
        except BaseException as fault:
            mine.set_exception(fault)
            raise


QUIET_S = 0.3
"""A part that was sent roughly and did not change for so long is sent exactly."""
_EXACT_TILES = 1024
"""Tiles sent exactly in one step (a quarter of 1280x720): what changes meanwhile waits for no more than that."""
_MARGIN_PX = 2
"""How far a pixel shows in a scaled picture beyond its own place (Pillow's bilinear filter)."""

Format = Literal["png", "jpeg"]


class Known(Struct, frozen=True):
    """The supervisor's newest message about a display, as in `live.frame`: the newest frame, when a grab last equalled
    it (CLOCK_MONOTONIC), and what rules for places hide of it. `fault`: why that is not known.
    """

    epoch: int
    frame: int
    checked_mono_ns: int
    hidden: tuple[Rect, ...] = ()
    fault: str = ""


class Canvas:
    """What a viewer has: the frame it shows, in which size, what is black in it, and which tiles are rough.

    `ring`: the serial of the ring that the frame is of; 0 for no picture yet.
    """

    def __init__(self) -> None:
        self.ring = 0
        self.frame = 0
        self.max_side_px = 0
        self.hidden: tuple[Rect, ...] = ()
        self.rough: picture_parts.Mask = np.zeros((0, 0), np.bool_)
        self.rough_s: npt.NDArray[np.float64] = np.zeros((0, 0))
        """When each tile was sent."""

    def exact_due_s(self) -> float | None:
        """Return when the next rough tile is to be sent exactly (monotonic s); None where none is rough."""
        return float(np.min(self.rough_s[self.rough])) + QUIET_S if self.rough.any() else None


class FrameStep(NamedTuple):
    """A head without its time of sending, and its blocks."""

    head: Head
    blocks: list[bytes]


class _Part(NamedTuple):
    box: Rect
    exact: bool
    pixels: Pixels


class OpenRing:
    """An open ring, and what is shared of its newest frames. `serial` is never that of another one.

    `begin_use` and `end_use` are around each use in a thread; a ring that was retired closes with the last of them.
    """

    def __init__(self, path: str, serial: int) -> None:
        """Raises: FrameGone, ProtocolError."""
        self.path = path
        self.serial = serial
        self.reader = RingReader(path)
        self.size = (self.reader.width, self.reader.height)
        self._grid = (-(-self.reader.height // TILE_PX), -(-self.reader.width // TILE_PX))
        self._blocks: Shared[tuple[Format, bytes]] = Shared()
        self._pictures: Shared[Pixels] = Shared()
        self._wholes: Shared[bytes] = Shared()
        self._users = 0
        self._retired = False

    # ---- life: in the loop's thread ----------------------------------------------------------------------------------

    def begin_use(self) -> None:
        self._users += 1

    def end_use(self) -> None:
        """Allow the ring to close, once it was retired."""
        self._users -= 1
        if self._retired and not self._users:
            self.reader.close()

    def retire(self) -> None:
        """Close the ring as soon as no viewer uses it."""
        self._retired = True
        if not self._users:
            self.reader.close()

    # ---- steps: in any thread ----------------------------------------------------------------------------------------

    def make_step(
        self, canvas: Canvas, max_side_px: int, places: Known, *, is_redacted: bool, now_s: float
    ) -> FrameStep | None:
        """Return what brings `canvas` to the newest frame, and note it there; None when nothing is to be sent.

        `is_redacted`: what rules hide is black, and the frame is that of `places`. Raises: FrameGone when no frame
        could be read: the next will do.
        """
        hidden = places.hidden if is_redacted else ()
        size = _scaled_size(self.size, max_side_px)
        with self._open_view(places, is_redacted) as view:
            key = canvas.ring != self.serial or canvas.max_side_px != max_side_px
            changed, exact = self._find_due_tiles(canvas, view, hidden, now_s, key=key)
            if not changed.any() and not exact.any():
                canvas.frame = view.frame
                return None
            if size == self.size:
                parts = self._cut_changes(view, changed, exact)
            else:
                parts = self._scaled_parts(view, changed, size, hidden)
            view.check()
            frame, mono_ns, cursor = view.frame, view.mono_ns, view.cursor
        blocks = [self._make_block(frame, size, hidden, part) for part in parts]
        self._note_sent(canvas, frame, max_side_px, hidden, now_s)
        if size == self.size:
            self._note_rough(canvas, parts, blocks, now_s)
        return FrameStep(
            Head(
                frame,
                self.reader.epoch,
                key,
                *size,
                utc_ms(mono_ns),
                0.0,
                (cursor[0] * size[0] // self.size[0], cursor[1] * size[1] // self.size[1]),
                tuple(
                    Block(part.box.x, part.box.y, part.box.w, part.box.h, form, len(data))
                    for part, (form, data) in zip(parts, blocks, strict=True)
                ),
            ),
            [data for _, data in blocks],
        )

    def encode_newest_frame(self, places: Known, *, is_redacted: bool) -> tuple[int, bytes]:
        """Return the newest frame's number, and the frame as JPEG in full size. Raises: FrameGone."""
        hidden = places.hidden if is_redacted else ()
        with self._open_view(places, is_redacted) as view:
            picture = self._draw_whole(view, hidden)
            return view.frame, self._wholes.get(view.frame, hidden, lambda: picture_parts.whole_jpeg(picture))

    def thumbnail(self, places: Known, max_side_px: int, *, is_redacted: bool) -> bytes:
        """Return the newest frame as a JPEG of at most `max_side_px`. Raises: FrameGone."""
        hidden = places.hidden if is_redacted else ()
        size = _scaled_size(self.size, max_side_px)
        with self._open_view(places, is_redacted) as view:
            whole = self._draw_whole(view, hidden)
            picture = whole if size == self.size else _resize_pixels(whole, size)
            return self._wholes.get(view.frame, (size, hidden), lambda: picture_parts.whole_jpeg(picture))

    def _open_view(self, places: Known, is_redacted: bool) -> FrameView:
        view = self.reader.newest(1, places.frame if is_redacted else None)
        if is_redacted and view.frame != places.frame:
            raise FrameGone(f"frame {places.frame}, whose hidden places are known, was overwritten")
        return view

    def _find_due_tiles(
        self, canvas: Canvas, view: FrameView, hidden_boxes: tuple[Rect, ...], now_s: float, *, key: bool
    ) -> tuple[picture_parts.Mask, picture_parts.Mask]:
        """Return the tiles that changed for `canvas`, and those that are to be sent exactly."""
        changes = view.tile_changes.reshape(self._grid)
        if key:
            return np.ones(changes.shape, np.bool_), np.zeros(changes.shape, np.bool_)
        changed = np.asarray(changes > canvas.frame)
        if hidden_boxes != canvas.hidden:
            changed |= picture_parts.tiles_of((*hidden_boxes, *canvas.hidden), *self.size)
        quiet = canvas.rough & ~changed & (canvas.rough_s <= now_s - QUIET_S)
        return changed, picture_parts.take_first(quiet, _EXACT_TILES)

    def _cut_changes(self, view: FrameView, changed: picture_parts.Mask, exact: picture_parts.Mask) -> list[_Part]:
        found = [(box, False) for box in picture_parts.boxes(changed, *self.size)]
        found += [(box, True) for box in picture_parts.boxes(exact, *self.size)]
        return [_Part(box, wanted, _cut_parts(view.pixels, box)) for box, wanted in found]

    def _scaled_parts(
        self, view: FrameView, changed: picture_parts.Mask, size: tuple[int, int], hidden_boxes: tuple[Rect, ...]
    ) -> list[_Part]:
        whole = self._draw_whole(view, hidden_boxes)
        picture = self._pictures.get(view.frame, (size, hidden_boxes), lambda: _resize_pixels(whole, size))
        boxes = picture_parts.scale_areas(picture_parts.boxes(changed, *self.size), self.size, size, _MARGIN_PX)
        return [_Part(box, False, _cut_parts(picture, box)) for box in boxes]

    def _draw_whole(self, view: FrameView, hidden_boxes: tuple[Rect, ...]) -> Pixels:
        return self._pictures.get(view.frame, hidden_boxes, lambda: _blacken_boxes(view.copy(), (0, 0), hidden_boxes))

    def _make_block(
        self, frame: int, size: tuple[int, int], hidden_boxes: tuple[Rect, ...], part: _Part
    ) -> tuple[Format, bytes]:
        def make() -> tuple[Format, bytes]:
            if size == self.size:
                _blacken_boxes(part.pixels, (part.box.x, part.box.y), hidden_boxes)
            if part.exact or not png.is_busy(part.pixels):
                return "png", png.encode(part.pixels)
            return "jpeg", picture_parts.jpeg(part.pixels)

        return self._blocks.get(frame, (size, hidden_boxes, part.box, part.exact), make)

    def _note_sent(
        self, canvas: Canvas, frame: int, max_side_px: int, hidden_boxes: tuple[Rect, ...], now_s: float
    ) -> None:
        if canvas.ring != self.serial or canvas.max_side_px != max_side_px:
            canvas.rough, canvas.rough_s = np.zeros(self._grid, np.bool_), np.full(self._grid, now_s)
        canvas.ring, canvas.frame, canvas.max_side_px, canvas.hidden = self.serial, frame, max_side_px, hidden_boxes

    def _note_rough(
        self, canvas: Canvas, parts: Sequence[_Part], blocks: Sequence[tuple[Format, bytes]], now_s: float
    ) -> None:
        """Note in the order of painting what is rough now; boxes end where tiles do."""
        for part, (form, _) in zip(parts, blocks, strict=True):
            tiles = picture_parts.tiles_of([part.box], *self.size)
            canvas.rough[tiles] = form == "jpeg"
            canvas.rough_s[tiles] = now_s


def _cut_parts(pixels: Pixels, box: Rect) -> Pixels:
    return np.array(pixels[box.y : box.bottom, box.x : box.right], order="C", copy=True)


def _blacken_boxes(pixels: Pixels, at: tuple[int, int], hidden_boxes: Sequence[Rect]) -> Pixels:
    """Make `hidden_boxes` black in `pixels`, which lie at `at` of the display; they are ours to write to."""
    bounds = Rect(*at, pixels.shape[1], pixels.shape[0])
    for box in hidden_boxes:
        inside = bounds.intersect(box)
        if inside is not None:
            pixels[inside.y - at[1] : inside.bottom - at[1], inside.x - at[0] : inside.right - at[0]] = 0
    return pixels


def _scaled_size(size: tuple[int, int], max_side_px: int) -> tuple[int, int]:
    longer = max(size)
    if not 0 < max_side_px < longer:
        return size
    return max(1, round(size[0] * max_side_px / longer)), max(1, round(size[1] * max_side_px / longer))


def _resize_pixels(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    height, width = pixels.shape[:2]
    # As RGBX although it is BGRX: a resize treats the channels alike.
    image = Image.frombuffer("RGBX", (width, height), pixels, "raw", "RGBX", 0, 1)
    return np.asarray(image.resize(size, Image.Resampling.BILINEAR))
