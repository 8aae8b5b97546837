"""Fields, lists, dialogs and what scrolls, found in trees of widgets."""

from acud.accessibility.nodes import AccessibleApp, Node, State, Tree
from acud.features.actions import observed_widgets as rules
from acud.features.actions.observed_widgets import WidgetTree
from acud.types import Rect, WindowInfo
from acud.types.action_effects import OpenDialog
from acud.types.actions import Point

SCREEN = Rect(0, 0, 800, 600)
MAIN = WindowInfo(1, "Trip", Rect(0, 0, 800, 600), pid=10)
SHOWN = State.SHOWING | State.VISIBLE | State.ENABLED


def tree(*given: tuple[int, str, str, Rect | None, int]) -> WidgetTree:
    """Return a tree of (depth, role, name, box, more states) in document order, all of one window."""
    nodes: list[Node] = []
    path: list[int] = []
    for index, (depth, role, name, box, states) in enumerate(given):
        del path[depth:]
        parent = path[-1] if path else -1
        nodes.append(Node(f":1/{index}", 0, parent, depth, role, name, SHOWN | states, box, window=0 if depth else 1))
        path.append(index)
    return WidgetTree(Tree((AccessibleApp("trip", 10),), tuple(nodes)))


FORM = tree(
    (0, "frame", "Trip", Rect(0, 0, 800, 600), 0),
    (1, "date editor", "Departure", Rect(100, 50, 120, 22), 0),
    (2, "spin button", "Month", Rect(102, 52, 20, 18), 0),
    (2, "static", "/", Rect(122, 52, 8, 18), 0),
    (2, "spin button", "Day", Rect(130, 52, 20, 18), State.FOCUSED),
    (1, "combo box", "City", Rect(100, 100, 120, 22), 0),
    (2, "text", "", Rect(102, 102, 90, 18), State.EDITABLE),
    (1, "check box", "Loud", Rect(100, 150, 80, 20), 0),
    (2, "label", "Loud", Rect(120, 150, 60, 20), 0),
    (1, "list", "", Rect(100, 200, 300, 120), 0),
    (2, "list item", "One", Rect(100, 200, 300, 20), State.FOCUSED | State.SELECTED),
)


def test_a_date_in_parts_is_one_field() -> None:
    found = rules.field_at(FORM, Point(135, 60), (MAIN,))
    assert found is not None
    assert found.name == "Departure"
    assert [part.name for part in rules.find_parts(FORM, found)] == ["Month", "Day"]
    assert rules.is_value(found)


def test_the_text_of_an_editable_combo_box_is_a_field_and_the_box_a_choice() -> None:
    field, choice = rules.field_at(FORM, Point(110, 110), (MAIN,)), rules.choice_at(FORM, Point(110, 110), (MAIN,))
    assert field is not None
    assert (field.role, rules.takes_text(field)) == ("text", True)
    assert choice is not None
    assert choice.name == "City"


def test_a_click_on_a_label_reaches_what_it_is_a_part_of() -> None:
    found = rules.control_at(FORM, Point(130, 160), (MAIN,))
    assert found is not None
    assert found.role == "check box"


def test_the_current_item_of_a_list_without_the_focus_has_it_not() -> None:
    found = rules.find_focused(FORM, 1)
    assert found is not None
    assert found.name == "Day"
    field = rules.find_focused_field(FORM, 1)
    assert field is not None
    assert field.name == "Departure"


def test_what_is_beside_everything_is_nothing() -> None:
    assert rules.field_at(FORM, Point(700, 500), (MAIN,)) is None
    assert rules.choice_at(FORM, Point(900, 900), (MAIN,)) is None


def test_dialogs_are_told_with_their_texts_and_buttons() -> None:
    page = tree(
        (0, "frame", "Trip", Rect(0, 0, 800, 600), 0),
        (1, "dialog", "", Rect(200, 200, 200, 100), State.MODAL),
        (2, "paragraph", "", None, 0),
        (3, "static", "Delete the trip?", Rect(210, 210, 100, 20), 0),
        (2, "push button", "_Delete Delete", Rect(210, 260, 60, 20), 0),
        (3, "label", "Delete", Rect(215, 262, 50, 18), 0),
        (2, "push button", "Keep", Rect(280, 260, 60, 20), 0),
    )
    assert rules.find_open_dialogs(page, (MAIN,)) == (OpenDialog("", ("Delete the trip?",), ("Delete", "Keep")),)


def test_a_dialog_window_without_widgets_is_told_all_the_same() -> None:
    silent = WindowInfo(7, "Question", Rect(100, 100, 200, 80), pid=99, kind="dialog", owner=1)
    assert rules.find_open_dialogs(FORM, (silent, MAIN)) == (OpenDialog("Question", window_id=7),)


def test_a_dialog_that_names_no_window_is_its_programs() -> None:
    found = WidgetTree(
        Tree(
            (AccessibleApp("trip", 10),),
            (Node(":1/0", 0, -1, 0, "dialog", "", SHOWN, None), Node(":1/1", 0, 0, 1, "label", "Sure?", SHOWN, None)),
        )
    )
    window = WindowInfo(7, "", Rect(100, 100, 200, 80), pid=10, kind="dialog", owner=1)
    assert rules.find_open_dialogs(found, (window, MAIN)) == (OpenDialog("", ("Sure?",), window_id=7),)


def test_what_scrolls_is_found_by_role_and_by_what_reaches_past_it() -> None:
    page = tree(
        (0, "frame", "Trip", Rect(0, 0, 800, 600), 0),
        (1, "document web", "Trip", Rect(0, 0, 800, 600), 0),
        (2, "spin button", "Nights", Rect(380, 290, 60, 30), 0),
        (2, "section", "Stations", Rect(100, 300, 300, 100), 0),
        *((3, "section", f"Station {n}", Rect(100, 300 + 30 * n, 300, 30), 0) for n in range(4)),
        (2, "section", "Short", Rect(500, 300, 100, 100), 0),
        (3, "static", "all of it shows", Rect(500, 300, 100, 30), 0),
    )
    found = rules.find_scrollable(page, SCREEN)
    assert [node.name for node, _, _ in found] == ["Trip", "Stations"], "the largest first"
    (_, _, on_page), (_, box, in_list) = found
    assert box == Rect(100, 300, 300, 100)
    assert (box.x <= in_list.x < box.right, box.y <= in_list.y < box.bottom) == (True, True)
    hidden = (box, Rect(380, 290, 60, 30))
    assert not any(one.x <= on_page.x < one.right and one.y <= on_page.y < one.bottom for one in hidden)
