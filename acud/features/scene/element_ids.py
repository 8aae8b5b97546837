"""Ids of the elements of one display: the same thing keeps its id while it is there, and no id is given twice.

An element is matched with one of the frame before by identity, by text or role, and by place. A window that moves takes
its texts along, and a list that scrolls moves rows that read alike into each other's places. So elements with unique
words tell how far things moved, and the others are looked for where their neighbours went.
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
    """The moves of what was matched, to ask for the one nearest to a place."""

    def __init__(self, moves: Sequence[_Move]) -> None:
        self._moves = sorted(moves, key=lambda move: move.box.y)
        self._rows = [move.box.y for move in self._moves]

    def __bool__(self) -> bool:
        """Tell whether anything was matched."""
        return bool(self._moves)

    def nearest(self, box: Rect) -> _Move:
        """Return the move of what was nearest to `box`: looked for from its row outwards, until rows are too far."""
        start = bisect_left(self._rows, box.y)
        near = (*self._of(box, range(start, len(self._rows))), *self._of(box, range(start - 1, -1, -1)))
        return min(near, key=lambda found: found[0])[1]

    def _of(self, box: Rect, indexes: range) -> list[tuple[int, _Move]]:
        """Return the nearest one on one side, with its distance; nothing when there is none."""
        found: list[tuple[int, _Move]] = []
        for index in indexes:
            move = self._moves[index]
            if found and abs(move.box.y - box.y) >= found[0][0]:
                break
            if not found or _corner_distance(move.box, box) < found[0][0]:
                found = [(_corner_distance(move.box, box), move)]
        return found


class _Cells:
    """Elements by name and cell of `side` pixels, to ask for those of a name near a place."""

    def __init__(self, side: int) -> None:
        self._side = side
        self._cells: dict[tuple[Hashable, int, int], list[int]] = {}

    def put(self, name: Hashable, box: Rect, index: int) -> None:
        """Add the element `index`."""
        self._cells.setdefault((name, box.x // self._side, box.y // self._side), []).append(index)

    def around(self, name: Hashable, box: Rect) -> Iterator[int]:
        """Yield every element of that name whose corner is at most `side` away from that of `box`, and some more."""
        x, y = box.x // self._side, box.y // self._side
        for across in (x - 1, x, x + 1):
            for down in (y - 1, y, y + 1):
                yield from self._cells.get((name, across, down), ())


class _Rows:
    """Elements by the rows of pixels they span, to ask for those that may be the same place as a box.

    Two boxes that share at least half of what they cover together hold each other's middle row.
    """

    def __init__(self, boxes: Sequence[tuple[int, Rect]]) -> None:
        self._rows: dict[int, list[tuple[int, Rect]]] = {}
        for index, box in boxes:
            for row in range(box.y // _ROW_PX, (box.y + max(1, box.h) - 1) // _ROW_PX + 1):
                self._rows.setdefault(row, []).append((index, box))

    def beside(self, box: Rect, most: int) -> list[int]:
        """Return elements that span the middle row of `box`; of more than `most` those nearest to its left edge."""
        found = self._rows.get((box.y + box.h // 2) // _ROW_PX, [])
        if len(found) > most:
            found = sorted(found, key=lambda one: (_corner_distance(one[1], box), one[0]))[:most]
        return [index for index, _ in found]


def _corner_distance(one: Rect, other: Rect) -> int:
    """Return how far two boxes' corners are from each other, in steps of one pixel."""
    return abs(one.x - other.x) + abs(one.y - other.y)


_SAME_PLACE = 0.5
"""Share of overlap from which two boxes are the same place."""
_ALIKE = 0.6
"""Likeness of two texts in one place from which one is the other, read a little differently."""
_REACH_PX = 24
"""How far from its predicted place a moved element may be."""
_MOST_NEAR = 24
"""Elements tried for one place. Only a screen made to slow acud down has more."""
_MOST_LETTERS = 80
_MOST_COMPARED = 500
"""Texts compared letter by letter, at 0.2 ms each: a screen that is all new has some hundred lines."""
_MOST_PAIRS = 50_000
"""Pairs of elements that read alike which are compared; about 60 ms of the supervisor's time."""


class SeenElement(Struct, frozen=True):
    """An element without its id. `words`: its text, or role and label. `key`: what names it beyond doubt (a widget's
    address on its bus), None where nothing does. `kind`: elements of unlike kinds never match.
    """

    words: str
    bbox: Rect
    kind: str = ""
    key: Hashable = None


