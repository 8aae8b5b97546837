"""Chords as people and models write them."""

import pytest

from acud.base.errors import InvalidRequest
from acud.types.actions import Button, Held, parse_chord, parse_chords, parse_hold


@pytest.mark.parametrize(("text", "keys"), [
    ("a", ("a",)), ("A", ("A",)), ("é", ("é",)), ("Return", ("Return",)), ("enter", ("Return",)),
    ("ctrl+shift+t", ("Control_L", "Shift_L", "t")), ("Ctrl+Alt+Del", ("Control_L", "Alt_L", "Delete")),
    ("ctrl++", ("Control_L", "plus")), ("ctrl+plus", ("Control_L", "plus")), ("+", ("plus",)),
    ("super", ("Super_L",)), ("Control_R+pgdn", ("Control_R", "Next")), ("F5", ("F5",)), ("-", ("-",)),
    ("Ctrl+A", ("Control_L", "a")), ("ctrl-a", ("Control_L", "a")), ("ctrl-shift-t", ("Control_L", "Shift_L", "t")),
    ("ctrl--", ("Control_L", "minus")), ("<Control>a", ("Control_L", "a")),
    ("<Primary><Shift>T", ("Control_L", "Shift_L", "t")), ("C-M-x", ("Control_L", "Alt_L", "x")),
    ("cmd+a", ("Super_L", "a")),
])  # fmt: skip
def test_a_chord_is_keysym_names_in_the_order_pressed(text: str, keys: tuple[str, ...]) -> None:
    assert parse_chord(text) == keys


@pytest.mark.parametrize("text", ["", "ctrl+", "+a", "ctrl+++", "a++b", "++"])
def test_a_malformed_chord_is_refused_with_the_way_to_write_it(text: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        parse_chord(text)
    assert "ctrl+shift+t" in refusal.value.hint


def test_white_space_separates_chords() -> None:
    assert parse_chords("  ctrl+a\tDelete ") == (("Control_L", "a"), ("Delete",))
    assert parse_chords("CTRL + A") == (("Control_L", "a"),)
    with pytest.raises(InvalidRequest, match="no key"):
        parse_chords("  ")


@pytest.mark.parametrize("text", ["ctrl a", "Ctrl Shift t", "Return alt F4", "ctrl and enter"])
def test_a_modifier_alone_before_a_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="let it go") as refusal:
        parse_chords(text)
    assert "+Return; for one after the other" in refusal.value.hint


def test_what_is_held_is_a_chord_or_a_button() -> None:
    assert parse_hold("ctrl+shift") == Held(keys=("Control_L", "Shift_L"))
    assert parse_hold("mouse:Right") == Held(button=Button.RIGHT)
    with pytest.raises(InvalidRequest, match="no button"):
        parse_hold("mouse:side")
