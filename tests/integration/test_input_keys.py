"""Chords, held keys, clicks and the wheel as a program sees them (xev), and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from acud.types import Rect
from acud.types.actions import Button, Click, Direction, Drag, Hold, InputAction, Key, Move, Point, Release, Scroll
from tests.integration.input_rig import HandsRig, Program, Witness
from tests.integration.painter import BLUE, RED, Painter
from tests.integration.xserver import XServer

_LAST = "F12"
_EVENT = re.compile(r"^(Key|Button)(Press|Release) event")


@pytest.fixture
def rig(xserver: XServer) -> Iterator[HandsRig]:
    with HandsRig(xserver) as rig:
        yield rig


@pytest.fixture
def tester(rig: HandsRig, xserver: XServer) -> Iterator[Program]:
    command = ("xev", "-geometry", "400x300+50+50", "-event", "keyboard", "-event", "button")
    program = Program(xserver, "stdbuf", "-oL", *command)
    rig.windows_where(lambda w: any(info.title == "Event Tester" for info in w.windows))
    rig.do(Move(Point(200, 150)))
    try:
        yield program
    finally:
        program.close()


def heard(rig: HandsRig, tester: Program) -> list[str]:
    """Return what xev saw up to now, such as `+Control_L`, `-t`, `+button 1`."""
    rig.do(Key(_LAST))
    lines = [*tester.until_line(f", {_LAST})"), *tester.until_line(f", {_LAST})")]
    found = []
    for n, line in enumerate(lines):
        kind = _EVENT.match(line)
        if kind is None:
            continue
        name = re.search(r"keysym 0x[0-9a-f]+, (\w+)|(button \d)", " ".join(lines[n : n + 3]))
        assert name is not None
        if (name[1] or name[2]) != _LAST:
            found.append(("+" if kind[2] == "Press" else "-") + (name[1] or name[2]))
    return found


CHORDS = [
    ("Return", ["+Return", "-Return"]),
    ("ctrl+shift+t", ["+Control_L", "+Shift_L", "+T", "-T", "-Shift_L", "-Control_L"]),
    ("ctrl+plus", ["+Control_L", "+Shift_L", "+plus", "-plus", "-Shift_L", "-Control_L"]),
    ("alt+F4", ["+Alt_L", "+F4", "-F4", "-Alt_L"]),
    ("super", ["+Super_L", "-Super_L"]),
    ("ctrl+a Delete", ["+Control_L", "+a", "-a", "-Control_L", "+Delete", "-Delete"]),
    ("ctrl+é", ["+Control_L", "+eacute", "-eacute", "-Control_L"]),
    ("XF86AudioMute", ["+XF86AudioMute", "-XF86AudioMute"]),
]  # fmt: skip


def test_a_chord_is_pressed_in_order_and_released_backwards(rig: HandsRig, tester: Program) -> None:
    for chord, events in CHORDS:
        rig.do(Key(chord))
        assert heard(rig, tester) == events, chord


def test_what_is_held_stays_down_until_released(rig: HandsRig, tester: Program) -> None:
    rig.do(Hold("shift"))
    rig.do(Hold("mouse:left"))
    rig.do(Key("a"))
    rig.do(Release("shift"))
    rig.do(Release())
    expected = ["+Shift_L", "+button 1", "+A", "-A", "-Shift_L", "-button 1"]
    assert heard(rig, tester) == expected
    assert rig.fail(Release("shift")).code == "not_found"


def test_clicks_wheel_and_modifiers(rig: HandsRig, tester: Program) -> None:
    at = Point(200, 150)
    rig.do(Click(at, count=2, keys="ctrl"))
    rig.do(Click(at, button=Button.RIGHT))
    rig.do(Scroll(Direction.DOWN, amount=2))
    double = ["+Control_L", "+button 1", "-button 1", "+button 1", "-button 1", "-Control_L"]
    assert heard(rig, tester) == [*double, "+button 3", "-button 3", *["+button 5", "-button 5"] * 2]


SENSELESS: list[tuple[InputAction, str]] = [
    (Move(Point(640, 0)), "640x480"), (Click(Point(-1, 5)), "640x480"),
    (Drag(start=Point(0, 0), to=Point(0, 480)), "640x480"), (Scroll(Direction.UP, at=Point(9999, 0)), "640x480"),
    (Key("ctrl+Retrun"), "Retrun"), (Key("a ctrl+nope"), "nope"),
    (Click(Point(1, 1), keys="hyperspace"), "hyperspace"), (Hold("mouse:side"), "mouse:side"),
    (Key("ctrl+"), "ctrl+"),
]  # fmt: skip


def test_what_makes_no_sense_is_refused_and_presses_nothing(rig: HandsRig, xserver: XServer) -> None:
    with Witness(xserver) as witness:
        for action, part in SENSELESS:
            answer = rig.fail(action)
            assert (answer.code, part in answer.message, answer.hint != "") == ("invalid_request", True, True), action
            assert not witness.keys(), action
            assert not witness.buttons(), action


def test_the_frame_of_an_answer_holds_all_that_was_painted_before(rig: HandsRig, xserver: XServer) -> None:
    with Painter(xserver) as painter:
        frames = []
        for colour in (RED, BLUE):
            painter.fill(Rect(100, 100, 50, 50), colour)
            answer = rig.do(Move(Point(300, 300)))
            frames.append(answer.frame)
            with rig.reader() as reader:
                newest = reader.newest()
                assert newest is not None
                assert (newest.frame, int(newest.pixels[120, 120, 0])) == (answer.frame, colour & 0xFF)
        assert frames[1] == frames[0] + 1
        assert rig.do(Move(Point(200, 300))).frame == frames[1], "nothing was painted, so nothing is grabbed"


def test_a_hold_ends_by_itself(rig: HandsRig, tester: Program) -> None:
    rig.do(Hold("ctrl", for_s=0.05))
    tester.until_line("KeyRelease event")
    assert not heard(rig, tester)
