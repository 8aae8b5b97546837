"""From descriptions to widgets, on trees made by hand."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.accessibility.nodes import AccessibleApp, Node, State, Tree
from acud.features.grounding.widget_match import Match, match
from acud.types import Rect, WindowInfo

SCREEN = Rect(0, 0, 1000, 800)
LIVE = State.SHOWING | State.VISIBLE | State.ENABLED | State.SENSITIVE
MAIN = WindowInfo(1, "Letters - Mail", Rect(0, 0, 600, 600))


def node(ref: str, role: str, name: str = "", box: Rect | None = None, **more: object) -> Node:
    fields: dict[str, object] = {
        "ref": ref, "app": 0, "parent": 0, "depth": 1, "role": role, "name": name, "states": int(LIVE),
        "box": box or Rect(10, 10, 80, 20), "window": 1,
    }  # fmt: skip
    return Node(**{**fields, **more})  # type: ignore[arg-type]


def frame(window: WindowInfo = MAIN, **more: object) -> Node:
    fields: dict[str, object] = {"parent": -1, "depth": 0, "window": window.window_id}
    return node(f"w{window.window_id}", "frame", window.title, window.bounds, **{**fields, **more})


def tree(*nodes: Node) -> Tree:
    return Tree((AccessibleApp("mail", 7),), nodes)


def ask(words: str, nodes: Sequence[Node], windows: Sequence[WindowInfo] = (MAIN,), verb: str = "") -> Match:
    return match(words, tree(*nodes), windows, SCREEN, verb=verb)


def button(ref: str, name: str, x: int = 10, y: int = 10, **more: object) -> Node:
    return node(ref, "push button", name, Rect(x, y, 80, 20), **more)


def test_one_of_that_name_is_sure_and_clicked_in_its_middle() -> None:
    found = ask("the Save button", [frame(), button("a", "Save", 100, 50), button("b", "Save As…", 200, 50)])
    assert found.outcome == "sure"
    assert (found.candidates[0].point.x, found.candidates[0].point.y) == (140, 60)
    assert found.candidates[0].window == "Letters - Mail"


def test_several_as_good_are_all_named_and_none_is_chosen() -> None:
    found = ask("Remove", [frame(), button("a", "Remove", y=10), button("b", "Remove", y=40)])
    assert found.outcome == "ambiguous"
    assert len(found.candidates) == 2


@pytest.mark.parametrize(
    ("words", "y"), [("first Remove button", 10), ("2nd Remove", 40), ("the last Remove button", 70)]
)
def test_numbers_choose_from_the_top(words: str, y: int) -> None:
    found = ask(words, [frame(), *(button(str(at), "Remove", y=at) for at in (40, 70, 10))])
    assert found.outcome == "sure"
    assert found.candidates[0].box == Rect(10, y, 80, 20)


def test_a_number_beyond_the_last_is_not_sure() -> None:
    assert ask("fifth Remove button", [frame(), button("a", "Remove"), button("b", "Remove", y=40)]).outcome != "sure"


def test_a_name_with_a_number_in_it_is_a_name() -> None:
    fields = [node("a", "entry", "First name"), node("b", "entry", "Last name", Rect(10, 40, 80, 20))]
    found = ask("First name field", [frame(), *fields])
    assert (found.outcome, found.candidates[0].label) == ("sure", "First name")


GREY = int(State.SHOWING | State.VISIBLE)


def test_what_is_disabled_is_found_and_told_as_such() -> None:
    found = ask("Send", [frame(), button("a", "Send", states=GREY)])
    assert (found.outcome, found.candidates[0].disabled) == ("sure", True)
    assert "'Send' is disabled" in found.reason


def test_a_kind_alone_means_nothing_that_is_disabled() -> None:
    found = ask("the button", [frame(), button("a", "Send", states=GREY), button("b", "Print", y=40)])
    assert (found.outcome, found.candidates[0].label) == ("sure", "Print")


def test_of_two_with_one_name_none_is_chosen_because_the_other_is_disabled() -> None:
    assert ask("Send", [frame(), button("a", "Send", states=GREY), button("b", "Send", y=40)]).outcome == "ambiguous"


def test_the_next_best_is_no_answer_when_the_best_is_disabled() -> None:
    grey = button("a", "Send", states=GREY)
    found = ask("Send", [frame(), grey, button("b", "Send later", y=40)])
    assert [one.disabled for one in found.candidates] == [True]


def test_covered_widgets_are_not_clicked_and_half_covered_ones_beside_the_cover() -> None:
    over = WindowInfo(2, "Over", Rect(40, 0, 300, 300))
    under = WindowInfo(1, "Letters - Mail", Rect(0, 0, 600, 600), "covered")
    whole = ask("Send", [frame(), button("a", "Send", 60, 60)], (over, under))
    assert (whole.outcome, "covered" in whole.reason) == ("nothing", True)
    below_its_title = WindowInfo(2, "Over", Rect(40, 100, 300, 300), frame=Rect(35, 40, 310, 365))
    framed = ask("Send", [frame(), button("a", "Send", 60, 60)], (below_its_title, under))
    assert (framed.outcome, "covered" in framed.reason) == ("nothing", True)
    half = ask("Send", [frame(), button("a", "Send", 0, 60)], (over, under))
    assert half.outcome == "sure"
    assert half.candidates[0].point.x < 40


def test_what_is_scrolled_away_or_off_the_display_is_no_candidate() -> None:
    pane = node("p", "scroll pane", "", Rect(0, 0, 200, 100))
    below = button("a", "Send", 10, 300, parent=1, depth=2)
    off = button("b", "Print", 990, 900)
    assert ask("Send", [frame(), pane, below]).outcome == "nothing"
    assert ask("Print", [frame(), off]).outcome == "nothing"
    placeless = Node("n", 0, 0, 1, "push button", "Nowhere", int(LIVE), None)
    assert ask("Nowhere", [frame(), placeless]).outcome == "nothing"


def test_a_window_is_told_by_its_title() -> None:
    other = WindowInfo(2, "Settings", Rect(600, 0, 400, 400))
    nodes = [frame(), button("a", "OK"), frame(other), button("b", "OK", 700, 50, parent=2, window=2)]
    assert ask("OK", nodes, (MAIN, other)).outcome == "ambiguous"
    assert ask("OK button in the Settings window", nodes, (MAIN, other)).candidates[0].window == "Settings"
    assert ask("OK button in the Printer dialog", nodes, (MAIN, other)).outcome != "sure"


def test_behind_a_modal_dialog_nothing_is_meant() -> None:
    dialog = WindowInfo(2, "Question", Rect(100, 300, 200, 100))
    modal = frame(dialog, states=int(LIVE | State.MODAL))
    nodes = [frame(), button("a", "Save"), modal, button("b", "Save", 120, 320, parent=2, window=2)]
    found = ask("Save", nodes, (dialog, MAIN))
    assert (found.outcome, found.candidates[0].window) == ("sure", "Question")


@pytest.mark.parametrize(
    ("words", "ref_x"),
    [("checkbox left of Remember me", 10), ("button right of Remember me", 300), ("field below Name", 100)],
)
def test_places_are_seen_from_an_anchor(words: str, ref_x: int) -> None:
    nodes = [
        frame(),
        node("c", "check box", "", Rect(10, 100, 16, 16)),
        node("l", "label", "Remember me", Rect(40, 100, 100, 16)),
        button("b", "Why", 300, 100),
        node("n", "label", "Name", Rect(100, 20, 60, 16)),
        node("e", "entry", "", Rect(100, 44, 200, 20)),
    ]
    found = ask(words, nodes)
    assert found.outcome == "sure"
    assert found.candidates[0].box is not None
    assert found.candidates[0].box.x == ref_x


def test_nameless_fields_are_called_by_the_label_beside_them() -> None:
    nodes = [
        frame(),
        node("l1", "label", "City:", Rect(10, 100, 60, 16)),
        node("e1", "entry", "", Rect(100, 98, 200, 20)),
        node("l2", "label", "Street:", Rect(10, 130, 60, 16)),
        node("e2", "entry", "", Rect(100, 128, 200, 20)),
    ]
    assert ask("street field", nodes).candidates[0].box == Rect(100, 128, 200, 20)
    assert ask("City", nodes, verb="type").candidates[0].box == Rect(100, 98, 200, 20)


def test_secure_fields_are_found_by_what_they_are() -> None:
    nodes = [frame(), node("p", "password text", "", Rect(100, 98, 200, 20), secure=True)]
    assert ask("password field", nodes).outcome == "sure"


def test_the_wrong_kind_is_not_sure() -> None:
    assert ask("Export tab", [frame(), button("a", "Export")]).outcome == "unsure"


def test_labels_inside_a_button_are_part_of_it() -> None:
    nodes = [frame(), button("a", "Save"), node("l", "label", "Save", Rect(20, 12, 30, 10), parent=1, depth=2)]
    found = ask("Save", nodes)
    assert (found.outcome, found.candidates[0].role) == ("sure", "push button")


@given(st.text(max_size=300))
def test_any_description_has_an_outcome(words: str) -> None:
    assert ask(words, [frame(), button("a", "Save")]).outcome in ("sure", "ambiguous", "unsure", "nothing")


@given(st.text(max_size=60))
def test_any_name_on_the_screen_is_only_a_name(name: str) -> None:
    found = ask("Save button", [frame(), button("a", name), button("b", "Save", y=60)])
    assert Rect(10, 60, 80, 20) in [candidate.box for candidate in found.candidates]


PAGE = (
    frame(),
    node("star", "push button", "Bookmark this tab", Rect(500, 10, 24, 24)),
    node("p", "document web", "Shop", Rect(0, 60, 600, 500)),
    node("a", "link", "Lamps", Rect(10, 100, 80, 20), parent=2, depth=2),
)


@pytest.mark.parametrize(("words", "outcome"), [
    ("yellow star", "unsure"), ("bookmark star", "sure"), ("Bookmark this tab", "sure"),
    ("star of the browser", "sure"), ("Lamps", "sure"),
])  # fmt: skip
def test_a_browsers_own_control_is_doubtful_where_the_words_may_mean_what_a_page_draws(
    words: str, outcome: str
) -> None:
    found = ask(words, PAGE)
    assert found.outcome == outcome
    assert found.candidates[0].label in ("Bookmark this tab", "Lamps")


def test_a_text_is_doubtful_where_the_words_mean_an_icon() -> None:
    table = (frame(), node("c", "table cell", "USB disk", Rect(10, 100, 200, 20)))
    assert ask("USB disk", table).outcome == "sure"
    assert ask("usb disk symbol", table).outcome != "sure"


def test_empty_is_what_to_do_or_how_a_box_is() -> None:
    tabs = (frame(), node("q", "page tab", "Queue", Rect(10, 10, 80, 20)))
    assert ask("empty the queue", tabs).outcome != "sure"
    box = (frame(), node("b", "check box", "Queue", Rect(10, 10, 80, 20)))
    assert ask("empty Queue check box", box).outcome == "sure"


@pytest.mark.parametrize(("words", "outcome"), [
    ("pause the music", "sure"), ("resolve this thread", "sure"), ("pause Ferry Song", "unsure"),
    ("song to pause", "unsure"), ("tick Instant payment", "sure"),
])  # fmt: skip
def test_what_a_control_does_is_sure_where_nothing_else_is_called_what_it_is_done_to(words: str, outcome: str) -> None:
    nodes = (
        frame(), button("p", "Pause", 10, 10), button("r", "Resolve", 10, 40),
        node("l", "link", "Instant", Rect(300, 10, 80, 20)), node("s", "label", "Ferry Song", Rect(300, 300, 80, 20)),
        node("c", "check box", "Instant payment", Rect(10, 70, 80, 20)),
    )  # fmt: skip
    assert ask(words, nodes).outcome == outcome


def test_a_field_of_parts_is_meant_and_not_its_parts() -> None:
    box = Rect(10, 10, 200, 24)
    parts = [node(name, "spin button", f"{name} Departure", Rect(12 + 40 * at, 12, 36, 20), parent=1, depth=2)
             for at, name in enumerate(("Month", "Day", "Year"))]  # fmt: skip
    found = ask("the Departure field", [frame(), node("d", "date editor", "Departure", box, parent=0), *parts])
    assert [(one.role, one.label) for one in found.candidates] == [("date editor", "Departure")]
    assert found.outcome == "sure"


def test_a_combo_box_is_called_a_list_too() -> None:
    combo = node("a", "combo box", "Fruit", Rect(10, 10, 80, 20))
    assert ask("the Fruit list", [frame(), combo]).outcome == "sure"
    assert ask("the Fruit table", [frame(), combo]).outcome != "sure"


def test_a_word_for_looks_alone_is_what_something_is_called() -> None:
    colours = [frame(), button("a", "Colour"), node("b", "menu item", "Large", Rect(10, 40, 80, 20))]
    assert ask("Large", colours).candidates[0].label == "Large"
    assert ask("Large", colours[:2]).outcome == "nothing"
    assert ask("the large button", colours[:2]).outcome == "sure"
