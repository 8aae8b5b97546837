"""Match a description to an item by explaining every word of it: by the item's own names and icon, by its kind and
state, or by its surroundings. An item that leaves a word unexplained is never a sure answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from typing import Literal

from msgspec import Struct

from acud.accessibility.labels import BUTTONS, CHOOSERS, HEADERS, INPUTS, MENU_ITEMS
from acud.features.grounding.description_parts import (
    FUNCTION,
    LOOKS,
    AnchoredPlace,
    Parts,
    is_free,
    last_kind,
    parts_of,
    strip_lead_in,
)
from acud.features.grounding.icon_words import icon_table
from acud.features.grounding.screen_items import OWN, RECORD, WINDOW, Item, Surroundings
from acud.features.grounding.widget_words import WORDS
from acud.features.grounding.word_likeness import is_form, is_same_word, is_synonym, likeness, normal
from acud.types import Rect

_CLEAR = 0.12
"""How much cheaper than the next explanation the best must be."""
_SYNONYM, _MEANING, _FILE_NAME, _TYPO, _FORM, _SORT = 0.08, 0.05, 0.04, 0.03, 0.02, 0.2
_EXTRA = 0.3
"""The cost when none of the words of the best name are in the description."""
_PASSIVE = 0.45
_BUTTONS = BUTTONS | {"menu item", "link"}
_TO_DO = _BUTTONS | {"check box", "radio button", "switch"}
"""Roles that are named by what they do."""
_FURTHER = 0.05
_NEAR_PX = 420
_ZONE, _STRUCTURE = 0.34, 0.45
_BOUND = frozenset({"in", "out"})
"""Words that need no explanation elsewhere, but change the meaning of "zoom" or "log"."""
_SORTING = frozenset({"sort", "order", "by"})
"""Words for what a click on a column header does."""
_HOLD_WORDS = frozenset(
    {"", "cell", "item", "row", "entry", "option", "list item", "list entry", "tree item", "file", "folder"}
)
"""Kinds that fit a cell with words; a mark is drawn in an empty cell."""
_ROW_KINDS = frozenset({"row", "item", "list item", "list entry", "entry"})
_CELLS = frozenset({"table cell", "tree item"})
_SAYING = frozenset({"label", "static", "heading", "paragraph", "caption", "image", "table cell", "text"})
"""Roles that a description without a kind may mean, though a click on them does nothing."""
_ALIKE = 0.92
"""The least likeness of a name that is the whole description."""
_UNEXPLAINED, _WRONG_KIND, _LONGER = 0.6, 0.5, 0.3
"""The cost of an unexplained word, of another kind, of a name with further words. Never sure."""
_SPECIFIC = frozenset(
    """
    text area;textarea;slider;spinner;spin box;spin button;combo box;combobox;combo;dropdown;drop-down;drop down;
    dropdown list;drop-down list;dropdown menu;drop-down menu;select box;selector;search box;search field;search bar
    """.replace("\n", "")
    .replace("    ", "")
    .split(";")
)
"""Kinds of control that a screen often has one of."""
_PLACED = 0.3
"""How much dearer than the best an item at the right place may be, while something cheaper is there."""
_UNSAID = 0.15
_UNTOLD = 0.4
"""The cost of a word for the purpose of a nameless control that its place or kind singles out."""


class Explained(Struct, frozen=True):
    """`item` with the cost of its explanation (0: all by its own name). `is_doubtful`: some of the description remains
    unexplained. `is_by_shape`: only the shape of its icon explains it.
    """

    item: Item
    cost: float
    is_doubtful: bool = False
    is_by_shape: bool = False


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
    shown = _pairs(around.items)
    parts = parts_of(description, shown)
    can_be = [
        item for item in around.items
        if item.ref not in blocked and (roles is None or item.role in roles or item.may_be & roles)
    ]  # fmt: skip
    explainer = _Explainer(parts, around, can_be, shown)
    whole = normal(strip_lead_in(description))
    found = explainer.find_named(whole) or explainer.find_named_of_kind(whole) or explainer.find_all()
    if not found:
        near = explainer.find_near()
        if len(near) == 1 and explainer.is_what_to_do(near[0].item):
            return ItemMatch("sure", (Explained(near[0].item, near[0].cost),))
        return ItemMatch("unsure", tuple(near)) if near else ItemMatch("nothing")
    best = [one for one in found if one.cost < found[0].cost + _CLEAR]
    return ItemMatch("sure" if len(best) == 1 else "ambiguous", tuple(best))


def _pairs(items: Sequence[Item]) -> frozenset[str]:
    names = {name for item in items for name in item.names}
    return frozenset(f"{a} {b}" for name in names for a, b in zip(name.split(), name.split()[1:], strict=False))


class _Explainer:
    def __init__(self, parts: Parts, around: Surroundings, can_be: Sequence[Item], shown: Set[str]) -> None:
        self._parts = parts
        self._around = around
        self._items = can_be
        self._phrases = _phrases(parts.words)
        self._window_boxes = _window_boxes(around.items)
        self._is_loose = False
        self._by_word: dict[str, dict[str, tuple[Item, float]]] = {}
        head = parts.words[: parts.head]
        self._together = frozenset(word for a, b in itertools.pairwise(head) if f"{a} {b}" in shown for word in (a, b))
        self._telling = self._telling_words()
        self._names_itself = any(not self._is_free(word) for word in parts.words[: parts.head])
        self._names_anything = any(not self._is_free(word) for word in parts.words) or any(
            word not in FUNCTION | LOOKS for word in head
        )
        self._is_placed = bool(parts.kind and (parts.places or parts.number or parts.most or parts.states or parts.row))

    def _telling_words(self) -> frozenset[str]:
        """Return the free words that name the thing for lack of others: "Open button", "Name header"."""
        head = self._parts.words[: self._parts.head]
        if not all(is_free(word) for word in head):
            return frozenset()
        if not _is_narrowed(self._parts):
            return frozenset(head) - FUNCTION  # "Large" alone is what something is called
        of_kind = {item.ref for item in self._items if self._is_of_kind(item)}
        return frozenset(
            word for word in head
            if (word not in FUNCTION or word in self._together)
            and any(item.ref in of_kind for item, _ in self._items_called(word).values())
        )  # fmt: skip

    def _is_free(self, word: str) -> bool:
        return word not in self._telling and is_free(word)

    def _items_called(self, word: str) -> Mapping[str, tuple[Item, float]]:
        if word not in self._by_word:
            costs = ((item, _own_cost(word, item)) for item in self._around.items)
            self._by_word[word] = {item.ref: (item, cost) for item, cost in costs if cost is not None}
        return self._by_word[word]

    def _own_cost(self, word: str, item: Item) -> float | None:
        called = self._items_called(word).get(item.ref)
        return called[1] if called is not None else None

    def find_named(self, whole: str) -> list[Explained]:
        """Return the items named like the whole description: "Last name" is not the last of anything."""
        found = [
            Explained(item, (1 - max(likes)) + (0.0 if item.is_active else _PASSIVE))
            for item in self._items
            if (likes := [like for name in item.names if (like := likeness(whole, name)) >= _ALIKE])
            and (item.is_active or item.role in _SAYING)
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
        best = [one for one in known if one.cost < known[0].cost + _UNEXPLAINED]
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

    # ---- one item ---------------------------------------------------------------------------------------------------

    def _explain_item(self, item: Item) -> Explained | None:
        parts = self._parts
        is_kind = self._is_of_kind(item)
        if not self._is_in_state(item) or not (is_kind or (self._is_loose and item.is_active)):
            return None
        cost, own, head_own, head_borrowed, by_icon, missed, told_words = 0.0, 0, 0, 0, False, 0, 0
        by_shape = False
        used: set[str] = set()
        paid: set[str] = set()
        is_alone = self._is_placed or not self._names_anything
        if not (is_alone or self._around.is_cell(item)) and not self._has_any_own(item):
            return None  # the description fits only its surroundings
        at = 0
        for phrase, meanings in self._phrases:
            words = phrase.split()
            in_head = at < parts.head
            at += len(words)
            told_words += any(not self._is_free(word) for word in words)
            price = _icon_cost(meanings, item)
            if price is not None:
                cost += price
                own += 1
                head_own += in_head
                by_icon = True
                by_shape = not meanings & item.meanings
                used |= set(words)
                continue
            told = self._explain_words(words, item, used, paid, is_phrase=len(words) > 1 and bool(meanings))
            if told is None:
                untold = self._untold_cost(item)
                if untold is None and not self._is_loose:
                    return None
                cost += _UNEXPLAINED if untold is None else untold
                missed += untold is None
                continue
            price, by_itself = told
            cost += price
            own += by_itself
            head_own += by_itself and in_head
            head_borrowed += in_head and price >= RECORD
        if not own and not (is_alone or self._around.is_cell(item)):
            return None
        if missed and 2 * missed > told_words:
            return None
        if self._names_itself and not head_own and not self._is_untold(item):
            if not self._is_loose and (not self._around.is_cell(item) or (own and not self._is_titled(item))):
                return None  # a cell alone is called by its column
            cost += 0.2  # what the description names first stands elsewhere
        if by_icon and head_borrowed and not item.shape and _extra(item, used) >= 0.5:
            return None  # "font size" is not "Font colour" beside a size
        extra = 0.0 if by_icon else _extra(item, used)
        if own and extra >= 0.5 and (item.role in _BUTTONS or item.text >= 0):
            if not self._is_loose:
                return None  # "delete" is not "Delete all"
            cost += _LONGER
        cost += _EXTRA * extra if own else 0.0
        cost += 0.0 if is_kind else _WRONG_KIND
        return Explained(item, cost + (0.0 if item.is_active else _PASSIVE), is_by_shape=by_shape)

    def _has_any_own(self, item: Item) -> bool:
        """Return whether the item's own names or icon explain any phrase of the description."""
        return any(
            _icon_cost(meanings, item) is not None
            or any(self._own_cost(word, item) is not None or word in item.sorts for word in phrase.split())
            for phrase, meanings in self._phrases
        )

    def _is_titled(self, item: Item) -> bool:
        """Return whether the window's title has the first words: "the mail from Ada" in a window "Mail"."""
        head = [word for word in self._parts.words[: self._parts.head] if not self._is_free(word)]
        return all(self._around.in_title(item, word) for word in head)

    def _untold_cost(self, item: Item) -> float | None:
        """Return the cost of a word that the item itself does not explain; None where that leaves doubt."""
        return _UNTOLD if self._is_untold(item) else None

    def _is_untold(self, item: Item) -> bool:
        """Return whether the item is a control without a label, singled out by its kind or place."""
        parts = self._parts
        if not parts.kind or item.is_labelled or item.role not in INPUTS | CHOOSERS or not self._is_of_kind(item):
            return False
        if parts.places and item.text < 0:
            return True
        return parts.kind in _SPECIFIC and self._only_of_kind(parts.kind) == item.ref

    def _only_of_kind(self, kind: str) -> str:
        """Return the ref of the only item of `kind` in all windows ("" for none or several)."""
        roles = WORDS[kind]
        found = [item.ref for item in self._around.items if item.role in roles and item.is_active]
        return found[0] if len(found) == 1 else ""

    def _explain_words(
        self, words: Sequence[str], item: Item, used: set[str], paid: set[str], *, is_phrase: bool
    ) -> tuple[float, int] | None:
        """Return the cost of explaining each of `words`, and how many are the item's own; None if one is unexplained.
        The words of a phrase that names icons count only together. `used` collects the item's own words, `paid` the
        things around it that explain others: their further words cost little.
        """
        cost, own = 0.0, 0
        for word in words:
            mine = self._own_cost(word, item)
            if mine is not None:
                cost += mine
                own += is_phrase or not self._is_free(word)
                used.add(word)
                continue
            is_bound = is_phrase and word in _BOUND
            if (self._is_free(word) and not is_bound and (own or not is_phrase)) or (
                word in _SORTING and item.role in HEADERS
            ):
                cost += self._unsaid_cost(word, item)
                continue
            near = self._nearest_cost(word, item)
            if near is None:
                if (
                    self._is_free(word)
                    and not is_bound
                    and any(self._own_cost(one, item) is not None or self._is_free(one) for one in words[1:])
                ):
                    continue
                if word in item.sorts:
                    cost += _SORT
                    own += item.role not in _CELLS
                    continue
                return None
            price, source = near
            cost += min(price, _FURTHER) if source in paid else price
            paid.add(source)
        return cost, own

    def _unsaid_cost(self, word: str, item: Item) -> float:
        """Return the cost of a free word that names something else: "small" in "small parcel" may be no size."""
        if (
            (word in FUNCTION and word not in self._together)
            or not self._items_called(word)
            or self._nearest_cost(word, item) is not None
        ):
            return 0.0
        return _UNSAID

    def _nearest_cost(self, word: str, item: Item) -> tuple[float, str] | None:
        """Return the least cost of explaining `word` by something around the item, with its ref."""
        found = [
            (price + extra, other.ref)
            for other, price in self._items_called(word).values()
            if other.ref != item.ref and (extra := self._around.cost(item, other)) is not None
        ]
        if found:
            return min(found)
        return (WINDOW, "title") if self._around.in_title(item, word) else None

    def _is_of_kind(self, item: Item) -> bool:
        parts = self._parts
        roles = WORDS.get(parts.kind, frozenset())
        if parts.kind and item.role not in roles and not item.may_be & roles:
            return False
        if item.role == "table cell" and item.names and parts.kind not in _HOLD_WORDS:
            return False
        if not parts.kind and not item.is_active and item.role not in _SAYING:
            return False
        return not any(item.role in WORDS[kind] for kind in parts.unlike)

    def _is_in_state(self, item: Item) -> bool:
        parts = self._parts
        if not item.is_enabled and not self._names_anything and "disabled" not in parts.states:
            return False  # a kind alone never means an item that can't be used
        if "disabled" in parts.states and item.is_enabled:
            return False
        if "checked" in parts.states and not item.is_checked:
            return False
        if "selected" in parts.states and not (item.is_selected or item.is_checked):
            return False
        if parts.row and not self._around.is_in_row(item, parts.row):
            return False
        return not ("unchecked" in parts.states and item.is_checked)

    # ---- places and order -------------------------------------------------------------------------------------------

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
        telling = [(phrase, sense) for phrase, sense in _phrases(words) if not all(map(is_free, phrase.split()))]
        return self._find_explaining(words, exact) or self._find_explaining(words, telling)

    def _find_explaining(self, words: Sequence[str], telling: Sequence[tuple[str, frozenset[str]]]) -> list[Item]:
        found = []
        for item in self._around.items:
            used: set[str] = set()
            costs = [_by_itself(phrase, meanings, item, used) for phrase, meanings in telling]
            if telling and None not in costs:
                found.append((_extra(item, used) + sum(cost for cost in costs if cost), item))
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
        inner = [one for one in known if one.item.is_active and one.item.role not in _CELLS]
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


