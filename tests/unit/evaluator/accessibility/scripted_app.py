"""An application's widgets without a bus: answers the calls of AT-SPI from values, and refuses what a widget lacks."""

from dataclasses import dataclass
from typing import Any, cast

from acud.accessibility.nodes import State, role_name
from acud.evaluator.accessibility.bus import BusConnection, NoAnswer
from acud.evaluator.accessibility.widget import Ref
from acud.types import Rect

PEER = ":1.7"
SHOWN = State.SHOWING | State.VISIBLE | State.SENSITIVE
MANAGES = 1 << 31
_ROLES = {role_name(number): number for number in range(140, -1, -1)}
_REFUSED = "org.freedesktop.DBus.Error.UnknownMethod"
_FAR = -(1 << 31)


@dataclass
class Widget:
    """`children`: paths. `text` None: it has no text. `is_shy` (Firefox): no text to an end that lies past it."""

    role: str
    name: str = ""
    box: Rect | None = None
    states: int = SHOWN
    children: tuple[str, ...] = ()
    text: str | None = None
    is_shy: bool = False


class ScriptedApp:
    """Answers for widgets by path; the application itself is `/root`. `calls` counts."""

    def __init__(self, **widgets: Widget) -> None:
        self.widgets = {f"/{name}": widget for name, widget in widgets.items()}
        self.calls = 0

    @property
    def connection(self) -> BusConnection:
        return cast(BusConnection, self)

    def ref(self, path: str) -> Ref:
        return Ref(PEER, path)

    def widget(self, path: str) -> Widget:
        """Return what stands at `path`; a test's list makes its own children. Raises: NoAnswer."""
        if path not in self.widgets:
            raise NoAnswer("org.freedesktop.DBus.Error.UnknownObject")
        return self.widgets[path]

    async def call(self, peer: str, path: str, member: tuple[str, str], signature: str = "", *body: Any) -> list[Any]:
        self.calls += 1
        answer = getattr(self, f"on_{member[1]}", None)
        if answer is None:
            raise NoAnswer(_REFUSED)
        return [answer(path, *body)]

    async def get(self, peer: str, path: str, prop: tuple[str, str]) -> Any:
        self.calls += 1
        answer = getattr(self, f"get_{prop[1]}", None)
        if answer is None:
            raise NoAnswer(_REFUSED)
        return answer(path)

    def on_GetState(self, path: str) -> list[int]:
        states = self.widget(path).states
        return [states & 0xFFFFFFFF, states >> 32]

    def on_GetRole(self, path: str) -> int:
        return _ROLES[self.widget(path).role]

    def on_GetExtents(self, path: str, space: int) -> tuple[int, int, int, int]:
        box = self.widget(path).box
        return (box.x, box.y, box.w, box.h) if box is not None else (_FAR, _FAR, 1, 1)

    def on_GetChildren(self, path: str) -> list[tuple[str, str]]:
        return [(PEER, f"/{name}") for name in self.widget(path).children]

    def on_GetRelationSet(self, path: str) -> list[Any]:
        return []

    def on_GetAttributes(self, path: str) -> dict[str, str]:
        return {}

    def on_GetText(self, path: str, start: int, end: int) -> str:
        widget = self.widget(path)
        if widget.text is None:
            raise NoAnswer(_REFUSED)
        return "" if widget.is_shy and end > len(widget.text) else widget.text[start:end]

    def get_Name(self, path: str) -> str:
        return self.widget(path).name

    def get_Description(self, path: str) -> str:
        return ""

    def get_ChildCount(self, path: str) -> int:
        return len(self.widget(path).children)

    def get_CharacterCount(self, path: str) -> int:
        return len(self.widget(path).text or "")


class LongList(ScriptedApp):
    """A window with a list of `rows` of `height` px at `/list`, scrolled so that row `first` is on top; some hidden."""

    box = Rect(10, 100, 300, 200)

    def __init__(self, rows: int, first: int, height: int = 20, hidden: range = range(0)) -> None:
        super().__init__(
            root=Widget("application", children=("window",)),
            window=Widget("frame", "Window", Rect(0, 50, 400, 300), children=("list",)),
            list=Widget("list box", box=self.box, states=SHOWN | MANAGES),
        )
        self.rows, self.height, self.hidden = rows, height, hidden
        self.above = self._shown_before(first) * height

    def _shown_before(self, row: int) -> int:
        return row - len([one for one in self.hidden if one < row])

    def widget(self, path: str) -> Widget:
        if not path.startswith("/row"):
            return super().widget(path)
        row = int(path.removeprefix("/row"))
        y = self.box.y + self._shown_before(row) * self.height - self.above
        box = None if row in self.hidden else Rect(self.box.x, y, self.box.w, self.height)
        return Widget("list item", f"Row {row}", box)

    def get_ChildCount(self, path: str) -> int:
        return self.rows if path == "/list" else super().get_ChildCount(path)

    def on_GetAccessibleAtPoint(self, path: str, x: int, y: int, space: int) -> tuple[str, str]:
        wanted = (y - self.box.y + self.above) // self.height
        row = next(
            (row for row in range(self.rows) if row not in self.hidden and self._shown_before(row) == wanted), -1
        )
        return PEER, f"/row{row}" if row >= 0 and self.box.x <= x < self.box.right else "/null"

    def on_GetIndexInParent(self, path: str) -> int:
        return int(path.removeprefix("/row"))

    def on_GetChildAtIndex(self, path: str, index: int) -> tuple[str, str]:
        return PEER, f"/row{index}"


