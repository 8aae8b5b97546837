"""Bitmaps of 16 px tiles as Python integers, and when each tile last changed.

Bit `row * columns + column` stands for a tile, tile 0 at the top left. The supervisor loads no numpy, so a bitmap is an
integer; a union, a test or a count is one fast operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec import Struct

from acud.types import TILE_PX, Rect


class Grid(Struct, frozen=True):
    """The tiles of a frame of `width` x `height` pixels; those at the right and bottom edge are partial."""

    width: int
    height: int

    @property
    def columns(self) -> int:
        return -(-self.width // TILE_PX)

    @property
    def rows(self) -> int:
        return -(-self.height // TILE_PX)

    @property
    def all(self) -> int:
        return (1 << (self.columns * self.rows)) - 1

    def tile(self, index: int) -> Rect:
        """Return the pixels of one tile, clipped to the frame."""
        row, column = divmod(index, self.columns)
        x, y = column * TILE_PX, row * TILE_PX
        return Rect(x, y, min(TILE_PX, self.width - x), min(TILE_PX, self.height - y))

    def find_touching(self, box: Rect) -> int:
        """Return the tiles that share a pixel with `box`."""
        inside = box.intersect(Rect(0, 0, self.width, self.height))
        if inside is None:
            return 0
        return self._block_bits(
            inside.x // TILE_PX, inside.y // TILE_PX, -(-inside.right // TILE_PX), -(-inside.bottom // TILE_PX)
        )

    def within(self, box: Rect) -> int:
        """Return the tiles with all their pixels in `box`."""
        right = self.columns if box.right >= self.width else box.right // TILE_PX
        bottom = self.rows if box.bottom >= self.height else box.bottom // TILE_PX
        left, top = max(0, -(-box.x // TILE_PX)), max(0, -(-box.y // TILE_PX))
        return self._block_bits(left, top, right, bottom)

    def _block_bits(self, left: int, top: int, right: int, bottom: int) -> int:
        if right <= left or bottom <= top:
            return 0
        row = ((1 << (right - left)) - 1) << left
        return sum(row << (y * self.columns) for y in range(top, bottom))

    def area(self, tiles: int, crop: Rect) -> int:
        """Return how many pixels of `crop` the tiles cover."""
        full = tiles & self._full_tiles(crop)
        parts = (self.tile(index).intersect(crop) for index in bits(tiles & ~full))
        return full.bit_count() * TILE_PX**2 + sum(part.area for part in parts if part is not None)

    def _full_tiles(self, crop: Rect) -> int:
        """Return the full tiles of 16x16 px that lie wholly in `crop`."""
        right = min(crop.right, self.width) // TILE_PX
        bottom = min(crop.bottom, self.height) // TILE_PX
        return self._block_bits(max(0, -(-crop.x // TILE_PX)), max(0, -(-crop.y // TILE_PX)), right, bottom)

    def near(self, tiles: int) -> int:
        """Return the tiles and all their neighbours, diagonal ones too."""
        columns = self.columns
        inner, every = _inner_tiles(columns, self.rows)
        wide = tiles | (tiles & inner) << 1 | (tiles >> 1) & inner
        return (wide | wide << columns | wide >> columns) & every

    def find_connected(self, tiles: int, base: int) -> int:
        """Return the `tiles` reachable from `base` through neighbouring `tiles`."""
        found = tiles & self.near(base)
        while (more := tiles & self.near(found)) != found:
            found = more
        return found

    def spots(self, tiles: int) -> Iterator[int]:
        while tiles:
            spot = self.find_connected(tiles, tiles & -tiles)
            yield spot
            tiles &= ~spot

    def box(self, tiles: int, crop: Rect) -> Rect | None:
        """Return the smallest box around the tiles' pixels in `crop`, or None when there are none."""
        tiles &= self.find_touching(crop)
        if not tiles:
            return None
        columns, across = self.columns, 0
        top, bottom = ((tiles & -tiles).bit_length() - 1) // columns, (tiles.bit_length() - 1) // columns
        for row in range(top, bottom + 1):
            across |= tiles >> row * columns
        across &= (1 << columns) - 1
        left, right = (across & -across).bit_length() - 1, across.bit_length()
        around = Rect(left * TILE_PX, top * TILE_PX, (right - left) * TILE_PX, (bottom + 1 - top) * TILE_PX)
        return around.intersect(Rect(0, 0, self.width, self.height).intersect(crop) or crop)


