"""The client windows of real displays: with a window manager and without, covered, moved, renamed, iconified."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from Xlib import Xatom
from Xlib.ext import screensaver, shape

from acud.types import Rect
from acud.x11 import events
from acud.x11.connection import Connection
from acud.x11.events import Translator
from acud.x11.windows import WindowReader, WindowSnapshot
from tests.fixtures.patience import LONG_S
from tests.fixtures.xsettings import SettingsManager
from tests.grounding.desktop import SYSTEM_PYTHON, missing
from tests.integration.painter import BLUE, RED, Painter
from tests.integration.xserver import XServer


class Watcher:
    """A connection that reads snapshots, and waits for events rather than for time."""

    def __init__(self, server: XServer) -> None:
        self.connection = Connection(server.display, server.auth_file)
        self.windows = WindowReader(self.connection)
        self.translator = Translator(self.connection, self.windows.watched_properties)
        self.connection.sync()

    def until(self, holds: Callable[[WindowSnapshot], bool]) -> WindowSnapshot:
        """Return the first snapshot for which `holds`; looks again only when the server said that something changed."""
        while True:
            snapshot = self.windows.snapshot()
            if holds(snapshot):
                return snapshot
            self.wait()

    def manage(self, server: XServer, *titles: str) -> WindowSnapshot:
        """Start openbox over the windows there are; one that is mapped while it starts may stay unmapped for ever."""
        self.titles(*titles)
        server.launch("openbox", "--sm-disable")
        return self.until(lambda s: tuple(w.title for w in s.windows) == titles and self.is_managed())

    def popups(self, *wanted: int) -> WindowSnapshot:
        """Return the first snapshot with these popups, topmost first."""
        return self.until(lambda s: tuple(w.window_id for w in s.windows if w.kind == "popup") == wanted)

    def is_managed(self) -> bool:
        """Tell whether openbox lists every window there is."""
        about = self.windows._read_root()
        return self.windows._has_manager(about) and bool(about.get(self.windows.atoms.stacking))

    def wait(self) -> list[events.Event]:
        """Return what the server said since the last call, waiting for something."""
        heard: list[events.Event] = []
        while not heard:
            self.connection.flush()
            if not self.connection.wire.event_queue:
                assert select.select([self.connection], [], [], LONG_S)[0], "the server says nothing"
                self.connection.read()
            events.dispatch(self.connection, self.translator, heard.append)
        return heard

    def titles(self, *wanted: str) -> WindowSnapshot:
        """Return the first snapshot with client windows of these titles, topmost first."""
        return self.until(lambda s: tuple(w.title for w in s.windows if w.kind != "popup") == wanted)


@pytest.fixture
def watcher(xserver: XServer) -> Iterator[Watcher]:
    watcher = Watcher(xserver)
    with ExitStack() as stack:
        stack.enter_context(watcher.connection)
        yield watcher


def test_covered_raised_moved_off_screen(watcher: Watcher, painter: Painter) -> None:
    one = painter.window(Rect(10, 10, 100, 80), RED, "one")
    two = painter.window(Rect(60, 30, 100, 80), BLUE, "two")
    snapshot = watcher.titles("two", "one")
    assert [w.visibility for w in snapshot.windows] == ["full", "covered"]
    one.raise_window()
    painter.connection.sync()
    assert [w.visibility for w in watcher.titles("one", "two").windows] == ["full", "covered"]
    two.configure(x=600)
    painter.connection.sync()
    moved = watcher.until(lambda s: s.windows[1].bounds.x == 600)
    assert [w.visibility for w in moved.windows] == ["full", "covered"]


def test_popups_and_dialogs_say_whose_they_are(watcher: Watcher, painter: Painter) -> None:
    atom = painter.connection.wire.get_atom
    one = painter.window(Rect(10, 10, 100, 80), RED, "one")
    two = painter.window(Rect(300, 10, 100, 80), RED, "two")
    dialog = painter.window(Rect(30, 30, 50, 30), BLUE, "dialog")
    dialog.change_property(atom("WM_TRANSIENT_FOR"), atom("WINDOW"), 32, [one.id])
    for window in (two, tip := painter.window(Rect(310, 20, 10, 10), BLUE, managed=False)):
        window.change_property(atom("WM_CLIENT_LEADER"), atom("WINDOW"), 32, [0x7FFFFF])
    menu = painter.window(Rect(12, 12, 10, 10), BLUE, managed=False)
    menu.change_property(atom("WM_TRANSIENT_FOR"), atom("WINDOW"), 32, [one.id])
    submenu = painter.window(Rect(20, 20, 10, 10), BLUE, "two", managed=False)
    submenu.change_property(atom("WM_TRANSIENT_FOR"), atom("WINDOW"), 32, [menu.id])
    painter.connection.sync()
    found = {w.window_id: (w.kind, w.owner) for w in watcher.popups(submenu.id, menu.id, tip.id).windows}
    assert found == {
        one.id: ("normal", 0), two.id: ("normal", 0), dialog.id: ("dialog", one.id), tip.id: ("popup", two.id),
        menu.id: ("popup", one.id), submenu.id: ("popup", menu.id),
    }  # fmt: skip
    dialog.change_property(atom("_NET_WM_STATE"), atom("ATOM"), 32, [atom("_NET_WM_STATE_MODAL")])
    painter.connection.sync()
    watcher.until(lambda s: {w.window_id for w in s.windows if w.modal} == {dialog.id})
    one.change_property(atom("_NET_WM_WINDOW_TYPE"), atom("ATOM"), 32, [atom("_NET_WM_WINDOW_TYPE_DESKTOP")])
    painter.connection.sync()
    watcher.until(lambda s: {w.window_id for w in s.windows if w.is_desktop} == {one.id})


def test_the_frames_of_a_window_manager_are_no_popups_and_a_real_menu_is_one(
    xserver: XServer, watcher: Watcher, painter: Painter
) -> None:
    one = xserver.launch("xterm", "-T", "one", "-geometry", "40x10+10+10")
    watcher.manage(xserver, "one")
    assert {w.kind for w in watcher.titles("one").windows} == {"normal"}
    subprocess.run(
        ["xdotool", "mousemove", "60", "60", "keydown", "ctrl", "mousedown", "1"], env=xserver.env(), check=True
    )
    snapshot = watcher.until(lambda s: any(w.kind == "popup" for w in s.windows))
    menu, window = snapshot.windows
    assert (menu.kind, window.pid, window.visibility) == ("popup", one.pid, "covered")
    assert menu.bounds.area > 1000
    subprocess.run(["xdotool", "mouseup", "1", "keyup", "ctrl"], env=xserver.env(), check=True)
    watcher.popups()


def test_several_windows_on_one_desktop_window_have_the_frames_that_their_manager_tells(
    watcher: Watcher, painter: Painter
) -> None:
    desktop = painter.window(Rect(0, 0, 600, 400), RED, managed=False)
    atom = painter.connection.wire.get_atom
    check = painter.window(Rect(0, 0, 1, 1), RED, managed=False)
    windows = [painter.window(Rect(50 + 200 * n, 60, 100, 80), BLUE, f"w{n}") for n in range(2)]
    for window in windows:
        window.reparent(desktop, window.get_geometry().x, 60)
        window.change_property(atom("_NET_FRAME_EXTENTS"), atom("CARDINAL"), 32, [2, 3, 20, 4])
    for owner in (check, painter.root):
        owner.change_property(atom("_NET_SUPPORTING_WM_CHECK"), atom("WINDOW"), 32, [check.id])
    painter.root.change_property(atom("_NET_CLIENT_LIST_STACKING"), atom("WINDOW"), 32, [w.id for w in windows])
    painter.connection.sync()
    snapshot = watcher.until(lambda s: {w.title for w in s.windows if w.kind != "popup"} == {"w0", "w1"})
    found = next(w for w in snapshot.windows if w.title == "w0")
    assert found.outside == Rect(48, 40, 105, 104)


@pytest.mark.parametrize("title", ["Größe", "Отчёт готов", "Ωμέγα", "完成 3", "Übersicht → ☃"])
def test_titles_of_xt_programs_are_read(watcher: Watcher, xserver: XServer, title: str) -> None:
    """They are COMPOUND_TEXT, in as many sets of letters as they need."""
    with subprocess.Popen(
        ["xmessage", "-xrm", "*international: true", "-title", title, "text"],
        env={**os.environ, **xserver.env(), "LC_ALL": "C.UTF-8"},
    ) as shown:  # fmt: skip
        try:
            assert watcher.until(lambda s: [w.title for w in s.windows if w.title] != []).windows[0].title == title
        finally:
            shown.terminate()


@pytest.mark.parametrize(("fmt", "data"), [(8, b"\xff\xfe\x00bad"), (32, [1, 2, 3]), (8, b"x" * 20_000)])
def test_hostile_properties_do_no_harm(watcher: Watcher, painter: Painter, fmt: int, data: object) -> None:
    window = painter.window(Rect(10, 10, 100, 80), RED, "fine")
    atom = painter.connection.wire.get_atom
    for name in ("_NET_WM_NAME", "_NET_WM_PID", "WM_CLASS"):
        window.change_property(atom(name), atom("UTF8_STRING"), fmt, data)
    for name in ("_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW"):
        painter.root.change_property(atom(name), atom("WINDOW"), fmt, data)
    painter.connection.sync()
    snapshot = watcher.until(lambda s: len(s.windows) == 1)
    assert snapshot.windows[0].window_id == window.id
    assert len(snapshot.windows[0].title) <= 500


def test_windows_that_vanish_while_read_do_no_harm(xserver: XServer, watcher: Watcher) -> None:
    for _ in range(10):
        with Painter(xserver) as short:
            for place in range(20):
                short.window(Rect(place * 10, 10, 30, 30), RED, f"w{place}")
        watcher.windows.snapshot()


def test_a_window_manager_is_listened_to(xserver: XServer, watcher: Watcher) -> None:
    one = xserver.launch("xterm", "-T", "one", "-geometry", "20x5+10+10")
    watcher.manage(xserver, "one")
    xserver.launch("xterm", "-T", "two", "-geometry", "20x5+30+30")
    snapshot = watcher.until(lambda s: {w.title for w in s.windows} == {"one", "two"} and s.focused != 0)
    first = next(w for w in snapshot.windows if w.title == "one")
    assert (first.pid, first.wm_class) == (one.pid, "XTerm")
    watcher.until(lambda s: sorted(w.visibility for w in s.windows) == ["covered", "full"])


def test_what_locks_or_saves_the_screen_hides_it_and_a_program_that_fills_it_does_not(
    watcher: Watcher, painter: Painter, xserver: XServer
) -> None:
    def hiding(*names: str) -> None:
        watcher.until(lambda s: tuple(w.title or w.wm_class for w in s.windows if w.hides_screen) == names)

    if shutil.which("i3lock") is None:
        pytest.skip("there is no i3lock")
    painter.window(Rect(10, 10, 100, 80), RED, "one")
    watcher.titles("one")
    own = painter.window(Rect(0, 0, 640, 480), BLUE, managed=False)
    watcher.popups(own.id)
    hiding()  # a program's own window over the screen, as old games have
    own.unmap()
    player = painter.window(Rect(0, 0, 640, 480), BLUE, "player")
    watcher.titles("player", "one")
    hiding()
    player.unmap()
    painter.connection.sync()
    with Painter(xserver) as locker:
        frame = locker.window(Rect(1, 1, 638, 478), BLUE, "obscurer", managed=False)
        hiding("obscurer")
        frame.shape_rectangles(shape.SO.Set, shape.SK.Bounding, 0, 0, 0, [(0, 0, 640, 9)])
        locker.connection.sync()
        assert not any(w.hides_screen for w in watcher.windows.snapshot().windows)
    lock = xserver.launch("i3lock", "--nofork")
    hiding("i3lock")
    lock.terminate()
    hiding()
    for words in (["noblank"], ["activate"]):
        subprocess.run(["xset", "s", *words], env=xserver.env(), check=True)
    watcher.until(lambda s: [w.hides_screen for w in s.windows if w.kind == "popup"] == [True])
    subprocess.run(["xset", "s", "reset"], env=xserver.env(), check=True)
    hiding()
    for words in (["blank"], ["activate"]):
        subprocess.run(["xset", "s", *words], env=xserver.env(), check=True)
    assert [w.visibility for w in watcher.titles("one").windows] == ["full"]
    assert watcher.connection.root.screensaver_query_info().state == screensaver.StateOn


def test_the_scale_follows_settings_their_manager_and_resources(watcher: Watcher, xserver: XServer) -> None:
    assert watcher.windows.snapshot().scale_factor == 1.0
    subprocess.run(["xrdb", "-nocpp", "-merge"], input=b"Xft.dpi: 120\n", env=xserver.env(), check=True)
    watcher.until(lambda s: s.scale_factor == 1.25)
    with SettingsManager(xserver) as manager:
        manager.set(Xft__DPI=144 * 1024, Net__ThemeName="Adwaita")
        manager.take()
        watcher.until(lambda s: s.scale_factor == 1.5)
        manager.set(Gdk__WindowScalingFactor=2, Xft__DPI=192 * 1024)
        watcher.until(lambda s: s.scale_factor == 2.0)
        if not missing("gtk3"):
            assert _scale_of_gtk(xserver) == "2 192.0"
    watcher.until(lambda s: s.scale_factor == 1.25)
    watcher.connection.root.delete_property(Xatom.RESOURCE_MANAGER)
    watcher.until(lambda s: s.scale_factor == 1.0)


def _scale_of_gtk(server: XServer) -> str:
    """Return what a toolkit makes of the same display: its whole factor and its dots per inch."""
    code = (
        "import gi; gi.require_version('Gtk', '3.0'); from gi.repository import Gtk;"
        "print(Gtk.Window().get_scale_factor(), Gtk.Settings.get_default().get_property('gtk-xft-dpi') / 1024)"
    )
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", code], env=server.env(), check=True, capture_output=True, text=True, timeout=LONG_S
    )
    return done.stdout.strip()
