"""The thing that a description means, by explaining every word of it: by the thing's own names and icon, by its kind
and state, or by what it stands in, beside or under. What leaves a word unexplained is never a sure answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Literal

from msgspec import Struct

from acud.features.grounding.description_parts import AnchoredPlace, Parts, is_free, last_kind, parts_of
from acud.features.grounding.icon_words import icon_table
from acud.features.grounding.screen_items import OWN, RECORD, WINDOW, Item, Surroundings
from acud.features.grounding.widget_words import HEADERS, WORDS
from acud.features.grounding.word_likeness import is_same_word, synonyms
from acud.types import Rect

_CLEAR = 0.12
"""How much cheaper than the next explanation the best must be."""
_SYNONYM, _MEANING, _FILE_NAME, _TYPO = 0.08, 0.05, 0.04, 0.03
_EXTRA = 0.3
"""What it costs when none of the words of the name that fits best are in the description."""
_PASSIVE = 0.45
_BUTTONS = frozenset({"push button", "toggle button", "menu item", "push button menu", "link"})
_FURTHER = 0.05
_NEAR_PX = 420
_ZONE, _STRUCTURE = 0.34, 0.45
_BOUND = frozenset({"in", "out"})
"""Words that need no explanation elsewhere, but make another thing of "zoom" or "log"."""
_SORTING = frozenset({"sort", "order", "by"})
"""Words for what a click on the header of a column does."""
_ROWS = frozenset({"list item", "table row", "tree item"})
_CELLS = frozenset({"table cell", "tree item"})
_SAYING = frozenset({"label", "static", "heading", "paragraph", "caption", "image", "table cell", "text"})
"""What is meant, though no click on it does anything, by a description that tells no kind."""


class Explained(Struct, frozen=True):
    """`item` with what its explanation costs (0: all by its own name)."""

    item: Item
    cost: float


class ItemMatch(Struct, frozen=True):
    """`sure`: exactly one. `ambiguous`: several that explain it as well, cheapest first. `nothing`: none."""

    outcome: Literal["sure", "ambiguous", "nothing"]
    items: tuple[Explained, ...] = ()


def explain(description: str, around: Surroundings) -> ItemMatch:
    """Return which of the items of `around` the description means."""
    parts = parts_of(description)
    found = _Explaining(parts, around).found()
    if not found:
        return ItemMatch("nothing")
    best = [one for one in found if one.cost < found[0].cost + _CLEAR]
    return ItemMatch("sure" if len(best) == 1 else "ambiguous", tuple(best))


class _Explaining:
    def __init__(self, parts: Parts, around: Surroundings) -> None:
        self._parts = parts
        self._around = around
        self._phrases = _phrases(parts.words)
        self._frames = _frames(around.items)
        self._names_itself = any(not is_free(word) for word in parts.words[: parts.head])
        self._is_placed = bool(parts.kind and (parts.places or parts.number or parts.most or parts.states))
        self._by_word = {word: self._called(word) for word in dict.fromkeys(parts.words)}

    def _called(self, word: str) -> list[tuple[Item, float]]:
        """Return the items that have `word` in a name, with what that costs."""
        found = []
        for item in self._around.items:
            cost = _own_cost(word, item)
            if cost is not None:
                found.append((item, cost))
        return found

    def found(self) -> list[Explained]:
        parts = self._parts
        if not (parts.words or parts.kind or parts.places):
            return []
        known = [one for item in self._around.items if (one := self._explained(item)) is not None]
        known = self._placed([one for one in known if self._is_in_structure(one.item)])
        known.sort(key=lambda one: (one.cost, one.item.box.y, one.item.box.x))
        known = self._singled(known)
        return self._ordered(known) if known or not parts.number else self._row()

    def _row(self) -> list[Explained]:
        """Return the row that a number alone picks ("second row", "last entry in the list"), where there is one list
        only, and whatever the description calls its rows is not something else on the screen.
        """
        said = [word for word in self._parts.words if not is_free(word)]
        if self._parts.places or len(said) > 1 or any(self._by_word[word] for word in said):
            return []
        lists: dict[tuple[int, int, str], list[Item]] = {}
        for item in self._around.items:
            if item.role in _ROWS:
                lists.setdefault((item.window, item.box.x, item.role), []).append(item)
        long_enough = [rows for rows in lists.values() if len(rows) >= max(2, abs(self._parts.number))]
        if len(long_enough) != 1:
            return []
        rows = sorted(long_enough[0], key=lambda item: item.box.y)
        return [Explained(rows[self._parts.number - 1 if self._parts.number > 0 else -1], 0.5)]

    # ---- one item ---------------------------------------------------------------------------------------------------

    def _explained(self, item: Item) -> Explained | None:
        parts = self._parts
        if not self._fits(item):
            return None
        cost, own, head_own, head_borrowed, by_icon = 0.0, 0, 0, 0, False
        used: set[str] = set()
        paid: set[str] = set()
        at = 0
        for phrase, meanings in self._phrases:
            words = phrase.split()
            in_head = at < parts.head
            at += len(words)
            price = _icon_cost(meanings, item)
            if price is not None:
                cost += price
                own += 1
                head_own += in_head
                by_icon = True
                used |= set(words)
                continue
            told = self._worded(words, item, used, paid, is_phrase=len(words) > 1 and bool(meanings))
            if told is None:
                return None
            price, by_itself = told
            cost += price
            own += by_itself
            head_own += by_itself and in_head
            head_borrowed += in_head and price >= RECORD
        if not own and not (self._is_placed or item.role in _CELLS):
            return None  # nothing of it is told but what is around it
        if self._names_itself and not head_own:
            if item.role not in _CELLS or (own and not self._is_titled(item)):  # a cell alone is called by its column
                return None
            cost += 0.2  # what the description names first stands elsewhere
        if by_icon and head_borrowed and not item.shape and _extra(item, used) >= 0.5:
            return None  # "font size" is not "Font colour" beside a size
        extra = 0.0 if by_icon else _extra(item, used)
        if own and extra >= 0.5 and (item.role in _BUTTONS or item.text >= 0):
            return None  # "delete" is not "Delete all"
        cost += _EXTRA * extra if own else 0.0
        return Explained(item, cost + (0.0 if item.is_active else _PASSIVE))

    def _is_titled(self, item: Item) -> bool:
        """Tell whether the window's title says what the first words do: "the mail from Ada" in a window "Mail"."""
        head = [word for word in self._parts.words[: self._parts.head] if not is_free(word)]
        return all(self._around.in_title(item, word) for word in head)

    def _worded(
        self, words: Sequence[str], item: Item, used: set[str], paid: set[str], *, is_phrase: bool
    ) -> tuple[float, int] | None:
        """Return what explaining each of `words` costs, and how many are the item's own; None when one is not. The
        words of a phrase that names icons say something together only. `used` gets its own words, `paid` the things
        around it that explain others: their further words cost little.
        """
        cost, own = 0.0, 0
        for word in words:
            mine = _own_cost(word, item)
            if mine is not None:
                cost += mine
                own += is_phrase or not is_free(word)
                used.add(word)
                continue
            is_bound = is_phrase and word in _BOUND
            if (is_free(word) and not is_bound and (own or not is_phrase)) or (
                word in _SORTING and item.role in HEADERS
            ):
                continue
            near = self._near(word, item)
            if near is None:
                if (
                    is_free(word)
                    and not is_bound
                    and any(_own_cost(one, item) is not None or is_free(one) for one in words[1:])
                ):
                    continue
                return None
            price, source = near
            cost += min(price, _FURTHER) if source in paid else price
            paid.add(source)
        return cost, own

    def _near(self, word: str, item: Item) -> tuple[float, str] | None:
        """Return the least that explaining `word` by something around the item costs, and by what."""
        if word not in self._by_word:
            self._by_word[word] = self._called(word)
        found = [
            (price + extra, other.ref)
            for other, price in self._by_word[word]
            if other.ref != item.ref and (extra := self._around.cost(item, other)) is not None
        ]
        if found:
            return min(found)
        return (WINDOW, "title") if self._around.in_title(item, word) else None

    def _fits(self, item: Item) -> bool:
        """Tell whether the item is of the kind and in the state that the description tells."""
        parts = self._parts
        if parts.kind and item.role not in WORDS[parts.kind] and not item.may_be & WORDS[parts.kind]:
            return False
        if not parts.kind and not item.is_active and item.role not in _SAYING:
            return False
        if any(item.role in WORDS[kind] for kind in parts.unlike):
            return False
        if "disabled" in parts.states and item.is_enabled:
            return False
        if "checked" in parts.states and not item.is_checked:
            return False
        if "selected" in parts.states and not (item.is_selected or item.is_checked):
            return False
        return not ("unchecked" in parts.states and item.is_checked)

    # ---- places and order -------------------------------------------------------------------------------------------

    def _placed(self, known: Sequence[Explained]) -> list[Explained]:
        left = list(known)
        for place in self._parts.places:
            left = self._at_place(place, left)
        return left

    def _at_place(self, place: AnchoredPlace, known: Sequence[Explained]) -> list[Explained]:
        anchors = [self._anchors(words) for words in place.anchors]
        gaps: dict[str, int] = {}
        named = {item.ref for boxes in anchors for item in boxes}
        for one in known:
            if one.item.ref in named:
                continue
            found = [gap for boxes in anchors for gap in self._gaps(place.relation, one.item, boxes)]
            both = place.relation != "between" or all(self._gaps("between", one.item, boxes) for boxes in anchors)
            if found and both:
                gaps[one.item.ref] = min(found)
        if not gaps and place.relation == "below":
            others = [one for one in known if one.item.ref not in named]
            return [one for one in (self._in_section(place.anchors[0], one) for one in others) if one is not None]
        if not gaps:
            return []
        nearest = min(gaps.values())
        return [one for one in known if one.item.ref in gaps and gaps[one.item.ref] <= nearest + 3]

    def _in_section(self, words: Sequence[str], one: Explained) -> Explained | None:
        """Return `one` with what it costs that it stands in a section of that name: "under Output"."""
        cost = one.cost
        for word in words:
            if is_free(word):
                continue
            near = self._near(word, one.item)
            if near is None:
                return None
            cost += near[0]
        return Explained(one.item, cost)

    def _anchors(self, words: Sequence[str]) -> list[Item]:
        """Return the items that explain every one of `words` by themselves, those with the fewest words more only."""
        telling = [phrase for phrase in _phrases(words) if not all(is_free(word) for word in phrase[0].split())]
        found = []
        for item in self._around.items:
            used: set[str] = set()
            if telling and all(_by_itself(phrase, meanings, item, used) for phrase, meanings in telling):
                found.append((_extra(item, used), item))
        best = min((extra for extra, _ in found), default=0.0)
        anchors = [item for extra, item in found if extra <= best + 0.01]
        kind = last_kind(words)
        of_kind = [item for item in anchors if kind and item.role in WORDS[kind]]
        said = [item for item in anchors if not item.is_active or item.role == "label"]
        texts = {item.text for item in said if item.text >= 0}
        # The control that a text is drawn in or beside is where the text is, too.
        return of_kind or said + [item for item in anchors if item not in said and item.text in texts] or anchors

    def _gaps(self, relation: str, item: Item, anchors: Sequence[Item]) -> list[int]:
        found = []
        for anchor in anchors:
            if anchor.window != item.window:
                continue
            gap = direction_gap(relation, item, anchor)
            if gap is not None and gap <= _NEAR_PX:
                found.append(gap)
        return found

    def _singled(self, known: list[Explained]) -> list[Explained]:
        """Leave out what is around another that reacts by itself, and what lies in one that explains it cheaper."""
        inner = [one for one in known if one.item.is_active and one.item.role not in _CELLS]
        outer = {
            one.item.ref for one in known
            if any(other is not one and _is_part(other.item, one.item) for other in inner)
        }  # fmt: skip
        kept: list[Explained] = []
        for one in known:
            if one.item.ref not in outer and not any(_is_one_thing(one.item, other.item) for other in kept):
                kept.append(one)
        return kept

    def _ordered(self, known: list[Explained]) -> list[Explained]:
        parts = self._parts
        if not known:
            return known
        equal = [one for one in known if one.cost < known[0].cost + _CLEAR]
        if parts.zones and len(equal) > 1 and (there := self._zoned(equal)):
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

    def _zoned(self, equal: Sequence[Explained]) -> list[Explained]:
        """Return those on the sides of their window that the description tells."""
        return [one for one in equal if all(self._is_at(side, one.item, _ZONE) for side in self._parts.zones)]

    def _is_in_structure(self, item: Item) -> bool:
        """Tell whether the item is where the part of the window can be that the description names."""
        for side in self._parts.structures:
            sides = ("left", "right") if side == "edge" else (side,)
            if not any(self._is_at(one, item, _STRUCTURE) for one in sides):
                return False
        return True

    def _is_at(self, side: str, item: Item, share: float) -> bool:
        """Tell whether the item's middle is in the outer `share` of its window on that side."""
        frame = self._frames.get(item.window, item.box)
        x = (item.box.x + item.box.w / 2 - frame.x) / max(frame.w, 1)
        y = (item.box.y + item.box.h / 2 - frame.y) / max(frame.h, 1)
        return {"left": x, "right": 1 - x, "top": y, "bottom": 1 - y}[side] < share


