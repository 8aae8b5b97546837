"""Explain one item by the words of a description: by the item's own names and icon, by its kind and state, or by its
surroundings; what each word costs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set

from msgspec import Struct

from acud.accessibility.labels import BUTTONS, CHOOSERS, HEADERS, INPUTS
from acud.features.grounding.description_parts import FUNCTION, LOOKS, Parts, is_free, parts_of
from acud.features.grounding.icon_words import icon_table
from acud.features.grounding.screen_items import OWN, RECORD, WINDOW, Item, Surroundings
from acud.features.grounding.widget_words import WORDS
from acud.features.grounding.word_likeness import is_form, is_same_word, is_synonym

_SYNONYM, _MEANING, _FILE_NAME, _TYPO, _FORM, _SORT = 0.08, 0.05, 0.04, 0.03, 0.02, 0.2
_EXTRA = 0.3
"""The cost when none of the words of the best name are in the description."""
PASSIVE = 0.45
NAMED_BY_ACTION = BUTTONS | {"menu item", "link"}
_FURTHER = 0.05
_BOUND = frozenset({"in", "out"})
"""Words that need no explanation elsewhere, but change the meaning of "zoom" or "log"."""
_SORTING = frozenset({"sort", "order", "by"})
"""Words for what a click on a column header does."""
_HOLD_WORDS = frozenset(
    {"", "cell", "item", "row", "entry", "option", "list item", "list entry", "tree item", "file", "folder"}
)
"""Kinds that fit a cell with words; a mark is drawn in an empty cell."""
CELLS = frozenset({"table cell", "tree item"})
SAYING = frozenset({"label", "static", "heading", "paragraph", "caption", "image", "table cell", "text"})
"""Roles that a description without a kind may mean, though a click on them does nothing."""
UNEXPLAINED, _WRONG_KIND, _LONGER = 0.6, 0.5, 0.3
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


class ItemExplainer:
    """Explains the items `can_be` of `around` by `parts`; `shown`: pairs of adjacent words in names."""

    def __init__(self, parts: Parts, around: Surroundings, can_be: Sequence[Item], shown: Set[str]) -> None:
        self._parts = parts
        self._around = around
        self._items = can_be
        self._phrases = split_phrases(parts.words)
        self._is_loose = False
        self._by_word: dict[str, dict[str, tuple[Item, float]]] = {}
        head = parts.words[: parts.head]
        self._together = frozenset(word for a, b in itertools.pairwise(head) if f"{a} {b}" in shown for word in (a, b))
        self._telling = self._naming_words()
        self._names_itself = any(not self._is_free(word) for word in parts.words[: parts.head])
        self._names_anything = any(not self._is_free(word) for word in parts.words) or any(
            word not in FUNCTION | LOOKS for word in head
        )
        self._is_placed = bool(parts.kind and (parts.places or parts.number or parts.most or parts.states or parts.row))

    def _naming_words(self) -> frozenset[str]:
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
                untold = self._unexplained_cost(item)
                if untold is None and not self._is_loose:
                    return None
                cost += UNEXPLAINED if untold is None else untold
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
        if self._names_itself and not head_own and not self._is_unnamed(item):
            if not self._is_loose and (not self._around.is_cell(item) or (own and not self._is_titled(item))):
                return None  # a cell alone is called by its column
            cost += 0.2  # what the description names first stands elsewhere
        if by_icon and head_borrowed and not item.shape and missing_share(item, used) >= 0.5:
            return None  # "font size" is not "Font colour" beside a size
        extra = 0.0 if by_icon else missing_share(item, used)
        if own and extra >= 0.5 and (item.role in NAMED_BY_ACTION or item.text >= 0):
            if not self._is_loose:
                return None  # "delete" is not "Delete all"
            cost += _LONGER
        cost += _EXTRA * extra if own else 0.0
        cost += 0.0 if is_kind else _WRONG_KIND
        return Explained(item, cost + (0.0 if item.is_active else PASSIVE), is_by_shape=by_shape)

    def _has_any_own(self, item: Item) -> bool:
        return any(
            _icon_cost(meanings, item) is not None
            or any(self._own_cost(word, item) is not None or word in item.sorts for word in phrase.split())
            for phrase, meanings in self._phrases
        )

    def _is_titled(self, item: Item) -> bool:
        """Return whether the window's title has the first words: "the mail from Ada" in a window "Mail"."""
        head = [word for word in self._parts.words[: self._parts.head] if not self._is_free(word)]
        return all(self._around.in_title(item, word) for word in head)

    def _unexplained_cost(self, item: Item) -> float | None:
        """Return the cost of a word that the item itself does not explain; None where that leaves doubt."""
        return _UNTOLD if self._is_unnamed(item) else None

    def _is_unnamed(self, item: Item) -> bool:
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
                cost += self._contrary_cost(word, item)
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
                    own += item.role not in CELLS
                    continue
                return None
            price, source = near
            cost += min(price, _FURTHER) if source in paid else price
            paid.add(source)
        return cost, own

    def _contrary_cost(self, word: str, item: Item) -> float:
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
        if not parts.kind and not item.is_active and item.role not in SAYING:
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


def _is_narrowed(parts: Parts) -> bool:
    """Return whether the description gives a kind, a state or a place."""
    return bool(
        parts.kind or parts.places or parts.number or parts.most or parts.states or parts.row or parts.zones
        or parts.structures
    )  # fmt: skip


def split_phrases(words: Sequence[str]) -> list[tuple[str, frozenset[str]]]:
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


def cost_by_itself(phrase: str, meanings: frozenset[str], item: Item, used: set[str]) -> float | None:
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


def missing_share(item: Item, used: Set[str]) -> float:
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


def find_icon_phrases(description: str) -> Mapping[str, frozenset[str]]:
    return {phrase: meanings for phrase, meanings in split_phrases(parts_of(description).words) if meanings}
