"""Which requests mean the display that their caller runs on."""

import pytest

from acud.protocol.requests.actions import DesktopAction
from acud.types.actions import Action, Click, Drag, Key, Move, Point
from acud_client.own_display import names_no_display

HERE = Point(1, 2)


@pytest.mark.parametrize(("action", "names_none"), [
    (Click(HERE), True), (Key("a"), True), (Drag(HERE, HERE), True), (Click("t3-12"), False), (Move("a3-4"), False),
    (Drag("t3-12", HERE), False), (Drag(HERE, "v3-1"), False),
])  # fmt: skip
def test_an_element_names_its_display(action: Action, names_none: bool) -> None:
    assert names_no_display(DesktopAction((action,))) is names_none
    assert names_no_display(DesktopAction((Key("b"), action))) is names_none
    assert not names_no_display(DesktopAction((action,), display=":7"))
