"""Quiet without what only blinks: two looks that alternate, and no third."""

import pytest

from acud.base.errors import InvalidRequest
from acud.types import Answer, Change, Rect, Stable, Target
from acud.waits import events as happened
from acud.waits.blinks import LEAST_LOOK_S
from acud.waits.tiles import parse_looks, to_bytes
from acud.waits.validation import validate
from tests.unit.waits.rig import Rig, spec

CARET = 5
SHOWN, HIDDEN, OTHER = 11, 12, 13
QUIET = Stable(3.0, ignore_blinking=True)


def begin(until: Stable | Change = QUIET, crop: Rect | None = None) -> Rig:
    return Rig(spec(until)).start(crop)


def paint(rig: Rig, look: int | None, tiles: int = 1 << CARET, after_s: float = 0.5) -> None:
    """Change tiles after a while; `look`: what they show now, None where that is not told."""
    rig.later(after_s)
    rig.frame += 1
    looks = {} if look is None else {index: look for index in range(12) if tiles >> index & 1}
    rig.tell(happened.FrameSeen(rig.now, 1, rig.frame, tiles, rig.now, looks=looks))


def blink(rig: Rig, times: int, *looks: int) -> None:
    for at in range(times):
        paint(rig, looks[at % len(looks)])


def is_quiet(rig: Rig) -> bool:
    rig.same()
    return rig.wait.pending is not None


def test_a_caret_is_left_out_and_said_to_be() -> None:
    rig = begin()
    blink(rig, 8, SHOWN, HIDDEN)
    assert is_quiet(rig)
    assert rig.wait.verdict.answer is Answer.YES
    assert rig.wait.verdict.detail.endswith(", ignoring a blinking area: 16x16 pixels at 16,16")


def test_it_blinks_once_it_returned_to_an_earlier_look_twice() -> None:
    rig = begin()
    blink(rig, 3, SHOWN, HIDDEN)
    assert rig.wait.view_state is not None
    assert rig.wait.view_state.blinks is not None
    assert rig.wait.view_state.blinks.blinking == 0
    paint(rig, HIDDEN)
    assert rig.wait.in_view is not None
    assert rig.wait.in_view.blinks is not None
    assert rig.wait.in_view.blinks.blinking == 1 << CARET


def test_a_third_look_is_no_blink() -> None:
    rig = begin()
    blink(rig, 9, SHOWN, HIDDEN, OTHER)
    assert not is_quiet(rig)
    caret = begin()
    blink(caret, 5, SHOWN, HIDDEN)
    blink(caret, 3, OTHER, HIDDEN, SHOWN)
    assert not is_quiet(caret)
    assert "16x16 pixels at 16,16 keep changing" in caret.wait.verdict.detail


def test_what_is_too_fast_to_be_told_is_no_blink() -> None:
    rig = begin()
    for at in range(40):
        paint(rig, (SHOWN, HIDDEN)[at % 2], after_s=LEAST_LOOK_S / 2)
    assert not is_quiet(rig)


def test_looks_that_nobody_told_are_no_blink() -> None:
    rig = begin()
    for _ in range(8):
        paint(rig, None)
    assert not is_quiet(rig)


def test_another_change_counts_beside_a_blink() -> None:
    rig = begin()
    blink(rig, 4, SHOWN, HIDDEN)
    paint(rig, OTHER, 1 << 2)
    blink(rig, 3, SHOWN, HIDDEN)
    assert not is_quiet(rig)
    blink(rig, 4, HIDDEN, SHOWN)
    assert is_quiet(rig)


def test_tiles_in_the_target_in_part_count_with_their_looks() -> None:
    rig = begin(crop=Rect(20, 20, 30, 20))
    blink(rig, 8, SHOWN, HIDDEN)
    assert is_quiet(rig)


def test_without_the_option_a_blink_is_a_change() -> None:
    rig = begin(Stable(3.0))
    blink(rig, 8, SHOWN, HIDDEN)
    assert not is_quiet(rig)


def test_a_change_may_settle_beside_a_blink() -> None:
    rig = begin(Change(settle_s=2.0, ignore_blinking=True))
    paint(rig, OTHER, 1 << 2)
    blink(rig, 6, SHOWN, HIDDEN)
    assert is_quiet(rig)
    with pytest.raises(InvalidRequest, match="settle_s"):
        validate(Change(ignore_blinking=True), Target(), timeout_s=9, default_timeout_s=9, max_timeout_s=9)


def test_a_picture_of_a_blink_later_is_of_the_same_quiet() -> None:
    rig = begin()
    blink(rig, 8, SHOWN, HIDDEN)
    assert is_quiet(rig)
    job = rig.dispatch(next(iter(rig.wait.requests.jobs)))
    paint(rig, SHOWN)
    rig.answer(job, {}, picture=True)
    assert rig.ending is not None


def test_looks_go_by_the_order_of_tiles() -> None:
    told = b"".join(look.to_bytes(8, "little") for look in (7, 8))
    assert parse_looks(1 << 3 | 1 << 40, told) == {3: 7, 40: 8}
    assert to_bytes(1 << 3)
