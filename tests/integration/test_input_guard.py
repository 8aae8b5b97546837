"""Input stops before the first key or button that another window would get, and says how much was sent before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from Xlib import X

from acud.types import Rect
from acud.types.actions import Click, Drag, InputAction, Key, Point, TypeText
from tests.fixtures.patience import LONG_S
from tests.integration.capture_rig import program_after
from tests.integration.input_rig import HandsRig
from tests.integration.painter import BLUE, RED, Painter
from tests.integration.xserver import XServer

_TEXT = "the quick brown fox jumps over the lazy dog. " * 220
_CHORDS = " ".join("abcdefghij" * 10)
_PRESSES = {X.KeyPress, X.ButtonPress}


class Thief:
    """A client with two windows that counts the presses in each. At the first press in `letter` it does `steal`."""

    def __init__(self, painter: Painter, steal: Callable[[Thief], None]) -> None:
        self.painter, self.steal = painter, steal
        self.letter = painter.window(Rect(10, 10, 300, 200), RED, "Letter")
        self.other = painter.root.create_window(
            150, 50, 300, 200, 0, X.CopyFromParent, X.InputOutput, X.CopyFromParent, background_pixel=BLUE
        )
        self.other.set_wm_name("Thief")
        for window in (self.letter, self.other):
            window.change_attributes(event_mask=X.KeyPressMask | X.ButtonPressMask)
        self.focus(self.letter)
        self.presses = {self.letter.id: 0, self.other.id: 0}

    def focus(self, window: Any) -> None:
        window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
        self.painter.connection.sync()

    def show(self) -> None:
        self.other.map()
        self.painter.connection.sync()

    def open(self) -> None:
        """Show the other window, and give it the focus."""
        self.show()
        self.focus(self.other)

    @contextmanager
    def lurking(self) -> Iterator[None]:
        """Wait for the first press beside the body; what comes after it is counted at the end."""
        thread = threading.Thread(target=self._lurk)
        thread.start()
        yield
        thread.join(LONG_S)
        assert not thread.is_alive(), "nothing was pressed"
        self.count()

    def _lurk(self) -> None:
        self.await_press()
        self.steal(self)

    def await_press(self) -> None:
        event = self.painter.connection.xlib.next_event()
        while event.type not in _PRESSES:
            event = self.painter.connection.xlib.next_event()
        self.presses[event.window.id] += 1

    def count(self) -> None:
        self.painter.connection.sync()
        for event in self.painter.connection.queued_events():
            if event.type in _PRESSES:
                self.presses[event.window.id] += 1


class PatientRig(HandsRig):
    """One whose process waits for paint as long as a program may need on any machine."""

    program = program_after("from acud.x11 import keyboard; keyboard._ECHO_S = keyboard._PING_S = 60.0")


@pytest.fixture
def rig(xserver: XServer) -> Iterator[HandsRig]:
    with HandsRig(xserver) as rig:
        yield rig


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize(("action", "count"), [(TypeText(_TEXT), len(_TEXT)), (Key(_CHORDS), 100)])
def test_keys_stop_when_another_window_takes_the_focus(
    rig: HandsRig, painter: Painter, action: InputAction, count: int, is_named: bool
) -> None:
    thief = Thief(painter, Thief.open)
    with thief.lurking():
        stopped = rig.fail(action, thief.letter.id if is_named else 0)
    how = stopped.misdirected
    assert how is not None, stopped
    assert (how.target, how.by) == (thief.letter.id, thief.other.id)
    assert (thief.presses[how.target], thief.presses[how.by]) == (how.done, 0)
    assert 0 < how.done < count
    assert how.unsure == how.done  # both windows are of one program


@pytest.mark.parametrize(("letters", "painted", "sent"), [(9, 0, 9), (200, 20, 90), (9, 9, 0)])
def test_letters_that_a_program_holds_while_it_opens_a_dialog_are_not_called_typed(
    xserver: XServer, painter: Painter, letters: int, painted: int, sent: int
) -> None:
    """The program paints `painted` of the letters, holds those that acud sends then, and opens its dialog."""

    def hold(thief: Thief) -> None:
        for n in range(1, painted or sent):
            thief.await_press()
            if n == painted - 1:
                painter.fill(Rect(0, 0, 9, 9), BLUE, thief.letter)
                painter.connection.sync()
        for _ in range(sent - painted if painted and sent else 0):
            thief.await_press()
        if sent:
            thief.open()

    thief = Thief(painter, hold)
    with PatientRig(xserver) as rig, thief.lurking():
        answer = rig.answer(rig.ask(TypeText("abcdefghij" * (letters // 10) + "123456789"[: letters % 10])))
    how = answer.misdirected
    assert (how and (how.done, how.unsure, how.by)) == ((sent, sent, thief.other.id) if sent else None), answer
    assert thief.presses == {thief.letter.id: sent or letters, thief.other.id: 0}


def test_nothing_is_done_to_a_window_that_has_not_the_focus_or_is_covered(rig: HandsRig, painter: Painter) -> None:
    thief = Thief(painter, Thief.open)
    thief.open()
    actions = TypeText("no"), Key("n Return"), Click(Point(200, 100)), Drag(Point(20, 20), Point(200, 100))
    for action in actions:
        stopped = rig.fail(action, thief.letter.id)
        thief.count()
        assert stopped.misdirected is not None, action
        assert (stopped.misdirected.by, stopped.misdirected.done) == (thief.other.id, 0), action
        assert set(thief.presses.values()) == {0}, action


def test_a_drop_on_a_window_that_came_meanwhile_is_taken_back(rig: HandsRig, painter: Painter) -> None:
    thief = Thief(painter, Thief.show)
    thief.letter.change_attributes(event_mask=X.ButtonPressMask | X.ButtonReleaseMask)
    with thief.lurking():
        stopped = rig.fail(Drag(Point(200, 100), Point(20, 20)))
    assert stopped.misdirected is not None
    assert stopped.misdirected.by == thief.other.id
    assert stopped.cursor == Point(20, 20)
