"""The redaction set: its closed half is what was committed, its values have right forms, its scorers count right."""

import random

import numpy as np

from acud.protocol.questions import WidgetSources
from acud.types import Rect
from tests.redaction_set import closed, marked, scores
from tests.redaction_set.screens import Letter, Shown


def test_what_the_closed_half_shows_is_pinned() -> None:
    assert marked.read(closed.SOURCE).sha256() == closed.SHA256


def test_both_halves_have_secrets_enough_and_share_no_screen() -> None:
    work, other = marked.read(*closed.WORK), marked.read(closed.SOURCE)
    for half in (work, other):
        pictures, texts = half.secrets
        assert pictures >= 90
        assert texts >= 68
        assert pictures + texts >= 160
        assert {screen.toolkit for screen in half.screens} == {"xterm", "gtk3", "chromium"}
    assert not {screen.name for screen in work.screens} & {screen.name for screen in other.screens}
    assert not {text.marked.text for text in work.texts} & {text.marked.text for text in other.texts}


def test_a_secret_in_a_picture_may_show_one_letter_at_an_edge() -> None:
    cell = marked.parse("ab ⟦cdef⟧ ⟦gh⟧", random.Random(1))
    screen = marked.Screen("one", "xterm", "lines", 12, False, "one", ((cell,),))
    letters = [Letter(n, cell.secret_at(at), Rect(10 * at, 0, 10, 10)) for n, at in enumerate((0, 1, 3, 4, 5, 6, 8, 9))]
    shown = Shown(screen, np.zeros((20, 100, 4), np.uint8), WidgetSources("", "", ()), tuple(letters))
    assert scores.of_letters(shown, []) == (2, 0, 2, 0, (("one", "cdef"), ("one", "gh")))
    assert scores.of_letters(shown, [Rect(0, 0, 100, 10)]) == (2, 2, 2, 2, ())
    assert scores.of_letters(shown, [Rect(40, 0, 30, 10)])[:4] == (2, 1, 2, 0)
    assert scores.of_letters(shown, [Rect(40, 0, 20, 10)]).missed == (("one", "cdef"), ("one", "gh"))
    assert scores.of_letters(shown, [Rect(30, 0, 10, 10), Rect(50, 0, 20, 10)]).hidden == 0
    assert scores.of_letters(shown, [Rect(10, 0, 60, 10)])[:4] == (2, 1, 2, 1)


def test_a_secret_in_a_text_is_hidden_with_every_character() -> None:
    text = marked.Text("log", marked.parse("user mara pw=⟦abc def⟧ ok", random.Random(1)))
    assert scores.of_text(text, []) == (1, 0, 4, 0, (("log", "abcdef"),))
    assert scores.of_text(text, [(13, 20)]) == (1, 1, 4, 0, ())
    assert scores.of_text(text, [(13, 19)]).hidden == 0
    assert scores.of_text(text, [(0, 20)])[:4] == (1, 1, 4, 3)


def test_no_two_screens_of_the_half_to_work_with_have_one_name() -> None:
    names = [screen.name for screen in marked.read(*closed.WORK).screens]
    assert sorted(names) == sorted(set(names))
