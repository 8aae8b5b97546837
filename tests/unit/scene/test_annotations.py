"""For how long what a model said stands, and which ids it gets."""

from __future__ import annotations

from acud.scene.annotations import SCENE_SHARE, Annotated, ChangedSince, Remark, numbered, standing, together
from acud.scene.ids import Ids
from acud.scene.nouns import VlmElement
from acud.types import Rect
from acud.waits.tiles import Grid

GRID = Grid(1280, 720)
BIN = VlmElement("v3-1", "icon", "a bin", Rect(100, 100, 40, 40), 3)
CHART = VlmElement("v3-2", "chart", "sales", Rect(600, 300, 300, 200), 3)
SAID = Annotated("an editor", (BIN, CHART))


def changed(*boxes: Rect) -> ChangedSince:
    """Return the change of the tiles under these boxes."""
    tiles = 0
    for box in boxes:
        tiles |= GRID.touched(box)
    return ChangedSince(tiles.bit_count() / (GRID.columns * GRID.rows), lambda box: bool(GRID.touched(box) & tiles))


def test_nothing_changed_and_all_stands() -> None:
    assert standing(SAID, changed()) == SAID


def test_an_element_falls_with_the_first_tile_under_it() -> None:
    assert standing(SAID, changed(Rect(139, 139, 1, 1))) == Annotated("an editor", (CHART,))
    assert standing(SAID, changed(Rect(600, 300, 2, 14))) == Annotated("an editor", (BIN,))
    assert standing(SAID, changed(Rect(400, 500, 100, 100))) == SAID


def test_when_all_fell_there_is_no_list() -> None:
    assert standing(SAID, changed(BIN.bbox, CHART.bbox)) == Annotated("an editor", None)


def test_the_sentence_falls_when_more_than_a_fifth_changed() -> None:
    below, above = Rect(0, 0, 1280, 144), Rect(0, 0, 1280, 160)
    assert changed(below).share <= SCENE_SHARE < changed(above).share
    assert standing(Annotated("an editor"), changed(below)).vlm_scene == "an editor"
    assert standing(Annotated("an editor"), changed(above)).vlm_scene is None


def test_that_a_model_saw_nothing_stands_as_long_as_the_sentence() -> None:
    assert standing(Annotated(None, ()), changed(BIN.bbox)) == Annotated(None, ())
    assert standing(Annotated(None, ()), changed(Rect(0, 0, 1280, 400))) == Annotated(None, None)


def test_what_nobody_knows_of_does_not_stand() -> None:
    assert standing(SAID, None) == Annotated(None, None)


def test_the_same_remark_in_the_same_place_keeps_its_id_and_no_id_comes_again() -> None:
    ids = Ids("v", 3)
    first = numbered([Remark("icon", "a bin", BIN.bbox), Remark("chart", "sales", CHART.bbox)], ids, 3)
    assert [one.id for one in first] == ["v3-1", "v3-2"]
    moved = Rect(104, 100, 40, 40)
    again = numbered([Remark("chart", "other", Rect(0, 0, 9, 9)), Remark("icon", "a bin", moved)], ids, 3)
    assert [one.id for one in again] == ["v3-3", "v3-1"]
    assert again[1].bbox == moved
    assert [one.id for one in numbered([Remark("chart", "sales", CHART.bbox)], ids, 3)] == ["v3-4"]


def test_several_displays_make_one_scene() -> None:
    other = VlmElement("v4-1", "icon", "a star", Rect(1, 1, 9, 9), 4)
    assert together([(3, SAID)]) == SAID
    assert together([(3, SAID), (4, Annotated(None, (other,)))]) == Annotated(
        "display 3: an editor", (BIN, CHART, other)
    )
    assert together([(3, SAID), (4, Annotated("a game"))]).vlm_scene == "display 3: an editor\ndisplay 4: a game"
    assert together([]) == together([(3, Annotated()), (4, Annotated())]) == Annotated(None, None)
