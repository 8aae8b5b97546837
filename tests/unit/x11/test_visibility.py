"""How much of a window can be seen, from the stacking order; and what a class name is."""

import pytest

from acud.types import Rect
from acud.x11.window_tree import Outline
from acud.x11.windows import class_name, visibility

SCREEN = Rect(0, 0, 640, 480)
BOX = Rect(10, 10, 100, 100)


def outline(window: int, box: Rect = BOX, *, viewable: bool = True, has_pixels: bool = True) -> Outline:
    return Outline(window, box, is_viewable=viewable, is_ours_to_list=True, has_pixels=has_pixels)


OWN = outline(1)
FAR = Rect(300, 300, 50, 50)


@pytest.mark.parametrize(
    ("stack", "box", "word"),
    [
        ([OWN], BOX, "full"),
        ([outline(2), OWN], BOX, "full"),  # below us
        ([OWN, outline(2)], BOX, "covered"),
        ([OWN, outline(2, FAR)], BOX, "full"),
        ([OWN, outline(2, FAR), outline(3, Rect(109, 109, 5, 5))], BOX, "covered"),
        ([OWN, outline(2, Rect(110, 10, 5, 5))], BOX, "full"),  # beside us
        ([OWN, outline(2, viewable=False)], BOX, "full"),
        ([OWN, outline(2, has_pixels=False)], BOX, "full"),
        ([OWN], Rect(-1, 10, 100, 100), "covered"),
        ([OWN], Rect(600, 10, 100, 100), "covered"),
    ],
)
def test_visibility(stack: list[Outline], box: Rect, word: str) -> None:
    assert visibility(box, OWN, 1, stack, SCREEN) == word


@pytest.mark.parametrize(
    ("frame", "word"),
    [(Rect(8, 0, 104, 112), "full"), (Rect(8, 0, 104, 20), "covered"), (Rect(60, 0, 104, 112), "covered")],
)
def test_a_frame_that_cuts_its_window_off_covers_it(frame: Rect, word: str) -> None:
    """openbox shrinks and moves the frame while it animates how a window is restored."""
    assert visibility(BOX, OWN, 2, [outline(2, frame)], SCREEN) == word


def test_an_unmapped_window_shows_nothing() -> None:
    assert visibility(BOX, outline(1, viewable=False), 1, [OWN], SCREEN) == "unmapped"


@pytest.mark.parametrize(
    ("raw", "name"), [(b"xterm\0XTerm\0", "XTerm"), (b"xterm\0XTerm", "XTerm"), (b"xterm", ""), (b"", "")]
)
def test_class_names(raw: bytes, name: str) -> None:
    assert class_name(raw) == name
