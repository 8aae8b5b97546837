"""A daemon with OCR, and displays that show one of the windows of `gui_program`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from acud.base.errors import NotFound
from acud.types import DisplayInfo, Text
from acud.types.actions import Launch
from acud_client import Client
from tests.e2e.desktop import decoded, titled, until
from tests.grounding.browser import firefox, write_preferences

SETTINGS = '[vision]\nbackend = "ocr"\n[accessibility]\nwalk_s = 60\nanswer_s = 20\n'
"""A program that stands still for a moment is not given up, and its widgets taken for untold."""
PROGRAM = Path(__file__).with_name("gui_program.py")
GTK_4_PROGRAM = Path(__file__).with_name("gui_gtk4.py")
QT_PROGRAM = Path(__file__).with_name("gui_qt.py")
FORM = Path(__file__).parents[1] / "bench" / "foreign" / "programs" / "form.py"
PAGE = Path(__file__).with_name("gui_page.html")
SYSTEM_PYTHON = "/usr/bin/python3"
QUIET = {"NO_AT_BRIDGE": "1"}
"""In a program's environment: it tells nobody of its widgets."""


@contextmanager
def shown(client: Client, kind: str, **env: str) -> Iterator[DisplayInfo]:
    """Show the window `kind` on a display of its own, and wait until it stands still."""
    display = client.display_create(640, 480).display
    own = {"DISPLAY": display.name, "XAUTHORITY": display.auth_file, "DBUS_SESSION_BUS_ADDRESS": display.bus_address}
    bare = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "GTK_THEME": "Adwaita"}
    program = subprocess.Popen([SYSTEM_PYTHON, str(PROGRAM), kind], env={**bare, **own, **env})
    try:
        titled(client, display.name, "Controls")
        if not env:
            until(lambda: _tells(client, display.name), "the program's widgets")
        until(lambda: _is_painted(client, display.name), "the window's picture")
        yield display
    finally:
        program.kill()
        program.wait()
        if any(one.name == display.name for one in client.display_list().displays):
            client.display_remove(display.name, force=True)


@contextmanager
def running(client: Client, title: str, control: str, *command: str) -> Iterator[DisplayInfo]:
    """Run `command` on a display of its own, and wait until its window `title` tells of the widget `control`."""
    display, pid = client.display_create(640, 560).display, 0
    try:
        pid = client.desktop_action(Launch(command), display=display.name).pid
        titled(client, display.name, title)
        until(lambda: client.gui_find(control, display=display.name).found.status == "found", control)
        yield display
    finally:
        client.display_remove(display.name, force=True)
        until(lambda: not Path(f"/proc/{pid or 'none'}").exists(), "the program's end")


@contextmanager
def page_shown(client: Client) -> Iterator[DisplayInfo]:
    """Show `gui_page.html` in Chromium, as `running` does."""
    # Its helpers end a moment after it, and write until then.
    with TemporaryDirectory(prefix="acud-test-chromium-", ignore_cleanup_errors=True) as profile:
        options = ["--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--disable-gpu", "--test-type"]
        place = [
            "--password-store=basic",
            f"--user-data-dir={profile}",
            "--window-size=600,500",
            f"--app={PAGE.as_uri()}",
        ]
        with running(client, "Trip form", "the Departure field", "chromium", *options, *place) as display:
            yield display


@contextmanager
def firefox_page_shown(client: Client) -> Iterator[DisplayInfo]:
    """Show `gui_page.html` in Firefox, as `running` does."""
    with TemporaryDirectory(prefix="acud-test-firefox-", ignore_cleanup_errors=True) as profile:
        write_preferences(Path(profile))
        command = ["env", "GNOME_ACCESSIBILITY=1", "MOZ_CRASHREPORTER_DISABLE=1", firefox(), "--no-remote"]
        place = ["--profile", profile, "--width", "640", "--height", "560", PAGE.as_uri()]
        with running(client, "Trip form — Mozilla Firefox", "the City field", *command, *place) as display:
            yield display


def _tells(client: Client, display: str) -> bool:
    tried = client.gui_find("1, 1", display=display).found  # cheap: is the display up?
    found = client.gui_find("the Controls window", display=display).found
    looked = next((one for one in found.tried if one.method == "accessibility"), None)
    return tried.status == "found" and looked is not None and looked.outcome != "unavailable"


def _is_painted(client: Client, display: str) -> bool:
    """Tell whether most of the window is its light ground: a program tells of its widgets before it paints them."""
    try:
        pixels = decoded(client.look("window:Controls", display=display).image)
    except NotFound:  # it is listed before it is mapped
        return False
    return bool((pixels > 200).all(axis=2).mean() > 0.5)


def says(client: Client, display: DisplayInfo, text: str, window: str = "Controls") -> None:
    """Wait until the window says `text`."""
    reply = client.wait_create(Text(text), f"window:{window}", display=display.name, timeout_s=100)
    end = client.wait_end(reply.wait.wait_id, timeout_s=100)
    assert end.wait.state == "resolved", f"{text!r} did not come: {end.wait.verdict.detail}"
