"""A walk through a scripted application: what a limit leaves out is counted, and long lists are told as far as seen."""

import pytest
from msgspec.structs import replace

from acud.accessibility.nodes import AccessibleApp, FailedApp, Limits, Node, State, Tree
from acud.evaluator.accessibility.bus import NoAnswer
from acud.evaluator.accessibility.walk import AppWalk, WalkBudget, in_document_order
from acud.evaluator.accessibility.widget import MAX_TEXT, WidgetClient
from acud.types import Rect
from tests.unit.evaluator.accessibility.scripted_app import SHOWN, LongList, ScriptedApp, Sheet, Widget

GTK_3 = AccessibleApp("program", 7, "gtk", "3.24.38")
QT_5 = AccessibleApp("program", 7, "Qt", "5.15.8")
NO_LIMITS = Limits()


async def walk_all(
    app: ScriptedApp, limits: Limits = NO_LIMITS, of: AccessibleApp = GTK_3
) -> tuple[AppWalk, list[Node], str]:
    budget = WalkBudget(limits, until=1e12)
    walk = AppWalk(WidgetClient(app.connection), app.ref("/root"), of, (), budget)
    await walk.ask_widgets()
    return walk, in_document_order(walk.found, 0, 0), budget.cut


def form(count: int) -> ScriptedApp:
    buttons = {f"b{number}": Widget("push button", f"B{number}", Rect(0, number, 9, 9)) for number in range(count)}
    return ScriptedApp(
        root=Widget("application", children=("window",)),
        window=Widget("frame", "Window", Rect(0, 0, 99, 99), children=("box",)),
        box=Widget("panel", box=Rect(0, 0, 99, 99), children=tuple(buttons)),
        **buttons,
    )


@pytest.mark.parametrize(
    ("limits", "cut", "told", "left_out"),
    [
        (Limits(), "", 102, 0),
        (Limits(max_nodes=40), "nodes", 40, 62),
        (Limits(max_nodes=1), "nodes", 1, 1),  # what is in the panel is not known
        (Limits(max_depth=2), "depth", 2, 100),
    ],
)
@pytest.mark.asyncio
async def test_what_a_limit_leaves_out_is_counted(limits: Limits, cut: str, told: int, left_out: int) -> None:
    walk, nodes, was_cut = await walk_all(form(100), limits)
    assert (was_cut, len(nodes), walk.left_out) == (cut, told, left_out)


@pytest.mark.asyncio
async def test_a_walk_that_was_stopped_counts_what_it_had_not_asked() -> None:
    app = form(100)
    answer = app.on_GetRole

    def stop_at(path: str) -> int:
        if path == "/b60":
            raise NoAnswer("org.freedesktop.DBus.Error.NoReply")
        return answer(path)

    app.on_GetRole = stop_at  # type: ignore[method-assign]
    budget = WalkBudget(Limits(), until=1e12)
    walk = AppWalk(WidgetClient(app.connection), app.ref("/root"), GTK_3, (), budget)
    with pytest.raises(NoAnswer):
        await walk.ask_widgets()
    assert len(walk.found) + walk.left_out == 102


def test_a_tree_says_how_much_is_missing() -> None:
    nodes = tuple(Node(f"/{number}", 0, -1, 0, "label", "", 0, None) for number in range(5))
    cut = Tree(nodes=nodes, truncated="nodes", left_out=4997)
    assert cut.gaps() == ("5 of at least 5002 widgets told ([accessibility] max_nodes)",)
    hung, mute = FailedApp("gimp", 9, "it did not answer for 0.5 s"), FailedApp("", 8, "it tells nothing")
    assert replace(cut, truncated="", failed=(hung,), silent=(mute,)).gaps() == (
        "gimp: it did not answer for 0.5 s", "8: it tells nothing",
    )  # fmt: skip
    assert Tree(nodes=nodes).gaps() == ()


@pytest.mark.asyncio
async def test_of_a_list_of_thousands_the_rows_in_view_are_told() -> None:
    app = LongList(5000, first=700)
    walk, nodes, cut = await walk_all(app)
    rows = [node.name for node in nodes if node.role == "list item"]
    assert rows == [f"Row {row}" for row in range(700, 710)]
    assert (cut, walk.left_out, walk.hidden) == ("", 0, 4990)
    assert app.calls < 400


@pytest.mark.asyncio
async def test_rows_behind_many_hidden_ones_are_found() -> None:
    _, nodes, _ = await walk_all(LongList(5000, first=700, hidden=range(705, 3000)))
    rows = [node.name for node in nodes if node.role == "list item"]
    assert rows == [f"Row {row}" for row in (*range(700, 705), *range(3000, 3005))]


@pytest.mark.parametrize("has_cells", [True, False], ids=["TableCell", "Table"])
@pytest.mark.parametrize("hidden", [range(0), range(503, 90_000)], ids=["all rows", "a filter"])
@pytest.mark.asyncio
async def test_of_a_sheet_the_cells_in_view_are_told(hidden: range, *, has_cells: bool) -> None:
    app = Sheet(1_048_576, 16_384, first=(500, 3), hidden=hidden, has_cells=has_cells)
    walk, nodes, cut = await walk_all(app)
    rows = range(500, 510) if not hidden else (500, 501, 502, *range(90_000, 90_007))
    cells = [(node.name, node.box) for node in nodes if node.role == "table cell"]
    assert [name for name, _ in cells] == [f"{row},{column}" for row in rows for column in range(3, 11)]
    assert cells[0][1] == Rect(30, 120, 50, 20)
    headers = [node.name for node in nodes if node.role == "table column header"]
    assert headers == [str(column) for column in range(3, 11)]
    assert (cut, walk.left_out) == ("", 0)
    assert app.calls < 1500


