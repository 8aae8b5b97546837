"""Which elements get a mark."""

from typing import Any

from acud.features.scene.elements import choose_marks
from acud.types import Rect
from acud.types.scene import AxElement, ElementMark, OcrElement, Scene, SceneDisplay, SceneMode, VlmElement


def scene(*elements: OcrElement | AxElement | VlmElement) -> Scene:
    displays = tuple(SceneDisplay(number, Rect(0, 0, 1280, 720)) for number in (3, 4))
    ocr = tuple(one for one in elements if isinstance(one, OcrElement))
    ax = tuple(one for one in elements if isinstance(one, AxElement))
    vlm = tuple(one for one in elements if isinstance(one, VlmElement))
    return Scene(1, 0, SceneMode.ACTIVE, displays, None, (), ocr, ax, None, vlm)


def text(n: int, words: str, box: Rect, conf: float = 0.9, display: int = 3) -> OcrElement:
    return OcrElement(f"t{display}-{n}", words, box, conf, display)


def widget(n: int, label: str, box: Rect, **more: Any) -> AxElement:
    given: dict[str, Any] = {"role": "push button", "actions": ("click",), **more}
    return AxElement(f"a3-{n}", bbox=box, display_id=3, label=label, **given)


def ids(found: Scene, limit: int = 250) -> list[str]:
    return [mark.id for mark in choose_marks(found, 3, limit).marks]


def test_widgets_texts_and_what_a_model_saw_are_marked_on_their_own_display() -> None:
    seen = VlmElement("v3-1", "icon", "a bin", Rect(600, 600, 40, 40), 3)
    found = scene(
        text(1, "hello", Rect(10, 10, 50, 12)),
        text(2, "surer", Rect(10, 40, 50, 12), conf=0.99),
        text(9, "elsewhere", Rect(10, 10, 50, 12), display=4),
        widget(1, "Save", Rect(100, 100, 80, 30)),
        seen,
    )
    assert ids(found) == ["a3-1", "v3-1", "t3-2", "t3-1"]
    assert choose_marks(found, 3).marks[0] == ElementMark("a3-1", "widget", Rect(100, 100, 80, 30))
    assert choose_marks(found, 5).marks == ()


def test_a_text_that_repeats_its_widgets_label_is_not_marked_again() -> None:
    save = widget(1, "Save", Rect(100, 100, 80, 30))
    assert ids(scene(save, text(1, "save", Rect(120, 108, 30, 12)))) == ["a3-1"]
    assert ids(scene(save, text(1, "other", Rect(120, 108, 30, 12)))) == ["a3-1", "t3-1"]
    assert ids(scene(save, text(1, "Save", Rect(120, 308, 30, 12)))) == ["a3-1", "t3-1"]
    assert ids(scene(widget(1, "", Rect(100, 100, 80, 30)), text(1, "Save", Rect(120, 108, 30, 12)))) == [
        "a3-1",
        "t3-1",
    ]


def test_what_cannot_be_acted_on_and_what_fills_the_display_is_ground() -> None:
    panel = widget(1, "panel", Rect(0, 0, 300, 300), actions=())
    entry = widget(2, "name", Rect(10, 10, 100, 20), actions=(), states=("focusable", "editable"))
    window = widget(3, "window", Rect(0, 0, 1280, 700))
    outside = widget(4, "gone", Rect(-500, -500, 100, 20))
    assert ids(scene(panel, entry, window, outside)) == ["a3-2"]


def test_what_a_model_saw_where_a_widget_is_marked_is_the_widget() -> None:
    save = widget(1, "Save", Rect(100, 100, 80, 30))
    assert ids(scene(save, VlmElement("v3-1", "button", "save", Rect(102, 101, 78, 30), 3))) == ["a3-1"]


def test_what_is_left_out_is_counted() -> None:
    found = scene(*(text(n, f"row {n}", Rect(10, 20 * n, 50, 12)) for n in range(1, 31)))
    assert len(ids(found, 20)) == 20
    assert choose_marks(found, 3, 20).left_out == 10
