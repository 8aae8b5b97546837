"""Change tiers: each as its gate has it, and the frame of a scene kept until the next."""

import numpy as np
import pytest
from numpy.typing import NDArray

from acud.evaluator.last_views import ShownFrames, tiers
from acud.pixels.gates import compare, ssim
from acud.types import GateKind, Rect
from acud.types.scene import ChangeTiers

Frame = NDArray[np.uint8]


def noise(width: int = 320, height: int = 240, seed: int = 3) -> Frame:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)


def change(frame: Frame, box: Rect, value: int = 255) -> Frame:
    after = frame.copy()
    after[box.y : box.bottom, box.x : box.right, :3] = value
    return after


def test_equal_frames_differ_in_no_tier() -> None:
    frame = noise()
    undefined = frame.copy()
    undefined[:, :, 3] ^= 255
    found = tiers(frame, undefined)
    assert (found.tiles, found.dhash_distance, found.blocks, found.ssim) == (0, 0, 0, 1.0)


@pytest.mark.parametrize("box", [Rect(0, 0, 320, 240), Rect(31, 17, 2, 14), Rect(300, 230, 20, 10), Rect(0, 0, 1, 1)])
def test_each_tier_is_what_its_gate_says(box: Rect) -> None:
    before = noise()
    after = change(before, box)
    found = tiers(before, after)
    assert found.tiles == len(range(box.x // 16, -(-box.right // 16))) * len(range(box.y // 16, -(-box.bottom // 16)))
    assert found.dhash_distance == compare(GateKind.DHASH, before, after).score
    assert found.blocks == compare(GateKind.BLOCKS, before, after).score
    assert found.ssim == pytest.approx(compare(GateKind.SSIM, before, after).score, abs=1e-6)


@pytest.mark.parametrize("size", [(320, 240), (321, 243), (33, 17), (14, 14), (15, 13)])
def test_ssim_of_where_it_changed_is_ssim_of_all(size: tuple[int, int]) -> None:
    before = noise(*size)
    for box in (Rect(0, 0, 3, 3), Rect(size[0] - 2, size[1] - 3, 2, 3), Rect(5, 5, 4, 2), Rect(0, 0, *size)):
        after = change(before, box)
        assert ssim(before, after, box) == pytest.approx(ssim(before, after), abs=1e-12)


def test_the_first_frame_and_one_of_another_size_have_nothing_to_compare_with() -> None:
    shown = ShownFrames()
    assert shown.advance(":1", 1, 1, noise()) is None
    assert shown.advance(":1", 1, 2, noise()) == ChangeTiers(0, tiers(noise(), noise()).dhash, 0, 0, 1.0)
    assert shown.advance(":1", 2, 3, noise(160, 120)) is None
    assert shown.advance(":2", 1, 1, noise(160, 120)) is None


def test_the_frame_of_a_scene_is_kept_until_the_next_and_no_longer() -> None:
    shown = ShownFrames()
    first, second = noise(), noise(seed=4)
    shown.advance(":1", 1, 7, first)
    assert shown.pixels(":1", 1, 7) is first
    assert shown.pixels(":1", 2, 7) is None
    shown.advance(":1", 1, 8, second)
    assert (shown.pixels(":1", 1, 7), shown.pixels(":1", 1, 8)) == (None, second)
    shown.forget(":1")
    assert shown.pixels(":1", 1, 8) is None


def test_memory_is_bounded_and_the_oldest_goes_first() -> None:
    one = noise()
    shown = ShownFrames(max_bytes=2 * one.nbytes)
    for name in (":1", ":2", ":1", ":3"):
        shown.advance(name, 1, 1, one)
    assert [shown.pixels(name, 1, 1) is not None for name in (":1", ":2", ":3")] == [True, False, True]
    shown.advance(":big", 1, 1, noise(1600, 1200))
    assert shown.pixels(":big", 1, 1) is not None
