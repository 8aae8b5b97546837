"""Where an effect can be seen, and which changes of windows are one."""

from acud.features.actions.window_effects import (
    EffectArea,
    effect_area,
    family_of,
    is_effect,
    on_tiles,
    target_area,
    visible_middle,
    window_changes,
    without,
)
from acud.types import Rect, WindowInfo, window_at
from acud.types.actions import Point

SCREEN = Rect(0, 0, 1000, 800)
EDITOR = WindowInfo(1, "Editor", Rect(100, 100, 400, 300), pid=10)
PALETTE = WindowInfo(2, "Colours", Rect(600, 100, 100, 300), pid=10)
CLOCK = WindowInfo(3, "Clock", Rect(450, 350, 200, 100), pid=20)
"""Covers the lower right corner of the editor."""
WINDOWS = (CLOCK, EDITOR, PALETTE)


def is_seen(area: EffectArea, x: int, y: int) -> bool:
    inside, at = area.box, (x - area.box.x, y - area.box.y)
    hidden = any(one.x <= at[0] < one.right and one.y <= at[1] < one.bottom for one in area.ignore)
    return inside.x <= x < inside.right and inside.y <= y < inside.bottom and not hidden


def test_an_effect_shows_in_the_windows_of_the_program_that_was_reached() -> None:
    area = effect_area(SCREEN, WINDOWS, (Point(120, 120),), 0)
    assert area.family == {1, 2}
    assert is_seen(area, 300, 200)
    assert is_seen(area, 650, 200), "another window of the program"
    assert not is_seen(area, 470, 380), "what covers it is another program's"
    assert not is_seen(area, 550, 200), "between them is the root"


def test_an_effect_on_the_bare_root_shows_where_no_window_is() -> None:
    area = effect_area(SCREEN, WINDOWS, (Point(20, 700),), 1)
    assert not area.family
    assert is_seen(area, 900, 700)
    assert not is_seen(area, 500, 400), "a clock"
    assert not is_seen(area, 300, 80), "the frame of a window, drawn anew as the focus moves"


def test_keys_reach_the_focused_window() -> None:
    assert effect_area(SCREEN, WINDOWS, (), 3).family == {3}
    assert effect_area(SCREEN, WINDOWS, (), 0) == EffectArea(SCREEN)


def test_a_target_is_left_without_what_others_cover() -> None:
    area = target_area(SCREEN, WINDOWS, EDITOR)
    assert area.box == EDITOR.bounds
    assert not is_seen(area, 470, 380)
    assert is_seen(area, 440, 340)


def test_a_box_can_be_left_out() -> None:
    area = without(effect_area(SCREEN, WINDOWS, (Point(120, 120),), 0), Rect(200, 200, 50, 20))
    assert not is_seen(area, 210, 210)
    assert is_seen(area, 260, 210)


def test_an_area_is_of_whole_tiles_so_that_no_tile_is_ours_and_theirs() -> None:
    area = on_tiles(EffectArea(Rect(10, 20, 100, 100), (Rect(30, 30, 5, 5),), frozenset({1})), SCREEN)
    assert area == EffectArea(Rect(16, 32, 80, 80), (Rect(16, 16, 16, 16),), frozenset({1}))
    at_the_edge = on_tiles(EffectArea(Rect(900, 700, 100, 100)), Rect(0, 0, 1000, 800))
    assert at_the_edge.box == Rect(912, 704, 88, 96), "a display's own edge cuts tiles, and nobody else's"
    small = EffectArea(Rect(10, 10, 40, 22))
    assert on_tiles(small, SCREEN) == small


def test_dialogs_and_popups_are_of_the_family() -> None:
    dialog = WindowInfo(7, "Save?", Rect(200, 200, 100, 80), kind="dialog", owner=1)
    nested = WindowInfo(8, "", Rect(210, 210, 20, 20), kind="popup", owner=7)
    windows = (nested, dialog, *WINDOWS)
    assert family_of(EDITOR, windows) == {1, 2, 7, 8}
    assert family_of(dialog, windows) >= {1, 7, 8}
    assert family_of(CLOCK, windows) == {3}


def test_what_became_of_windows_is_told() -> None:
    dialog = WindowInfo(7, "Save?", Rect(200, 200, 100, 80), kind="dialog", owner=1)
    renamed = WindowInfo(1, "Editor *", EDITOR.bounds, pid=10)
    changes = window_changes(WINDOWS, (dialog, renamed, PALETTE))
    assert [(one.change, one.title, one.was) for one in changes] == [
        ("opened", "Save?", ""),
        ("closed", "Clock", ""),
        ("retitled", "Editor *", "Editor"),
    ]


def test_only_changes_that_an_action_can_have_made_are_effects() -> None:
    reached = effect_area(SCREEN, WINDOWS, (Point(120, 120),), 0)
    root = effect_area(SCREEN, WINDOWS, (Point(20, 700),), 0)
    own_menu = WindowInfo(8, "", Rect(120, 120, 80, 90), pid=10, kind="popup")
    tip = WindowInfo(9, "", Rect(460, 340, 80, 20), pid=20, kind="popup")
    started = WindowInfo(11, "Terminal", Rect(0, 0, 300, 200), pid=30)
    root_menu = WindowInfo(12, "", Rect(20, 700, 90, 60), pid=40, kind="popup")

    def effects(area: EffectArea, now: tuple[WindowInfo, ...], *points: Point) -> list[int]:
        return [one.window_id for one in window_changes(WINDOWS, now) if is_effect(one, area, WINDOWS, now, points)]

    assert effects(reached, (own_menu, tip, *WINDOWS)) == [8]
    assert effects(reached, (started, *WINDOWS)) == [11], "a click may start a program"
    assert effects(reached, (EDITOR, PALETTE)) == [], "the clock closed by itself"
    assert effects(reached, (CLOCK, PALETTE)) == [1]
    assert effects(root, (root_menu, tip, *WINDOWS), Point(20, 700)) == [12]


def test_a_tip_that_goes_is_no_effect_of_a_click_beside_it() -> None:
    tip = WindowInfo(9, "", Rect(200, 200, 80, 20), pid=10, kind="popup")
    before = (tip, *WINDOWS)
    (closed,) = window_changes(before, WINDOWS)
    beside, inside = (Point(120, 120),), (Point(210, 210),)
    area = effect_area(SCREEN, before, beside, 0)
    assert not is_effect(closed, area, before, WINDOWS, beside)
    assert not is_seen(area, 210, 210), "what it covered"
    assert is_effect(closed, effect_area(SCREEN, before, inside, 0), before, WINDOWS, inside)
    assert is_effect(closed, effect_area(SCREEN, before, (), 1), before, WINDOWS), "Escape closes a menu"


def test_the_frame_around_a_window_can_close_it() -> None:
    on_title = effect_area(SCREEN, WINDOWS, (Point(300, 90),), 0)
    closed = window_changes(WINDOWS, (CLOCK, PALETTE))
    assert [is_effect(one, on_title, WINDOWS, (CLOCK, PALETTE)) for one in closed] == [True]
    assert not is_seen(on_title, 300, 200), "its pixels are no effect of a click beside it"


def test_the_middle_of_a_window_is_where_it_can_be_seen() -> None:
    assert window_at(WINDOWS, 460, 360) == CLOCK
    assert visible_middle(PALETTE, WINDOWS, SCREEN) == Point(650, 225)
    cover = WindowInfo(5, "Cover", Rect(0, 0, 1000, 800), pid=50)
    assert visible_middle(EDITOR, (cover, *WINDOWS), SCREEN) is None