def _is_narrowed(parts: Parts) -> bool:
    """Return whether the description gives a kind, a state or a place."""
    return bool(
        parts.kind or parts.places or parts.number or parts.most or parts.states or parts.row or parts.zones
        or parts.structures
    )  # fmt: skip


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


# ---- words ---------------------------------------------------------------------------------------------------------


def _phrases(words: Sequence[str]) -> list[tuple[str, frozenset[str]]]:
    """Return `words` as phrases, the longest that name icons first, each with the meanings of such icons."""
    table = icon_table().by_phrase
    found: list[tuple[str, frozenset[str]]] = []
    at = 0
    while at < len(words):
        count = next((n for n in range(5, 0, -1) if at + n <= len(words) and " ".join(words[at : at + n]) in table), 1)
        phrase = " ".join(words[at : at + count])
        found.append((phrase, table.get(phrase, frozenset())))
        at += count
    return found


def _by_itself(phrase: str, meanings: frozenset[str], item: Item, used: set[str]) -> float | None:
    """Return the cost of explaining `phrase` by the item's own name or icon; None if they don't."""
    price = _icon_cost(meanings, item)
    if price is not None:
        used |= set(phrase.split())
        return price
    cost = 0.0
    for word in phrase.split():
        mine = _own_cost(word, item)
        if mine is not None:
            used.add(word)
            cost += mine
        elif not is_free(word):
            return None
    return cost


