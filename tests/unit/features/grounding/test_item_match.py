"""Descriptions of which every word is explained, on trees made by hand."""

from collections.abc import Mapping, Sequence

import pytest

from acud.accessibility.nodes import AccessibleApp, Node, State, Tree
from acud.features.grounding.widget_match import Match, match
from acud.types import Rect, WindowInfo

SCREEN = Rect(0, 0, 1000, 800)
LIVE = State.SHOWING | State.VISIBLE | State.ENABLED | State.SENSITIVE
MAIN = WindowInfo(1, "Letters - Mail", Rect(0, 0, 900, 700), pid=7)


def node(role: str, name: str, box: tuple[int, int, int, int], **more: object) -> Node:
    fields: dict[str, object] = {
        "ref": f"{role}{box}", "app": 0, "parent": 0, "depth": 1, "role": role, "name": name, "states": int(LIVE),
        "box": Rect(*box), "window": 1,
    }  # fmt: skip
    return Node(**{**fields, **more})  # type: ignore[arg-type]


FRAME = node("frame", "Letters - Mail", (0, 0, 900, 700), parent=-1, depth=0)


def icon(x: int, y: int = 10, name: str = "", **more: object) -> Node:
    return node("push button", name, (x, y, 30, 30), **more)


def ask(
    words: str, *nodes: Node, shapes: Mapping[int, str] | None = None, windows: Sequence[WindowInfo] = (MAIN,)
) -> Match:
    """Return the match among `nodes`; `shapes`: what the icons at these columns look like."""
    tree = Tree((AccessibleApp("mail", 7),), (FRAME, *nodes))

    def shape_of(box: Rect) -> Mapping[str, float]:
        return {meaning: 1.0} if (meaning := (shapes or {}).get(box.x)) else {}

    return match(words, tree, windows, SCREEN, shape_of=shape_of)


def left_of(found: Match) -> int:
    assert found.outcome == "sure", found
    box = found.candidates[0].box
    assert box is not None
    return box.x


@pytest.mark.parametrize("words", ["the trash can", "waste bin", "delete this", "the bin icon"])
def test_an_icon_is_found_by_what_its_picture_and_its_use_are_called(words: str) -> None:
    nodes = (icon(10, name="Print"), icon(50, name="Move to bin"), icon(90, name="Reply"))
    if words == "delete this":
        assert left_of(ask("delete", *nodes)) == 50
    else:
        assert left_of(ask(words, *nodes)) == 50


def test_a_nameless_icon_is_found_by_its_shape() -> None:
    nodes = (icon(10), icon(50), icon(90))
    shapes = {10: "print", 50: "attach", 90: "settings"}
    assert left_of(ask("paper clip", *nodes, shapes=shapes)) == 50
    assert left_of(ask("gear", *nodes, shapes=shapes)) == 90
    assert ask("microphone icon", *nodes, shapes=shapes).outcome == "nothing"


def test_two_icons_of_one_shape_are_told_apart_by_their_row_alone() -> None:
    nodes = (
        node("label", "Solaris", (10, 100, 80, 20)), icon(200, 95),
        node("label", "Emma", (10, 140, 80, 20)), icon(240, 135),
    )  # fmt: skip
    shapes = {200: "delete", 240: "delete"}
    assert left_of(ask("delete Emma, the bin at the end of its row", *nodes, shapes=shapes)) == 240
    assert ask("the bin", *nodes, shapes=shapes).outcome == "ambiguous"


def test_a_button_with_words_is_not_one_with_another_word_of_that_use() -> None:
    assert ask("Apply button", node("push button", "OK", (10, 10, 80, 30))).outcome != "sure"
    assert ask("order button", node("push button", "Place order", (10, 10, 80, 30))).outcome != "sure"


def test_a_word_that_nothing_explains_leaves_the_answer_open() -> None:
    assert ask("phone number field", node("entry", "Number", (10, 10, 80, 20))).outcome != "sure"


def test_what_stands_left_of_a_quoted_name_is_not_what_has_that_name() -> None:
    nodes = (
        node("push button", "Create invoice", (10, 10, 90, 30)),
        node("push button", "Mark as done", (110, 10, 90, 30)),
    )
    assert left_of(ask('button left of "Mark as done"', *nodes)) == 10
    assert left_of(ask('the "Mark as done" button', *nodes)) == 110


def test_a_cell_is_called_by_its_column_and_its_row() -> None:
    table = node("table", "", (0, 100, 400, 200))

    def cell(name: str, x: int, y: int, role: str = "table cell") -> Node:
        return node(role, name, (x, y, 100, 20), parent=1, depth=2)

    nodes = (
        table, cell("Pet", 0, 100, "table column header"), cell("Owner", 100, 100, "table column header"),
        cell("Biscuit", 0, 120), cell("H. Moss", 100, 120), cell("Nacho", 0, 140), cell("P. Vega", 100, 140),
    )  # fmt: skip
    found = ask("owner of Nacho", *nodes)
    assert (found.outcome, found.candidates[0].label) == ("sure", "P. Vega")


