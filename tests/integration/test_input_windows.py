"""Windows asked of openbox, and without a window manager; windows that are gone; the accessibility bus of the root."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from Xlib import Xatom, Xutil

from acud.protocol.capture import DisplayWindows
from acud.types import Rect, WindowInfo
from acud.types.actions import Point, WindowDo, WindowVerb
from tests.integration.input_rig import HandsRig, Witness
from tests.integration.painter import BLUE, RED, Painter
from tests.integration.xserver import XServer


@pytest.fixture
def rig(xserver: XServer) -> Iterator[HandsRig]:
    with HandsRig(xserver) as rig:
        yield rig


class Desk:
    """Two windows, `one` below `two`, and what is seen of them."""

    def __init__(self, rig: HandsRig, painter: Painter, *, managed: bool) -> None:
        self.rig = rig
        self.ids = {"one": painter.window(Rect(20, 40, 200, 150), RED, "one").id}
        self.ids["two"] = painter.window(Rect(60, 80, 200, 150), BLUE, "two").id
        if managed:
            rig.server.launch("openbox", "--sm-disable")
            with Witness(rig.server) as witness:
                witness.until(lambda: len(witness.managed()) == 2)
        self.see(lambda w: len(w.windows) == 2)

    def ask(self, name: str, do: WindowVerb, **more: object) -> None:
        answer = self.rig.do(WindowDo(str(self.ids[name]), do, **more))  # type: ignore[arg-type]
        assert answer.window_id == self.ids[name]

    def see(self, holds: Callable[[DisplayWindows], bool]) -> DisplayWindows:
        return self.rig.windows_where(holds)

    def sees(self, name: str, holds: Callable[[WindowInfo], bool]) -> None:
        self.see(lambda w: any(info.title == name and holds(info) for info in w.windows))


def test_a_manager_does_what_is_asked(rig: HandsRig, painter: Painter) -> None:
    desk = Desk(rig, painter, managed=True)
    desk.ask("one", WindowVerb.MOVE, to=Point(150, 120))
    desk.sees("one", lambda info: (info.bounds.x, info.bounds.y) == (150, 120))
    desk.ask("one", WindowVerb.RESIZE, size=(300, 210))
    desk.sees("one", lambda info: (info.bounds.w, info.bounds.h) == (300, 210))
    for name in ("two", "one"):
        desk.ask(name, WindowVerb.FOCUS)
        with Witness(rig.server) as witness:
            assert witness.active() == desk.ids[name]  # as soon as the action has ended
    desk.ask("two", WindowVerb.RAISE)
    desk.see(lambda w: w.windows[0].title == "two")
    desk.ask("one", WindowVerb.MAXIMISE)
    desk.sees("one", lambda info: info.bounds.w >= 630)
    desk.ask("one", WindowVerb.RESTORE)
    desk.sees("one", lambda info: info.bounds.w == 300)
    desk.ask("one", WindowVerb.MINIMISE)
    desk.sees("one", lambda info: info.visibility == "unmapped")
    desk.ask("one", WindowVerb.RESTORE)
    desk.sees("one", lambda info: info.visibility != "unmapped")


def test_a_focus_that_the_manager_gives_elsewhere_is_refused(rig: HandsRig, painter: Painter) -> None:
    desk = Desk(rig, painter, managed=True)
    shy = painter.window(Rect(10, 10, 90, 90), BLUE, "shy")
    shy.set_wm_hints(flags=Xutil.InputHint, input=0)
    painter.connection.sync()
    desk.see(lambda w: len(w.windows) == 3)
    desk.ask("one", WindowVerb.FOCUS)
    answer = rig.fail(WindowDo(str(shy.id), WindowVerb.FOCUS))
    assert answer.code == "refused"
    assert f"window {desk.ids['one']:#x} has it" in answer.message


def test_without_a_manager_what_x_allows_is_done(rig: HandsRig, painter: Painter) -> None:
    desk = Desk(rig, painter, managed=False)
    desk.ask("one", WindowVerb.RAISE)
    desk.see(lambda w: w.windows[0].title == "one")
    desk.ask("two", WindowVerb.FOCUS)
    desk.see(lambda w: w.focused == desk.ids["two"])
    desk.ask("one", WindowVerb.MOVE, to=Point(5, 6))
    desk.ask("one", WindowVerb.RESIZE, size=(100, 90))
    desk.sees("one", lambda info: info.bounds == Rect(5, 6, 100, 90))
    desk.ask("one", WindowVerb.MAXIMISE)
    desk.sees("one", lambda info: info.bounds == Rect(0, 0, 640, 480))
    for verb in (WindowVerb.MINIMISE, WindowVerb.RESTORE):
        answer = rig.fail(WindowDo(str(desk.ids["one"]), verb))
        assert (answer.code, "window manager" in answer.message) == ("refused", True)


@pytest.mark.parametrize("managed", [True, False])
def test_a_program_is_asked_to_close_its_window(
    rig: HandsRig, xserver: XServer, painter: Painter, managed: bool
) -> None:
    Desk(rig, painter, managed=managed)
    terminal = xserver.launch("xterm")
    seen = rig.windows_where(lambda w: any(info.wm_class == "XTerm" for info in w.windows))
    window = next(info.window_id for info in seen.windows if info.wm_class == "XTerm")
    with Witness(xserver) as witness:  # xterm is seen before it says that it can be asked
        shown = witness.connection.xlib.create_resource_object("window", window)
        witness.until(lambda: bool(shown.get_wm_protocols()))
    rig.do(WindowDo(hex(window), WindowVerb.CLOSE))
    terminal.wait(timeout=60)
    rig.windows_where(lambda w: len(w.windows) == 2)


def test_the_accessibility_bus_of_the_root_is_told(rig: HandsRig, painter: Painter) -> None:
    atom = painter.connection.wire.get_atom("AT_SPI_BUS")
    for address in (b"unix:path=/nowhere/bus,guid=1", b"unix:path=/elsewhere"):
        painter.root.change_property(atom, Xatom.STRING, 8, address)
        painter.connection.sync()
        rig.windows_where(lambda w, address=address: w.a11y_address == address.decode())  # type: ignore[misc]
