"""Match a description to an item by explaining every word of it: by the item's own names and icon, by its kind and
state, or by its surroundings. An item that leaves a word unexplained is never a sure answer.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Literal

from msgspec import Struct

from acud.accessibility.labels import MENU_ITEMS
from acud.features.grounding.description_parts import (
    FUNCTION,
    AnchoredPlace,
    Parts,
    is_free,
    last_kind,
    parts_of,
    strip_lead_in,
)
from acud.features.grounding.item_explanation import (
    CELLS,
    NAMED_BY_ACTION,
    PASSIVE,
    SAYING,
    UNEXPLAINED,
    Explained,
    ItemExplainer,
    cost_by_itself,
    missing_share,
    split_phrases,
)
from acud.features.grounding.screen_items import Item, Surroundings
from acud.features.grounding.widget_words import WORDS
from acud.features.grounding.word_likeness import likeness, normal
from acud.types import Rect

_CLEAR = 0.12
"""How much cheaper than the next explanation the best must be."""
_TO_DO = NAMED_BY_ACTION | {"check box", "radio button", "switch"}
"""Roles that are named by what they do."""
_NEAR_PX = 420
_ZONE, _STRUCTURE = 0.34, 0.45
_ROW_KINDS = frozenset({"row", "item", "list item", "list entry", "entry"})
_ALIKE = 0.92
"""The least likeness of a name that is the whole description."""
_PLACED = 0.3
"""How much dearer than the best an item at the right place may be, while something cheaper is there."""


class ItemMatch(Struct, frozen=True):
    """`sure`: exactly one. `ambiguous`: several that explain it equally well, cheapest first. `unsure`: near matches,
    each with something unexplained. `nothing`: none.
    """

    outcome: Literal["sure", "ambiguous", "unsure", "nothing"]
    items: tuple[Explained, ...] = ()


def explain(
    description: str, around: Surroundings, roles: Set[str] | None = None, blocked: Set[str] = frozenset()
) -> ItemMatch:
    """Return which of the items of `around` the description means. `roles`: the possible roles (None: any); `blocked`:
    refs of excluded items.
    """
    shown = _list_pairs(around.items)
    parts = parts_of(description, shown)
    can_be = [
        item for item in around.items
        if item.ref not in blocked and (roles is None or item.role in roles or item.may_be & roles)
    ]  # fmt: skip
    explainer = _ItemSearch(parts, around, can_be, shown)
    whole = normal(strip_lead_in(description))
    found = explainer.find_named(whole) or explainer.find_named_of_kind(whole) or explainer.find_all()
    if not found:
        near = explainer.find_near()
        if len(near) == 1 and explainer.is_what_to_do(near[0].item):
            return ItemMatch("sure", (Explained(near[0].item, near[0].cost),))
        return ItemMatch("unsure", tuple(near)) if near else ItemMatch("nothing")
    best = [one for one in found if one.cost < found[0].cost + _CLEAR]
    return ItemMatch("sure" if len(best) == 1 else "ambiguous", tuple(best))


def _list_pairs(items: Sequence[Item]) -> frozenset[str]:
    names = {name for item in items for name in item.names}
    return frozenset(f"{a} {b}" for name in names for a, b in zip(name.split(), name.split()[1:], strict=False))


class _ItemSearch(ItemExplainer):
    def __init__(self, parts: Parts, around: Surroundings, can_be: Sequence[Item], shown: Set[str]) -> None:
        super().__init__(parts, around, can_be, shown)
        self._window_boxes = _window_boxes(around.items)

    def find_named(self, whole: str) -> list[Explained]:
        """Return the items named like the whole description: "Last name" is not the last of anything."""
        found = [
            Explained(item, (1 - max(likes)) + (0.0 if item.is_active else PASSIVE))
            for item in self._items
            if (likes := [like for name in item.names if (like := likeness(whole, name)) >= _ALIKE])
            and (item.is_active or item.role in SAYING)
        ]
        found.sort(key=_by_cost)
        return self._drop_overlapping(found)

    def find_named_of_kind(self, whole: str) -> list[Explained]:
        """Return the items of the kind that ends the description, named like all that precedes it: "the Last button" is
        not the last of the buttons where one has that name.
        """
        stems = [(whole.removesuffix(f" {kind}"), roles) for kind, roles in WORDS.items() if whole.endswith(f" {kind}")]
        return self._drop_overlapping(
            sorted(
                (
                    Explained(item, 0.0)
                    for item in self._items
                    if item.is_active
                    and any(stem in item.names and (item.role in roles or item.may_be & roles) for stem, roles in stems)
                ),
                key=_by_cost,
            )
        )

    def find_all(self) -> list[Explained]:
        """Return the items that explain the whole description, cheapest first."""
        parts = self._parts
        if not (parts.words or parts.kind or parts.places):
            return []
        known = [one for item in self._items if (one := self._explain_item(item)) is not None]
        known = [one for one in known if self._is_in_structure(one.item)]
        if any(one.cost < _CLEAR and not one.is_by_shape and one.item.is_active for one in known):
            known = [one for one in known if not one.is_by_shape]  # a name is stronger than a likeness
        if parts.is_in_menu and any(one.item.role in MENU_ITEMS for one in known):
            known = [one for one in known if one.item.role in MENU_ITEMS]
        least = min((one.cost for one in known), default=0.0)
        exact = [one for one in known if one.cost < least + _CLEAR and self._is_called_so(one.item)]
        cheap = [one for one in known if one.cost < least + _PLACED]
        known = self._keep_placed(exact) or self._keep_placed(cheap) or self._keep_placed(known)
        known.sort(key=_by_cost)
        known = self._drop_overlapping(known)
        if parts.number and not parts.places:
            if parts.kind in _ROW_KINDS and not self._names_anything:
                return self._find_row()
            return self._apply_order(known) or self._find_row()
        return self._apply_order(known)

    def _is_called_so(self, item: Item) -> bool:
        """Return whether the description's own words are the item's whole name, which beats every synonym."""
        own = self._parts.words[: self._parts.head] or self._parts.words
        return bool({" ".join(own), " ".join(word for word in own if word not in FUNCTION)} & {*item.names})

    def find_near(self) -> list[Explained]:
        """Return the items that explain most of the description, cheapest first."""
        if not self._names_anything:
            return []
        self._is_loose = True
        known = [one for item in self._items if (one := self._explain_item(item)) is not None]
        known = self._keep_placed(known) or known
        known.sort(key=_by_cost)
        known = self._drop_overlapping(known)
        best = [one for one in known if one.cost < known[0].cost + UNEXPLAINED]
        return [Explained(one.item, one.cost, True) for one in (self._keep_in_zones(best) or best)]

    def is_what_to_do(self, item: Item) -> bool:
        """Return whether the description begins with the item's whole name and goes on with an object that has no name
        on the screen: "pause the music" where only the button Pause is.
        """
        parts = self._parts
        if item.role not in _TO_DO or not self._is_of_kind(item):
            return False
        if not parts.words or parts.places or parts.number or parts.states or parts.row:
            return False
        said = [word for word in parts.words if not self._is_free(word)]
        whole = any(
            said and name and said[0] in name.split() and all(word in parts.words for word in name.split())
            for name in item.names
        )
        own = {word for word in said if self._own_cost(word, item) is not None}
        return whole and not any(self._items_called(word) for word in said if word not in own)

    def _find_row(self) -> list[Explained]:
        """Return the row that a number alone picks ("second row", "last entry in the list"), if there is only one list
        and the description's word for its rows names nothing else on the screen.
        """
        said = [word for word in self._parts.words if not self._is_free(word)]
        if self._parts.places or len(said) > 1 or any(self._items_called(word) for word in said):
            return []
        known = {item.ref for item in self._items}
        lists = [rows for rows in self._around.lists() if len(rows) >= max(2, abs(self._parts.number))]
        lists = [rows for rows in lists if all(row.ref in known for row in rows)]
        if len(lists) != 1:
            return []
        return [Explained(lists[0][self._parts.number - 1 if self._parts.number > 0 else -1], 0.5)]

    def _keep_placed(self, known: Sequence[Explained]) -> list[Explained]:
        left = list(known)
        for place in self._parts.places:
            left = self._keep_at_place(place, left)
        return left

    def _keep_at_place(self, place: AnchoredPlace, known: Sequence[Explained]) -> list[Explained]:
        anchors = [self._find_anchors(words) for words in place.anchors]
        named = {item.ref for boxes in anchors for item in boxes}
        gaps = self._all_gaps(place, known, anchors)
        if not gaps:  # a label's own field is beside it
            labels = [[item for item in boxes if not item.is_active] for boxes in anchors]
            named = {item.ref for boxes in labels for item in boxes}
            gaps = self._all_gaps(place, known, labels)
        if not gaps and place.relation == "below":
            others = [one for one in known if one.item.ref not in named]
            return [one for one in (self._in_section(place.anchors[0], one) for one in others) if one is not None]
        if not gaps:
            return []
        nearest = min(gaps.values())
        return [one for one in known if one.item.ref in gaps and gaps[one.item.ref] <= nearest + 3]

    def _all_gaps(
        self, place: AnchoredPlace, known: Sequence[Explained], anchors: Sequence[Sequence[Item]]
    ) -> dict[str, int]:
        """Return by ref the distance from the anchors of the items in that relation to them, without the anchors."""
        named = {item.ref for boxes in anchors for item in boxes}
        gaps: dict[str, int] = {}
        for one in known:
            found = [self._gaps_to(place.relation, one.item, boxes) for boxes in anchors]
            is_there = all(found) if place.relation == "between" else any(found)
            if one.item.ref not in named and is_there:
                gaps[one.item.ref] = min(gap for each in found for gap in each)
        return gaps

    def _in_section(self, words: Sequence[str], one: Explained) -> Explained | None:
        """Return `one` with the cost of standing in a section of that name: "under Output"."""
        cost = one.cost
        for word in words:
            if self._is_free(word):
                continue
            near = self._nearest_cost(word, one.item)
            if near is None:
                return None
            cost += near[0]
        return Explained(one.item, cost)

    def _find_anchors(self, words: Sequence[str]) -> list[Item]:
        """Return the items that explain each of `words` by themselves, only those with the fewest further words."""
        exact = [
            (word, frozenset[str]()) for word in words
            if word not in FUNCTION and (not is_free(word) or self._items_called(word))
        ]  # fmt: skip
        telling = [(phrase, sense) for phrase, sense in split_phrases(words) if not all(map(is_free, phrase.split()))]
        return self._find_explaining(words, exact) or self._find_explaining(words, telling)

    def _find_explaining(self, words: Sequence[str], telling: Sequence[tuple[str, frozenset[str]]]) -> list[Item]:
        found = []
        for item in self._around.items:
            used: set[str] = set()
            costs = [cost_by_itself(phrase, meanings, item, used) for phrase, meanings in telling]
            if telling and None not in costs:
                found.append((missing_share(item, used) + sum(cost for cost in costs if cost), item))
        best = min((extra for extra, _ in found), default=0.0)
        anchors = [item for extra, item in found if extra <= best + 0.005]
        kind = last_kind(words)
        return [item for item in anchors if kind and item.role in WORDS[kind]] or anchors

    def _gaps_to(self, relation: str, item: Item, anchors: Sequence[Item]) -> list[int]:
        found = []
        for anchor in anchors:
            if anchor.window != item.window:
                continue
            gap = direction_gap(relation, item, anchor)
            if gap is not None and gap <= _NEAR_PX:
                found.append(gap)
        return found

    def _drop_overlapping(self, known: list[Explained]) -> list[Explained]:
        """Drop items around another active item, and items inside one that explains the description at lower cost."""
        inner = [one for one in known if one.item.is_active and one.item.role not in CELLS]
        outer = {
            one.item.ref for one in known
            if any(other is not one and _is_part(other.item, one.item) and not _is_whole(one, other) for other in inner)
        }  # fmt: skip
        kept: list[Explained] = []
        for one in known:
            if one.item.ref not in outer and not any(_is_one_thing(one.item, other.item) for other in kept):
                kept.append(one)
        return kept

    def _apply_order(self, known: list[Explained]) -> list[Explained]:
        parts = self._parts
        if not known:
            return known
        equal = [one for one in known if one.cost < known[0].cost + _CLEAR]
        if parts.zones and len(equal) > 1 and (there := self._keep_in_zones(equal)):
            equal = known = there
        if parts.most and equal:
            return [_at_side(equal, parts.most)]
        if parts.number:
            in_order = sorted(equal, key=lambda one: (one.item.box.y, one.item.box.x))
            if len(in_order) < max(2, abs(parts.number)):
                return []
            return [in_order[parts.number - 1 if parts.number > 0 else -1]]
        if len(equal) > 1:
            return equal
        return known

    def _keep_in_zones(self, equal: Sequence[Explained]) -> list[Explained]:
        return [one for one in equal if all(self._is_at(side, one.item, _ZONE) for side in self._parts.zones)]

    def _is_in_structure(self, item: Item) -> bool:
        """Return whether the item's place fits the part of the window that the description names."""
        for side in self._parts.structures:
            if side in ("page", "browser"):
                in_page = self._around.is_in_page(item)
                if in_page is not None and in_page != (side == "page"):
                    return False
                continue
            sides = ("left", "right") if side == "edge" else (side,)
            if not any(self._is_at(one, item, _STRUCTURE) for one in sides):
                return False
        return True

    def _is_at(self, side: str, item: Item, share: float) -> bool:
        """Return whether the item's middle is in the outer `share` of its window on that side."""
        frame = self._window_boxes.get(item.window, item.box)
        x = (item.box.x + item.box.w / 2 - frame.x) / max(frame.w, 1)
        y = (item.box.y + item.box.h / 2 - frame.y) / max(frame.h, 1)
        return {"left": x, "right": 1 - x, "top": y, "bottom": 1 - y}[side] < share


