"""Ninths and global pixels."""

import pytest

from acud.base.errors import NotFound
from acud.types import Rect
from acud.types.scene import SceneDisplay, local_to_global, position

DISPLAYS = (
    SceneDisplay(0, Rect(0, 0, 1920, 1080)),
    SceneDisplay(1, Rect(2560, 0, 1920, 1080)),
    SceneDisplay(2, Rect(0, 0, 0, 0), state="down"),
)


@pytest.mark.parametrize(
    ("display_id", "local", "expected"), [(1, (100, 200), (2660, 200)), (0, (5000, -10), (1919, 0)), (2, (3, 3), None)]
)
def test_local_to_global(display_id: int, local: tuple[int, int], expected: tuple[int, int] | None) -> None:
    assert local_to_global(DISPLAYS, display_id, *local) == expected


def test_an_unknown_display_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(NotFound, match="no display 7") as caught:
        local_to_global(DISPLAYS, 7, 0, 0)
    assert "0, 1, 2" in caught.value.hint


@pytest.mark.parametrize(("box", "expected"), [
    (Rect(0, 0, 10, 10), "top-left"), (Rect(590, 350, 100, 20), "middle-center"),
    (Rect(1270, 710, 10, 10), "bottom-right"), (Rect(1270, 0, 500, 10), "top-right"),
    (Rect(-50, 300, 10, 10), "middle-left"),
])  # fmt: skip
def test_positions(box: Rect, expected: str) -> None:
    assert position(box, 1280, 720) == expected
