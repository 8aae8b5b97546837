"""Which element of a frame is which of the frame before: by identity, by text or role, and by where it is.

A window that moves takes its texts along, and a list that scrolls moves rows that read alike into each other's places.
So what is unique tells how far things went, and what reads alike is looked for where its neighbours went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from acud.types import Rect

_SAME_PLACE = 0.5
"""Share of overlap from which two boxes are the same place."""
_ALIKE = 0.6
"""Likeness of two texts in one place from which one is the other, read a little differently."""
_REACH_PX = 24
"""How far from its predicted place a moved element may be."""


class Seen(Struct, frozen=True):
    """An element without its id. `words`: its text, or role and label. `key`: what names it beyond doubt (a widget's
    address on its bus), None where nothing does. `kind`: elements of unlike kinds never match.
    """

    words: str
    bbox: Rect
    kind: str = ""
    key: Hashable = None


def matched(before: Sequence[Seen], now: Sequence[Seen]) -> list[int | None]:
    """Return for each element of `now` the index of the one in `before` that it is, None for a new one.

    Deterministic; each of `before` is given at most once.
    """
    return _Matching(before, now).run()


class _Matching:
    """The steps share what is still unmatched."""

    def __init__(self, before: Sequence[Seen], now: Sequence[Seen]) -> None:
        self.before = before
        self.now = now
        self.found: list[int | None] = [None] * len(now)
        self.open = dict.fromkeys(range(len(before)))

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

    def _same(self, name: Callable[[Seen], Hashable]) -> None:
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

    def _once(self, elements: Sequence[Seen], indexes: Sequence[int] | dict[int, None]) -> dict[tuple[str, str], int]:
        counts = Counter(_name(elements[index]) for index in indexes)
        return {_name(elements[index]): index for index in indexes if counts[_name(elements[index])] == 1}

    def _moved_along(self) -> None:
        """Match what reads alike by where the neighbours that are known went."""
        moves = list(self._moves())
        if not moves:
            return
        pairs = []
        for earlier in self.open:
            one = self.before[earlier]
            _, dx, dy = min(moves, key=lambda move: _apart(self.before[move[0]].bbox, one.bbox))
            expected = one.bbox.moved(dx, dy)
            pairs += [(_apart(self.now[index].bbox, expected), earlier, index) for index in self._alike(one)]
        self._take_nearest(pair for pair in pairs if pair[0] <= _REACH_PX)

    def _take_nearest(self, pairs: Iterable[tuple[int, int, int]]) -> None:
        for _, earlier, index in sorted(pairs):
            if earlier in self.open and self.found[index] is None:
                self._take(index, earlier)

    def _moves(self) -> Iterator[tuple[int, int, int]]:
        """Yield (index before, dx, dy) of what has been matched."""
        for index, earlier in enumerate(self.found):
            if earlier is not None:
                old, new = self.before[earlier].bbox, self.now[index].bbox
                yield earlier, new.x - old.x, new.y - old.y

    def _alike(self, one: Seen) -> list[int]:
        return [index for index in self._wanting() if _name(self.now[index]) == _name(one)]

    def _nearest(self) -> None:
        """Match what still reads alike, nearest pairs first."""
        self._take_nearest(
            (_apart(self.before[earlier].bbox, self.now[index].bbox), earlier, index)
            for earlier in self.open
            for index in self._alike(self.before[earlier])
        )

    def _read_differently(self) -> None:
        """Match what stands in the same place and reads nearly the same (an engine misreads one letter)."""
        for index in self._wanting():
            one = self.now[index]
            near = [
                (overlap, earlier)
                for earlier in self.open
                if self.before[earlier].kind == one.kind
                and (overlap := shared(self.before[earlier].bbox, one.bbox)) >= _SAME_PLACE
                and _likeness(self.before[earlier].words, one.words) >= _ALIKE
            ]
            if near:
                self._take(index, max(near, key=lambda pair: (pair[0], -pair[1]))[1])


def shared(one: Rect, other: Rect) -> float:
    """Return the area that both boxes cover as a share of what they cover together (IoU)."""
    common = one.intersect(other)
    if common is None:
        return 0.0
    return common.area / (one.area + other.area - common.area)


def _name(one: Seen) -> tuple[str, str]:
    return one.kind, one.words


def _apart(one: Rect, other: Rect) -> int:
    return abs(one.x - other.x) + abs(one.y - other.y)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
