"""Ids of the elements of one display: an element keeps its id while it is present, and no id is given twice.

An element is matched with one of the previous frame by identity, by text or role, and by place. A window that moves
takes its texts along, and a scrolling list moves rows with equal words into each other's places. So elements with
unique words are matched first, and the others are searched where their neighbours went.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from acud.types import Rect

_ROW_PX = 32


class _Move(NamedTuple):
    """How far an element that stood at `box` went."""

    box: Rect
    dx: int
    dy: int


class _Moves:
    """The moves of matched elements, to find the one nearest to a place."""

    def __init__(self, moves: Sequence[_Move]) -> None:
        self._moves = sorted(moves, key=lambda move: move.box.y)
        self._rows = [move.box.y for move in self._moves]

    def __bool__(self) -> bool:
        return bool(self._moves)

    def find_nearest(self, box: Rect) -> _Move:
        """Return the move of the element nearest to `box`, searching from its row outwards until rows are too far."""
        start = bisect_left(self._rows, box.y)
        near = (
            *self._find_nearest_among(box, range(start, len(self._rows))),
            *self._find_nearest_among(box, range(start - 1, -1, -1)),
        )
        return min(near, key=lambda found: found[0])[1]

    def _find_nearest_among(self, box: Rect, indexes: range) -> list[tuple[int, _Move]]:
        """Return the nearest move on one side, with its distance; empty when there is none."""
        found: list[tuple[int, _Move]] = []
        for index in indexes:
            move = self._moves[index]
            if found and abs(move.box.y - box.y) >= found[0][0]:
                break
            if not found or _corner_distance(move.box, box) < found[0][0]:
                found = [(_corner_distance(move.box, box), move)]
        return found


class _Cells:
    """Elements by name and cell of `side` pixels, to find those of a name near a place."""

    def __init__(self, side: int) -> None:
        self._side = side
        self._cells: dict[tuple[Hashable, int, int], list[int]] = {}

    def put(self, name: Hashable, box: Rect, index: int) -> None:
        self._cells.setdefault((name, box.x // self._side, box.y // self._side), []).append(index)

    def find_around(self, name: Hashable, box: Rect) -> Iterator[int]:
        """Yield every element of that name with a corner at most `side` from that of `box`, and some more."""
        x, y = box.x // self._side, box.y // self._side
        for across in (x - 1, x, x + 1):
            for down in (y - 1, y, y + 1):
                yield from self._cells.get((name, across, down), ())


class _Rows:
    """Elements by the rows of pixels that they span, to find those that may be in the same place as a box.

    Two boxes whose overlap is at least half of their union hold each other's middle row.
    """

    def __init__(self, boxes: Sequence[tuple[int, Rect]]) -> None:
        self._rows: dict[int, list[tuple[int, Rect]]] = {}
        for index, box in boxes:
            for row in range(box.y // _ROW_PX, (box.y + max(1, box.h) - 1) // _ROW_PX + 1):
                self._rows.setdefault(row, []).append((index, box))

    def find_beside(self, box: Rect, most: int) -> list[int]:
        """Return the elements that span the middle row of `box`: at most `most`, the nearest ones."""
        found = self._rows.get((box.y + box.h // 2) // _ROW_PX, [])
        if len(found) > most:
            found = sorted(found, key=lambda one: (_corner_distance(one[1], box), one[0]))[:most]
        return [index for index, _ in found]


def _corner_distance(one: Rect, other: Rect) -> int:
    """Return the Manhattan distance of two boxes' top left corners, in pixels."""
    return abs(one.x - other.x) + abs(one.y - other.y)


_SAME_PLACE = 0.5
"""Share of overlap from which two boxes are the same place."""
_ALIKE = 0.6
"""Likeness from which two texts in one place are the same text, misread once."""
_REACH_PX = 24
"""How far from its predicted place a moved element may be."""
_MOST_NEAR = 24
"""Elements tried for one place. Only a screen made to slow acud has more."""
_MOST_LETTERS = 80
_MOST_COMPARED = 500
"""Texts compared letter by letter, at 0.2 ms each: an all new screen has some hundred lines."""
_MOST_PAIRS = 50_000
"""Pairs of elements with equal words that are compared: about 60 ms of the supervisor's time."""


class SeenElement(Struct, frozen=True):
    """An element without its id. `words`: its text, or role and label. `key`: its unique identity, such as a widget's
    bus address, or None. `kind`: elements of unlike kinds never match.
    """

    words: str
    bbox: Rect
    kind: str = ""
    key: Hashable = None


