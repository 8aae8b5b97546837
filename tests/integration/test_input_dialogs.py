"""A GTK and a Qt dialog worked by hand: buttons, menus, text fields in many scripts, drags."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.types import Rect
from acud.types.actions import Click, Key, Point, TypeText
from tests.integration.capture_rig import program_after
from tests.integration.input_rig import HandsRig, Program, Witness
from tests.integration.input_texts import MANY, TEXTS
from tests.integration.painter import RED, Painter
from tests.integration.xserver import XServer

_DIALOGS = Path(__file__).parent / "dialogs"
_LETTERS = Path(__file__).parents[1] / "bench/foreign/programs/letters.py"
_SYSTEM_PYTHON = "/usr/bin/python3"
assert sys.executable != _SYSTEM_PYTHON


class PatientRig(HandsRig):
    """One whose process waits for the answer to a ping as long as a program may need on any machine."""

    program = program_after("from acud.x11 import keyboard; keyboard._PING_S = 60.0")


@pytest.fixture
def rig(xserver: XServer) -> Iterator[HandsRig]:
    with PatientRig(xserver) as rig:
        manage(xserver)
        yield rig


def manage(server: XServer) -> None:
    """Start openbox, and return once it runs: a window that is mapped while it starts may stay unmapped for ever."""
    with Painter(server) as painter, Witness(server) as witness:
        probe = painter.window(Rect(0, 0, 50, 50), RED, "probe")
        server.launch("openbox", "--sm-disable")
        witness.until(lambda: witness.managed() == [probe.id])
        probe.destroy()
        painter.connection.sync()
        witness.until(lambda: witness.managed() == [])


@pytest.fixture(params=["gtk", "qt"])
def dialog(request: pytest.FixtureRequest, rig: HandsRig, xserver: XServer) -> Iterator[Program]:
    program = Program(xserver, _SYSTEM_PYTHON, str(_DIALOGS / f"{request.param}_dialog.py"))
    try:
        yield program
    finally:
        program.close()


def places_of(dialog: Program) -> dict[str, Point]:
    """Return the centres of the dialog's parts."""
    return {name: Point(x, y) for name, (x, y, _w, _h) in dialog.until(places=...)["places"].items()}


def test_a_text_field_takes_every_script(rig: HandsRig, dialog: Program) -> None:
    at = places_of(dialog)
    rig.do(Click(at["entry"]))
    # In parts: the dialog says the whole text after each key, and would wait for ever on a full pipe.
    for text in (*(one[:8] for one in TEXTS.values()), MANY[:50]):
        rig.do(TypeText(text))
        dialog.until(text=text)
        rig.do(Key("ctrl+a Delete"))
        dialog.until(text="")


def test_typing_stops_before_a_modal_dialog_of_the_same_program(
    rig: HandsRig, xserver: XServer, tmp_path: Path
) -> None:
    path = tmp_path / "read"
    program = Program(xserver, _SYSTEM_PYTHON, str(_LETTERS), "gtk3", "thief", str(path))
    try:
        letter = next(
            one for one in rig.windows_where(lambda w: any(one.title == "Letter2" for one in w.windows)).windows
            if one.title == "Letter2"
        )  # fmt: skip
        rig.do(Click(Point(letter.bounds.x + 50, letter.bounds.y + 50)))
        how = rig.fail(TypeText("The quick brown fox jumps over the lazy dog. " * 200), letter.window_id).misdirected
    finally:
        program.close()
    assert how is not None
    assert how.is_kept
    read = json.loads(path.read_text())
    assert how.done - how.unsure <= len(read["letter"]) <= how.done
    assert len(read["dialog"]) <= how.unsure
