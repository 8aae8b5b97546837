"""The closed half of the OCR set is what was committed, and has what the half to work with has."""

from __future__ import annotations

from tests.ocr_set import closed, screens, words


def test_what_the_closed_half_shows_is_pinned() -> None:
    assert closed.sha256() == closed.SHA256


def test_the_closed_half_has_every_category_and_no_screen_of_the_other() -> None:
    found = closed.read()
    assert len(found) >= 40
    assert {screen.category for screen in screens.ALL} <= {screen.category for screen in found}
    assert not {screen.name for screen in screens.ALL} & {screen.name for screen in found}


def test_the_truth_of_a_page_has_no_tags_and_the_truth_of_a_terminal_no_colours() -> None:
    assert words.of_page("<p><b>in</b>side 2 &lt; 3<br>next<td>cell</td>").split() == [
        "inside", "2", "<", "3", "next", "cell",
    ]  # fmt: skip
    assert words.without_colours("\033[32;1m+ <module>\033[0m") == "+ <module>"
