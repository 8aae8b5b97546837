"""No key, button or foreign keysym outlives the capture process that pressed it, however that ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from Xlib import X

from acud.process.child_process import EXIT_FAULT
from acud.protocol.children import Fault
from acud.types.actions import Click, Drag, Hold, Key, Point, TypeText
from tests.integration.halting import go_on
from tests.integration.input_rig import HandsRig, Witness
from tests.integration.xserver import XServer

_FOREIGN = "漢字かな한글Привет" * 3


@pytest.fixture
def rig(xserver: XServer) -> Iterator[HandsRig]:
    with HandsRig(xserver) as rig:
        yield rig


@pytest.fixture
def witness(xserver: XServer) -> Iterator[Witness]:
    with Witness(xserver) as witness:
        yield witness


def test_keys_held_at_a_kill_are_released_by_the_next(rig: HandsRig, witness: Witness) -> None:
    rig.do(Hold("ctrl+shift+t"))
    assert len(witness.keys()) == 3
    rig.kill()
    assert len(witness.keys()) == 3
    rig.start()
    assert not witness.keys()


def test_a_button_pressed_at_a_kill_in_mid_drag_is_released_by_the_next(rig: HandsRig, witness: Witness) -> None:
    rig.amid(Drag(start=Point(10, 10), to=Point(600, 400), keys="shift"), witness.is_dragging)
    rig.kill()
    assert witness.buttons() & (X.Button1Mask | X.ShiftMask) == X.Button1Mask | X.ShiftMask
    rig.start()
    assert not witness.buttons()
    assert not witness.keys()


def test_the_keymap_and_group_at_a_kill_in_mid_text_are_restored_by_the_next(rig: HandsRig, witness: Witness) -> None:
    before = witness.keymap()
    rig.do(TypeText(_FOREIGN))
    assert witness.keymap() != before
    rig.kill()
    rig.start()
    assert witness.keymap() == before
    assert not witness.connection.root.get_full_property(
        witness.connection.wire.get_atom("_ACUD_INPUT"), X.AnyPropertyType
    )


def test_a_key_that_another_program_gave_a_meaning_since_is_left_alone(rig: HandsRig, witness: Witness) -> None:
    before = witness.keymap()
    rig.do(TypeText("漢"))
    rig.kill()
    taken = next(n for n, (was, now) in enumerate(zip(before, witness.keymap(), strict=True)) if was != now)
    witness.connection.xlib.change_keyboard_mapping(taken + 8, [(0x61, 0x62)])
    rig.start()
    assert witness.keymap()[taken][:2] == (0x61, 0x62)


def test_an_orderly_stop_leaves_the_display_as_it_was(rig: HandsRig, witness: Witness) -> None:
    before = witness.keymap()
    rig.do(TypeText(_FOREIGN))
    rig.do(Hold("ctrl"))
    rig.do(Hold("mouse:left"))
    rig.stop()
    assert rig.process is not None
    assert rig.process.wait(timeout=60) == 0
    assert witness.keymap() == before
    assert not witness.keys()
    assert not witness.buttons()


def test_dropped_acts_are_refused_and_everything_is_released(rig: HandsRig, witness: Witness) -> None:
    rig.do(Hold("ctrl"))
    first = rig.amid(Drag(start=Point(10, 10), to=Point(600, 400)), witness.is_dragging)
    second = rig.ask(Key("a"))
    rig.drop("a person has the display")
    assert rig.process is not None
    go_on(rig.process.pid)
    for act_id in (first, second):
        answer = rig.answer(act_id)
        assert (answer.code, answer.message) == ("refused", "a person has the display")
    assert not witness.keys()
    assert not witness.buttons()
    rig.do(Click(Point(5, 5)))


def test_an_x_server_that_dies_in_mid_drag_is_a_fault(rig: HandsRig, xserver: XServer) -> None:
    with Witness(xserver) as witness:
        rig.amid(Drag(start=Point(10, 10), to=Point(600, 400)), witness.is_dragging)
        xserver.kill()
    assert rig.process is not None
    go_on(rig.process.pid)
    fault = rig.until(lambda m: isinstance(m, Fault), 0)
    assert fault.code == "display_down"
    assert rig.process.wait(timeout=60) == EXIT_FAULT
