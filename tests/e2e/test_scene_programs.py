"""Scenes of real programs: a terminal, a GTK 3 form, a Qt form and a page in Chromium; ids over a hundred looks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from acud.base.errors import Conflict
from acud.types import DisplayInfo
from acud.types.actions import Click
from acud.types.scene import Scene, SceneMode
from acud_client import Client
from tests.e2e.desktop import until
from tests.e2e.gui_support import SETTINGS
from tests.fixtures.daemon import Daemon
from tests.grounding import screens
from tests.grounding.desktop import PROGRAMS, SYSTEM_PYTHON, chromium

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
LOOKS = 100
LONG_PAGES = Path(__file__).parents[1] / "bench" / "scene_pages"


DAEMON_SETTINGS = SETTINGS


@pytest.fixture
def display(daemon: Daemon) -> Iterator[DisplayInfo]:
    made = daemon.client.display_create(1000, 700).display
    yield made
    daemon.client.display_remove(made.name, force=True)


@contextmanager
def running(display: DisplayInfo, *command: str, **env: str) -> Iterator[None]:
    own = {"DISPLAY": display.name, "XAUTHORITY": display.auth_file, "DBUS_SESSION_BUS_ADDRESS": display.bus_address}
    switches = {"ACCESSIBILITY_ENABLED": "1", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "LANG": "C.UTF-8"}
    process = subprocess.Popen(command, env={"PATH": os.environ["PATH"], **switches, **own, **env}, stdin=None)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def looked(client: Client, display: DisplayInfo) -> Scene:
    return client.refresh_scene(SceneMode.ACTIVE, [display.name])


def words(scene: Scene) -> list[str]:
    return [one.text for one in scene.ocr]


def shows(client: Client, display: DisplayInfo, text: str) -> Scene:
    def found() -> Scene | None:
        scene = looked(client, display)
        return scene if any(text in one for one in words(scene)) else None

    return until(found, text)


def terminal(*command: str) -> tuple[str, ...]:
    blink = ("-bc", "-xrm", "*cursorOnTime: 100", "-xrm", "*cursorOffTime: 100")
    return ("xterm", "-fa", "DejaVu Sans Mono", "-fs", "11", "-geometry", "80x24+10+10", *blink, "-e", *command)


def looks(client: Client, display: DisplayInfo, count: int) -> Iterator[Scene]:
    """Yield looks at so many frames that differ."""
    last = 0
    for _ in range(count):
        scene = until(partial(_newer, client, display, last), "another frame")
        last = scene.displays[0].frame
        yield scene


def _newer(client: Client, display: DisplayInfo, last: int) -> Scene | None:
    scene = looked(client, display)
    return scene if scene.displays[0].frame > last else None


def test_a_blinking_caret_mints_nothing(daemon: Daemon, display: DisplayInfo) -> None:
    page = "echo first line of words; echo second line of words; printf 'prompt: '; exec sleep 600"
    with running(display, *terminal("sh", "-c", page)):
        first = shows(daemon.client, display, "second line of words")
        ids = {one.text: one.id for one in first.ocr if "line of words" in one.text}
        scenes = list(looks(daemon.client, display, LOOKS))
    for scene in scenes:
        assert {one.text: one.id for one in scene.ocr if "line of words" in one.text} == ids
    numbers = {int(one.id.partition("-")[2]) for scene in scenes for one in scene.ocr}
    assert max(numbers) <= 4 * len(first.ocr) + 8


def test_a_scrolling_list_keeps_the_ids_of_its_rows(daemon: Daemon, display: DisplayInfo) -> None:
    page = "n=0; while :; do n=$((n+1)); echo row number $((n*37)) of the list; sleep 0.15; done"
    with running(display, *terminal("sh", "-c", page)):
        shows(daemon.client, display, "row number")
        scenes = list(looks(daemon.client, display, LOOKS))
    known: dict[str, str] = {}
    moved = 0
    for scene in scenes:
        rows = {one.text: one.id for one in scene.ocr if one.text.endswith("of the list")}
        moved += sum(1 for text, id_ in rows.items() if known.get(text, id_) != id_)
        known |= rows
    assert len(known) > 20
    assert moved == 0


def test_a_terminal_is_an_app_with_the_focus(daemon: Daemon, display: DisplayInfo) -> None:
    with running(display, *terminal("sh", "-c", "echo ready now; exec sleep 600")):
        scene = shows(daemon.client, display, "ready now")
    assert scene.focused_window is not None
    assert scene.focused_window.app == "xterm"
    (app,) = [one for one in scene.apps if one.name == "xterm"]
    assert app.pid == scene.focused_window.pid
    assert app.windows[0].bounds == scene.focused_window.bounds
    assert app.windows[0].bounds.w > 300


@pytest.mark.parametrize(
    ("screen", "program", "extra", "role"),
    [("contact_form", "gtk3.py", (), "push button"), ("login", "qt.py", ("PyQt6",), "push button")],
)
def test_the_widgets_of_a_form(
    daemon: Daemon, display: DisplayInfo, tmp_path: Path, screen: str, program: str, extra: tuple[str, ...], role: str
) -> None:
    if why := screens.lacking(screen):
        pytest.skip(why)
    command = (SYSTEM_PYTHON, str(PROGRAMS / program), str(tmp_path / "told"), screen, *extra)
    with running(display, *command, HOME=str(tmp_path)):
        scene = until(lambda: _with_role(daemon.client, display, role), role)
        scenes = [looked(daemon.client, display) for _ in range(10)]
    buttons = {one.label: one.id for one in scene.ax if one.role == role}
    assert all(label for label in buttons)
    assert all(one.actions for one in scene.ax if one.role == role)
    for later in scenes:
        assert {one.label: one.id for one in later.ax if one.role == role} == buttons
    assert scene.providers[0].ax.state == "ready"


def test_a_form_in_chromium(daemon: Daemon, display: DisplayInfo, tmp_path: Path) -> None:
    if not chromium():
        pytest.skip("no chromium")
    with ExitStack() as stack:
        flags = ("--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--disable-gpu", "--test-type")
        url = (LONG_PAGES / "form.html").as_uri()
        profile = f"--user-data-dir={tmp_path}"
        stack.enter_context(running(display, chromium(), *flags, profile, url, HOME=str(tmp_path)))
        told = until(lambda: _whole_page(daemon.client, display), "the page, painted and told to its end", 120)
        scene = daemon.client.current_scene([display.name])
        far = next(one for one in scene.ax if one.offscreen and one.role == "push button")
        with pytest.raises(Conflict, match="scrolled out of sight"):
            daemon.client.desktop_action(Click(far.id))
    assert all(one.id.startswith(f"a{display.number}-") for one in scene.ax)
    sight, _, beyond = told.partition("(out of sight, scroll to it:)")
    assert 'textbox "Given names *" = "Anja Maria"' in sight
    assert 'combobox "Title" = "Please choose"' in sight
    assert 'radio "Not stated" checked' in told
    assert 'textbox "Street and number" ' not in told  # it has no value, and the label is that beside it
    assert 'textbox "Street and number"' in told
    assert 'checkbox "Post" disabled' in beyond
    assert 'button "Continue"' in beyond


def _whole_page(client: Client, display: DisplayInfo) -> str:
    told = client.scene(SceneMode.ACTIVE, [display.name], form="prompt").text
    return told if '"Continue"' in told and len(client.current_scene([display.name]).ocr) > 3 else ""


def _with_role(client: Client, display: DisplayInfo, role: str) -> Scene | None:
    scene = looked(client, display)
    return scene if any(one.role == role for one in scene.ax) else None
