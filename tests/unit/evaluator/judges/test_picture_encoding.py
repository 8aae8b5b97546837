"""The picture a judge sees: sizes, colours, and the same bytes again from the kept PNG."""

import numpy as np
import pytest
import simplejpeg
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.base import png
from acud.evaluator.evidence import pixels_of
from acud.evaluator.judges.picture_encoding import encode_for_judge, scaled_size


def noise(height: int, width: int, seed: int = 1) -> np.ndarray:
    """Return random BGRX pixels, the undefined byte random too."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)


@pytest.mark.parametrize(("size", "max_dim", "scaled"), [
    ((1280, 720), 960, (960, 540)), ((720, 1280), 960, (540, 960)), ((800, 600), 960, (800, 600)),
    ((5000, 1), 960, (960, 1)), ((1280, 720), 0, (1280, 720)),
])  # fmt: skip
def test_the_longer_side_is_bounded(size: tuple[int, int], max_dim: int, scaled: tuple[int, int]) -> None:
    assert scaled_size(*size, max_dim) == scaled


def test_the_picture_is_a_jpeg_of_the_scaled_size_in_true_colours() -> None:
    pixels = np.zeros((720, 1280, 4), np.uint8)
    pixels[:] = (10, 120, 250, 77)
    picture = encode_for_judge(pixels, 960, 72)
    assert simplejpeg.decode_jpeg_header(picture.jpeg)[:4] == (540, 960, "YCbCr", "420")
    assert (picture.width, picture.height, picture.view_width, picture.view_height) == (960, 540, 1280, 720)
    rgb = simplejpeg.decode_jpeg(picture.jpeg, colorspace="RGB")
    assert np.abs(rgb.astype(int) - (250, 120, 10)).max() <= 4


@pytest.mark.parametrize("max_dim", [960, 200, 64])
def test_the_jpeg_can_be_made_again_from_the_evidence_to_the_byte(max_dim: int) -> None:
    pixels = noise(243, 401)
    again = pixels_of(png.encode(pixels))
    assert encode_for_judge(again, max_dim, 72) == encode_for_judge(pixels, max_dim, 72)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 90), st.integers(1, 90), st.integers(0, 2**32 - 1))
def test_the_png_holds_every_pixel(height: int, width: int, seed: int) -> None:
    pixels = noise(height, width, seed)
    assert (pixels_of(png.encode(pixels))[:, :, :3] == pixels[:, :, :3]).all()


def test_a_cut_of_a_larger_frame_encodes_as_its_copy_does_and_stays_untouched() -> None:
    frame = noise(300, 400)
    before = frame.copy()
    cut = frame[20:220, 30:350]
    assert encode_for_judge(cut, 160, 80) == encode_for_judge(cut.copy(), 160, 80)
    assert (frame == before).all()
