"""Ids as handles: what is one, what it names now, where it can be clicked, and what one that is gone may be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.base.errors import Conflict
from acud.features.scene.elements import NamedElement, find_element, find_middle, make_gone_error, visible_part
from acud.types import Rect, WindowInfo
from acud.types.scene import AxElement, ElementHandle, OcrElement, Scene, SceneDisplay, SceneMode, VlmElement, handle_of

BOX = Rect(100, 100, 80, 20)


def scene(*elements: OcrElement | AxElement | VlmElement) -> Scene:
    display = SceneDisplay(3, Rect(0, 0, 1280, 720))
    ocr = tuple(one for one in elements if isinstance(one, OcrElement))
    ax = tuple(one for one in elements if isinstance(one, AxElement))
    vlm = tuple(one for one in elements if isinstance(one, VlmElement))
    return Scene(1, 0, SceneMode.ACTIVE, (display,), None, (), ocr, ax, None, vlm or None)


@pytest.mark.parametrize(("words", "found"), [
    ("t3-12", ElementHandle("t3-12", 3)), ("  A3-4 ", ElementHandle("a3-4", 3)),
    ("element v10-1", ElementHandle("v10-1", 10)), ("the element [t3-12]", ElementHandle("t3-12", 3)),
    ("mark #t3-12.", ElementHandle("t3-12", 3)), ("t0-1", None), ("t3-0", None), ("b3-4", None),
    ("t3-12 button", None), ("the t3-12 model", None), ("T-3", None), ("t٣-1", None), ("", None),
])  # fmt: skip
def test_what_is_a_handle(words: str, found: ElementHandle | None) -> None:
    assert handle_of(words) == found


def test_it_names_texts_widgets_and_what_a_model_saw() -> None:
    found = scene(
        OcrElement("t3-1", "hello", BOX, 0.9, 3),
        AxElement("a3-1", "push button", BOX, 3, label="Save", pid=77),
        VlmElement("v3-1", "icon", "a bin", BOX, 3),
    )
    assert find_element(found, ElementHandle("t3-1", 3)) == NamedElement("t3-1", "hello", BOX, "text")
    assert find_element(found, ElementHandle("a3-1", 3)) == NamedElement("a3-1", "Save", BOX, "push button", 77)
    assert find_element(found, ElementHandle("v3-1", 3)) == NamedElement("v3-1", "a bin", BOX, "icon")
    assert find_element(found, ElementHandle("a3-2", 3)) is None


def test_one_that_is_gone_names_what_reads_the_same_or_alike_nearest_first() -> None:
    now = scene(
        OcrElement("t3-8", "Download comp1ete", Rect(10, 10, 90, 12), 0.9, 3),
        OcrElement("t3-9", "Download complete", Rect(10, 600, 90, 12), 0.9, 3),
        OcrElement("t3-7", "Download complete", Rect(10, 40, 90, 12), 0.9, 3),
        OcrElement("t3-6", "Quit", Rect(10, 60, 90, 12), 0.9, 3),
    )
    fault = make_gone_error(
        ElementHandle("t3-2", 3), NamedElement("t3-2", "Download complete", Rect(10, 30, 90, 12)), now
    )
    assert fault.facts["candidates"] == ["t3-7", "t3-9", "t3-8"]
    assert fault.message == "t3-2 is not on its display any more (it was 'Download complete' at 10,30)"
    assert "t3-7 'Download complete' at 10,40" in fault.hint


def test_one_that_nobody_knows_says_so() -> None:
    fault = make_gone_error(ElementHandle("t3-2", 3), None, scene())
    assert (fault.message, fault.facts["candidates"]) == ("t3-2 names nothing that is there", [])
    assert "take a new scene" in fault.hint


# ---- where it can be clicked ---------------------------------------------------------------------------------------

BUTTON = NamedElement("a3-1", "Save", BOX, "push button", 77)
HOME = WindowInfo(1, "home", Rect(50, 50, 400, 300), pid=77)


def above(box: Rect, title: str = "above", pid: int = 99) -> WindowInfo:
    return WindowInfo(2, title, box, pid=pid)


def test_what_nothing_covers_is_clicked_in_its_middle() -> None:
    assert find_middle(visible_part(BUTTON, 1280, 720, (HOME,))) == (140, 110)
    assert visible_part(BUTTON, 1280, 720, (HOME, above(BOX))) == BOX  # below it
    assert visible_part(BUTTON, 1280, 720, ()) == BOX  # nobody knows the windows


def test_of_what_is_half_covered_the_larger_part_counts() -> None:
    assert visible_part(BUTTON, 1280, 720, (above(Rect(90, 90, 30, 60)), HOME)) == Rect(120, 100, 60, 20)
    assert visible_part(BUTTON, 1280, 720, (above(Rect(150, 90, 300, 60)), HOME)) == Rect(100, 100, 50, 20)


def test_what_is_covered_is_refused_by_name() -> None:
    with pytest.raises(Conflict, match=r"a3-1 'Save' at 100,100 is covered by 'dialog'") as caught:
        visible_part(BUTTON, 1280, 720, (above(Rect(90, 90, 300, 300), "dialog"), above(Rect(0, 0, 9, 9)), HOME))
    assert "raise its window" in caught.value.hint


def test_a_window_of_its_own_program_in_front_counts_only_when_it_does_not_hold_it() -> None:
    popup = WindowInfo(3, "menu", Rect(90, 90, 200, 200), pid=77, kind="popup")
    assert visible_part(BUTTON, 1280, 720, (popup, HOME)) == BOX  # a menu's own item
    partly = WindowInfo(3, "palette", Rect(90, 90, 20, 200), pid=77)
    assert visible_part(BUTTON, 1280, 720, (partly, HOME)) == Rect(110, 100, 70, 20)


def test_hidden_windows_cover_nothing_and_a_text_is_never_covered() -> None:
    hidden = WindowInfo(2, "hidden", Rect(0, 0, 1280, 720), "unmapped", 99)
    assert visible_part(BUTTON, 1280, 720, (hidden, HOME)) == BOX
    text = NamedElement("t3-1", "Save", BOX, "text")
    assert visible_part(text, 1280, 720, (above(Rect(0, 0, 1280, 720)), HOME)) == BOX


def test_what_is_off_the_display_is_refused_and_what_reaches_over_its_edge_is_cut() -> None:
    with pytest.raises(Conflict, match="outside the display, which is 90x90"):
        visible_part(BUTTON, 90, 90, (HOME,))
    assert visible_part(BUTTON, 150, 110, (HOME,)) == Rect(100, 100, 50, 10)


rects = st.builds(Rect, st.integers(-20, 120), st.integers(-20, 120), st.integers(1, 90), st.integers(1, 90))


@settings(max_examples=200)
@given(rects, st.lists(rects, max_size=4))
def test_the_point_is_on_the_element_the_display_and_no_window_above(box: Rect, holes: list[Rect]) -> None:
    windows = (*(above(hole) for hole in holes), WindowInfo(1, "home", Rect(-50, -50, 500, 500), pid=77))
    one = NamedElement("a3-1", "x", box, "button", 77)
    seen = {
        (x, y)
        for x in range(max(0, box.x), min(100, box.right))
        for y in range(max(0, box.y), min(100, box.bottom))
        if not any(hole.x <= x < hole.right and hole.y <= y < hole.bottom for hole in holes)
    }
    if not seen:
        with pytest.raises(Conflict):
            visible_part(one, 100, 100, windows)
        return
    assert find_middle(visible_part(one, 100, 100, windows)) in seen
