"""The closed half of the OCR set is what was committed, and has what the half to work with has."""

from tests.ocr_set import closed, screens


def test_what_the_closed_half_shows_is_pinned() -> None:
    assert closed.sha256() == closed.SHA256


def test_the_closed_half_has_every_category_and_no_screen_of_the_other() -> None:
    found = closed.read()
    assert len(found) >= 40
    assert {screen.category for screen in screens.ALL} <= {screen.category for screen in found}
    assert not {screen.name for screen in screens.ALL} & {screen.name for screen in found}
