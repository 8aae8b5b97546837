"""What a field reads after typing, compared with what was typed; and what a list reads with what was chosen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.features.actions.field_text import has_content, is_chosen, typed_outcome

CASES = [
    # before, typed, now, replaced: outcome
    ("", "Anna", "Anna", False, "as_wanted"),
    ("Berta", "Anna", "Anna", True, "as_wanted"),
    ("old ", "new", "old new", False, "as_wanted"),
    ("aa", "a", "aaa", False, "as_wanted"),
    ("one\n", "two", "one\ntwo\n", False, "as_wanted"),
    ("", "a b", "a\u00a0b", False, "as_wanted"),
    ("mm/dd/yyyy", "12/24/2026", "mm/dd/242026", False, "different"),
    ("mm/dd/yyyy", "12/24/2026", "mm/dd/242026", True, "different"),
    ("(   )    -", "5551234567", "(555) 123-4567", True, "reformatted"),
    ("", "5551234567", "(555) 123-4567", False, "reformatted"),
    ("", "ab12", "AB-12", False, "reformatted"),
    ("0 kg", "7", "7 kg", True, "reformatted"),
    ("", "1234.5", "1,234.50", True, "reformatted"),
    ("", "-5", "5", True, "different"),
    ("", "1.5", "15", True, "different"),
    ("", "the quick fox", "thequick fox", True, "different"),
    ("", "a, b; c", "a b c", True, "different"),
    ("", "two  spaces", "two spaces", True, "different"),
    ("", "DE89 3704", "de89-3704", True, "different"),
    ("", "de893704", "DE89 3704", True, "reformatted"),
    ("", "1,234", "1234", True, "reformatted"),
    ("", "Anna\n", "Anna", True, "reformatted"),
    ("", "150", "15", True, "different"),
    ("0", "45", "045", False, "as_wanted"),
    ("", "Ber", "Berlin", False, "completed"),
    ("x", "Anna", "x", False, "unchanged"),
    ("", "z", "y", False, "different"),
    ("", "Anna", "", False, "unchanged"),
]


@pytest.mark.parametrize(("before", "typed", "now", "replaced", "outcome"), CASES)
def test_what_was_typed_is_told_from_what_was_not(
    before: str, typed: str, now: str, replaced: bool, outcome: str
) -> None:
    assert typed_outcome(before, typed, now, replaced=replaced) == outcome


def test_a_date_may_be_written_in_another_order_only_in_a_field_for_dates() -> None:
    assert typed_outcome("", "12/24/2026", "2026-12-24", replaced=True, is_date=True) == "reformatted"
    assert typed_outcome("", "1/2/2026", "01/02/2026", replaced=True, is_date=True) == "reformatted"
    assert typed_outcome("", "12/24/2026", "2026-12-25", replaced=True, is_date=True) == "different"
    assert typed_outcome("", "12/24/2026", "2026-12-24", replaced=True) == "different"


@given(st.text(max_size=12), st.text(min_size=1, max_size=12), st.integers(min_value=0, max_value=12))
def test_text_typed_at_any_place_is_as_wanted(before: str, typed: str, at: int) -> None:
    now = before[:at] + typed + before[at:]
    assert typed_outcome(before, typed, now, replaced=False) in ("as_wanted", "unchanged", "reformatted")


@given(st.text(alphabet="abc ", max_size=8), st.text(alphabet="12", min_size=1, max_size=4))
def test_a_character_too_few_is_never_as_wanted(before: str, typed: str) -> None:
    assert typed_outcome(before, typed, before + typed[:-1], replaced=False) != "as_wanted"


def test_an_option_is_chosen_where_the_list_reads_it() -> None:
    assert is_chosen("blue", ("Colour", "Blue"))
    assert is_chosen("Dark  blue", ("dark blue",))
    assert not is_chosen("Blue", ("Dark blue",))
    assert not is_chosen("", ("",))


def test_an_empty_mask_has_no_content() -> None:
    assert not has_content("(   )    -")
    assert has_content("0")
