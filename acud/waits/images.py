"""Pictures that waits look for: what a PNG must be, and the short form in which conditions name it.

The supervisor decodes no picture. It checks the header of a PNG (PNG 1.2, sections 3 to 5), that its chunks are whole,
and that its data unpack to exactly the bytes for its size, never to more.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.types import Leaf, ScreenImage, Until
from acud.waits.conditions import leaves, map_leaves

MAX_PNG_BYTES = 256 << 10
"""It travels with every job that looks for it, and through the fleet's messages of 1 MB."""
MIN_SIDE_PX = 8
MAX_PIXELS = 512 * 512
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""By colour type."""
_DEPTHS = {0: (1, 2, 4, 8), 2: (8,), 3: (1, 2, 4, 8), 4: (8,), 6: (8,)}
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""First column and row of each pass, and the steps between columns and rows (PNG 1.2, 2.6)."""
_BITS_WITH_ALPHA = (16, 32)
_OPAQUE = 128
"""The least alpha of a pixel that counts, as in the image search."""
_PAETH = 4
_MOST_UNFILTERED = 128 * 128
"""Pixels; looking at all of them takes some 40 ms."""
_AGAIN = "give the bytes of a PNG file of 8 bits a channel, cut out of a picture of the screen"


class _Header(Struct, frozen=True):
    width: int
    height: int
    bits: int
    """Of a pixel."""
    interlaced: bool


def normalise_image(leaf: ScreenImage) -> ScreenImage:
    """Return the leaf with the digest and size of its picture. Raises: InvalidRequest for an unusable picture."""
    if not leaf.png:
        if len(leaf.digest) != 32:
            raise InvalidRequest("the image has neither `png` nor the digest of one", hint=_AGAIN)
        return leaf
    if len(leaf.png) > MAX_PNG_BYTES:
        raise InvalidRequest(
            f"the image has {len(leaf.png)} bytes, more than {MAX_PNG_BYTES}", hint="cut out less of the screen"
        )
    header = _check_png(leaf.png)
    return replace(leaf, digest=_compute_digest(leaf.png), width=header.width, height=header.height)


def strip_pictures(until: Until) -> tuple[Until, dict[str, bytes]]:
    """Return the condition with digests for its pictures, and the pictures by digest.

    Raises: InvalidRequest as `normalise_image` does.
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


def _compute_digest(png: bytes) -> str:
    return hashlib.sha256(png).hexdigest()[:32]


def _check_png(png: bytes) -> _Header:
    if not png.startswith(_SIGNATURE):
        raise InvalidRequest("the image is no PNG", hint=_AGAIN)
    header: _Header | None = None
    data = bytearray()
    for kind, body in _read_chunks(png):
        if header is None:
            header = _parse_header(kind, body)
        elif kind == b"IDAT":
            data += body
    unpacked = _unpack(bytes(data), header) if header is not None else None
    if header is None or unpacked is None:
        raise _damage_error("its data are not those of its size")
    if _is_of_one_colour(unpacked, header):
        raise InvalidRequest(
            "the image is of one colour, which is found anywhere", hint="take in more of what is around it"
        )
    if _has_one_opaque_colour(unpacked, header):
        raise InvalidRequest(
            "what is opaque of the image is of one colour, which is found anywhere: what is transparent does not count",
            hint="take in more of what is around it, opaque",
        )
    return header


def _read_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and body of each chunk, including the last."""
    at, kind = len(_SIGNATURE), b""
    while kind != b"IEND":
        if at + 12 > len(png):
            raise _damage_error("it is cut off")
        length, kind = struct.unpack_from(">I4s", png, at)
        body = png[at + 8 : at + 8 + length]
        at += 12 + length
        if at > len(png):
            raise _damage_error("it is cut off")
        if struct.unpack_from(">I", png, at - 4)[0] != zlib.crc32(body, zlib.crc32(kind)):
            raise _damage_error(f"the checksum of its part {kind.decode('ascii', 'replace')!r} is wrong")
        yield kind, body


