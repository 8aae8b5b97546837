"""Conditions on widgets in words: what is written is understood, and said in the same way."""

import pytest

from acud.base.errors import InvalidRequest
from acud.types import ConditionWords, NameMatch, ValueComparison, Widget, WidgetState, condition_text, widget_condition

S = WidgetState


@pytest.mark.parametrize(("text", "widget", "sentence"), [
    ('button "Submit" enabled', Widget("button", "Submit", states=(S.ENABLED,)), 'the button "Submit" is enabled'),
    (
        'the check box "Agree" is not checked',
        Widget("check box", "Agree", states=(S.UNCHECKED,)),
        'the check box "Agree" is unchecked',
    ),
    (
        "tab /Page [0-9]+/ selected and focused",
        Widget("tab", "Page [0-9]+", NameMatch.REGEX, (S.SELECTED, S.FOCUSED)),
        "the tab /Page [0-9]+/ is selected and focused",
    ),
    (
        "progress bar ≥ 90 %",
        Widget("progress bar", value="90", compare=ValueComparison.AT_LEAST, percent=True),
        "the progress bar has a value of at least 90 %",
    ),
    (
        'entry “Name” enabled = "Ada \\"L\\""',
        Widget("entry", "Name", states=(S.ENABLED,), value='Ada "L"'),
        'the entry "Name" is enabled and has a value of "Ada \\"L\\""',
    ),
    (
        'combo box "Colour" contains Green',
        Widget("combo box", "Colour", value="Green", compare=ValueComparison.CONTAINS),
        'the combo box "Colour" has a value that contains "Green"',
    ),
    ('dialog ~"Sav" is gone', Widget("dialog", "Sav", NameMatch.CONTAINS, gone=True), 'the dialog ~"Sav" is gone'),
    ('entry "Note" != ""', Widget("entry", "Note", value="", compare=ValueComparison.NOT_EQUAL), None),
    ("check box read-only", Widget("check box", states=(S.READ_ONLY,)), "the check box is read-only"),
    ("widget focused", Widget(states=(S.FOCUSED,)), "the widget is focused"),
    ('"Submit"', Widget(name="Submit"), 'the "Submit" is there'),
])  # fmt: skip
def test_words_are_understood_and_said(text: str, widget: Widget, sentence: str | None) -> None:
    assert widget_condition(text) == widget
    assert sentence is None or condition_text(widget) == sentence
    assert widget_condition(condition_text(widget, ConditionWords.BRIEF)) == widget


@pytest.mark.parametrize(("text", "words"), [
    ("", "names no widget"), ("is there", "names no widget"),
    ('button "Submit" clickable', "'clickable' is no state"), ('button "a" "b"', "two names"),
    ('button ""', "blank"), ('entry = "a" enabled', "no value"), ("check box not mixed", "opposite of mixed"),
    ('button "Sub', "not understood"),
])  # fmt: skip
def test_what_is_not_understood_is_said_with_examples(text: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words) as told:
        widget_condition(text)
    assert 'button "Submit" enabled' in told.value.hint
