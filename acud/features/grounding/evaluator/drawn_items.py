"""What pixels show, as the items that descriptions are matched with: text and what is drawn around it, fields with
their labels, marks, and icons by their shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial

import numpy as np
from numpy.typing import NDArray

from acud.accessibility.labels import CHOOSERS, HEADERS, INPUTS, ITEMS, MENU_ITEMS
from acud.evaluator.ocr.text_layout import TextSegment
from acud.features.grounding.evaluator.drawn_controls import Edges, field_of, square_mark_of
from acud.features.grounding.evaluator.icon_shapes import shapes_meanings
from acud.features.grounding.screen_items import Item
from acud.features.grounding.widget_words import TEXTS
from acud.features.grounding.word_likeness import is_same_word, normal
from acud.pixels.components import find_shapes, spread
from acud.types import Rect, WindowInfo, window_at

_ICON_MIN_PX, _ICON_MAX_PX = 9, 40
_REACHES = (1, 3)
"""How far apart, in pixels, the strokes of one icon may be: a bin's are close, those of three bars are not."""
_PADDING_PX = 160

_NEVER_TEXT = {"icon", "text", "check menu item", "radio menu item"}
_TEXT_MAY_BE = (ITEMS | MENU_ITEMS | TEXTS | HEADERS | {"link", "page tab", "push button"}) - _NEVER_TEXT
_FIELD_MAY_BE = (INPUTS | CHOOSERS) - {"push button menu", "slider"}
MARKS = frozenset({"check box", "radio button", "check menu item", "radio menu item"})
_BUTTON_MAY_BE = frozenset({"push button", "link", "page tab", "push button menu"})
_ICON_MAY_BE = frozenset({"push button", "link", "push button menu"})


def find_text_items(
    parts: Sequence[TextSegment],
    words: Set[str] | None,
    edges: Edges,
    picture_place: Rect,
    windows: Sequence[WindowInfo],
    pale: Set[int] = frozenset(),
    *,
    is_typed_into: bool = False,
) -> list[Item]:
    """Return what the segments of text name; `picture_place` is the picture's box on the display. Each is a text; one
    with a word of `words`, the searched words (None: any), is also the control drawn around it, the field beside it, or
    the mark before it. Boxes are in pixels of the picture. `pale`: segments so faint that they are disabled, unless
    they are a hint in a field. `is_typed_into`: as for `field_of`.
    """
    boxes = [part.box for part in parts]
    found: list[Item] = []
    for index, part in enumerate(parts):
        names = tuple(name for name in (normal(part.text),) if name)
        item = partial(Item, names=names, window=find_window_id(part.box, picture_place, windows), text=index)
        if words is not None and not any(
            is_same_word(word, own) for name in names for own in name.split() for word in words
        ):
            found.append(item(f"t{index}", part.box, "label", may_be=_TEXT_MAY_BE))
            continue
        drawn = edges.around(part.box)
        fits = drawn is not None and drawn.w <= part.box.w + _PADDING_PX and drawn.h <= 3 * part.box.h
        mark, is_enabled = square_mark_of(part.box, edges), index not in pale
        if mark is not None:
            is_checked = edges.is_marked(mark)
            found.append(
                item(f"m{index}", mark, "check box", is_enabled=is_enabled, is_checked=is_checked, may_be=MARKS)
            )
        near = field_of(part.box, boxes, edges, is_typed_into=is_typed_into)
        if near is not None and near.sure:
            found.append(item(f"f{index}", near.box, "entry", may_be=_FIELD_MAY_BE))
        if fits and drawn is not None and not (near is not None and near.box == drawn):
            found.append(item(f"b{index}", drawn, "push button", is_enabled=is_enabled, may_be=_BUTTON_MAY_BE))
        else:
            found.append(item(f"t{index}", part.box, "label", is_enabled=is_enabled, may_be=_TEXT_MAY_BE))
    return found


def find_icons(
    pixels: NDArray[np.uint8], edges: Edges, texts: Sequence[Rect], picture_place: Rect, windows: Sequence[WindowInfo]
) -> list[Item]:
    """Return the icons of the picture (height x width x 4 uint8 BGRX) like a template; the likeliest of overlaps."""
    boxes = list(_icon_boxes(edges, texts))
    shapes = shapes_meanings(pixels, [_pad_box(box) for box in boxes])
    icon = partial(Item, role="push button", may_be=_ICON_MAY_BE)
    known = [
        icon(f"i{index}", box, shape=shape, window=find_window_id(box, picture_place, windows))
        for index, (box, shape) in enumerate(zip(boxes, shapes, strict=True))
        if shape
    ]
    known.sort(key=lambda item: -max(item.shape.values()))
    kept: list[Item] = []
    for item in known:
        if all(item.box.intersect(other.box) is None for other in kept):
            kept.append(item)
    return kept


def _icon_boxes(edges: Edges, texts: Sequence[Rect]) -> Iterator[Rect]:
    """Yield the boxes of connected drawings of an icon's size, apart from text."""
    ink = edges.columns | edges.rows
    ink[:, :-1] |= edges.columns[:, 1:]
    ink[:-1] |= edges.rows[1:]
    for text in texts:
        ink[max(text.y, 0) : text.bottom, max(text.x, 0) : text.right] = False
    seen: set[Rect] = set()
    for reach in _REACHES:
        for x, y, w, h, _ in find_shapes(spread(ink, reach, reach)).tolist():
            box = Rect(x, y, w, h)
            if min(w, h) >= _ICON_MIN_PX and max(w, h) <= _ICON_MAX_PX and box not in seen:
                seen.add(box)
                yield box


def _pad_box(box: Rect) -> Rect:
    """Return `box` with the ground around it, from which a silhouette stands out."""
    return Rect(box.x - 4, box.y - 4, box.w + 8, box.h + 8)


def find_window_id(box: Rect, picture_place: Rect, windows: Sequence[WindowInfo]) -> int:
    """Return the id of the topmost window at the middle of `box`; 0 for none, or for a window's frame."""
    x, y = picture_place.x + box.x + box.w // 2, picture_place.y + box.y + box.h // 2
    found = window_at(windows, x, y)
    return found.window_id if found is not None and found.bounds.holds(x, y) else 0
