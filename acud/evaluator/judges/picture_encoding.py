"""A view's pixels as the JPEG that a judge sees; `acud.config.backends` sets its size and quality for each backend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import simplejpeg
from numpy.typing import NDArray
from PIL import Image

from acud.evaluator.judges.judge import Judge, JudgePicture
from acud.protocol.bootstrap import EvaluatorOptions
from acud.types import JudgeName

Pixels = NDArray[np.uint8]
"""Height x width x 4, BGRX, C-contiguous rows; the fourth byte is undefined."""


def encode_for_judge(pixels: Pixels, max_dim: int, quality: int) -> JudgePicture:
    """Return `pixels` (height x width x 4 uint8 BGRX, not written to) as JPEG 4:2:0 of that quality.

    The longer side becomes at most `max_dim` px, never larger than it is; shrinking is Pillow's area-aware bilinear.
    The fourth byte has no influence. Blocks for a few ms; the GIL is free meanwhile.
    """
    height, width = pixels.shape[:2]
    return encode_sized(pixels, scaled_size(width, height, max_dim), quality)


def encode_sized(pixels: Pixels, size: tuple[int, int], quality: int) -> JudgePicture:
    """Return `pixels` as such a JPEG of exactly `size` (width, height), larger or smaller, aspect not kept. Blocks."""
    height, width = pixels.shape[:2]
    scaled = resized_pixels(pixels, size)
    jpeg = simplejpeg.encode_jpeg(scaled, quality=quality, colorspace="BGRX", colorsubsampling="420")
    return JudgePicture(jpeg, size[0], size[1], width, height)


def resize_picture(picture: JudgePicture, size: tuple[int, int], quality: int) -> JudgePicture:
    """Return `picture` decoded and encoded again at `size`; of the same view, so coordinates map to it as before."""
    pixels = simplejpeg.decode_jpeg(picture.jpeg, colorspace="BGRX")
    smaller = encode_sized(pixels, size, quality)
    return JudgePicture(smaller.jpeg, *size, picture.view_width, picture.view_height)


def scaled_size(width: int, height: int, max_dim: int) -> tuple[int, int]:
    """Return (width, height) shrunk so that the longer side is at most `max_dim`; no side falls below 1."""
    longer = max(width, height)
    if max_dim <= 0 or longer <= max_dim:
        return width, height
    return max(1, round(width * max_dim / longer)), max(1, round(height * max_dim / longer))


def resized_pixels(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Return `pixels` at `size` (width, height), C-contiguous; the same memory where it is that size already."""
    height, width = pixels.shape[:2]
    contiguous = np.ascontiguousarray(pixels)
    if size == (width, height):
        return contiguous
    image = Image.frombuffer("RGBX", (width, height), contiguous, "raw", "RGBX", 0, 1)
    return np.asarray(image.resize(size, Image.Resampling.BILINEAR))


class PictureFormat(NamedTuple):
    """Judges of one form share one picture. `redacted`: it may leave this machine."""

    max_side_px: int
    jpeg_quality: int
    redacted: bool


def picture_format_for(judge: Judge, options: EvaluatorOptions) -> PictureFormat:
    """Return the form of `judge`: its backend's own settings, else those of `[vision]`."""
    own = options.jobs if judge.name == JudgeName.FLEET else options.backends.get(judge.name)
    side, quality = (own.max_side_px, own.jpeg_quality) if own is not None else (0, 0)
    vision = options.vision
    return PictureFormat(side or vision.frame_max_dim, quality or vision.frame_jpeg_quality, not judge.local)