class Sheet(ScriptedApp):
    """A window with a sheet of `rows` x `columns` cells of 50x20 px at `/sheet`, below a row of headers and right of a
    column of them (each 20 px). Cell `first` is at the top left; `hidden` rows have no height.

    `has_cells`: cells have the interface TableCell; without it the sheet tells rows and columns of an index.
    """

    box = Rect(10, 100, 420, 220)

    def __init__(
        self, rows: int, columns: int, first: tuple[int, int], *, hidden: range = range(0), has_cells: bool = False
    ) -> None:
        super().__init__(
            root=Widget("application", children=("window",)),
            window=Widget("frame", "Window", Rect(0, 50, 500, 300), children=("sheet",)),
            sheet=Widget("table", box=self.box, states=SHOWN | MANAGES),
        )
        self.size, self.first, self.hidden, self.has_cells = (rows, columns), first, hidden, has_cells

    def _hidden_before(self, row: int) -> int:
        return max(0, min(row, self.hidden.stop) - self.hidden.start) if self.hidden else 0

    def _place(self, row: int, column: int) -> tuple[int, int]:
        down = (row - self._hidden_before(row)) - (self.first[0] - self._hidden_before(self.first[0]))
        return self.box.x + 20 + 50 * (column - self.first[1]), self.box.y + 20 + 20 * down

    def widget(self, path: str) -> Widget:
        kind, *numbers = path.split("_")
        if kind == "/cell":
            row, column = map(int, numbers)
            return Widget(
                "table cell", f"{row},{column}", None if row in self.hidden else Rect(*self._place(row, column), 50, 20)
            )
        if kind == "/column":
            x, _ = self._place(*self.first[:1], int(numbers[0]))
            return Widget("table column header", numbers[0], Rect(x, self.box.y, 50, 20))
        if kind == "/line":
            _, y = self._place(int(numbers[0]), 0)
            return Widget("table row header", numbers[0], Rect(self.box.x, y, 20, 20))
        return super().widget(path)

    def get_ChildCount(self, path: str) -> int:
        return (1 << 31) - 1 if path == "/sheet" else super().get_ChildCount(path)

    def get_NRows(self, path: str) -> int:
        return self.size[0]

    def get_NColumns(self, path: str) -> int:
        return self.size[1]

    def get_Position(self, path: str) -> tuple[int, int]:
        if not self.has_cells:
            raise NoAnswer(_REFUSED)
        row, column = map(int, path.split("_")[1:])
        return row, column

    def on_GetAccessibleAtPoint(self, path: str, x: int, y: int, space: int) -> tuple[str, str]:
        column = self.first[1] + (x - self.box.x - 20) // 50
        if y < self.box.y + 20:
            return PEER, f"/column_{column}"
        line = self.first[0] - self._hidden_before(self.first[0]) + (y - self.box.y - 20) // 20
        row = line if line < self.hidden.start or not self.hidden else line + len(self.hidden)
        return PEER, f"/line_{row}" if x < self.box.x + 20 else f"/cell_{row}_{column}"

    def on_GetIndexInParent(self, path: str) -> int:
        kind, *numbers = path.split("_")
        return int(numbers[0]) * self.size[1] + int(numbers[1]) if kind == "/cell" else 0

    def on_GetRowAtIndex(self, path: str, index: int) -> int:
        if self.has_cells:
            raise NoAnswer(_REFUSED)
        return index // self.size[1]

    def on_GetColumnAtIndex(self, path: str, index: int) -> int:
        return index % self.size[1]

    def on_GetAccessibleAt(self, path: str, row: int, column: int) -> tuple[str, str]:
        return PEER, f"/cell_{row}_{column}"

    def on_GetColumnHeader(self, path: str, column: int) -> tuple[str, str]:
        return PEER, f"/column_{column}"

    def on_GetRowHeader(self, path: str, row: int) -> tuple[str, str]:
        return PEER, f"/line_{row}"
