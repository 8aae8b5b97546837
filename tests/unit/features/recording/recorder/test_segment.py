"""A segment's video: what is converted anew where only parts of a frame changed."""

import io
import random

import av
import numpy as np
import numpy.typing as npt

from acud.features.recording.recorder.frame_copy import FrameCopier
from acud.features.recording.recorder.segment import SegmentWriter
from acud.types import TILE_PX


def _everything(height: int, width: int) -> npt.NDArray[np.bool_]:
    return np.ones(-(-height // TILE_PX) * -(-width // TILE_PX), np.bool_)


def test_the_video_is_the_same_as_when_everything_is_converted_anew() -> None:
    height, width, seed = 209, 335, random.SystemRandom().getrandbits(32)
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    columns, rows = -(-width // TILE_PX), -(-height // TILE_PX)
    pixels, everything = noise.integers(0, 256, (height, width, 4), np.uint8), _everything(height, width)
    copiers = [FrameCopier(width, height) for _ in range(2)]
    first = copiers[0].copy(1, 1, 0, pixels, everything)
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
        parts, all_of_it = (
            c.copy(frame, 1, at_ns, pixels, m) for c, m in zip(copiers, (changed, everything), strict=True)
        )
        assert by_parts.add(parts).video == whole.add(all_of_it).video, f"seed {seed}"
        assert parts.identity == all_of_it.identity, f"seed {seed}"
    assert by_parts.end(5_000_000_000).video == whole.end(5_000_000_000).video


def test_an_odd_last_row_and_column_are_repeated() -> None:
    height, width = 97, 131
    pixels = np.full((height, width, 4), 200, np.uint8)
    taken = FrameCopier(width, height).copy(1, 1, 0, pixels, _everything(height, width))
    film = SegmentWriter("rec-x", 1, taken, 10.0, 0)
    data = film.add(taken).video + film.end(1_000_000_000).video
    with av.open(io.BytesIO(data)) as video:
        shown = next(video.decode(video=0)).to_ndarray(format="rgb24")
    assert shown.shape == (height + 1, width + 1, 3)
    assert np.abs(shown.astype(np.int16) - 200).max() <= 2
