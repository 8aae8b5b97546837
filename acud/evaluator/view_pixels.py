"""A view's pixels: the frame rings this evaluator has mapped, and the private copy of a view that judges look at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from acud.base.errors import NotFound
from acud.evaluator.ocr.engine import Line
from acud.frames.reader import FrameGone, FrameView, RingReader
from acud.pixels.tiles import identity
from acud.protocol.evaluation import Job
from acud.protocol.questions import Hide, View, WidgetSources
from acud.types import HiddenBox, Rect

MAX_RINGS = 64
"""Rings kept mapped; of live ones that costs address space only, and `free_unneeded` frees others."""
TRIES = 4
"""Frames tried for one job before it is `frame_gone`; a copy takes a tenth of a frame's life even at 240 fps."""


class ViewPixels(NamedTuple):
    """A view's pixels (height x width x 4 uint8 BGRX, our own memory, ignored boxes painted black) and what they are.

    `crop` is the part of the source's frame that was taken. `identity` is XXH3-64 hex of the masked BGR pixels, also of
    a redacted copy: it is the key by which answers are remembered, and what is hidden may be what changed. `hide`: what
    redaction rules hide of it, in the shot's own pixels; `hide_fault`: why that is not known.
    """

    source: str
    epoch: int
    frame: int
    mono_ns: int
    crop: Rect
    pixels: NDArray[np.uint8]
    identity: str
    ignore: tuple[Rect, ...] = ()
    hide: tuple[HiddenBox, ...] = ()
    hide_fault: str = ""
    told: WidgetSources | None = None
    """Where the display's widgets are read; set for a shot whose picture may leave."""
    lines: tuple[Line, ...] | None = None
    """Its text, in its own pixels, once that was read."""


def paint(pixels: NDArray[np.uint8], boxes: Iterable[Rect]) -> None:
    """Paint `boxes` black in `pixels` (height x width x 4), in place."""
    for box in boxes:
        pixels[box.y : box.bottom, box.x : box.right, :] = 0


class Frames(Protocol):
    """Where jobs have their views from."""

    def take_view(self, job: Job) -> ViewPixels:
        """Return the newest frame's view. Raises: FrameGone, or another AcudError when there is none."""

    def free_unneeded(self) -> None:
        """Free what can no longer be requested."""

    def close(self) -> None:
        """Let go of everything."""


class Rings:
    """Readers by path, least recently used first out. Safe in threads; closing twice is harmless."""

    def __init__(self) -> None:
        self._readers: OrderedDict[str, RingReader] = OrderedDict()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            while self._readers:
                self._readers.popitem()[1].close()

    def free_unneeded(self) -> None:
        """Unmap rings whose file is gone: an epoch that ended would keep its 15 MB of shared memory until then. Never
        waits: rings in use just now are left for the next call.
        """
        if self._lock.acquire(blocking=False):
            try:
                for path in [path for path in self._readers if not Path(path).exists()]:
                    self._forget_ring(path)
            finally:
                self._lock.release()

    def take_view(self, job: Job) -> ViewPixels:
        """Return the newest frame's view for `job`, copied, masked and identified. Blocks for about a millisecond.

        Raises: FrameGone when no frame from `min_frame` on could be read whole, or the ring is not of the job's epoch;
        NotFound when the view lies outside the frame; ProtocolError when the file is no ring.
        """
        with self._lock:
            for left in reversed(range(TRIES)):
                try:
                    return self._read_pixels(job)
                except FrameGone:
                    self._forget_ring(job.path)
                    if left == 0:
                        raise
        raise AssertionError("unreachable")

    def _read_pixels(self, job: Job) -> ViewPixels:
        reader = self._get_reader(job)
        known = job.hide.frame if job.hide is not None else None
        newest = min((frame for frame in (known, job.max_frame) if frame is not None), default=None)
        with reader.newest(job.min_frame, newest) as frame:
            return hiding(copy_view(frame, job.view, Rect(0, 0, reader.width, reader.height)), job.hide)

    def _get_reader(self, job: Job) -> RingReader:
        reader = self._readers.get(job.path)
        if reader is None:
            reader = self._readers[job.path] = RingReader(job.path)
        self._readers.move_to_end(job.path)
        if reader.epoch != job.epoch:
            raise FrameGone(f"{job.path} holds epoch {reader.epoch}, not {job.epoch}")
        if len(self._readers) > MAX_RINGS:
            self._readers.popitem(last=False)[1].close()
        return reader

    def _forget_ring(self, path: str) -> None:
        reader = self._readers.pop(path, None)
        if reader is not None:
            reader.close()


def copy_view(frame: FrameView, view: View, bounds: Rect) -> ViewPixels:
    """Return `view` of `frame` as a shot of its own memory. Raises: FrameGone, NotFound."""
    crop = bounds if view.crop is None else view.crop.intersect(bounds)
    if crop is None:
        raise NotFound("the view lies outside the frame", crop=str(view.crop), size=f"{bounds.w}x{bounds.h}")
    pixels = frame.copy(crop)
    ignore = crop_ignored_boxes(view, crop)
    paint(pixels, ignore)
    return ViewPixels(
        view.source, frame.epoch, frame.frame, frame.mono_ns, crop, pixels, identity(pixels, ignore), ignore
    )


def hiding(shot: ViewPixels, hide: Hide | None) -> ViewPixels:
    """Return `shot` with the boxes that `hide` (in the source's pixels) hides of it."""
    if hide is None:
        return shot
    moved = (HiddenBox(one.rule, one.box.shift(-shot.crop.x, -shot.crop.y)) for one in hide.boxes)
    return shot._replace(hide=tuple(moved), hide_fault=hide.fault, told=hide.told)


def crop_ignored_boxes(view: View, crop: Rect) -> tuple[Rect, ...]:
    """Return the view's ignored boxes in the pixels of `crop`, the part of the view inside the frame."""
    wanted = view.crop or crop
    inside = Rect(0, 0, crop.w, crop.h)
    moved = (box.shift(wanted.x - crop.x, wanted.y - crop.y).intersect(inside) for box in view.ignore)
    return tuple(box for box in moved if box is not None)
