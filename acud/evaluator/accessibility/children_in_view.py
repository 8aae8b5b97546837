"""The children in view of a list or table that has too many to be listed: rows of a sheet, of a mail folder, of a log.

What lies at a few places in it is asked first (`Component.GetAccessibleAtPoint`), then what follows in its order, row
by row, as long as it is in view: by the interface Table (and TableCell, where cells have it), else by index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from acud.evaluator.accessibility.bus import BusConnection, NoAnswer
from acud.evaluator.accessibility.widget import ACCESSIBLE, COMPONENT, HEADERS, Ref, extents, role_of
from acud.types import Rect

_TABLE, _CELL = "org.a11y.atspi.Table", "org.a11y.atspi.TableCell"
_PROBES_X, _PROBES_Y = (2, 60, 140), (2, 26, 52, 100)
"""Where to look first, from the top left corner: beside row headers, below column headers, in rows of any height."""
_AT_ONCE = 16
_MOST_BATCHES = 32  # so many rows or columns in view, times `_AT_ONCE`, are more than any screen shows
_MOST_INDICES = 1 << 31  # indices are signed numbers of 32 bits
_LEAST_PX = 3
_ENOUGH_PX = 20  # A row or column is in view when half of it is, or so much: what lies below a scroll bar of Qt is not


class Children(NamedTuple):
    """Handles in order. `is_cut`: there are more in view."""

    refs: tuple[Ref, ...]
    is_cut: bool = False


async def children_in_view(
    connection: BusConnection, ref: Ref, view: Rect, space: int, most: int, on_answer: Callable[[], None]
) -> Children | None:
    """Return the children of `ref` that lie in `view`, at most `most`; None where its toolkit cannot list them.

    `view`: the visible part of `ref`, in pixels of `space` (AtspiCoordType). `on_answer` is called at each answer.
    Raises: NoAnswer when the application is gone, Unavailable when the bus is.
    """
    parent = _Parent(connection, ref, space, on_answer)
    points = [(view.x + dx, view.y + dy) for dy in _PROBES_Y for dx in _PROBES_X if dx < view.w and dy < view.h]
    try:
        size = await parent.size()
    except NoAnswer as fault:
        fault.raise_if_gone()
        return await _items(parent, points, view, most)
    hits = await asyncio.gather(*(parent.hit(*point) for point in points))
    places = [hit.place for hit in hits if hit is not None and hit.place is not None]
    if not places:
        return None
    return await _find_cells(
        parent, size, (min(row for row, _ in places), min(column for _, column in places)), view, most
    )


class _Hit(NamedTuple):
    """A child at a point: its index, and `place`, its row and column, None where it is in no table."""

    number: int
    place: tuple[int, int] | None


class _Parent:
    """Asks a widget for single children. A refused call gives None."""

    def __init__(self, connection: BusConnection, ref: Ref, space: int, on_answer: Callable[[], None]) -> None:
        self._connection, self._ref, self._space, self._on_answer = connection, ref, space, on_answer
        self._size = (0, 0)

    async def hit(self, x: int, y: int) -> _Hit | None:
        child = await self._ask_child((COMPONENT, "GetAccessibleAtPoint"), "iiu", x, y, self._space)
        if child is None or child == self._ref:
            return None
        try:
            role = await role_of(self._connection, child)
            (index,) = await self._connection.call(*child, (ACCESSIBLE, "GetIndexInParent"))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        self._on_answer()
        return None if role in HEADERS else _Hit(int(index), await self._find_cell(child, int(index)))

    async def _find_cell(self, child: Ref, index: int) -> tuple[int, int] | None:
        try:
            row, column = await self._connection.get(*child, (_CELL, "Position"))
            return int(row), int(column)
        except NoAnswer as fault:
            fault.raise_if_gone()
        rows, columns = self._size
        if rows * columns > _MOST_INDICES:
            return await self._place_of_wrapped(child, index)
        try:
            (row,) = await self._connection.call(*self._ref, (_TABLE, "GetRowAtIndex"), "i", index)
            (column,) = await self._connection.call(*self._ref, (_TABLE, "GetColumnAtIndex"), "i", index)
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        return (int(row), int(column)) if min(row, column) >= 0 else None

    async def _place_of_wrapped(self, child: Ref, index: int) -> tuple[int, int] | None:
        """Return the row and column of `child` in a table of more cells than an index can count: LibreOffice's. It
        makes a handle anew at each call, so that cells are compared by their places.
        """
        rows, columns = self._size
        box = await self.box(child)
        for at in range(index % (2 * _MOST_INDICES), rows * columns, 2 * _MOST_INDICES):
            row, column = divmod(at, columns)
            if box is not None and await self.box(await self.cell(row, column)) == box:
                return row, column
        return None

    async def size(self) -> tuple[int, int]:
        rows, columns = await asyncio.gather(
            self._connection.get(*self._ref, (_TABLE, "NRows")), self._connection.get(*self._ref, (_TABLE, "NColumns"))
        )
        self._size = int(rows), int(columns)
        return self._size

    async def cell(self, row: int, column: int) -> Ref | None:
        return await self._ask_child((_TABLE, "GetAccessibleAt"), "ii", row, column)

    async def column_header(self, column: int) -> Ref | None:
        return await self._ask_child((_TABLE, "GetColumnHeader"), "i", column)

    async def row_header(self, row: int) -> Ref | None:
        return await self._ask_child((_TABLE, "GetRowHeader"), "i", row)

    async def item(self, index: int) -> Ref | None:
        return await self._ask_child((ACCESSIBLE, "GetChildAtIndex"), "i", index)

    async def box(self, child: Ref | None) -> Rect | None:
        if child is None:
            return None
        box = await extents(self._connection, child, self._space)
        self._on_answer()
        return box

    async def count(self) -> int:
        return int(await self._connection.get(*self._ref, (ACCESSIBLE, "ChildCount")))

    async def _ask_child(self, member: tuple[str, str], signature: str, *args: int) -> Ref | None:
        try:
            (found,) = await self._connection.call(*self._ref, member, signature, *args)
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        self._on_answer()
        peer, path = found
        return Ref(peer, path) if peer and not path.endswith("/null") else None


async def _find_cells(
    parent: _Parent, size: tuple[int, int], first: tuple[int, int], view: Rect, most: int
) -> Children | None:
    """Return the headers of the columns in view, then the cells, row by row; None when what was hit is not there."""
    count_rows, count_columns = size
    top, left = await asyncio.gather(
        _box_of(parent, parent.column_header(first[1])), _box_of(parent, parent.row_header(first[0]))
    )
    data = _without_headers(view, top, left)

    async def row_at(edge: int) -> int:
        return _cell_of(await parent.hit(data.x + min(_PROBES_X[1], data.w // 2), edge))[0]

    async def column_at(edge: int) -> int:
        return _cell_of(await parent.hit(edge, data.y + min(_LEAST_PX, data.h // 2)))[1]

    async def box_in_row(column: int) -> Rect | None:
        return await parent.box(await parent.cell(first[0] if not rows else rows[0], column))

    async def box_in_column(row: int) -> Rect | None:
        return await parent.box(await parent.cell(row, first[1]))

    rows: list[int] = []
    rows = await _list_numbers_in_view(
        range(first[0], count_rows), box_in_column, row_at, (data.y, data.bottom), _vertical_span
    )
    columns = await _list_numbers_in_view(
        range(first[1], count_columns), box_in_row, column_at, (data.x, data.right), _horizontal_span
    )
    if not rows or not columns:
        return None
    told = rows[: max(1, most // max(1, len(columns)))]
    headers = await asyncio.gather(*(_header_above(parent, column, box_in_row(column)) for column in columns))
    cells = await asyncio.gather(*(parent.cell(row, column) for row in told for column in columns))
    return Children(_drop_repeats((*headers, *cells)), is_cut=len(told) < len(rows))


async def _items(parent: _Parent, points: Iterable[tuple[int, int]], view: Rect, most: int) -> Children | None:
    """Look at one point after the other: GTK 3 goes through all children of a list for each."""
    hit = None
    for point in points:
        hit = hit or await parent.hit(*point)
    if hit is None or hit.number < 0:
        return None
    refs: dict[int, Ref | None] = {}

    async def box_at(index: int) -> Rect | None:
        refs[index] = await parent.item(index)
        return await parent.box(refs[index])

    async def index_at(edge: int) -> int:
        hit = await parent.hit(view.x + min(_PROBES_X[1], view.w // 2), edge)
        return -1 if hit is None else hit.number

    indices = range(max(0, hit.number - _AT_ONCE // 2), await parent.count())
    found = await _list_numbers_in_view(indices, box_at, index_at, (view.y, view.bottom), _vertical_span)
    if not found:
        return None
    return Children(_drop_repeats(refs[index] for index in found[:most]), is_cut=len(found) > most)


async def _list_numbers_in_view(
    numbers: range,
    box_of: Callable[[int], Awaitable[Rect | None]],
    number_at: Callable[[int], Awaitable[int]],
    view: tuple[int, int],
    extent: Callable[[Rect], tuple[int, int]],
) -> list[int]:
    """Return which of `numbers` (rows, columns, indices) are in `view` (begin, end), in order. Where hidden rows
    interrupt them, the search asks `number_at` which number lies behind the last visible box, and continues there.
    """
    begin, end = view
    found: list[int] = []
    at, edge = numbers.start, begin
    for _ in range(_MOST_BATCHES):
        if at >= numbers.stop or edge >= end - _LEAST_PX:
            break
        some = range(at, min(at + _AT_ONCE, numbers.stop))
        boxes = await asyncio.gather(*(box_of(number) for number in some))
        spans = [extent(box) if box is not None else (end, end) for box in boxes]
        seen = [(number, span) for number, span in zip(some, spans, strict=True) if _is_seen(span, view)]
        found += [number for number, _ in seen]
        edge = max([edge, *(span[1] for _, span in seen)])
        at = some.stop
        if not seen or seen[-1][0] != some[-1]:
            if edge >= end - _LEAST_PX or (behind := await number_at(edge + 1)) < at:
                return found
            at = behind
    return found


def _is_seen(span: tuple[int, int], view: tuple[int, int]) -> bool:
    shown = min(span[1], view[1]) - max(span[0], view[0])
    return shown >= max(_LEAST_PX, min(_ENOUGH_PX, (span[1] - span[0]) / 2))


def _vertical_span(box: Rect) -> tuple[int, int]:
    return box.y, box.bottom


def _horizontal_span(box: Rect) -> tuple[int, int]:
    return box.x, box.right


def _cell_of(hit: _Hit | None) -> tuple[int, int]:
    return (-1, -1) if hit is None or hit.place is None else hit.place


async def _box_of(parent: _Parent, header: Awaitable[Ref | None]) -> Rect | None:
    return await parent.box(await header)


async def _header_above(parent: _Parent, column: int, cell: Awaitable[Rect | None]) -> Ref | None:
    """Return a column's header; None for one that is reported above another column (Qt 5, beside row headers)."""
    below = await cell
    header = await parent.column_header(column)
    box = await parent.box(header)
    return header if box is not None and below is not None and box.x <= below.x + below.w // 2 < box.right else None


def _without_headers(view: Rect, top: Rect | None, left: Rect | None) -> Rect:
    """Return the part of `view` in which cells can be seen."""
    y = top.bottom if top is not None and view.y <= top.bottom < view.bottom else view.y
    x = left.right if left is not None and view.x <= left.right < view.right else view.x
    return Rect(x, y, view.right - x, view.bottom - y)


def _drop_repeats(refs: Iterable[Ref | None]) -> tuple[Ref, ...]:
    return tuple(dict.fromkeys(ref for ref in refs if ref is not None))
