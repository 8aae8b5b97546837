"""Pictures that waits look for: which PNGs are taken, and conditions that name them by digest."""

import io
import random
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from acud.base.errors import InvalidRequest
from acud.evaluator.image_match import templates
from acud.types import AllOf, AnyOf, NotOf, ScreenImage, Text, Until, Verdict
from acud.waits.images import MAX_PNG_BYTES, list_digests, normalise_image, strip_pictures
from acud.waits.validation import check_until

NOISE = np.random.default_rng(2).integers(0, 255, (33, 47, 4), np.uint8)


def save_png(mode: str = "RGBA", size: tuple[int, int] = (47, 33), **given: object) -> bytes:
    written = io.BytesIO()
    Image.fromarray(NOISE, "RGBA").convert(mode).resize(size).save(written, "PNG", **given)
    return written.getvalue()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))


def make(*head: int, rows: bytes) -> bytes:
    parts = chunk(b"IHDR", struct.pack(">IIBBBBB", *head)), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("mode", ["RGBA", "RGB", "L", "LA", "P", "1"])
def test_pictures_of_every_kind_are_taken(mode: str) -> None:
    leaf = normalise_image(ScreenImage(save_png(mode)))
    assert (leaf.width, leaf.height, len(leaf.digest)) == (47, 33, 32)
    assert normalise_image(leaf) == leaf


def test_an_interlaced_picture_of_one_colour_is_of_no_use() -> None:
    """Adam7 of 9x8 pixels in grey: passes of 2x1, 1x1, 3x1, 2x2, 5x2, 4x4 and 9x4, a byte more for each row."""
    size = sum(rows * (1 + columns) for columns, rows in ((2, 1), (1, 1), (3, 1), (2, 2), (5, 2), (4, 4), (9, 4)))
    for of, code in ((size, "image_flat"), (size - 1, "image_unreadable")):
        found = templates(make(9, 8, 8, 0, 0, 0, 1, rows=bytes(of)))
        assert isinstance(found, Verdict)
        assert found.code == code


@pytest.mark.parametrize(("png", "why"), [
    (b"", "neither `png` nor the digest"), (b"\xff\xd8\xff\xe0 JFIF", "no PNG"), (save_png()[:20], "damaged"),
    (save_png(size=(7, 40)), "at least 8"), (save_png(size=(513, 512), mode="L"), "at most 262144 pixels"),
    (make(20, 20, 16, 2, 0, 0, 0, rows=bytes(20 * 121)), "16 bits"),
    (save_png() + bytes(MAX_PNG_BYTES), "more than 262144"),
    (make(2**31, 2**31, 8, 2, 0, 0, 0, rows=b"\0"), "at most 262144 pixels"),
])  # fmt: skip
def test_what_is_no_picture_to_look_for_is_refused(png: bytes, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why) as refused:
        check_until(NotOf(ScreenImage(png)))
    assert refused.value.hint


@pytest.mark.parametrize("mode", ["RGBA", "P"])
def test_damaged_bytes_are_of_no_use_or_can_be_decoded(mode: str) -> None:
    """Checksums are put right after the damage, or nothing would come past them."""
    chance, whole, used = random.Random(4), save_png(mode), 0
    for _ in range(100):
        parts = _parts(whole)
        for _ in range(chance.randint(1, 3)):
            kind, body = parts[place := chance.randrange(len(parts))]
            spots = bytearray(body or b"-")
            spots[chance.randrange(len(spots))] = chance.randrange(256)
            parts[place] = kind, bytes(spots)
        damaged = whole[:8] + b"".join(chunk(*part) for part in parts)
        with suppress(InvalidRequest):
            normalise_image(ScreenImage(damaged))
            used += not isinstance(templates(damaged), Verdict)
    assert used


def _parts(png: bytes) -> list[tuple[bytes, bytes]]:
    parts, at = [], 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        parts.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + length]))
        at += 12 + length
    return parts


def test_a_condition_names_its_pictures_by_digest() -> None:
    one, two = save_png("RGB"), save_png("L")
    until: Until = AllOf((Text("a"), AnyOf((ScreenImage(one), NotOf(ScreenImage(two, gone=True, similarity=0.8))))))
    short, brought = strip_pictures(check_until(until))
    assert sorted(brought.values()) == sorted((one, two))
    assert list(list_digests(short)) == list(brought)
    assert strip_pictures(short) == (short, {})
    assert isinstance(short, AllOf)
    assert isinstance(short.parts[1], AnyOf)
    assert short.parts[1].parts[0] == ScreenImage(digest=next(iter(brought)), width=47, height=33)
