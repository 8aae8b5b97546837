"""Parts of pictures: PNG gives back every pixel, JPEG is for what is large and busy alone."""

import io

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from acud.base import png
from acud_web.live import picture_parts

Pixels = npt.NDArray[np.uint8]


def noise(width: int, height: int) -> Pixels:
    return np.random.default_rng(7).integers(0, 256, (height, width, 4), np.uint8)


def flat(width: int, height: int) -> Pixels:
    pixels = np.full((height, width, 4), (10, 20, 30, 99), np.uint8)
    pixels[::7, ::9] = 255
    return pixels


def decode(data: bytes, form: str) -> Pixels:
    return np.asarray(Image.open(io.BytesIO(data), formats=[form]).convert("RGB"))


@pytest.mark.parametrize("size", [(1, 1), (1, 40), (40, 1), (16, 16), (100, 70), (513, 3)])
@pytest.mark.parametrize("made", [noise, flat])
def test_png_gives_back_every_pixel(made: type, size: tuple[int, int]) -> None:
    pixels = made(*size)
    assert np.array_equal(decode(png.encode(pixels), "PNG"), pixels[..., 2::-1])


def test_the_fourth_byte_says_nothing() -> None:
    pixels = flat(200, 200)
    other = pixels.copy()
    other[..., 3] = np.random.default_rng(1).integers(0, 256, (200, 200), np.uint8)
    assert png.encode(pixels) == png.encode(other)
    assert not png.is_busy(other)


def test_busy_is_what_is_large_and_like_a_photo() -> None:
    assert png.is_busy(noise(200, 200))
    assert not png.is_busy(noise(32, 32))
    assert not png.is_busy(flat(200, 200))


def test_jpeg_is_like_the_picture() -> None:
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[..., 2] = 200
    found = decode(picture_parts.jpeg(pixels), "JPEG").astype(int)
    assert np.abs(found - (200, 0, 0)).max() < 6
