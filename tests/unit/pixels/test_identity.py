"""Identities: equal pixels, equal identity; anything else, another."""

import struct

import numpy as np
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from acud.pixels.tiles import identity
from acud.types import Rect

Frame = NDArray[np.uint8]
boxes = st.builds(Rect, st.integers(-9, 99), st.integers(-9, 160), st.integers(1, 50), st.integers(1, 99))


def noise(width: int, height: int, seed: int = 1) -> Frame:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)


def by_the_book(frame: Frame, ignore: tuple[Rect, ...] = ()) -> str:
    masked = frame.copy()
    masked[:, :, 3] = 0
    for box in ignore:
        masked[max(0, box.y) : max(0, box.bottom), max(0, box.x) : max(0, box.right)] = 0
    size = struct.pack("<II", frame.shape[1], frame.shape[0])
    return xxhash.xxh3_64(size + masked.tobytes()).hexdigest()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.integers(1, 150), st.lists(boxes, max_size=3))
def test_it_is_the_hash_of_size_and_masked_pixels(width: int, height: int, ignore: list[Rect]) -> None:
    frame = noise(width, height)
    assert identity(frame, tuple(ignore)) == by_the_book(frame, tuple(ignore))


def test_the_fourth_byte_and_ignored_boxes_do_not_count_and_any_pixel_does() -> None:
    frame, other = noise(40, 200), noise(40, 200)
    other[:, :, 3] = 0
    other[10:20, 5:9] = 7
    assert identity(frame) != identity(other)
    assert identity(frame, (Rect(5, 10, 4, 10),)) == identity(other, (Rect(5, 10, 4, 10),))
    for y, x, colour in ((0, 0, 0), (199, 39, 2), (64, 0, 1)):
        one = frame.copy()
        one[y, x, colour] ^= 1
        assert identity(one) != identity(frame)


def test_a_crop_is_its_own_picture_and_nothing_is_written() -> None:
    frame = noise(64, 64)
    before = frame.copy()
    crop = frame[8:40, 16:48]
    assert identity(crop, (Rect(0, 0, 4, 4),)) == identity(crop.copy(), (Rect(0, 0, 4, 4),))
    assert np.array_equal(frame, before)
    assert identity(np.zeros((2, 8, 4), np.uint8)) != identity(np.zeros((8, 2, 4), np.uint8))