def matched(before: Sequence[SeenElement], now: Sequence[SeenElement]) -> list[int | None]:
    """Return for each element of `now` the index of the one in `before` that it is, None for a new one.

    Deterministic; each of `before` is given at most once.
    """
    return _IdMatching(before, now).run()


class _IdMatching:
    """The steps share what is still unmatched."""

    def __init__(self, before: Sequence[SeenElement], now: Sequence[SeenElement]) -> None:
        self.before = before
        self.now = now
        self.found: list[int | None] = [None] * len(now)
        self.open = dict.fromkeys(range(len(before)))
        self.compared = 0

    def run(self) -> list[int | None]:
        self._same(lambda one: None if one.key is None else (one.kind, one.key))
        self._unique()
        self._moved_along()
        self._same(lambda one: (one.kind, one.words, one.bbox))
        self._nearest()
        self._read_differently()
        return self.found

    def _take(self, index: int, earlier: int) -> None:
        self.found[index] = earlier
        del self.open[earlier]

    def _wanting(self) -> list[int]:
        return [index for index, earlier in enumerate(self.found) if earlier is None]

    def _same(self, name: Callable[[SeenElement], Hashable]) -> None:
        """Match what has the same name, in order."""
        known: dict[Hashable, list[int]] = {}
        for earlier in reversed(self.open):
            known.setdefault(name(self.before[earlier]), []).append(earlier)
        for index in self._wanting():
            named = name(self.now[index])
            if named is not None and known.get(named):
                self._take(index, known[named].pop())

    def _unique(self) -> None:
        """Match words that stand once in what is left of each frame."""
        once_before = self._once(self.before, self.open)
        once_now = self._once(self.now, self._wanting())
        for name, index in once_now.items():
            if name in once_before:
                self._take(index, once_before[name])

    def _once(
        self, elements: Sequence[SeenElement], indexes: Sequence[int] | dict[int, None]
    ) -> dict[tuple[str, str], int]:
        counts = Counter(_name(elements[index]) for index in indexes)
        return {_name(elements[index]): index for index in indexes if counts[_name(elements[index])] == 1}

    def _moved_along(self) -> None:
        """Match what reads alike by where the neighbours that are known went."""
        moves = _Moves(self._moves())
        if not moves:
            return
        cells = _Cells(_REACH_PX)
        for index in self._wanting():
            cells.put(_name(self.now[index]), self.now[index].bbox, index)
        pairs = []
        for earlier in self.open:
            one = self.before[earlier]
            move = moves.nearest(one.bbox)
            expected = one.bbox.shift(move.dx, move.dy)
            near = islice(cells.around(_name(one), expected), _MOST_NEAR)
            pairs += [(_corner_distance(self.now[index].bbox, expected), earlier, index) for index in near]
        self._take_nearest(pair for pair in pairs if pair[0] <= _REACH_PX)

    def _take_nearest(self, pairs: Iterable[tuple[int, int, int]]) -> None:
        for _, earlier, index in sorted(pairs):
            if earlier in self.open and self.found[index] is None:
                self._take(index, earlier)

    def _moves(self) -> list[_Move]:
        """Return how far each element that has been matched went."""
        known = ((self.before[e].bbox, self.now[i].bbox) for i, e in enumerate(self.found) if e is not None)
        return [_Move(old, new.x - old.x, new.y - old.y) for old, new in known]

    def _nearest(self) -> None:
        """Match what still reads alike: nearest pairs first, or where there are too many of them in reading order."""
        before, now = self._named(self.before, self.open), self._named(self.now, self._wanting())
        room, pairs = _MOST_PAIRS, list[tuple[int, int, int]]()
        for name in now:
            old, new = before.get(name, []), now[name]
            room -= len(old) * len(new)
            if room >= 0:
                pairs += [(_corner_distance(self.before[e].bbox, self.now[i].bbox), e, i) for e in old for i in new]
            else:
                self._in_order(old, new)
        self._take_nearest(pairs)

    def _in_order(self, old: list[int], new: list[int]) -> None:
        ordered = zip(sorted(old, key=self._place_before), sorted(new, key=self._place_now), strict=False)
        for earlier, index in list(ordered):
            self._take(index, earlier)

    def _place_before(self, earlier: int) -> tuple[int, int]:
        return self.before[earlier].bbox.y, self.before[earlier].bbox.x

    def _place_now(self, index: int) -> tuple[int, int]:
        return self.now[index].bbox.y, self.now[index].bbox.x

    def _named(self, elements: Sequence[SeenElement], indexes: Iterable[int]) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for index in indexes:
            found.setdefault(_name(elements[index]), []).append(index)
        return found

    def _read_differently(self) -> None:
        """Match what stands in the same place and reads nearly the same (an engine misreads one letter)."""
        places = _Rows([(earlier, self.before[earlier].bbox) for earlier in self.open])
        for index in self._wanting():
            one = self.now[index]
            near = [
                (overlap, earlier)
                for earlier in places.beside(one.bbox, _MOST_NEAR)
                if earlier in self.open
                and self.before[earlier].kind == one.kind
                and (overlap := shared(self.before[earlier].bbox, one.bbox)) >= _SAME_PLACE
                and self._reads_alike(self.before[earlier].words, one.words)
            ]
            if near:
                self._take(index, max(near, key=lambda pair: (pair[0], -pair[1]))[1])

    def _reads_alike(self, one: str, other: str) -> bool:
        self.compared += 1
        return self.compared <= _MOST_COMPARED and _is_alike(one, other)


