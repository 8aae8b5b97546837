"""Pictures that differ in one sign, tick or badge, as strangers' toolkits draw them: is one taken for the other?"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import numpy as np
from PIL import Image

from acud.types import DisplayInfo, ScreenImage, WindowInfo
from acud.types.actions import Launch, Point, WindowDo, WindowList, WindowVerb
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

_PATIENCE_S = 40.0


def _case(one: tuple[str, ...], other: tuple[str, ...]) -> Callable[[Daemon], Outcome]:
    """Return a check whether the picture of one window's inside is found in it, and not in the other's."""

    def check(daemon: Daemon) -> Outcome:
        display = daemon.client.display_create(800, 300).display
        try:
            for command in (one, other):
                daemon.client.desktop_action(Launch(command), display=display.name)
            first, second = (_window(daemon, display, title) for title in ("First", "Second"))
            picture = _cut(daemon, display, first)
            same, differs = (_answer(daemon, display, window, picture) for window in (first, second))
        finally:
            daemon.client.display_remove(display.name, force=True)
        is_right = (same, differs) == ("yes", "no")
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG, f"itself {same}, the other {differs}")

    return check


def _window(daemon: Daemon, display: DisplayInfo, title: str) -> WindowInfo:
    """Return the window of that title once it is shown and still."""
    until_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until_s:
        found = daemon.client.desktop_action(WindowList(title), display=display.name).windows
        if found and found[0].visibility != "unmapped":
            x = 10 if title == "First" else 410
            move = WindowDo(title, WindowVerb.MOVE, to=Point(x, 10))
            daemon.client.desktop_action(move, display=display.name)
            daemon.client.wait_for_change(f"window:{title}", display=display.name, timeout_s=1.0)
            return found[0]
        time.sleep(0.05)
    raise TimeoutError(f"no window {title} came")


def _cut(daemon: Daemon, display: DisplayInfo, window: WindowInfo) -> bytes:
    look = daemon.client.look(f"window:{window.window_id:#x}", display=display.name)
    with Image.open(io.BytesIO(look.image)) as opened:
        grey = np.asarray(opened.convert("L")).astype(int)
        rows, columns = np.nonzero(abs(grey - grey[3, 3]) > 40)
        left, right = max(0, int(columns.min()) - 4), int(columns.max()) + 5
        top, bottom = max(0, int(rows.min()) - 4), int(rows.max()) + 5
        written = io.BytesIO()
        opened.convert("RGB").crop((left, top, right, bottom)).save(written, "PNG")
    return written.getvalue()


def _answer(daemon: Daemon, display: DisplayInfo, window: WindowInfo, picture: bytes) -> str:
    wait = daemon.client.wait_create(
        ScreenImage(picture), f"window:{window.window_id:#x}", display=display.name, timeout_s=8.0
    ).wait
    return str(daemon.client.wait_result(wait.wait_id, block_s=_PATIENCE_S).wait.verdict.answer)


def _tk(title: str, script: str) -> tuple[str, ...]:
    return (
        "sh",
        "-c",
        f"echo 'wm title . {title}; wm geometry . 360x120; . configure -bg white; {script}' | exec wish -",
    )


def _row(title: str, words: str) -> tuple[str, ...]:
    return _tk(title, f"pack [label .l -text {{{words}}} -font {{{{DejaVu Sans}} 13}} -bg white]")


def _message(title: str, words: str) -> tuple[str, ...]:
    return ("xmessage", "-title", title, "-fn", "10x20", "-buttons", "", f"\n  {words}  \n")


def _check(title: str, state: str) -> tuple[str, ...]:
    button = "checkbutton .c -text {Send me news} -font {{DejaVu Sans} 12} -bg white -variable on"
    return _tk(title, f"{button}; pack .c; set on {state}")


def _badge(title: str, colour: str) -> tuple[str, ...]:
    canvas = "canvas .c -width 300 -height 60 -bg white -highlightthickness 0"
    text = ".c create text 100 30 -text {Inbox of Anna} -font {{DejaVu Sans} 14}"
    return _tk(title, f"{canvas}; pack .c; {text}; .c create oval 200 14 212 26 -fill {colour} -outline {colour}")


CASES: tuple[Case, ...] = (
    Case("Tk: one digit", _case(_row("First", "Invoice 10417 paid"), _row("Second", "Invoice 10411 paid"))),
    Case("Tk: a tick", _case(_check("First", "1"), _check("Second", "0"))),
    Case("Tk: a badge", _case(_badge("First", "red"), _badge("Second", "white"))),
    Case(
        "xmessage: one digit",
        _case(_message("First", "Total 1.250 EUR"), _message("Second", "Total 1.750 EUR")),
        held_out=True,
    ),
    Case("Tk: a badge of another colour", _case(_badge("First", "red"), _badge("Second", "green")), held_out=True),
)
