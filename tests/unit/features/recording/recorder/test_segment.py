"""A segment's video: what is converted anew where only parts of a frame changed."""

from __future__ import annotations

import random

import numpy as np

from acud.features.recording.recorder.segment import CopiedFrame, SegmentWriter
from acud.types import TILE_PX


def test_the_video_is_the_same_as_when_everything_is_converted_anew() -> None:
    height, width, seed = 208, 336, random.SystemRandom().getrandbits(32)
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    columns, rows = width // TILE_PX, height // TILE_PX
    pixels = noise.integers(0, 256, (height, width, 4), np.uint8)
    changes = np.ones(columns * rows, np.uint64)
    first = CopiedFrame(1, 1, 0, pixels, changes)
    by_parts, whole = (SegmentWriter("rec-x", 1, first, 10.0, 28) for _ in range(2))
    for frame in range(1, 40):
        pixels, changes = pixels.copy(), changes.copy()
        for _ in range(chance.randrange(4)):
            row, column = chance.randrange(rows), chance.randrange(columns)
            tile = pixels[row * TILE_PX : (row + 1) * TILE_PX, column * TILE_PX : (column + 1) * TILE_PX]
            tile[:] = noise.integers(0, 256, tile.shape, np.uint8)
            changes[row * columns + column] = frame
        at_ns = frame * 100_000_000
        part = by_parts.add(CopiedFrame(frame, 1, at_ns, pixels, changes))
        everything = np.full_like(changes, frame)
        assert part.video == whole.add(CopiedFrame(frame, 1, at_ns, pixels, everything)).video, f"seed {seed}"
    assert by_parts.end(5_000_000_000).video == whole.end(5_000_000_000).video