def _parse_header(kind: bytes, body: bytes) -> _Header:
    if kind != b"IHDR" or len(body) != 13:
        raise _damage_error("it does not begin with its size")
    width, height, depth, colours, packing, filters, interlace = struct.unpack(">IIBBBBB", body)
    if depth == 16:
        raise InvalidRequest("the image has 16 bits a channel", hint=_AGAIN)
    if depth not in _DEPTHS.get(colours, ()) or packing or filters or interlace > 1:
        raise _damage_error("its header is none of PNG 1.2")
    if min(width, height) < MIN_SIDE_PX or width * height > MAX_PIXELS:
        raise InvalidRequest(
            f"the image is {width}x{height} pixels; it must be at least {MIN_SIDE_PX} wide and high,"
            f" and have at most {MAX_PIXELS} pixels",
            hint="cut out what tells the thing apart, such as an icon",
        )
    return _Header(width, height, depth * _CHANNELS[colours], interlace == 1)


def _unpack(packed: bytes, header: _Header) -> bytes | None:
    """Return the data, or None where they do not fit the size; unpack no more than fits."""
    wanted = sum(rows * (1 + -(-columns * header.bits // 8)) for columns, rows in _list_passes(header) if columns)
    inflater = zlib.decompressobj()
    try:
        found = inflater.decompress(packed, wanted + 1)
    except zlib.error:
        return None
    return found if len(found) == wanted else None


def _is_of_one_colour(rows: bytes, header: _Header) -> bool:
    """Return whether all pixels are equal, seen from what each filter (PNG 1.2, section 6) then leaves of a row. False
    for interlaced pictures and those of less than 8 bits a pixel.
    """
    if header.interlaced or header.bits % 8:
        return False
    unit, width = header.bits // 8, header.width * (header.bits // 8)
    colour, nothing = rows[1 : 1 + unit], bytes(width - unit)
    half = bytes(one - one // 2 for one in colour)
    whole, left = colour * header.width, colour + nothing
    first = (whole, left, whole, colour + half * (header.width - 1), left)
    later = (whole, left, bytes(width), half + nothing, bytes(width))
    for at in range(0, len(rows), width + 1):
        expected = first if at == 0 else later
        if rows[at] >= len(expected) or rows[at + 1 : at + 1 + width] != expected[rows[at]]:
            return False
    return True


def _has_one_opaque_colour(rows: bytes, header: _Header) -> bool:
    """Return whether all opaque pixels of a picture with alpha are equal, or there are none. False for large and
    interlaced pictures, which the image search checks.
    """
    if header.interlaced or header.bits not in _BITS_WITH_ALPHA or header.width * header.height > _MOST_UNFILTERED:
        return False
    unit, colour = header.bits // 8, None
    if max(rows[:: 1 + header.width * unit]) > _PAETH:
        return False
    for row in _undo_filters(rows, unit, header.width * unit):
        for x in range(0, len(row), unit):
            if row[x + unit - 1] < _OPAQUE:
                continue
            shown = row[x : x + unit - 1]
            if colour is not None and shown != colour:
                return False
            colour = shown
    return True


def _undo_filters(rows: bytes, unit: int, width: int) -> Iterator[bytes]:
    """Yield each row of pixels of `unit` bytes (PNG 1.2, section 6)."""
    above = bytes(unit + width)
    for at in range(0, len(rows), width + 1):
        kind, row = rows[at], bytearray(unit)  # a pixel before the first, of zeros
        for x, byte in enumerate(rows[at + 1 : at + 1 + width]):
            left, up, corner = row[x], above[x + unit], above[x]
            paeth = min((left, up, corner), key=lambda one: abs(left + up - corner - one)) if kind == _PAETH else 0
            row.append((byte + (0, left, up, (left + up) // 2, paeth)[kind]) % 256)
        above = bytes(row)
        yield above[unit:]


def _list_passes(header: _Header) -> Iterator[tuple[int, int]]:
    """Yield columns and rows of each pass."""
    if not header.interlaced:
        yield header.width, header.height
        return
    for left, top, across, down in _ADAM7:
        yield -(-(header.width - left) // across), -(-(header.height - top) // down)


def _damage_error(how: str) -> InvalidRequest:
    return InvalidRequest(f"the PNG of the image is damaged: {how}", hint=_AGAIN)
