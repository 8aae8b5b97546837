"""Looks for pictures in views, and in a view seen before only where 16x16 tiles changed, grown by the picture's size.

For each view, picture and size the pixels last searched are kept, with all places that were found in them. Of the next
frame the places that no changed tile can touch stand; the others are looked for anew. That gives what a search of the
whole view would.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.image_match import REACH_PX, ImagePlace, Template, box_of, places, templates
from acud.evaluator.view_pixels import ViewPixels
from acud.pixels.components import find_shapes, spread
from acud.pixels.tiles import Mask, TileCompare
from acud.types import TILE_PX, Rect, ScreenImage, Verdict, no, unknown, yes
from acud.types.actions import Point

MAX_KEPT_BYTES = 64 << 20
"""Pixels of earlier frames kept to compare with: 7 views of 1920x1080; pictures in one view share its pixels."""
_MAX_DECODED = 64
Pixels = NDArray[np.uint8]
_Key = tuple[object, ...]


class _Searched(NamedTuple):
    pixels: Pixels
    places: tuple[ImagePlace, ...]


class ImageSearch:
    """Finds pictures. Keeps the pixels last searched, oldest use first out. Blocks; safe in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decoded: OrderedDict[str, tuple[Template, ...] | Verdict] = OrderedDict()
        self._searched: OrderedDict[_Key, _Searched] = OrderedDict()
        self.searched_px = 0  # pixels searched so far, in every size of every picture
        self.view_px = 0  # how many that were if whole views were searched

    def look_for(self, shot: ViewPixels, leaf: ScreenImage, png: bytes | None, origin: Point) -> Verdict:
        """Return whether the picture `png` of `leaf` is in `shot`. `origin`: where its source begins on the display.
        None where nobody has the picture any more.
        """
        if png is None:
            return unknown("image_missing", "the daemon has the PNG of the image no more: arm the wait again")
        sizes = self._decode_sizes(leaf.digest, png)
        if isinstance(sizes, Verdict):
            return sizes
        height, width = shot.pixels.shape[:2]
        if sizes[0].width > width or sizes[0].height > height:
            size = f"{sizes[0].width}x{sizes[0].height}"
            return unknown("image_too_large", f"the image ({size}) is larger than the target ({width}x{height})")
        return self._make_verdict(shot, leaf, sizes, origin)

    def why_useless(self, png: bytes) -> str:
        """Return why the picture cannot be looked for, "" where it can."""
        found = templates(png)
        return found.detail if isinstance(found, Verdict) else ""

    def _make_verdict(self, shot: ViewPixels, leaf: ScreenImage, sizes: tuple[Template, ...], origin: Point) -> Verdict:
        changes: dict[int, Mask] = {}
        for template in sizes:
            found = self._find_places(shot, leaf, template, changes)
            if found:
                box = box_of(template, found[0])
                at = box.shift(shot.crop.x + origin.x, shot.crop.y + origin.y)
                words = f"the image is at {_place_words(at, found[0], template)}"
                return no(f"still there: {words}", (box,)) if leaf.gone else yes(words, (box,), len(found))
        words = f"the image ({sizes[0].width}x{sizes[0].height}) is nowhere with a similarity of {leaf.similarity:g}"
        return yes(words) if leaf.gone else no(words)

    def _decode_sizes(self, digest: str, png: bytes) -> tuple[Template, ...] | Verdict:
        with self._lock:
            known = self._decoded.get(digest)
        if known is None:
            known = templates(png)
            with self._lock:
                self._decoded[digest] = known
                while len(self._decoded) > _MAX_DECODED:
                    self._decoded.popitem(last=False)
        return known

    def _find_places(
        self, shot: ViewPixels, leaf: ScreenImage, template: Template, changes: dict[int, Mask]
    ) -> tuple[ImagePlace, ...]:
        """Return where the picture is in this size, best first. `changes`: tiles that changed since older pixels."""
        key = (shot.source, shot.crop, shot.ignore, leaf.digest, leaf.similarity, template.scale)
        with self._lock:
            before = self._searched.get(key)
        pixels = shot.pixels
        whole = Rect(0, 0, pixels.shape[1], pixels.shape[0])
        if before is None or before.pixels.shape != pixels.shape:
            parts, stand = [whole], []
        else:
            mask = _changed_tiles(before.pixels, pixels, changes)
            parts = search_parts(mask, template, whole)
            stand = list(before.places)
        found: dict[ImagePlace, None] = {}
        for part in parts:
            anew = _decided_places(part, template, whole)
            stand = [one for one in stand if not anew.holds(one.x, one.y)]
            here = pixels[part.y : part.bottom, part.x : part.right]
            for one in places(template, here, leaf.similarity):
                moved = one._replace(x=one.x + part.x, y=one.y + part.y)
                if anew.holds(moved.x, moved.y):
                    found[moved] = None
        known = tuple(sorted((*stand, *found), key=lambda one: (-one.similarity, one.y, one.x)))
        self._keep_search(key, _Searched(pixels, known), sum(part.area for part in parts), whole.area)
        return known

    def _keep_search(self, key: _Key, search: _Searched, searched_px: int, view_px: int) -> None:
        with self._lock:
            self.searched_px += searched_px
            self.view_px += view_px
            self._searched[key] = search
            self._searched.move_to_end(key)
            while len(self._searched) > 1 and self._count_bytes() > MAX_KEPT_BYTES:
                self._searched.popitem(last=False)

    def _count_bytes(self) -> int:
        return sum({id(one.pixels): one.pixels.nbytes for one in self._searched.values()}.values())


def search_parts(mask: Mask, template: Template, whole: Rect) -> list[Rect]:
    """Return the parts of a view to search: what the picture can cover of each group of changed tiles, and around it.
    Parts may overlap. When they are no less than the whole view, that is the one part.
    """
    if not mask.any():
        return []
    across, down = (-(-(side + 2 * REACH_PX) // TILE_PX) for side in (template.width, template.height))
    boxes = find_shapes(spread(mask, 2 * across + 1, 2 * down + 1))[:, :4] * TILE_PX
    parts = [part for box in boxes.tolist() if (part := Rect(*box).intersect(whole)) is not None]
    return parts if sum(part.area for part in parts) < whole.area else [whole]


def _decided_places(part: Rect, template: Template, whole: Rect) -> Rect:
    """Return the places that a search of `part` decides: not those at an inner edge, where a better place may lie just
    outside.
    """
    left, top = part.x + REACH_PX * (part.x > 0), part.y + REACH_PX * (part.y > 0)
    right = part.right - template.width + 1 - REACH_PX * (part.right < whole.right)
    bottom = part.bottom - template.height + 1 - REACH_PX * (part.bottom < whole.bottom)
    return Rect(left, top, max(0, right - left), max(0, bottom - top))


def _changed_tiles(before: Pixels, now: Pixels, known: dict[int, Mask]) -> Mask:
    if id(before) not in known:
        compare = TileCompare(now.shape[1], now.shape[0])
        known[id(before)] = compare.find_changes(before, now)
    return known[id(before)]


def _place_words(box: Rect, place: ImagePlace, template: Template) -> str:
    middle = f"{box.x + box.w // 2},{box.y + box.h // 2}"
    scale = f", scaled to {template.scale:.0%}" if template.scale != 1.0 else ""
    return f"{box.x},{box.y} ({box.w}x{box.h}{scale}), its middle at {middle}; similarity {place.similarity:.2f}"