def _icon_cost(meanings: Set[str], item: Item) -> float | None:
    """Return the cost of an icon with one of `meanings`, by its name, else by its shape; None without one."""
    if meanings & item.meanings:
        return _MEANING
    like = max((item.shape[meaning] for meaning in meanings if meaning in item.shape), default=None)
    return None if like is None else _MEANING + 1 - like


def _own_cost(word: str, item: Item) -> float | None:
    """Return the cost of `word` as a word of the item's names or of its role's purpose; None if it is neither."""
    costs = [cost for name in item.names for own in _join_pairs(name) if (cost := _word_cost(word, own)) is not None]
    if word in _OF_ROLE.get(item.role, ()):
        costs.append(_SYNONYM)
    return min(costs, default=None)


_NUMBERS = frozenset({"number", "amount", "count", "quantity", "value", "many", "much"})
_OF_ROLE = {
    "spin button": _NUMBERS, "slider": _NUMBERS, "password text": frozenset({"password", "secret"}),
    "combo box": frozenset({"choice", "selection", "selector", "chooser"}),
}  # fmt: skip


def _join_pairs(name: str) -> Sequence[str]:
    """Return the words of `name`, and each two that stand together as one: "time zone" is a timezone."""
    words = name.split()
    return [*words, *(a + b for a, b in itertools.pairwise(words))]


def _word_cost(word: str, own: str) -> float | None:
    if own == word:
        return OWN
    if own.partition(".")[0] == word:
        return _FILE_NAME
    if is_same_word(word, own):
        return _TYPO
    if is_form(word, own):
        return _FORM
    return _SYNONYM if is_synonym(word, own) else None


_SMALL_WORDS = 0.45
"""The share that missing small words of a name count for: "Save" is not quite "Save as"."""


def _extra(item: Item, used: Set[str]) -> float:
    """Return the share of the best name's words that the description lacks."""
    if not item.names:
        return 0.0
    shares = []
    for name in item.names:
        words = [word for word in name.split() if not is_free(word)] or name.split()
        there = sum(any(_word_cost(word, own) is not None for word in used) for own in words)
        small = any(word not in used for word in name.split() if is_free(word))
        shares.append(max(1 - there / len(words), _SMALL_WORDS * small))
    return min(shares)


# ---- geometry ------------------------------------------------------------------------------------------------------


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


def find_icon_phrases(description: str) -> Mapping[str, frozenset[str]]:
    """Return the phrases of `description` that may name an icon, with their meanings."""
    return {phrase: meanings for phrase, meanings in _phrases(parts_of(description).words) if meanings}
