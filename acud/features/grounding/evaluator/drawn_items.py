"""What pixels show, as the items that descriptions are matched with: text and what is drawn around it, fields with
their labels, marks, and icons by their shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import cv2
import numpy as np
from numpy.typing import NDArray

from acud.accessibility.labels import CHOOSERS, HEADERS, INPUTS, ITEMS, MENU_ITEMS
from acud.evaluator.ocr.text_layout import TextSegment
from acud.features.grounding.evaluator.drawn_controls import Edges, field_of, square_mark_of
from acud.features.grounding.evaluator.icon_shapes import shapes_meanings
from acud.features.grounding.screen_items import Item
from acud.features.grounding.widget_words import TEXTS
from acud.features.grounding.word_likeness import is_same_word, normal
from acud.types import Rect, WindowInfo, window_at

_ICON_MIN_PX, _ICON_MAX_PX = 9, 40
_REACHES = (1, 3)
"""How far apart, in pixels, the strokes of one icon may be: a bin's are close, those of three bars are not."""
_PADDING_PX = 160

_TEXT_MAY_BE = (ITEMS | MENU_ITEMS | TEXTS | HEADERS | {"link", "page tab", "push button"}) - {
    "icon",
    "text",
    "check menu item",
    "radio menu item",
}
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
        window = find_window_id(part.box, picture_place, windows)
        names = tuple(name for name in (normal(part.text),) if name)
        if words is not None and not any(
            is_same_word(word, own) for name in names for own in name.split() for word in words
        ):
            found.append(Item(f"t{index}", part.box, "label", names, may_be=_TEXT_MAY_BE, window=window, text=index))
            continue
        drawn = edges.around(part.box)
        fits = drawn is not None and drawn.w <= part.box.w + _PADDING_PX and drawn.h <= 3 * part.box.h
        mark = square_mark_of(part.box, edges)
        if mark is not None:
            found.append(
                Item(
                    f"m{index}", mark, "check box", names, is_enabled=index not in pale,
                    is_checked=edges.is_marked(mark), may_be=MARKS, window=window, text=index,
                )
            )  # fmt: skip
        near = field_of(part.box, boxes, edges, is_typed_into=is_typed_into)
        is_enabled = index not in pale
        if near is not None and near.sure:
            found.append(Item(f"f{index}", near.box, "entry", names, may_be=_FIELD_MAY_BE, window=window, text=index))
        if fits and drawn is not None and not (near is not None and near.box == drawn):
            found.append(
                Item(
                    f"b{index}", drawn, "push button", names, is_enabled=is_enabled, may_be=_BUTTON_MAY_BE,
                    window=window, text=index,
                )
            )  # fmt: skip
        else:
            found.append(
                Item(
                    f"t{index}", part.box, "label", names, is_enabled=is_enabled, may_be=_TEXT_MAY_BE, window=window,
                    text=index,
                )
            )  # fmt: skip
    return found


def find_icons(
    pixels: NDArray[np.uint8], edges: Edges, texts: Sequence[Rect], picture_place: Rect, windows: Sequence[WindowInfo]
) -> list[Item]:
    """Return the icons of the picture (height x width x 4 uint8 BGRX) like a template; the likeliest of overlaps."""
    boxes = list(_icon_boxes(edges, texts))
    known = [
        Item(
            f"i{index}",
            box,
            "push button",
            shape=shape,
            may_be=_ICON_MAY_BE,
            window=find_window_id(box, picture_place, windows),
        )
        for index, (box, shape) in enumerate(
            zip(boxes, shapes_meanings(pixels, [_pad(box) for box in boxes]), strict=True)
        )
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
    ink = (edges.columns | edges.rows).astype(np.uint8)
    ink[:, :-1] |= edges.columns[:, 1:]
    ink[:-1] |= edges.rows[1:]
    for text in texts:
        ink[max(text.y, 0) : text.bottom, max(text.x, 0) : text.right] = 0
    seen: set[Rect] = set()
    for reach in _REACHES:
        kernel = np.ones((reach, reach), np.uint8)
        joined = cv2.dilate(ink, kernel) if reach > 1 else ink
        count, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
        for x, y, w, h in stats[1:count, :4].tolist():
            box = Rect(x, y, w, h)
            if min(w, h) >= _ICON_MIN_PX and max(w, h) <= _ICON_MAX_PX and box not in seen:
                seen.add(box)
                yield box


def _pad(box: Rect) -> Rect:
    """Return `box` with the ground around it, from which a silhouette stands out."""
    return Rect(box.x - 4, box.y - 4, box.w + 8, box.h + 8)


def find_window_id(box: Rect, picture_place: Rect, windows: Sequence[WindowInfo]) -> int:
    """Return the id of the topmost window at the middle of `box`; 0 for none, or for a window's frame."""
    x, y = picture_place.x + box.x + box.w // 2, picture_place.y + box.y + box.h // 2
    found = window_at(windows, x, y)
    return found.window_id if found is not None and found.bounds.holds(x, y) else 0
