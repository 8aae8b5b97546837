"""Every reader of human text takes the same quotation marks."""

import pytest

from acud.features.actions.instructions import parse
from acud.features.grounding.description_parts import strip_lead_in
from acud.features.grounding.visible_words import shown_words
from acud.language.quotation_marks import CLOSING
from acud.types import Text, number_condition, widget_condition
from acud.waits.sentences import read_sentence

PAIRS = [(opening, closing) for opening, marks in CLOSING.items() for closing in marks]


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_waits_actions_and_descriptions_read_the_same_quotes(opening: str, closing: str) -> None:
    quoted = f"{opening}Free space{closing}"
    assert read_sentence(f"{quoted} is visible") == Text("Free space")
    assert number_condition(f"{quoted} >= 5 GB").label == "Free space"
    widget = widget_condition(f"entry {quoted} = {opening}Ada's{closing}")
    assert (widget.role, widget.name, widget.value) == ("entry", "Free space", "Ada's")
    assert parse(f"type {quoted} into the Name field") == parse('type "Free space" into the Name field')
    assert strip_lead_in(f"click {quoted}") == "Free space"
    assert shown_words(f"the button {quoted}").name == "Free space"
