"""The error of input that stopped because another window would have got it, and which window a step is for."""

import pytest

from acud.features.actions.supervisor.action_sequence import InputAim
from acud.features.actions.supervisor.misdirection import count_shown, describe_misdirection
from acud.protocol.capture import Misdirection
from acud.types import Rect, WindowInfo
from acud.types.action_effects import OpenDialog
from acud.types.actions import Action, Click, Drag, InputAction, Key, Launch, Point, TypeText

_WINDOWS = (
    WindowInfo(2, "Session", Rect(0, 0, 9, 9), kind="dialog", owner=1, modal=True),
    WindowInfo(1, "Letter2", Rect(0, 0, 99, 99)),
)
_BOX = OpenDialog("Session", buttons=("No", "Yes"))


@pytest.mark.parametrize(("action", "how", "dialog", "words"), [
    (
        TypeText("no"),
        Misdirection(1, 2, is_kept=True),
        _BOX,
        'dialog "Session" has the focus and keeps "Letter2" from it; buttons: No, Yes; nothing was typed',
    ),
    (
        TypeText("a" * 408),
        Misdirection(1, 2, done=55, unsure=8),
        OpenDialog("Session"),
        'dialog "Session" has the focus, not "Letter2"; its buttons are not known; 55 of 408 letters went to '
        '"Letter2" (the last 8 may be lost, or there), 353 were not typed',
    ),
    (
        TypeText("a" * 408),
        Misdirection(1, 2, done=55, unsure=55),
        None,
        'dialog "Session" has the focus, not "Letter2"; 55 of 408 letters were sent to "Letter2" (how many of them '
        "arrived is not known), 353 were not typed",
    ),
    (
        Key("Tab Tab Return"),
        Misdirection(2, 1, done=2),
        None,
        'window "Letter2" has the focus, not "Session"; 2 of 3 chords went to "Session", 1 were not pressed',
    ),
    (
        Drag(Point(1, 1)),
        Misdirection(1, 2, done=1),
        None,
        'dialog "Session" is there, not "Letter2"; the drag was taken back to where it began',
    ),
    (Click(), Misdirection(1, 0), None, 'no window is there, not "Letter2"; nothing was clicked'),
])  # fmt: skip
def test_the_error_names_both_windows_and_what_went_where(
    action: InputAction, how: Misdirection, dialog: OpenDialog | None, words: str
) -> None:
    fault = describe_misdirection(action, how, _WINDOWS, dialog)
    assert fault.message == words
    assert ("window_focus" in fault.hint) is (not how.is_kept and not isinstance(action, Click | Drag))


def test_under_a_lock_screen_the_hint_is_to_unlock_it() -> None:
    lock = WindowInfo(3, "i3lock", Rect(0, 0, 99, 99), kind="popup", hides_screen=True)
    fault = describe_misdirection(TypeText("no"), Misdirection(1, 3), (lock, *_WINDOWS), None)
    assert "unlocked first" in fault.hint


@pytest.mark.parametrize(("lines", "count"), [
    (("Pack my box with five", "dozen liquor"), 34), (("Pack my box with|",), 16),
    (("To Anna", "Pack mybox with ffve dozen", "Pack my box"), 11), (("Pack my box, please",), 0),
    (("five dozen liquor",), 0), (("Pa",), 0), ((), 0),
])  # fmt: skip
def test_letters_count_that_stand_up_to_the_end_of_a_line(lines: tuple[str, ...], count: int) -> None:
    assert count_shown("Pack my box with five dozen liquor jugs", lines) == count


@pytest.mark.parametrize(("action", "next_aim"), [
    (TypeText("Anna"), InputAim(7)), (TypeText("Anna\n"), InputAim(7, with_program=True)),
    (Key("ctrl+s"), InputAim(7, with_program=True)), (Click(Point(1, 1)), InputAim(7, with_program=True)),
    (Key("alt+Tab"), InputAim()), (Launch(("xterm",)), InputAim()),
])  # fmt: skip
def test_the_next_step_is_for_the_window_of_the_step_before(action: Action, next_aim: InputAim) -> None:
    assert InputAim().aim_after(action, 7) == next_aim
    named = InputAim(3, is_named=True)
    assert named.aim_after(action, 7) == named
    assert named.aim_at(Click()) == named
    assert InputAim(7).aim_at(Click()) == InputAim()