def shared(one: Rect, other: Rect) -> float:
    """Return the area that both boxes cover as a share of what they cover together (IoU)."""
    common = one.intersect(other)
    if common is None:
        return 0.0
    return common.area / (one.area + other.area - common.area)


def _name(one: SeenElement) -> tuple[str, str]:
    return one.kind, one.words


def _is_alike(one: str, other: str) -> bool:
    """Tell whether two texts are alike in their beginnings; cheap bounds are tried first."""
    pair = SequenceMatcher(None, one[:_MOST_LETTERS], other[:_MOST_LETTERS], autojunk=False)
    return min(pair.real_quick_ratio(), pair.quick_ratio()) >= _ALIKE and pair.ratio() >= _ALIKE


class StoredElement(Struct, frozen=True, array_like=True):
    """An element as it is kept over a restart: its number, and of its words only a digest."""

    number: int
    digest: bytes
    bbox: Rect
    kind: str = ""
    key: str = ""


class StoredElements(Struct, frozen=True):
    """The elements of one display and letter that stood last; `salt` is what their digests were made with."""

    salt: bytes
    elements: tuple[StoredElement, ...] = ()


def _digest(words: str, salt: bytes) -> bytes:
    return blake2b(words.encode(errors="surrogatepass"), key=salt, digest_size=16).digest()


class ElementIds:
    """Gives ids `<letter><display>-<n>`. `next_number` is to be kept over restarts, so that no id is ever reused.

    `earlier`: what stood before a restart. An element that reads the same, or has the same key, keeps its id.
    """

    def __init__(
        self, letter: str, display_id: int, next_number: int = 1, earlier: StoredElements | None = None
    ) -> None:
        self.name = f"{letter}{display_id}"
        self._earlier = earlier
        self.last_seen: tuple[SeenElement, ...] = ()
        self._numbers: list[int] = []
        self.next_number = next_number

    def given(self, now: Sequence[SeenElement]) -> list[str]:
        """Return the ids of the elements of a new frame; equal elements mint nothing."""
        if self._earlier is not None or tuple(now) != self.last_seen:
            self._numbers = [self._mint() if known is None else known for known in self._known(now)]
            self.last_seen = tuple(now)
        return [f"{self.name}-{number}" for number in self._numbers]

    def stored(self, salt: bytes) -> StoredElements:
        """Return what is to be kept over a restart, with digests made with `salt`."""
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

    def _known(self, now: Sequence[SeenElement]) -> list[int | None]:
        """Return the number that each element has already, None for a new one."""
        numbers = self._numbers
        before: Sequence[SeenElement] = self.last_seen
        if self._earlier is not None:
            salt, stored, self._earlier = self._earlier.salt, self._earlier.elements, None
            numbers = [one.number for one in stored]
            before = [SeenElement(one.digest.hex(), one.bbox, one.kind, one.key or None) for one in stored]
            now = [replace(one, words=_digest(one.words, salt).hex()) for one in now]
        return [None if index is None else numbers[index] for index in matched(before, now)]

    def _mint(self) -> int:
        number, self.next_number = self.next_number, self.next_number + 1
        return number
