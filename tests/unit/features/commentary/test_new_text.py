"""When two texts say the same."""

import pytest

from acud.features.commentary.prompt import MAX_TOLD, NewText, is_alike


@pytest.mark.parametrize(("one", "other", "same"), [
    ("", "", True), ("Inbox (3)", "Inbox (14)", True), ("⠋ building", "⠙ building", True),
    ("modul not found", "module not found", True), ("Inbox", "Terminal", False), ("a", "", False),
])  # fmt: skip
def test_alike(one: str, other: str, same: bool) -> None:
    assert is_alike(one, other) is same


def test_the_new_lines_whole_and_once() -> None:
    reading = NewText()
    assert reading.find_new([("t1-1", "File Edit View"), ("t1-2", "a short one")]) == "File Edit View\na short one"
    assert reading.find_new([("t1-1", "File Edit View"), ("t1-2", "a short one")]) == ""
    long = "error: " + "x" * 300
    assert reading.find_new([("t1-1", "File Edit View"), ("t1-3", "ok"), ("t1-4", long)]) == f"ok\n{long}"


def test_a_line_that_became_another_is_new_a_misread_letter_is_not() -> None:
    reading = NewText()
    reading.find_new([("t1-1", "compiling module 17")])
    assert reading.find_new([("t1-1", "compiling modul3 18")]) == ""
    assert reading.find_new([("t1-1", "Build finished without errors")]) == "Build finished without errors"


def test_what_was_told_lately_is_no_news() -> None:
    reading = NewText()
    menu = [("t1-1", "Open Save Print Quit")]
    assert reading.find_new(menu)
    assert reading.find_new([]) == ""
    assert reading.find_new([("t1-9", "Open Save Print Quit")]) == ""
    for number, word in enumerate(("alpha", "bravo 22", "charlie_3", "delta-delta", "echo, echo")):
        assert reading.find_new([(f"t1-{number + 20}", word * 3)])
    assert reading.find_new([("t1-99", "Open Save Print Quit")])


def test_what_is_told_is_bounded() -> None:
    lines = [(f"t1-{number}", f"line {number} " + "x" * 50) for number in range(500)]
    assert len(NewText().find_new(lines)) == MAX_TOLD