def _window_boxes(items: Sequence[Item]) -> dict[int, Rect]:
    found: dict[int, Rect] = {}
    for item in items:
        known = found.get(item.window, item.box)
        x, y = min(known.x, item.box.x), min(known.y, item.box.y)
        found[item.window] = Rect(
            x, y, max(known.right, item.box.right) - x, max(known.bottom, item.box.bottom) - y
        )  # fmt: skip
    return found


def _is_whole(one: Explained, part: Explained) -> bool:
    """Return whether `one` is the named thing and `part` a part of it: a date field, and its "Day Departure"."""
    return one.item.is_active and one.cost + _CLEAR <= part.cost


def direction_gap(relation: str, item: Item, anchor: Item) -> int | None:
    """Return how far `item` is from `anchor` in that direction; None when it isn't there."""
    box, at = item.box, anchor.box
    middle_x, middle_y = box.x + box.w / 2, box.y + box.h / 2
    level = at.y - 2 <= middle_y <= at.bottom + 2 or box.y - 2 <= at.y + at.h / 2 <= box.bottom + 2
    column = at.x - 2 <= middle_x <= at.right + 2 or box.x - 2 <= at.x + at.w / 2 <= box.right + 2
    column = column or abs(box.x - at.x) <= 12
    gaps = {
        "left": at.x - box.right if level else None,
        "right": box.x - at.right if level else None,
        "above": at.y - box.bottom if column else None,
        "below": box.y - at.bottom if column else None,
    }
    allowed = {
        "beside": ("left", "right"), "between": ("left", "right", "above", "below"), "after": ("right", "below"),
        "before": ("left", "above"),
    }.get(relation, (relation,))  # fmt: skip
    found = [max(gap, 0) for side in allowed if (gap := gaps[side]) is not None and gap >= -4]
    return min(found, default=None)


def _by_cost(one: Explained) -> tuple[float, int, int]:
    return one.cost, one.item.box.y, one.item.box.x


def _is_one_thing(a: Item, b: Item) -> bool:
    """Return whether one lies in the other: a label in its button, a cell in its row."""
    if a.text == b.text >= 0:
        return True
    return a.window == b.window and (b.box.contains(a.box) or a.box.contains(b.box))


def _is_part(inner: Item, outer: Item) -> bool:
    return inner.window == outer.window and inner.box != outer.box and outer.box.contains(inner.box)


def _at_side(known: Sequence[Explained], side: str) -> Explained:
    keys = {
        "left": lambda one: one.item.box.x, "right": lambda one: -one.item.box.right,
        "top": lambda one: one.item.box.y, "bottom": lambda one: -one.item.box.bottom,
    }  # fmt: skip
    return min(known, key=keys[side])
