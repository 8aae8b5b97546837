"""Strict PNG: Scene Builder's list of what is no picture, and what screenshot programs write."""

import struct
import zlib

import numpy as np
import pytest

from acud.base import png
from acud.pixels.gates import dhash
from tests.fixtures.png_frames import MAX_PIXELS, frame_of_png, png_size

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def make(
    width: int = 32, height: int = 32, colour: int = 2, depth: int = 8, interlace: int = 0, data: bytes = b""
) -> bytes:
    """Return a PNG of a grey ramp with the head asked for, whether or not its data fits it."""
    channels = {2: 3, 6: 4}.get(colour, 1)
    line = b"".join(bytes([(x * 8) % 255] * channels) for x in range(min(width, 64)))
    body = data or zlib.compress(b"".join(b"\0" + line for _ in range(min(height, 64))))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@pytest.mark.parametrize("colour", [2, 6])
def test_plain_rgb_and_rgba_are_read(colour: int) -> None:
    pixels = frame_of_png(make(64, 48, colour))
    assert pixels is not None
    assert pixels.shape == (48, 64, 4)
    assert pixels[5, :4].tolist() == [[0, 0, 0, 0], [8, 8, 8, 0], [16, 16, 16, 0], [24, 24, 24, 0]]


@pytest.mark.parametrize(("name", "data"), [
    ("empty", b""), ("shorter than its signature", SIGNATURE[:3]), ("another signature", b"\0" * 8 + make()[8:]),
    ("truncated in a chunk", make()[:20]), ("truncated in its pixels", make()[:-40]),
    ("interlaced", make(interlace=1)), ("palette", make(colour=3)), ("16 bits", make(depth=16)),
    ("a bomb of 65535 x 65535", make(65535, 65535, data=zlib.compress(b"\1\2\3\4"))), ("no width", make(0, 5)),
    ("data of another size", make(32, 32, data=zlib.compress(b"\0\1\2"))),
    ("no deflate stream", make(32, 32, data=b"hello")),
])  # fmt: skip
def test_anything_else_is_no_picture_and_raises_nothing(name: str, data: bytes) -> None:
    assert frame_of_png(data) is None, name


def test_the_size_is_in_the_head() -> None:
    assert png_size(make(64, 48)) == (64, 48)
    assert png_size(b"\0" * 40) is None
    assert png_size(make(7680, 4320)) == (7680, 4320)
    assert 65535**2 > MAX_PIXELS == 7680 * 4320


def test_a_picture_we_write_reads_as_the_same_pixels_and_hash() -> None:
    half = np.zeros((32, 32, 4), np.uint8)
    half[:, :16, :3] = 255
    read = frame_of_png(png.encode(half))
    assert read is not None
    assert (read == half).all()
    assert f"{dhash(read):016x}" == "0808080808080808"
