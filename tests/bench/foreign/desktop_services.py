"""Notifications and clipboards of strangers' programs: is what they give read, and what they hold?"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from acud.base.errors import NotFound
from acud.types import DisplayInfo, NotificationText
from acud.types.actions import ClipboardGet
from tests.bench.foreign.case import Answer, Case, Outcome, compare, compare_verdict
from tests.fixtures.daemon import Daemon

_NOTICES = str(Path(__file__).with_name("programs") / "notices.py")
_PNG = b"\x89PNG\r\n\x1a\n" + b"a picture as its owner gives it" * 20_000
_PATIENCE_S = 30.0
_SEND = ("notify-send", "-a", "Exporter", "Export finished", "12 files &amp; <b>no</b> fault")
_GDBUS = (
    *("gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications"),
    *("--object-path", "/org/freedesktop/Notifications", "--method", "org.freedesktop.Notifications.Notify"),
    *("Mail", "0", "", "3 new messages", "", "[]", "{'urgency': <byte 2>}", "0"),
)
_ZENITY = ("zenity", "--notification", "--text=Backup\nDisk is 91 % full")
_OWNER = """
from gi.repository import Gio, GLib
flags = Gio.BusNameOwnerFlags.REPLACE
Gio.bus_own_name(Gio.BusType.SESSION, "org.freedesktop.Notifications", flags, None, None, None)
GLib.MainLoop().run()
"""


@contextmanager
def _run(daemon: Daemon, *command: str, given: bytes = b"") -> Iterator[DisplayInfo]:
    """Run a program on a display of its own; `given`: its standard input."""
    display = daemon.client.display_create().display
    shown = {"DISPLAY": display.name, "XAUTHORITY": display.auth_file, "DBUS_SESSION_BUS_ADDRESS": display.bus_address}
    quiet = subprocess.DEVNULL
    program = subprocess.Popen(command, env={**os.environ, **shown}, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
    try:
        assert program.stdin is not None
        program.stdin.write(given)
        program.stdin.close()
        yield display
    finally:
        program.terminate()
        program.wait()
        daemon.client.display_remove(display.name, force=True)


def _judge_notification(daemon: Daemon, command: tuple[str, ...], text: str) -> Outcome:
    """The condition holds on what the program gave; one that asks for another text does not."""
    with _run(daemon, *command) as display:
        armed = daemon.client.wait_create(NotificationText(text), display=display.name, timeout_s=_PATIENCE_S).wait
        ended = daemon.client.wait_result(armed.wait_id, block_s=_PATIENCE_S + 10).wait
        other = daemon.client.wait_create(NotificationText("no such words"), display=display.name, timeout_s=0).wait
        absent = daemon.client.wait_result(other.wait_id, block_s=_PATIENCE_S).wait.verdict
    return compare_verdict(ended.verdict, "yes") if absent.answer == "no" else compare_verdict(absent, "no")


def _judge_owner(daemon: Daemon) -> Outcome:
    """Another server took the name: what it gets is not known, and it is named."""
    with _run(daemon, "/usr/bin/python3", "-c", _OWNER) as display:
        armed = daemon.client.wait_create(NotificationText("done"), display=display.name, timeout_s=5.0).wait
        verdict = daemon.client.wait_result(armed.wait_id, block_s=_PATIENCE_S).wait.verdict
    return compare((verdict.code, "python3 (process " in verdict.detail), ("no_notifications", True), verdict.detail)


def _read(daemon: Daemon, display: DisplayInfo, *, picture: bool) -> str | bytes:
    """Return what is on the clipboard once a program has put something there."""
    until_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            reply = daemon.client.desktop_action(ClipboardGet(picture=picture), display=display.name)
            return reply.clipboard_picture if picture else reply.text
        except NotFound as fault:
            if "nothing was copied" not in fault.message or time.monotonic() > until_s:
                return f"{fault.message}; {fault.hint}"


def _judge_text(daemon: Daemon, command: tuple[str, ...], given: str, text: str) -> Outcome:
    with _run(daemon, *command, given=given.encode()) as display:
        return compare(_read(daemon, display, picture=False), text)


def _judge_picture(daemon: Daemon, command: tuple[str, ...], given: bytes, size: tuple[int, int] | None) -> Outcome:
    """The picture comes whole, and is no text. `size`: of one that the program encodes itself."""
    with _run(daemon, *command, given=given) as display:
        picture = _read(daemon, display, picture=True)
        text = _read(daemon, display, picture=False)
    if isinstance(picture, str) or "--picture" not in str(text):
        return Outcome(Answer.WRONG, f"{picture[:80]!r}, text {text!r}")
    seen = tuple(int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    return compare(seen, size) if size else compare(picture == given, True, f"{len(picture)} bytes; {text!r}")


_PYTHON = ("/usr/bin/python3", _NOTICES)
_XCLIP = ("xclip", "-quiet", "-selection", "clipboard")
CASES = (
    Case("notify-send", partial(_judge_notification, command=_SEND, text="export FINISHED")),
    Case("notify-send with markup", partial(_judge_notification, command=_SEND, text="12 files & no fault")),
    Case("a server that replaces acud's", _judge_owner),
    Case("xclip, a text", partial(_judge_text, command=_XCLIP, given="a  text\n", text="a  text\n")),
    Case(
        "xclip, a large picture", partial(_judge_picture, command=(*_XCLIP, "-t", "image/png"), given=_PNG, size=None)
    ),
    Case("gdbus", partial(_judge_notification, command=_GDBUS, text="3 new messages"), held_out=True),
    Case("Gio.Notification", partial(_judge_notification, command=(*_PYTHON, "gio"), text="scene 7"), held_out=True),
    Case("zenity", partial(_judge_notification, command=_ZENITY, text="91 % full"), held_out=True),
    Case("Tk, a text", partial(_judge_text, command=(*_PYTHON, "tk"), given="", text="Grüße 漢字"), held_out=True),
    Case("GTK, a picture", partial(_judge_picture, command=(*_PYTHON, "gtk"), given=b"", size=(40, 30)), held_out=True),
)