@cache
def _inner_tiles(columns: int, rows: int) -> tuple[int, int]:
    """Return the tiles of all columns but the last, and all tiles."""
    row, every = (1 << columns) - 1, (1 << (columns * rows)) - 1
    return every // row * (row >> 1), every


def bits(tiles: int) -> Iterator[int]:
    """Yield the indexes of the set tiles, lowest first."""
    while tiles:
        lowest = tiles & -tiles
        yield lowest.bit_length() - 1
        tiles ^= lowest


def from_bytes(bitmap: bytes) -> int:
    """Return a notice's bitmap (little-endian bytes) as an integer."""
    return int.from_bytes(bitmap, "little")


def to_bytes(tiles: int) -> bytes:
    """Return the shortest little-endian bitmap of `tiles`; empty for none."""
    return tiles.to_bytes((tiles.bit_length() + 7) // 8, "little")


def parse_looks(tiles: int, looks: bytes) -> dict[int, int]:
    """Return the looks of `tiles` by tile, from a notice's 8 little-endian bytes for each."""
    return {index: from_bytes(looks[at * 8 : at * 8 + 8]) for at, index in enumerate(bits(tiles))}


def subtract(box: Rect, holes: Iterable[Rect]) -> tuple[Rect, ...]:
    """Return boxes that together are `box` minus the `holes`, which are relative to it."""
    parts = [box]
    for hole in holes:
        parts = [piece for part in parts for piece in _cut_hole(part, hole.shift(box.x, box.y))]
    return tuple(parts)


def _cut_hole(part: Rect, hole: Rect) -> list[Rect]:
    inside = part.intersect(hole)
    if inside is None:
        return [part]
    sides = [
        Rect(part.x, part.y, part.w, inside.y - part.y),
        Rect(part.x, inside.bottom, part.w, part.bottom - inside.bottom),
        Rect(part.x, inside.y, inside.x - part.x, inside.h),
        Rect(inside.right, inside.y, part.right - inside.right, inside.h),
    ]
    return [side for side in sides if side.w > 0 and side.h > 0]


def bounding_box(boxes: Iterable[Rect]) -> Rect | None:
    """Return the smallest box around all `boxes`, or None without any."""
    found = list(boxes)
    if not found:
        return None
    x, y = min(b.x for b in found), min(b.y for b in found)
    return Rect(x, y, max(b.right for b in found) - x, max(b.bottom for b in found) - y)


class Masks(Struct, frozen=True):
    """The tiles of a target. `touching`: with any pixel of it; `whole`: with no pixel outside it or ignored."""

    touching: int
    whole: int


def masks(grid: Grid, crop: Rect, ignore: tuple[Rect, ...]) -> Masks:
    """Return the tiles of `crop` minus the `ignore` boxes, which are relative to the crop. A change of a touching tile
    that is not whole may lie outside the target: tiles alone leave that open.
    """
    touching, whole = grid.find_touching(crop), grid.within(crop)
    for box in (spot.shift(crop.x, crop.y) for spot in ignore):
        touching &= ~grid.within(box)
        whole &= ~grid.find_touching(box)
    return Masks(touching, whole)


class TileHistory:
    """The last change of every tile since the first `record`. The supervisor owns one per source.

    A tile is in one frame's bitmap only, the newest that changed it; so the history is exact, never trimmed, and holds
    at most as many bitmaps as there are tiles. Frame numbers of a source never go back.
    """

    def __init__(self, changed: Mapping[int, int] | None = None, newest: int = -1) -> None:
        """`changed`: the whole of another history of the source, up to frame `newest`."""
        self._changed = dict(changed or {})
        self._from: int | None = None if changed is None else 0
        self._newest = newest

    def record(self, frame: int, tiles: int | None) -> None:
        """Note that `tiles` changed in `frame`; None (not known) forgets everything earlier."""
        self._newest = max(self._newest, frame)
        if self._from is None or tiles is None:
            self._changed, self._from = {}, frame
        elif tiles:
            kept = ((number, older & ~tiles) for number, older in self._changed.items())
            self._changed = {number: older for number, older in kept if older} | {frame: tiles}

    def since(self, frame: int) -> int | None:
        """Return the tiles that changed in frames after `frame`, or None when the history does not reach it."""
        if self._from is None or not self._from <= frame <= self._newest:
            return None
        touched = 0
        for number, tiles in self._changed.items():
            touched |= tiles if number > frame else 0
        return touched
