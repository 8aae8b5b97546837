"""What a recorder takes of frames: the rows that changed, and an identity of all pixels."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from acud.features.recording.recorder.frame_copy import CopiedFrame, FrameCopier
from acud.frames.layout import Layout
from acud.frames.reader import FrameGone, FrameView, RingReader
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter

HEIGHT, WIDTH = 64, 40
LAYOUT = Layout(WIDTH, HEIGHT, 3)
ALL = np.ones(LAYOUT.tiles, np.bool_)
Pixels = npt.NDArray[np.uint8]


def _pixels(colour: int) -> Pixels:
    return np.full((HEIGHT, WIDTH, 4), colour, np.uint8)


def _whole(pixels: Pixels) -> CopiedFrame:
    return FrameCopier(pixels.shape[1], pixels.shape[0]).copy(1, 1, 0, pixels, ALL)


def test_a_frame_keeps_nothing_of_the_pixels_it_was_copied_from() -> None:
    pixels = _pixels(200)
    taken = _whole(pixels)
    before = [plane.copy() for band in taken.bands for plane in band.planes]
    pixels[:] = 0
    assert all(map(np.array_equal, before, (plane for band in taken.bands for plane in band.planes)))


@pytest.mark.parametrize("place", [(0, 0, 0), (HEIGHT - 1, WIDTH - 1, 2), (17, 20, 1)])
def test_each_pixel_counts_in_an_identity_and_its_undefined_byte_does_not(place: tuple[int, int, int]) -> None:
    pixels, other, undefined = _pixels(200), _pixels(200), _pixels(200)
    other[place] ^= 1
    undefined[:, :, 3] = 7
    assert _whole(pixels).identity == _whole(undefined).identity != _whole(other).identity


def test_the_size_and_the_place_of_rows_count_in_an_identity() -> None:
    striped, swapped = _pixels(200), _pixels(200)
    striped[:16], swapped[16:32] = 90, 90
    wide, tall = np.zeros((16, 32, 4), np.uint8), np.zeros((32, 16, 4), np.uint8)
    both = np.ones(2, np.bool_)
    assert _whole(striped).identity != _whole(swapped).identity
    assert (
        FrameCopier(32, 16).copy(1, 1, 0, wide, both).identity != FrameCopier(16, 32).copy(1, 1, 0, tall, both).identity
    )


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
        copier = FrameCopier(WIDTH, HEIGHT)
        with reader.newest() as view:
            parts = {since: copier.copy_view(view, since) for since in (0, 4, 9)}
        writer.close()
    # Two rows beside those that changed look different as well.
    assert {since: [(band.top, band.bottom) for band in part.bands] for since, part in parts.items()} == {
        0: [(0, 64)],
        4: [(14, 50)],
        9: [(14, 34)],
    }
    assert {part.identity for part in parts.values()} == {_whole(_pixels(9)).identity}


def test_a_frame_that_is_overwritten_while_it_is_copied_is_not_kept_and_spoils_no_later_one(tmp_path: Path) -> None:
    with Ring.create(tmp_path / "ring", LAYOUT, epoch=1) as ring, RingReader(ring.path) as reader:
        writer, copier = FrameWriter(ring), FrameCopier(WIDTH, HEIGHT)
        _put(writer, 1, [1] * LAYOUT.tiles)
        with reader.newest() as view:
            copier.copy_view(view, 0)
        _put(writer, 2, [2] * LAYOUT.tiles)
        with reader.newest() as view, pytest.raises(FrameGone):
            copier.copy_view(_Overtaken(view, writer), 2)  # type: ignore[arg-type]
        with reader.newest() as view:
            assert copier.copy_view(view, 2).identity == _whole(_pixels(view.frame)).identity
        writer.close()
