"""Which changes of widgets are an effect of an action."""

from msgspec.structs import replace

from acud.accessibility.nodes import State
from acud.features.actions.widget_effects import caret_stands, widget_effect
from acud.protocol.observation import Observed, WidgetNow
from acud.types import Rect

FIELD = WidgetNow("text", "Document", Rect(0, 0, 300, 200), text="Apples\nPears", caret=3)
BUTTON = WidgetNow("push button", "Save", Rect(0, 300, 80, 30))
IN_FIELD = Observed(field=FIELD, focus=FIELD)
AT_BUTTON = Observed(at=BUTTON, focus=FIELD)


def by_key(before: Observed, now: Observed) -> str:
    return widget_effect(before, now, is_pointed=False)


def by_click(before: Observed, now: Observed) -> str:
    return widget_effect(before, now, is_pointed=True)


def test_a_click_into_a_field_gives_it_the_focus() -> None:
    before = Observed(at=FIELD, field=FIELD, focus=BUTTON)
    assert by_click(before, replace(before, focus=FIELD)) == "the focus is in the text"
    assert by_click(before, before) == ""
    assert by_click(before, replace(before, focus=replace(FIELD, box=Rect(0, 500, 9, 9)))) == "", "another field"


def test_a_click_that_gives_a_button_the_focus_has_done_nothing() -> None:
    assert by_click(AT_BUTTON, replace(AT_BUTTON, focus=BUTTON)) == ""


def test_a_click_that_ticks_a_box_has() -> None:
    box = WidgetNow("check box", "News", Rect(0, 400, 80, 30))
    before = Observed(at=box, focus=box)
    assert (
        by_click(before, replace(before, at=replace(box, states=int(State.CHECKED)))) == "the check box is checked now"
    )


def test_keys_move_the_focus_change_a_text_or_move_its_caret() -> None:
    assert by_key(IN_FIELD, replace(IN_FIELD, field=None, focus=BUTTON)) == "the focus moved to the push button"
    typed = replace(FIELD, text="Apples\nPears\n", caret=13)
    assert by_key(IN_FIELD, Observed(field=typed, focus=typed)) == "the content of the text changed"
    moved = replace(FIELD, caret=12)
    assert by_key(IN_FIELD, Observed(field=moved, focus=moved)) == "the caret moved in the text"
    assert by_key(IN_FIELD, IN_FIELD) == ""


def test_what_is_not_told_is_no_effect_and_no_lack_of_one() -> None:
    untold = replace(FIELD, text=None, caret=-1)
    assert by_key(Observed(field=untold, focus=untold), IN_FIELD) == ""
    assert by_key(IN_FIELD, Observed(unread="no bus")) == ""
    assert not caret_stands(untold, untold)
    assert not caret_stands(FIELD, None)
    assert not caret_stands(FIELD, replace(FIELD, caret=4))
    assert caret_stands(FIELD, FIELD)
