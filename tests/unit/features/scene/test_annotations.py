"""For how long what a model said stands, and which ids it gets."""

from acud.features.scene.annotations import (
    SCENE_SHARE,
    ChangedSince,
    DisplayAnnotation,
    drop_outdated,
    join_annotations,
    number_remarks,
)
from acud.features.scene.element_ids import ElementIds
from acud.types import Rect
from acud.types.scene import Remark, VlmElement
from acud.waits.tiles import Grid

GRID = Grid(1280, 720)
BIN = VlmElement("v3-1", "icon", "a bin", Rect(100, 100, 40, 40), 3)
CHART = VlmElement("v3-2", "chart", "sales", Rect(600, 300, 300, 200), 3)
SAID = DisplayAnnotation("an editor", (BIN, CHART))


def make_change(*boxes: Rect) -> ChangedSince:
    tiles = 0
    for box in boxes:
        tiles |= GRID.find_touching(box)
    return ChangedSince(
        tiles.bit_count() / (GRID.columns * GRID.rows), lambda box: bool(GRID.find_touching(box) & tiles)
    )


def test_nothing_changed_and_all_stands() -> None:
    assert drop_outdated(SAID, make_change()) == SAID


def test_an_element_falls_with_the_first_tile_under_it() -> None:
    assert drop_outdated(SAID, make_change(Rect(139, 139, 1, 1))) == DisplayAnnotation("an editor", (CHART,))
    assert drop_outdated(SAID, make_change(Rect(600, 300, 2, 14))) == DisplayAnnotation("an editor", (BIN,))
    assert drop_outdated(SAID, make_change(Rect(400, 500, 100, 100))) == SAID


def test_when_all_fell_there_is_no_list() -> None:
    assert drop_outdated(SAID, make_change(BIN.bbox, CHART.bbox)) == DisplayAnnotation("an editor", None)


def test_the_sentence_falls_when_more_than_a_fifth_changed() -> None:
    below, above = Rect(0, 0, 1280, 144), Rect(0, 0, 1280, 160)
    assert make_change(below).share <= SCENE_SHARE < make_change(above).share
    assert drop_outdated(DisplayAnnotation("an editor"), make_change(below)).vlm_scene == "an editor"
    assert drop_outdated(DisplayAnnotation("an editor"), make_change(above)).vlm_scene is None


def test_that_a_model_saw_nothing_stands_as_long_as_the_sentence() -> None:
    assert drop_outdated(DisplayAnnotation(None, ()), make_change(BIN.bbox)) == DisplayAnnotation(None, ())
    assert drop_outdated(DisplayAnnotation(None, ()), make_change(Rect(0, 0, 1280, 400))) == DisplayAnnotation(
        None, None
    )


def test_what_nobody_knows_of_does_not_stand() -> None:
    assert drop_outdated(SAID, None) == DisplayAnnotation(None, None)


def test_the_same_remark_in_the_same_place_keeps_its_id_and_no_id_comes_again() -> None:
    ids = ElementIds("v", 3)
    first = number_remarks([Remark("icon", "a bin", BIN.bbox), Remark("chart", "sales", CHART.bbox)], ids, 3)
    assert [one.id for one in first] == ["v3-1", "v3-2"]
    moved = Rect(104, 100, 40, 40)
    again = number_remarks([Remark("chart", "other", Rect(0, 0, 9, 9)), Remark("icon", "a bin", moved)], ids, 3)
    assert [one.id for one in again] == ["v3-3", "v3-1"]
    assert again[1].bbox == moved
    assert [one.id for one in number_remarks([Remark("chart", "sales", CHART.bbox)], ids, 3)] == ["v3-4"]


def test_several_displays_make_one_scene() -> None:
    other = VlmElement("v4-1", "icon", "a star", Rect(1, 1, 9, 9), 4)
    assert join_annotations([(3, SAID)]) == SAID
    assert join_annotations([(3, SAID), (4, DisplayAnnotation(None, (other,)))]) == DisplayAnnotation(
        "display 3: an editor", (BIN, CHART, other)
    )
    assert (
        join_annotations([(3, SAID), (4, DisplayAnnotation("a game"))]).vlm_scene
        == "display 3: an editor\ndisplay 4: a game"
    )
    assert (
        join_annotations([])
        == join_annotations([(3, DisplayAnnotation()), (4, DisplayAnnotation())])
        == DisplayAnnotation(None, None)
    )
