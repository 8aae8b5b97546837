"""How alike two names are."""

import pytest

from acud.features.grounding.word_likeness import likeness, normal


@pytest.mark.parametrize(("text", "plain"), [
    ("Save _As...", "save as"), ("Open…", "open"), ("E-mail address:", "email address"), ("Copy\tCtrl+C", "copy"),
    ("Paste (Ctrl+V)", "paste"), ("Rename F2", "rename"), ("Inbox (12)", "inbox"), ("Don't Save", "do not save"),
    ("Help & FAQ", "help and faq"), ("notes.txt", "notes.txt"), ("  ", ""), ("\x1b[31mRed", "31mred"),
])  # fmt: skip
def test_what_does_not_count_is_left_out(text: str, plain: str) -> None:
    assert normal(text) == plain


def test_the_same_comes_first_then_what_is_nearly_the_same() -> None:
    ranks = [
        likeness("save as", "save as"), likeness("saveas", "save as"), likeness("minimised window", "minimized window"),
        likeness("save", "save as"), likeness("save file now", "save"), likeness("open", "save"),
    ]  # fmt: skip
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] == 1
    assert ranks[-1] == 0


def test_a_part_of_a_name_is_never_near_the_whole() -> None:
    assert likeness("delete", "delete all") < 0.84
    assert likeness("notes.txt", "notes-old.txt") < 0.84


@pytest.mark.parametrize(("a", "b"), [("order 1002", "order 1003"), ("b", "c"), ("left", "right"), ("", "save")])
def test_numbers_and_short_words_are_never_typing_errors(a: str, b: str) -> None:
    assert likeness(a, b) < 0.84
