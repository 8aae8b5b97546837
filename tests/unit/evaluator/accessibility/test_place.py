"""Boxes and windows of widgets in popups, in LibreOffice and in Qt's rows, from what the toolkits were seen to tell."""

import pytest

from acud.accessibility.nodes import AccessibleApp
from acud.evaluator.accessibility.place import WindowPlace, is_closed_list, place_inside, place_of
from acud.evaluator.accessibility.widget import WidgetAnswers
from acud.types import Rect, WindowInfo

MAIN, POPUP = 6, 16
GTK_3 = AccessibleApp("program", 7, "gtk", "3.24.38")
GTK_4 = AccessibleApp("program", 7, "GTK", "4.8.3")
QT = AccessibleApp("program", 7, "Qt", "6.4.2")
CHROMIUM = AccessibleApp("Chromium", 7, "Chromium", "1.0")
OFFICE = AccessibleApp("soffice", 7, "gtk", "3.24.38")


def popup(*box: int) -> WindowInfo:
    return WindowInfo(POPUP, "", Rect(*box), pid=7, kind="popup", owner=MAIN)


def make_widget(role: str, *box: int, in_window: Rect | None = None) -> WidgetAnswers:
    return WidgetAnswers(0, role, on_screen=Rect(*box) if box else None, in_window=in_window)


def locate(
    at: WindowPlace, app: AccessibleApp, parent: WidgetAnswers, asked: WidgetAnswers, *popups: WindowInfo
) -> tuple[int, Rect | None]:
    place = place_inside(at, asked, parent, app, popups)
    return place.window, place.box(asked.on_screen, asked.in_window)


@pytest.mark.parametrize(("app", "parent", "asked", "box"), [
    (QT, make_widget("combo box", 111, 111, 80, 22), make_widget("list", 112, 112, 78, 88), (111, 111, 80, 90)),
    (GTK_3, make_widget("combo box", 538, 305, 203, 34), make_widget("menu", 538, 306, 203, 124), (538, 306, 203, 124)),
    (CHROMIUM, make_widget("menu", 65, 457, 63, 11), make_widget("menu item", 66, 502, 45, 24), (65, 477, 63, 98)),
    (GTK_3, make_widget("menu", 0, 19, 39, 25), make_widget("menu item", 2, 46, 90, 20), (0, 44, 94, 120)),
], ids=["Qt's list", "GTK's menu", "an option in Chromium", "a menu of a menu bar"])  # fmt: skip
def test_what_floats_is_in_the_popup_that_holds_it(
    app: AccessibleApp, parent: WidgetAnswers, asked: WidgetAnswers, box: tuple[int, int, int, int]
) -> None:
    assert locate(WindowPlace(MAIN), app, parent, asked, popup(*box)) == (POPUP, asked.on_screen)
    assert locate(WindowPlace(MAIN), app, parent, asked) == (MAIN, asked.on_screen)
    assert locate(WindowPlace(MAIN), app, parent, asked, popup(900, 500, 80, 90)) == (MAIN, asked.on_screen)


@pytest.mark.parametrize(("parent", "asked"), [
    (make_widget("panel", 100, 100, 108, 233), make_widget("push button", 111, 135, 60, 20)),
    (make_widget("combo box", 111, 135, 60, 20), make_widget("text", 113, 137, 50, 16)),
    (make_widget("list", 111, 120, 70, 60), make_widget("list item", 111, 135, 60, 20)),
], ids=["a button", "a combo box's own text", "a row of a list that stays"])  # fmt: skip
def test_what_lies_below_a_popup_is_not_in_it(parent: WidgetAnswers, asked: WidgetAnswers) -> None:
    assert locate(WindowPlace(MAIN), GTK_3, parent, asked, popup(105, 110, 90, 90))[0] == MAIN


def test_a_row_of_qt_is_no_wider_than_its_list() -> None:
    """A row of 200 px in a popup of 86: its middle lies in another window."""
    rows, row = make_widget("list", 112, 112, 84, 100), make_widget("list item", 112, 137, 200, 25)
    in_popup = place_inside(
        WindowPlace(MAIN), rows, make_widget("combo box", 111, 111, 86, 25), QT, [popup(111, 111, 86, 102)]
    )
    assert locate(in_popup, QT, rows, row, popup(111, 111, 86, 102)) == (POPUP, Rect(112, 137, 84, 25))
    assert locate(WindowPlace(MAIN), QT, rows, row) == (MAIN, Rect(112, 137, 84, 25))
    assert locate(WindowPlace(MAIN), QT, rows, make_widget("list item", 112, 500, 200, 25)) == (MAIN, None)
    assert locate(WindowPlace(MAIN), GTK_3, rows, row) == (MAIN, row.on_screen)


def test_only_the_list_of_a_closed_combo_box_of_qt_has_no_place() -> None:
    closed = make_widget("list")
    assert is_closed_list(closed, make_widget("combo box", 1, 1, 9, 9), QT)
    assert not is_closed_list(make_widget("list", 1, 9, 9, 9), make_widget("combo box", 1, 1, 9, 9), QT)
    assert not is_closed_list(closed, make_widget("panel", 1, 1, 9, 9), QT)
    assert not is_closed_list(closed, make_widget("combo box", 1, 1, 9, 9), GTK_3)


