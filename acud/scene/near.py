"""Finding what is near without looking at everything: a screen may hold thousands of elements that read alike."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from acud.types import Rect

_ROW_PX = 32


class Move(NamedTuple):
    """How far an element that stood at `box` went."""

    box: Rect
    dx: int
    dy: int


class Moves:
    """The moves of what was matched, to ask for the one nearest to a place."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self._moves = sorted(moves, key=lambda move: move.box.y)
        self._rows = [move.box.y for move in self._moves]

    def __bool__(self) -> bool:
        """Tell whether anything was matched."""
        return bool(self._moves)

    def nearest(self, box: Rect) -> Move:
        """Return the move of what was nearest to `box`: looked for from its row outwards, until rows are too far."""
        start = bisect_left(self._rows, box.y)
        near = (*self._of(box, range(start, len(self._rows))), *self._of(box, range(start - 1, -1, -1)))
        return min(near, key=lambda found: found[0])[1]

    def _of(self, box: Rect, indexes: range) -> list[tuple[int, Move]]:
        """Return the nearest one on one side, with its distance; nothing when there is none."""
        found: list[tuple[int, Move]] = []
        for index in indexes:
            move = self._moves[index]
            if found and abs(move.box.y - box.y) >= found[0][0]:
                break
            if not found or apart(move.box, box) < found[0][0]:
                found = [(apart(move.box, box), move)]
        return found


class Cells:
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


class Rows:
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
            found = sorted(found, key=lambda one: (apart(one[1], box), one[0]))[:most]
        return [index for index, _ in found]


def apart(one: Rect, other: Rect) -> int:
    """Return how far two boxes' corners are from each other, in steps of one pixel."""
    return abs(one.x - other.x) + abs(one.y - other.y)