@pytest.mark.asyncio
async def test_a_list_that_does_not_tell_what_is_in_view_is_a_gap() -> None:
    app = LongList(5000, first=0)
    app.on_GetAccessibleAtPoint = None  # type: ignore[assignment, method-assign]
    walk, nodes, cut = await walk_all(app)
    assert [node.role for node in nodes] == ["frame", "list box"]
    assert (cut, walk.left_out) == ("nodes", 5000)


def wrap(index: int) -> int:
    """Return an index as a signed number of 32 bits, as LibreOffice tells it."""
    return (index + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.parametrize("row", [131_071, 131_072, 300_000, 1_048_560])
@pytest.mark.asyncio
async def test_cells_whose_indices_run_over_are_found(row: int) -> None:
    app = Sheet(1_048_576, 16_384, first=(row, 3))
    index = app.on_GetIndexInParent
    app.on_GetIndexInParent = lambda path: wrap(index(path))  # type: ignore[method-assign]
    _, nodes, cut = await walk_all(app)
    cells = [node.name for node in nodes if node.role == "table cell"]
    assert (cells[0], len(cells), cut) == (f"{row},3", 80, "")
    assert app.calls < 1500


@pytest.mark.asyncio
async def test_a_sheet_that_tells_wrong_indices_is_a_gap() -> None:
    app = Sheet(1_000, 50, first=(500, 3))
    app.on_GetIndexInParent = lambda path: 0  # type: ignore[method-assign]
    walk, nodes, cut = await walk_all(app)
    assert [node.role for node in nodes] == ["frame", "table"]
    assert cut == "nodes"
    assert walk.left_out > 1_000_000


@pytest.mark.asyncio
async def test_a_viewport_of_gtk_3_that_was_scrolled_is_read() -> None:
    """GTK 3 tells it as not showing then, though what is in it shows."""
    app = ScriptedApp(
        root=Widget("application", children=("window",)),
        window=Widget("frame", "Window", Rect(0, 0, 99, 99), children=("pane",)),
        pane=Widget("scroll pane", box=Rect(0, 0, 99, 99), children=("view", "bar")),
        view=Widget("viewport", states=State.VISIBLE | State.SENSITIVE, children=("ok", "away")),
        bar=Widget("scroll bar", states=State.VISIBLE | State.SENSITIVE),
        ok=Widget("push button", "OK", Rect(5, 5, 20, 9)),
        away=Widget("push button", "Away", states=State.VISIBLE),
    )
    walk, nodes, _ = await walk_all(app)
    assert [node.role for node in nodes] == ["frame", "scroll pane", "viewport", "push button"]
    assert walk.hidden == 2
    _, nodes, _ = await walk_all(app, of=AccessibleApp("program", 7, "other", "1"))
    assert [node.role for node in nodes] == ["frame", "scroll pane"]


@pytest.mark.asyncio
async def test_a_widget_that_is_told_twice_is_there_once() -> None:
    app = ScriptedApp(
        root=Widget("application", children=("window", "popup")),
        window=Widget("frame", "Window", Rect(0, 0, 99, 99), children=("combo",)),
        combo=Widget("combo box", "Colour", Rect(0, 0, 50, 20), children=("menu",)),
        popup=Widget("window", box=Rect(0, 20, 50, 20), children=("menu",)),
        menu=Widget("menu", box=Rect(0, 20, 50, 20), children=("red",)),
        red=Widget("menu item", "Red", Rect(0, 20, 50, 20)),
    )
    _, nodes, _ = await walk_all(app)
    assert [(node.role, node.depth) for node in nodes if node.role.startswith("menu")] == [
        ("menu", 1),
        ("menu item", 2),
    ]


@pytest.mark.asyncio
async def test_the_list_of_a_closed_combo_box_of_qt_5_does_not_show() -> None:
    app = ScriptedApp(
        root=Widget("application", children=("window",)),
        window=Widget("filler", "Window", Rect(0, 0, 99, 99), children=("combo",)),
        combo=Widget("combo box", "Red", Rect(10, 10, 50, 20), children=("list",)),
        list=Widget("list", children=("red",), states=SHOWN),
        red=Widget("list item", "Red", Rect(0, 0, 640, 20)),
    )
    walk, nodes, _ = await walk_all(app, of=QT_5)
    assert ([node.role for node in nodes], walk.hidden) == (["filler", "combo box"], 1)
    app.widgets["/list"].box = Rect(10, 30, 50, 20)
    app.widgets["/red"].box = Rect(10, 30, 640, 20)
    _, nodes, _ = await walk_all(app, of=QT_5)
    assert [(node.role, node.box) for node in nodes[2:]] == [
        ("list", Rect(10, 30, 50, 20)), ("list item", Rect(10, 30, 50, 20)),
    ]  # fmt: skip


@pytest.mark.parametrize("is_shy", [False, True], ids=["others", "Firefox"])
@pytest.mark.parametrize("text", ["", "Ann Smith", "x" * MAX_TEXT, "y" * (3 * MAX_TEXT)], ids=len)
@pytest.mark.asyncio
async def test_the_text_of_a_field(text: str, *, is_shy: bool) -> None:
    app = ScriptedApp(field=Widget("entry", text=text, is_shy=is_shy), button=Widget("push button"))
    client = WidgetClient(app.connection)
    assert await client.text(app.ref("/field")) == text[:MAX_TEXT]
    assert await client.text(app.ref("/button")) == ""