def test_a_popover_of_gtk_4_is_told_in_pixels_of_its_own_window() -> None:
    at = WindowPlace(MAIN, origin=(596, 305))
    combo = make_widget("combo box", in_window=Rect(0, 0, 87, 34))
    popover = make_widget("filler", in_window=Rect(0, 6, 93, 152))
    box = popup(593, 337, 93, 158)
    assert locate(at, GTK_4, combo, popover, box) == (POPUP, Rect(593, 343, 93, 152))
    assert locate(at, GTK_4, combo, popover) == (MAIN, Rect(596, 311, 93, 152))
    inner = make_widget("push button", in_window=Rect(10, 5, 67, 24))
    assert locate(at, GTK_4, combo, inner, box) == (MAIN, Rect(606, 310, 67, 24))
    other = WindowInfo(99, "", box.bounds, pid=7, kind="popup", owner=MAIN + 1)
    assert locate(at, GTK_4, combo, popover, other)[0] == MAIN


def test_libreoffice_is_moved_below_its_menu_bar_and_gtk_in_it_is_not() -> None:
    at = WindowPlace(MAIN)
    panel, root = make_widget("panel", 0, 44, 1280, 756), make_widget("root pane", 0, 19, 1280, 756)
    below = place_inside(at, root, panel, OFFICE, ())
    assert below.box(root.on_screen, None) == panel.on_screen
    outer, inner = make_widget("panel", 0, 730, 138, 23), make_widget("panel", 0, 755, 138, 24)
    bar = place_inside(below, outer, root, OFFICE, ())
    assert bar.box(outer.on_screen, None) == Rect(0, 755, 138, 23)
    gtk = place_inside(bar, inner, outer, OFFICE, ())
    assert gtk.box(inner.on_screen, None) == inner.on_screen
    button = make_widget("push button", 6, 755, 24, 24)
    assert locate(gtk, OFFICE, inner, button) == (MAIN, button.on_screen)
    assert locate(at, GTK_3, panel, root) == (MAIN, root.on_screen)


def test_a_window_is_known_by_its_size_beside_its_popup() -> None:
    windows = (popup(200, 200, 90, 90), WindowInfo(MAIN, "", Rect(100, 100, 400, 300), pid=7))
    place = place_of("", None, Rect(0, 0, 400, 300), windows, GTK_4)
    assert (place.window, place.origin) == (MAIN, (100, 100))


@pytest.mark.parametrize(
    ("app", "on_screen", "in_window", "window", "place"),
    [
        (GTK_3, (40, 40, 298, 360), (0, -10, 298, 360), ((81, 100, 594, 694), (80, 80, 596, 719)), (112, 132, 166, 68)),
        (GTK_4, None, (0, 0, 420, 360), ((220, 159, 840, 720), None), (252, 191, 166, 68)),
        (GTK_4, None, (0, 0, 100, 80), ((220, 159, 200, 160), None), (252, 191, 166, 68)),
        (CHROMIUM, (10, 13, 600, 500), (0, 0, 600, 500), ((15, 20, 900, 750), None), (84, 99, 124, 51)),
        (QT, (60, 40, 420, 300), (0, 0, 420, 300), ((90, 60, 630, 450), None), (84, 99, 124, 51)),
        (QT, (0, 0, 300, 240), (0, 0, 300, 240), ((0, 0, 375, 300), None), (70, 82, 104, 43)),
        (QT, (60, 40, 420, 300), None, ((90, 60, 900, 450), None), None),
        (QT, (60, 40, 420, 300), (0, 0, 420, 300), ((90, 60, 900, 450), None), None),
    ],
    ids=["GTK 3", "GTK 4", "a small window of GTK 4", "Chromium", "Qt", "at the corner", "no fit", "no fit in it"],
)  # fmt: skip
def test_boxes_are_scaled_as_their_window_or_unknown(
    app: AccessibleApp, on_screen: tuple[int, ...] | None, in_window: tuple[int, ...] | None,
    window: tuple[tuple[int, ...], tuple[int, ...] | None], place: tuple[int, ...] | None,
) -> None:  # fmt: skip
    bounds, frame = window
    known = WindowInfo(MAIN, "Form", Rect(*bounds), pid=7, frame=Rect(*frame) if frame else None)
    boxes = [Rect(*box) if box else None for box in (on_screen, in_window)]
    found = place_of("Form", *boxes, (known,), app)
    assert found.window == MAIN
    assert found.box(Rect(56, 66, 83, 34), Rect(16, 16, 83, 34)) == (Rect(*place) if place else None)


def test_a_page_of_chromium_is_in_display_pixels_in_a_scaled_window() -> None:
    at = WindowPlace(MAIN, scale=1.5)
    around, page = make_widget("panel", 10, 69, 600, 444), make_widget("document web", 15, 103, 900, 666)
    field = make_widget("entry", 114, 163, 262, 33)
    inside = place_inside(at, page, around, CHROMIUM, ())
    assert locate(inside, CHROMIUM, page, field) == (MAIN, field.on_screen)
    assert locate(at, CHROMIUM, around, make_widget("push button", 566, 27, 28, 28)) == (MAIN, Rect(849, 40, 42, 42))
    assert locate(at, CHROMIUM, around, make_widget("document web", 0, 0, 2000, 1500)) == (MAIN, None)