def match_elements(before: Sequence[SeenElement], now: Sequence[SeenElement]) -> list[int | None]:
    """Return for each element of `now` the index of the same one in `before`, None for a new one.

    Deterministic; each index is returned at most once.
    """
    return _IdMatching(before, now).match_all()


class _IdMatching:
    """Matches in steps that share the elements still unmatched."""

    def __init__(self, before: Sequence[SeenElement], now: Sequence[SeenElement]) -> None:
        self.before = before
        self.now = now
        self.found: list[int | None] = [None] * len(now)
        self.open = dict.fromkeys(range(len(before)))
        self.compared = 0

    def match_all(self) -> list[int | None]:
        self._match_same(lambda one: None if one.key is None else (one.kind, one.key))
        # Match words that occur once among the unmatched elements of each frame.
        once_before = self._index_unique(self.before, self.open)
        once_now = self._index_unique(self.now, self._list_unmatched())
        for name, index in once_now.items():
            if name in once_before:
                self._match_element(index, once_before[name])
        self._match_moved()
        self._match_same(lambda one: (one.kind, one.words, one.bbox))
        self._match_nearest()
        self._match_misread()
        return self.found

    def _match_element(self, index: int, earlier: int) -> None:
        self.found[index] = earlier
        del self.open[earlier]

    def _list_unmatched(self) -> list[int]:
        return [index for index, earlier in enumerate(self.found) if earlier is None]

    def _match_same(self, name: Callable[[SeenElement], Hashable]) -> None:
        known: dict[Hashable, list[int]] = {}
        for earlier in reversed(self.open):
            known.setdefault(name(self.before[earlier]), []).append(earlier)
        for index in self._list_unmatched():
            named = name(self.now[index])
            if named is not None and known.get(named):
                self._match_element(index, known[named].pop())

    def _index_unique(
        self, elements: Sequence[SeenElement], indexes: Sequence[int] | dict[int, None]
    ) -> dict[tuple[str, str], int]:
        counts = Counter(_match_key(elements[index]) for index in indexes)
        return {_match_key(elements[index]): index for index in indexes if counts[_match_key(elements[index])] == 1}

    def _match_moved(self) -> None:
        """Match elements with equal words by where their matched neighbours went."""
        moves = _Moves(self._list_moves())
        if not moves:
            return
        cells = _Cells(_REACH_PX)
        for index in self._list_unmatched():
            cells.put(_match_key(self.now[index]), self.now[index].bbox, index)
        pairs = []
        for earlier in self.open:
            one = self.before[earlier]
            move = moves.find_nearest(one.bbox)
            expected = one.bbox.shift(move.dx, move.dy)
            near = islice(cells.find_around(_match_key(one), expected), _MOST_NEAR)
            pairs += [(_corner_distance(self.now[index].bbox, expected), earlier, index) for index in near]
        self._take_nearest(pair for pair in pairs if pair[0] <= _REACH_PX)

    def _take_nearest(self, pairs: Iterable[tuple[int, int, int]]) -> None:
        for _, earlier, index in sorted(pairs):
            if earlier in self.open and self.found[index] is None:
                self._match_element(index, earlier)

    def _list_moves(self) -> list[_Move]:
        known = ((self.before[e].bbox, self.now[i].bbox) for i, e in enumerate(self.found) if e is not None)
        return [_Move(old, new.x - old.x, new.y - old.y) for old, new in known]

    def _match_nearest(self) -> None:
        """Match elements with equal words: nearest pairs first, or in reading order where there are too many."""
        before, now = self._group_by_key(self.before, self.open), self._group_by_key(self.now, self._list_unmatched())
        room, pairs = _MOST_PAIRS, list[tuple[int, int, int]]()
        for name in now:
            old, new = before.get(name, []), now[name]
            room -= len(old) * len(new)
            if room >= 0:
                pairs += [(_corner_distance(self.before[e].bbox, self.now[i].bbox), e, i) for e in old for i in new]
            else:
                self._match_in_order(old, new)
        self._take_nearest(pairs)

    def _match_in_order(self, old: list[int], new: list[int]) -> None:
        ordered = zip(sorted(old, key=self._place_before), sorted(new, key=self._place_now), strict=False)
        for earlier, index in list(ordered):
            self._match_element(index, earlier)

    def _place_before(self, earlier: int) -> tuple[int, int]:
        return self.before[earlier].bbox.y, self.before[earlier].bbox.x

    def _place_now(self, index: int) -> tuple[int, int]:
        return self.now[index].bbox.y, self.now[index].bbox.x

    def _group_by_key(
        self, elements: Sequence[SeenElement], indexes: Iterable[int]
    ) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for index in indexes:
            found.setdefault(_match_key(elements[index]), []).append(index)
        return found

    def _match_misread(self) -> None:
        """Match elements in the same place with similar words: OCR may misread a letter."""
        places = _Rows([(earlier, self.before[earlier].bbox) for earlier in self.open])
        for index in self._list_unmatched():
            one = self.now[index]
            near = [
                (overlap, earlier)
                for earlier in places.find_beside(one.bbox, _MOST_NEAR)
                if earlier in self.open
                and self.before[earlier].kind == one.kind
                and (overlap := compute_overlap(self.before[earlier].bbox, one.bbox)) >= _SAME_PLACE
                and self._reads_alike(self.before[earlier].words, one.words)
            ]
            if near:
                self._match_element(index, max(near, key=lambda pair: (pair[0], -pair[1]))[1])

    def _reads_alike(self, one: str, other: str) -> bool:
        self.compared += 1
        return self.compared <= _MOST_COMPARED and _is_alike(one, other)


