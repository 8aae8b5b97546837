"""Which key types what in which layout group; what is put on spare keycodes, and when it may be."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.base.errors import InvalidRequest
from acud.x11.fake_input import InputTrace
from acud.x11.keymap import LINGER_S, UNICODE, Keymap, SpareKeycodes, Stroke, keysym_of_character, keysym_of_name

_A, _SHIFT, _EMPTY = 38, 50, 93


def keymap() -> Keymap:
    """A layout of us and ru: `a` and `ф` on one key, Break on the second level of Pause, and a spare key."""
    rows = [[0] * 4 for _ in range(248)]
    rows[_A - 8] = [0x61, 0x41, 0x6C6, 0x6E6]  # a A Cyrillic_ef Cyrillic_EF
    rows[_SHIFT - 8] = [0xFFE1, 0, 0xFFE1, 0]
    rows[127 - 8] = [0xFF13, 0xFF6B, 0xFF13, 0xFF6B]
    rows[187 - 8] = [0x28, 0, 0x28, 0]
    rows[18 - 8] = [0x39, 0x28, 0x39, 0x28]
    taken = [row if any(row) or n + 8 == _EMPTY else [0xFFFF, 0, 0, 0] for n, row in enumerate(rows)]
    return Keymap(8, taken, [[_SHIFT, 62], *[[0, 0]] * 7])


def test_a_character_is_found_in_the_active_group_first() -> None:
    assert keymap().find(keysym_of_character("A"), 0) == Stroke(_A, True, 0)
    assert keymap().find(keysym_of_character("A"), 1) == Stroke(_A, True, 0)
    assert keymap().find(keysym_of_character("ф"), 0) == Stroke(_A, False, 1)
    assert keymap().find(keysym_of_character("9"), 1) == Stroke(18, False, 1)
    assert keymap().find(keysym_of_character("漢"), 0) is None


def test_media_keys_come_last_and_second_levels_of_function_keys_never() -> None:
    assert keymap().find(keysym_of_name("parenleft"), 0) == Stroke(18, True, 0)
    assert keymap().find(keysym_of_name("Break"), 0) is None


def test_a_spare_key_has_no_keysym_and_is_no_modifier() -> None:
    assert keymap().spare == (_EMPTY,)
    assert keymap().shift == _SHIFT


def test_two_keysyms_share_a_key_and_a_lone_one_fills_it() -> None:
    spares = SpareKeycodes((93, 97))
    plan = spares.plan([1, 2, 3])
    assert plan.changes == {93: (1, 2), 97: (3, 3)}
    assert plan.ready_s == -math.inf
    spares.note_changes(plan.changes)
    assert (spares.find(2), spares.find(3)) == (Stroke(93, shift=True), Stroke(97, shift=False))


def test_a_used_key_changes_only_after_it_was_read() -> None:
    spares = SpareKeycodes((93,))
    spares.note_changes(spares.plan([1]).changes)
    spares.use(93, 10.0)
    assert spares.plan([2]).ready_s == 10.0 + LINGER_S
    spares.note_settled(9.0)
    assert spares.plan([2]).ready_s == 10.0 + LINGER_S
    spares.note_settled(10.5)
    assert spares.plan([2]).ready_s == -math.inf


def test_the_least_recently_used_key_goes_first_and_wanted_ones_stay() -> None:
    spares = SpareKeycodes((93, 97, 103))
    spares.note_changes({93: (1, 1), 97: (2, 2), 103: (3, 3)})
    for keycode, used_s in ((93, 3.0), (97, 1.0), (103, 2.0)):
        spares.use(keycode, used_s)
    assert spares.plan([9]).changes.keys() == {97}
    assert spares.plan([9, 2]).changes.keys() == {103}


@given(st.lists(st.integers(1, 60), min_size=1, max_size=200), st.integers(1, 6))
def test_whatever_is_typed_every_character_is_on_a_key_when_it_is_typed(text: list[int], keys: int) -> None:
    spares, now_s = SpareKeycodes(range(100, 100 + keys)), 0.0
    for n, keysym in enumerate(text):
        if spares.find(keysym) is None:
            plan = spares.plan(text[n:])
            now_s = max(now_s, plan.ready_s)
            assert all(now_s >= spares._used_s.get(k, -math.inf) + LINGER_S for k in plan.changes)
            spares.note_changes(plan.changes)
        slot = spares.find(keysym)
        assert slot is not None
        assert spares.assigned[slot.keycode][slot.shift] == keysym
        spares.use(slot.keycode, now_s)
        now_s += 0.001


@pytest.mark.parametrize(
    ("name", "keysym"),
    [("Return", 0xFF0D), ("return", 0xFF0D), ("F5", 0xFFC2), ("plus", 0x2B), ("é", 0xE9), ("漢", UNICODE + 0x6F22),
     ("U20AC", UNICODE + 0x20AC), ("XF86AudioMute", 0x1008FF12), ("Page_Down", 0xFF56)],
)  # fmt: skip
def test_keys_have_names(name: str, keysym: int) -> None:
    assert keysym_of_name(name) == keysym


def test_an_unknown_key_is_told_with_near_names() -> None:
    with pytest.raises(InvalidRequest, match="Retrun") as refusal:
        keysym_of_name("Retrun")
    assert "Return" in refusal.value.hint
    with pytest.raises(InvalidRequest, match="page") as refusal:
        keysym_of_name("page")
    assert "Page_Down" in refusal.value.hint
    with pytest.raises(InvalidRequest, match=r"U\+0007"):
        keysym_of_character("\x07")


_WORDS = st.integers(8, 255)
_TRACES = st.builds(
    InputTrace,
    keys=st.frozensets(_WORDS),
    buttons=st.frozensets(st.integers(1, 7)),
    maps=st.lists(st.tuples(_WORDS, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))).map(tuple),
    group=st.none() | st.integers(0, 3),
    caps=st.booleans(),
)


@given(_TRACES)
def test_a_trace_comes_back_from_its_words(trace: InputTrace) -> None:
    assert InputTrace.of_words(trace.to_words()) == trace


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40))
def test_foreign_words_are_no_trace_or_a_whole_one(value: list[int]) -> None:
    trace = InputTrace.of_words(value)
    assert trace is None or len(trace.to_words()) <= len(value)