def test_the_same_name_in_two_groups_is_told_apart_by_the_group() -> None:
    nodes = (
        node("panel", "Input", (0, 100, 200, 100)), node("check box", "Mute", (10, 150, 80, 20), parent=1, depth=2),
        node("panel", "Output", (300, 100, 200, 100)), node("check box", "Mute", (310, 150, 80, 20), parent=3, depth=2),
    )  # fmt: skip
    assert left_of(ask("output mute", *nodes)) == 310
    assert ask("mute checkbox", *nodes).outcome == "ambiguous"


def test_a_disabled_one_is_found_by_its_name_or_because_the_description_says_so() -> None:
    nodes = (node("push button", "Undo send", (10, 10, 90, 30), states=int(State.SHOWING | State.VISIBLE)),)
    assert left_of(ask("the greyed-out button", *nodes)) == 10
    found = ask("undo send", *nodes)
    assert (found.outcome, found.candidates[0].disabled) == ("sure", True)


def test_what_is_behind_a_modal_window_is_not_offered_and_the_reason_says_so() -> None:
    dialog = WindowInfo(2, "Delete snapshot", Rect(300, 300, 300, 200), pid=7, kind="dialog", owner=1, modal=True)
    restore = node("push button", "Restore", (10, 10, 90, 30))
    found = ask("Restore button", restore, windows=(dialog, MAIN))
    assert (found.outcome, "behind a dialog" in found.reason) == ("nothing", True)
    assert ask("Restore button behind the dialog", restore, windows=(dialog, MAIN)).outcome == "sure"
    loose = WindowInfo(2, "Find", Rect(300, 300, 300, 200), pid=7, kind="dialog", owner=1)
    assert ask("Restore button", restore, windows=(loose, MAIN)).outcome == "sure"


def test_a_side_and_an_order_choose_among_equals() -> None:
    nodes = tuple(node("push button", "Lend", (400, y, 60, 20)) for y in (100, 130, 160))
    assert ask("second Lend button", *nodes).candidates[0].point.y == 140
    shapes = {10: "add", 850: "add"}
    assert left_of(ask("plus at the top right", icon(10), icon(850), shapes=shapes)) == 850


def test_a_number_alone_counts_the_rows_of_the_only_list() -> None:
    def rows(x: int, parent: int, *names: str) -> list[Node]:
        boxes = [(x, 100 + 30 * n, 300, 30) for n in range(len(names))]
        lines = [node("list item", name, box, parent=parent, depth=2) for name, box in zip(names, boxes, strict=True)]
        return [node("list", "", (x, 100, 300, 30 * len(names))), *lines]

    alone = rows(20, 1, "Intro", "Verse", "End")
    assert ask("second row", *alone).candidates[0].label == "Verse"
    assert ask("last marker in the list", *alone).candidates[0].label == "End"
    assert ask("second row", *alone, *rows(500, 5, "One", "Two")).outcome != "sure"


def test_the_title_of_a_card_tells_which_of_two_icons_is_meant() -> None:
    nodes = (
        node("label", "CSV import hangs", (20, 100, 120, 20)), icon(200, 122),
        node("label", "New prices", (20, 200, 90, 20)), icon(200, 222),
    )  # fmt: skip
    found = ask('trash can on the "CSV import hangs" card', *nodes, shapes={200: "delete"})
    assert (found.outcome, found.candidates[0].point.y) == ("sure", 137)


def test_rows_of_a_table_that_tells_of_cells_alone_are_counted_by_their_lines() -> None:
    table = node("table", "", (0, 100, 400, 200))
    cells = tuple(
        node("table cell", f"{row}-{column}", (column * 100, 100 + row * 20, 100, 20), parent=1, depth=2)
        for row in range(3)
        for column in range(3)
    )
    assert ask("second row", table, *cells).candidates[0].label == "1-0"


def test_fields_that_a_toolkit_names_after_their_group_have_their_own_labels() -> None:
    def field(label: str, group: str, x: int, y: int) -> tuple[Node, Node]:
        return (
            node("label", label, (x, y, 60, 20)),
            node("text", group, (x + 70, y, 100, 20), states=int(LIVE | State.EDITABLE)),
        )

    nodes = (
        *field("Street", "Billing", 10, 100), *field("Town", "Billing", 10, 130),
        *field("Street", "Delivery", 300, 100), *field("Town", "Delivery", 300, 130),
    )  # fmt: skip
    assert left_of(ask("delivery street", *nodes)) == 370
    assert ask("town", *nodes).outcome == "ambiguous"


@pytest.mark.parametrize(
    ("words", "names", "left"),
    [
        ("click the Export button", ("Save", "Export"), 110),  # README's own example
        ("the button labelled Export", ("Save", "Export"), 110),
        ("second Export button", ("Export", "Save", "Export"), 210),
        ("the Exports button", ("Export", "Exports"), 110),
        ("the Last button", ("Last", "Surname", "Family"), 10),
    ],
)
def test_a_full_exact_name_beats_words_of_one_meaning(words: str, names: tuple[str, ...], left: int) -> None:
    nodes = [node("push button", name, (10 + 100 * at, 10, 80, 30)) for at, name in enumerate(names)]
    assert left_of(ask(words, *nodes)) == left