def _frames(items: Sequence[Item]) -> dict[int, Rect]:
    """Return the box around all items of each window."""
    found: dict[int, Rect] = {}
    for item in items:
        known = found.get(item.window, item.box)
        x, y = min(known.x, item.box.x), min(known.y, item.box.y)
        found[item.window] = Rect(
            x, y, max(known.right, item.box.right) - x, max(known.bottom, item.box.bottom) - y
        )  # fmt: skip
    return found


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


def _by_itself(phrase: str, meanings: frozenset[str], item: Item, used: set[str]) -> bool:
    if _icon_cost(meanings, item) is not None:
        used |= set(phrase.split())
        return True
    for word in phrase.split():
        if _own_cost(word, item) is None:
            if is_free(word):
                continue
            return False
        used.add(word)
    return True


def _icon_cost(meanings: Set[str], item: Item) -> float | None:
    """Return what it costs that the item's icon has one of `meanings`: by its name, else by its shape."""
    if meanings & item.meanings:
        return _MEANING
    like = max((item.shape[meaning] for meaning in meanings if meaning in item.shape), default=None)
    return None if like is None else _MEANING + 1 - like


def _own_cost(word: str, item: Item) -> float | None:
    """Return what it costs that `word` is one of the item's own: of its names, or what its role is for."""
    costs = [cost for name in item.names for own in name.split() if (cost := _word_cost(word, own)) is not None]
    if word in _OF_ROLE.get(item.role, ()):
        costs.append(_SYNONYM)
    return min(costs, default=None)


