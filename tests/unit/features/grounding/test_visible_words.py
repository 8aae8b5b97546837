"""The visible words that descriptions name, and the kind of control."""

import pytest

from acud.features.grounding.visible_words import Sort, shown_words


@pytest.mark.parametrize(("description", "name", "role", "sort", "window"), [
    ("the Export button", "Export", "button", Sort.OWN, ""),
    ("Export", "Export", "", Sort.ANY, ""),
    ("click the Delete button", "Delete", "button", Sort.OWN, ""),
    ("button labelled 'Save as…'", "Save as…", "button", Sort.OWN, ""),
    ("the 'Don't save' button", "Don't save", "button", Sort.OWN, ""),
    ("Don't save", "Don't save", "", Sort.ANY, ""),
    ("the OK button in the Print dialog", "OK", "button", Sort.OWN, "Print"),
    ("the Name field", "Name", "field", Sort.BESIDE, ""),
    ("field for the e-mail address", "e-mail address", "field", Sort.BESIDE, ""),
    ("the Colour list", "Colour", "list", Sort.BESIDE, ""),
    ("the search box", "search", "search box", Sort.BESIDE, ""),
    ('the link "Terms of service"', "Terms of service", "link", Sort.WORDS, ""),
    ("the text field", "", "text field", Sort.BESIDE, ""),
    ("checkbox named Remember me", "Remember me", "checkbox", Sort.OWN, ""),
    ("Open in browser", "Open in browser", "", Sort.ANY, ""),
    ("upload area with a frame", "upload area with a frame", "", Sort.ANY, ""),
])  # fmt: skip
def test_a_description_is_taken_apart(description: str, name: str, role: str, sort: Sort, window: str) -> None:
    found = shown_words(description)
    assert (found.name, found.role, found.sort, found.window) == (name, role, sort, window)


def test_typing_looks_for_the_field_of_a_bare_name() -> None:
    assert shown_words("Name", "type").sort is Sort.BESIDE


def test_all_the_words_are_kept_for_what_is_itself_called_so() -> None:
    assert shown_words("the New folder").whole == "New folder"
