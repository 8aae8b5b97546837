"""Pictures that waits look for: what a PNG must be, and the short form in which conditions name it.

The supervisor decodes no picture: it checks the size that a PNG names. An evaluator decodes it before a wait is armed
(`Screenshots.check_images`).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.types import Leaf, ScreenImage, Until
from acud.waits.condition_tree import leaves, map_leaves

MAX_PNG_BYTES = 256 << 10
"""It travels with every job that looks for it, and through the fleet's messages of 1 MB."""
MIN_SIDE_PX = 8
MAX_PIXELS = 512 * 512
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEAD = struct.Struct(">8sI4sIIB")
"""Signature, length and kind of the first chunk, width, height, depth (PNG 1.2, sections 3 and 4)."""
OTHER_IMAGE = "give the bytes of a PNG file of 8 bits a channel, cut out of a picture of the screen"


def normalise_image(leaf: ScreenImage) -> ScreenImage:
    """Return the leaf with the digest and size of its picture. Raises: InvalidRequest for an unusable picture."""
    if not leaf.png:
        if len(leaf.digest) != 32:
            raise InvalidRequest("the image has neither `png` nor the digest of one", hint=OTHER_IMAGE)
        return leaf
    if len(leaf.png) > MAX_PNG_BYTES:
        raise InvalidRequest(
            f"the image has {len(leaf.png)} bytes, more than {MAX_PNG_BYTES}", hint="cut out less of the screen"
        )
    width, height = _read_size(leaf.png)
    return replace(leaf, digest=hashlib.sha256(leaf.png).hexdigest()[:32], width=width, height=height)


def strip_pictures(until: Until) -> tuple[Until, dict[str, bytes]]:
    """Return the condition with digests for its pictures, and the pictures by digest. Raises: InvalidRequest as
    `normalise_image` does.
    """
    found: dict[str, bytes] = {}

    def shorten(leaf: Leaf) -> Leaf:
        if not isinstance(leaf, ScreenImage):
            return leaf
        known = normalise_image(leaf)
        if known.png:
            found[known.digest] = known.png
        return replace(known, png=b"")

    return map_leaves(until, shorten), found


def list_digests(until: Until) -> Iterator[str]:
    """Yield the digest of each picture that the condition names in its short form."""
    return (leaf.digest for leaf in leaves(until) if isinstance(leaf, ScreenImage))


def _read_size(png: bytes) -> tuple[int, int]:
    if not png.startswith(_SIGNATURE):
        raise InvalidRequest("the image is no PNG", hint=OTHER_IMAGE)
    if len(png) < _HEAD.size or png[12:16] != b"IHDR":
        raise InvalidRequest("the PNG of the image is damaged: it does not begin with its size", hint=OTHER_IMAGE)
    *_, width, height, depth = _HEAD.unpack_from(png)
    if depth == 16:
        raise InvalidRequest("the image has 16 bits a channel", hint=OTHER_IMAGE)
    if min(width, height) < MIN_SIDE_PX or width * height > MAX_PIXELS:
        raise InvalidRequest(
            f"the image is {width}x{height} pixels; it must be at least {MIN_SIDE_PX} wide and high,"
            f" and have at most {MAX_PIXELS} pixels",
            hint="cut out what tells the thing apart, such as an icon",
        )
    return width, height
