"""What a reader of diffs holds is what the scene shows."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from acud.types.scene import ElementDiff, OcrElement, diff, is_same
from tests.unit.features.scene.scenes import scene, text


def test_equal_scenes_differ_in_nothing_and_age_is_no_change() -> None:
    before = scene(1)
    older = replace(before, scene_id=2, displays=(replace(before.displays[0], frame=9, frame_age_s=3.0),))
    assert is_same(before, older)
    assert diff(before, older).displays is None


def test_elements_come_go_and_change() -> None:
    before, now = scene(1, ocr=(text(1), text(2))), scene(2, ocr=(text(2, "other"), text(3)))
    assert diff(before, now).ocr == ElementDiff((text(3),), (text(2, "other"),), ("t1-1",))
    assert not is_same(before, now)


def test_a_lost_focus_is_told() -> None:
    found = diff(scene(1), scene(2, focused_window=None))
    assert found.focus_lost
    assert found.focused_window is None
    assert not is_same(scene(1), scene(2, focused_window=None))


TEXTS = st.lists(st.builds(text, st.integers(0, 6), st.sampled_from(["a", "b"])), unique_by=lambda one: one.id)


@given(TEXTS, TEXTS)
def test_a_diff_leads_from_one_scene_to_the_other(before: list[OcrElement], now: list[OcrElement]) -> None:
    one, other = scene(1, ocr=tuple(before)), scene(2, ocr=tuple(now))
    change = diff(one, other).ocr
    renewed = {*change.gone, *(text.id for text in change.changed)}
    held = [*(text for text in before if text.id not in renewed), *change.changed, *change.added]
    assert sorted(held, key=lambda e: e.id) == sorted(now, key=lambda e: e.id)