_NUMBERS = frozenset({"number", "amount", "count", "quantity", "value", "many", "much"})
_OF_ROLE = {
    "spin button": _NUMBERS, "slider": _NUMBERS, "password text": frozenset({"password", "secret"}),
    "combo box": frozenset({"choice", "selection", "selector", "chooser"}),
}  # fmt: skip


def _word_cost(word: str, own: str) -> float | None:
    if own == word:
        return OWN
    if own.partition(".")[0] == word:
        return _FILE_NAME
    if is_same_word(word, own):
        return _TYPO
    return _SYNONYM if own in synonyms(word) else None


def _extra(item: Item, used: Set[str]) -> float:
    """Return the share of the words of the name that fits best that the description doesn't have."""
    if not item.names:
        return 0.0
    shares = []
    for name in item.names:
        words = [word for word in name.split() if not is_free(word)] or name.split()
        there = sum(any(_word_cost(word, own) is not None for word in used) for own in words)
        shares.append(1 - there / len(words))
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


def _is_one_thing(a: Item, b: Item) -> bool:
    """Tell whether one lies in the other: a label in its button, a cell in its row."""
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


def names_icon(description: str) -> Mapping[str, frozenset[str]]:
    """Return the phrases of `description` that may name an icon, with the meanings of each."""
    return {phrase: meanings for phrase, meanings in _phrases(parts_of(description).words) if meanings}
