"""A segment's video: what is converted anew where only parts of a frame changed."""

from __future__ import annotations

import io
import random
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest

from acud.features.recording.recorder.segment import SegmentWriter, copy_frame, copy_view
from acud.frames.layout import Layout
from acud.frames.reader import FrameGone, FrameView, RingReader
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.pixels.tiles import identity
from acud.types import TILE_PX


def _everything(height: int, width: int) -> npt.NDArray[np.bool_]:
    return np.ones(-(-height // TILE_PX) * -(-width // TILE_PX), np.bool_)


def test_the_video_is_the_same_as_when_everything_is_converted_anew() -> None:
    height, width, seed = 209, 335, random.SystemRandom().getrandbits(32)
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    columns, rows = -(-width // TILE_PX), -(-height // TILE_PX)
    pixels, everything = noise.integers(0, 256, (height, width, 4), np.uint8), _everything(height, width)
    first = copy_frame(1, 1, 0, pixels, everything)
    by_parts, whole = (SegmentWriter("rec-x", 1, first, 10.0, 28) for _ in range(2))
    assert by_parts.add(first) == whole.add(first), f"seed {seed}"
    for frame in range(2, 40):
        changed = np.zeros_like(everything)
        for _ in range(chance.randrange(4)):
            row, column = chance.randrange(rows), chance.randrange(columns)
            tile = pixels[row * TILE_PX : (row + 1) * TILE_PX, column * TILE_PX : (column + 1) * TILE_PX]
            tile[:] = noise.integers(0, 256, tile.shape, np.uint8)
            changed[row * columns + column] = True
        at_ns = frame * 100_000_000
        part = by_parts.add(copy_frame(frame, 1, at_ns, pixels, changed))
        assert part.video == whole.add(copy_frame(frame, 1, at_ns, pixels, everything)).video, f"seed {seed}"
    assert by_parts.end(5_000_000_000).video == whole.end(5_000_000_000).video


def test_a_frame_keeps_nothing_of_the_pixels_it_was_copied_from() -> None:
    pixels = np.full((40, 50, 4), 200, np.uint8)
    taken = copy_frame(1, 1, 0, pixels, _everything(40, 50))
    pixels[:] = 0
    assert all((band.pixels == 200).all() for band in taken.bands)


LAYOUT = Layout(40, 64, 3)


def _put(writer: FrameWriter, frame: int, changes: list[int]) -> None:
    slot = writer.begin()
    writer.arrays[slot][:] = frame
    writer.publish(slot, frame, frame, None, np.array(changes, np.uint64))


class _Overtaken:
    """A view of a ring whose writer overwrites the frame just when its pixels are read."""

    def __init__(self, view: FrameView, writer: FrameWriter) -> None:
        self._view, self._writer = view, writer

    def __getattr__(self, name: str) -> object:
        if name == "pixels":
            for frame in range(self._view.frame + 1, self._view.frame + 1 + LAYOUT.slots):
                _put(self._writer, frame, [frame] * LAYOUT.tiles)
        return getattr(self._view, name)


def test_of_a_view_the_rows_that_changed_are_copied_and_all_are_identified(tmp_path: Path) -> None:
    with Ring.create(tmp_path / "ring", LAYOUT, epoch=1) as ring, RingReader(ring.path) as reader:
        writer = FrameWriter(ring)
        _put(writer, 9, [2, 3, 3, 9, 2, 1, 3, 8, 3, 2, 2, 2])
        with reader.newest() as view:
            parts = {since: copy_view(view, since) for since in (0, 4, 9)}
        writer.close()
    assert {since: [(band.top, band.bottom) for band in part.bands] for since, part in parts.items()} == {
        0: [(0, 64)],
        4: [(16, 48)],
        9: [(16, 32)],
    }
    assert {part.identity for part in parts.values()} == {identity(np.full((64, 40, 4), 9, np.uint8))}


def test_a_frame_that_is_overwritten_while_it_is_copied_is_not_kept(tmp_path: Path) -> None:
    with Ring.create(tmp_path / "ring", LAYOUT, epoch=1) as ring, RingReader(ring.path) as reader:
        writer = FrameWriter(ring)
        _put(writer, 1, [1] * LAYOUT.tiles)
        with reader.newest() as view, pytest.raises(FrameGone):
            copy_view(_Overtaken(view, writer), 0)  # type: ignore[arg-type]
        writer.close()


def test_an_odd_last_row_and_column_are_repeated() -> None:
    height, width = 97, 131
    pixels = np.full((height, width, 4), 200, np.uint8)
    taken = copy_frame(1, 1, 0, pixels, _everything(height, width))
    film = SegmentWriter("rec-x", 1, taken, 10.0, 0)
    data = film.add(taken).video + film.end(1_000_000_000).video
    with av.open(io.BytesIO(data)) as video:
        shown = next(video.decode(video=0)).to_ndarray(format="rgb24")
    assert shown.shape == (height + 1, width + 1, 3)
    assert np.abs(shown.astype(np.int16) - 200).max() <= 2