def compute_overlap(one: Rect, other: Rect) -> float:
    """Return the overlap of two boxes as a share of their union (IoU)."""
    common = one.intersect(other)
    if common is None:
        return 0.0
    return common.area / (one.area + other.area - common.area)


def _match_key(one: SeenElement) -> tuple[str, str]:
    return one.kind, one.words


def _is_alike(one: str, other: str) -> bool:
    """Return whether two texts begin alike; cheap bounds are tried first."""
    pair = SequenceMatcher(None, one[:_MOST_LETTERS], other[:_MOST_LETTERS], autojunk=False)
    return min(pair.real_quick_ratio(), pair.quick_ratio()) >= _ALIKE and pair.ratio() >= _ALIKE


class StoredElement(Struct, frozen=True, array_like=True):
    """An element as stored over a restart: its number, and only a digest of its words."""

    number: int
    digest: bytes
    bbox: Rect
    kind: str = ""
    key: str = ""


class StoredElements(Struct, frozen=True):
    """The last elements of one display and letter; their digests were made with `salt`."""

    salt: bytes
    elements: tuple[StoredElement, ...] = ()


def _digest(words: str, salt: bytes) -> bytes:
    return blake2b(words.encode(errors="surrogatepass"), key=salt, digest_size=16).digest()


class ElementIds:
    """Gives ids `<letter><display>-<n>`. Store `next_number` over restarts, so that no id is ever reused.

    `earlier`: the elements before a restart. An element with the same words or key keeps its id.
    """

    def __init__(
        self, letter: str, display_id: int, next_number: int = 1, earlier: StoredElements | None = None
    ) -> None:
        self.name = f"{letter}{display_id}"
        self._earlier = earlier
        self.last_seen: tuple[SeenElement, ...] = ()
        self._numbers: list[int] = []
        self.next_number = next_number

    def assign(self, now: Sequence[SeenElement]) -> list[str]:
        """Return the ids of the elements of a new frame; unchanged elements mint none."""
        if self._earlier is not None or tuple(now) != self.last_seen:
            self._numbers = [self._mint_id() if known is None else known for known in self._find_numbers(now)]
            self.last_seen = tuple(now)
        return [f"{self.name}-{number}" for number in self._numbers]

    def to_stored(self, salt: bytes) -> StoredElements:
        """Return the elements to store over a restart, with digests made with `salt`."""
        if self._earlier is not None:
            return self._earlier
        pairs = zip(self._numbers, self.last_seen, strict=True)
        return StoredElements(
            salt,
            tuple(
                StoredElement(n, _digest(one.words, salt), one.bbox, one.kind, "" if one.key is None else str(one.key))
                for n, one in pairs
            ),
        )

    def _find_numbers(self, now: Sequence[SeenElement]) -> list[int | None]:
        """Return the number that each element already has, None for a new one."""
        numbers = self._numbers
        before: Sequence[SeenElement] = self.last_seen
        if self._earlier is not None:
            salt, stored, self._earlier = self._earlier.salt, self._earlier.elements, None
            numbers = [one.number for one in stored]
            before = [SeenElement(one.digest.hex(), one.bbox, one.kind, one.key or None) for one in stored]
            now = [replace(one, words=_digest(one.words, salt).hex()) for one in now]
        return [None if index is None else numbers[index] for index in match_elements(before, now)]

    def _mint_id(self) -> int:
        number, self.next_number = self.next_number, self.next_number + 1
        return number
