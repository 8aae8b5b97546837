"""The exact comparison against a plain one, for any size, box and change."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.pixels.tiles import Mask, Pixels, TileCompare, bitmap
from acud.types import Rect

SIZES = st.tuples(st.integers(1, 150), st.integers(1, 150))


def plainly(old: Pixels, new: Pixels) -> Mask:
    height, width = old.shape[:2]
    rows, columns = -(-height // 16), -(-width // 16)
    padded = np.zeros((rows * 16, columns * 16), np.bool_)
    padded[:height, :width] = (old[..., :3] != new[..., :3]).any(axis=2)
    return padded.reshape(rows, 16, columns, 16).any(axis=(1, 3))


def frames(size: tuple[int, int], seed: int, dots: int) -> tuple[Pixels, Pixels]:
    """Return two frames that differ in at most `dots` colour bytes, and everywhere in the fourth byte."""
    width, height = size
    random = np.random.default_rng(seed)
    old = random.integers(0, 256, (height, width, 4), dtype=np.uint8)
    new = old.copy()
    new[..., 3] ^= 255
    for _ in range(dots):
        new[random.integers(height), random.integers(width), random.integers(3)] ^= 1 + random.integers(
            255, dtype=np.uint8
        )
    return old, new


@given(SIZES, st.integers(0, 2**32), st.integers(0, 8))
def test_changed_tiles_are_exact(size: tuple[int, int], seed: int, dots: int) -> None:
    old, new = frames(size, seed, dots)
    assert (TileCompare(*size).find_changes(old, new) == plainly(old, new)).all()


@given(SIZES, st.integers(0, 2**32), st.integers(0, 8), st.tuples(*[st.integers(-50, 200)] * 4))
def test_a_box_limits_the_look_to_the_tiles_it_touches(
    size: tuple[int, int], seed: int, dots: int, box: tuple[int, int, int, int]
) -> None:
    old, new = frames(size, seed, dots)
    given_box = Rect(box[0], box[1], abs(box[2]) + 1, abs(box[3]) + 1)
    touched = np.zeros((-(-size[1] // 16), -(-size[0] // 16)), np.bool_)
    inside = given_box.intersect(Rect(0, 0, *size))
    if inside:
        touched[inside.y // 16 : -(-inside.bottom // 16), inside.x // 16 : -(-inside.right // 16)] = True
    assert (TileCompare(*size).find_changes(old, new, given_box) == (plainly(old, new) & touched)).all()


@settings(max_examples=20)
@given(SIZES, st.integers(0, 2**32))
def test_one_comparer_keeps_nothing_of_the_frames_before(size: tuple[int, int], seed: int) -> None:
    compare = TileCompare(*size)
    for dots in (50, 0, 3):
        old, new = frames(size, seed + dots, dots)
        assert (compare.find_changes(old, new) == plainly(old, new)).all()


def test_the_fourth_byte_is_no_change() -> None:
    old, new = frames((64, 48), 1, 0)
    assert not TileCompare(64, 48).find_changes(old, new).any()


def test_bits_are_little_endian_by_row_and_column() -> None:
    mask = np.zeros((3, 5), np.bool_)
    mask[1, 4] = mask[2, 0] = True
    assert int.from_bytes(bitmap(mask), "little") == 1 << 9 | 1 << 10
    assert bitmap(np.zeros((3, 5), np.bool_)) == b"\0\0"


def test_bounds_end_at_the_frames_edge() -> None:
    compare = TileCompare(40, 20)
    mask = np.zeros((2, 3), np.bool_)
    assert compare.bounds(mask) is None
    mask[1, 2] = True
    assert compare.bounds(mask) == Rect(32, 16, 8, 4)
    assert compare.bounds(compare.everything()) == Rect(0, 0, 40, 20)
