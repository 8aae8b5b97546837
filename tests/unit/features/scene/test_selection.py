"""A part of a scene, by an element's id, a window or an application."""

import pytest
from msgspec.structs import replace

from acud.base.errors import NotFound
from acud.features.scene.prompt import prompt_text
from acud.features.scene.selection import narrow_scene
from acud.types import Rect
from acud.types.scene import AxElement, Redacted, Scene, SceneApp, SceneDisplay, SceneWindow
from tests.unit.features.scene.scenes import scene, text

REPORT = SceneWindow("0x1", "The Report", Rect(0, 0, 400, 700), 1)
LOG = SceneWindow("0x2", "report log", Rect(500, 0, 400, 700), 1, 1)
ELSEWHERE = SceneWindow("0x1", "Calculator", Rect(0, 0, 400, 700), 2)


def whole() -> Scene:
    group = AxElement("a1-1", "panel", Rect(0, 40, 400, 40), 1, "Address", window="0x1", parent="a1-9")
    label = AxElement("a1-2", "static", Rect(10, 45, 40, 20), 1, "City", window="0x1", parent="a1-9")
    field = AxElement("a1-3", "entry", Rect(60, 45, 100, 20), 1, window="0x1", parent="a1-1", value="Ulm")
    other = AxElement("a1-4", "push button", Rect(10, 200, 40, 20), 1, "Save", window="0x1", parent="a1-9")
    return scene(
        displays=(*scene().displays, SceneDisplay(2, Rect(0, 0, 1280, 720), name=":101")),
        apps=(SceneApp("editor", 812, (REPORT,)), SceneApp("xterm", 9, (LOG,)), SceneApp("calc", 11, (ELSEWHERE,), 2)),
        ax=(group, label, field, other),
        ocr=(text(1, "in the report"), replace(text(2, "in the log"), bbox=Rect(510, 50, 90, 16))),
        redactions=(Redacted("t1-2", "card"),),
    )


def ids(found: Scene) -> list[str]:
    return [*(one.id for one in found.ax), *(one.id for one in found.ocr)]


@pytest.mark.parametrize(("target", "windows", "elements"), [
    ("window:The Report", ["The Report"], ["a1-1", "a1-2", "a1-3", "a1-4", "t1-1"]),
    ("the report", ["The Report"], ["a1-1", "a1-2", "a1-3", "a1-4", "t1-1"]),
    ("window:report", ["The Report", "report log"], ["a1-1", "a1-2", "a1-3", "a1-4", "t1-1", "t1-2"]),
    ("0x2", ["report log"], ["t1-2"]), ("xterm", ["report log"], ["t1-2"]), ("calculator", ["Calculator"], []),
    ("a1-1", ["The Report"], ["a1-1", "a1-3"]), ("t1-2", ["report log"], ["t1-2"]),
])  # fmt: skip
def test_a_target_keeps_its_windows_and_what_is_in_them(target: str, windows: list[str], elements: list[str]) -> None:
    found = narrow_scene(whole(), target)
    assert [window.title for app in found.apps for window in app.windows] == windows
    assert ids(found) == elements
    assert {one.where for one in found.redactions} == {"t1-2"} & set(elements)
    assert {one.id for one in found.displays} == {2 if target == "calculator" else 1}


def test_no_target_is_everything() -> None:
    assert narrow_scene(whole(), "") == narrow_scene(whole(), "screen") == whole()


def test_an_element_keeps_the_label_that_stands_outside_of_it() -> None:
    assert 'a1-3 textbox "City" = "Ulm"' in prompt_text(narrow_scene(whole(), "a1-3")).text


def test_a_target_that_is_not_there_names_what_is() -> None:
    with pytest.raises(NotFound, match="no window or application 'window:Nothing'") as fault:
        narrow_scene(whole(), "window:Nothing")
    assert "0x2 'report log' of xterm" in fault.value.hint
    with pytest.raises(NotFound, match="a1-99 names nothing"):
        narrow_scene(whole(), "a1-99")
    with pytest.raises(NotFound):
        narrow_scene(whole(), "window:")
