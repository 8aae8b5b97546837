"""Programs that are launched with a wait: is it answered by the window that they open, and by no other?"""

from __future__ import annotations

from acud.protocol.requests.waits import WaitCreate
from acud.types import Text, WaitState
from acud.types.actions import Launch
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

_PATIENCE_S = 40.0
_READY = "The report is ready"
_STANDING = ("xmessage", "-geometry", "300x80+0+0", "-buttons", "", _READY)
"""A window that shows the words already."""


def _launch(daemon: Daemon, text: str, *command: str, comes: bool) -> Outcome:
    """Launch `command` beside a window that has the words; `text` shows in its own window where it `comes`."""
    display = daemon.client.display_create(800, 600).display
    try:
        stands = WaitCreate(Text(_READY), timeout_s=_PATIENCE_S)
        daemon.client.desktop_action(Launch(_STANDING), display=display.name, wait=stands, block_s=_PATIENCE_S)
        wait = WaitCreate(Text(text), timeout_s=_PATIENCE_S if comes else 8.0)
        reply = daemon.client.desktop_action(Launch(command), display=display.name, wait=wait, block_s=_PATIENCE_S + 5)
    finally:
        daemon.client.display_remove(display.name, force=True)
    if reply.wait is None:
        return Outcome(Answer.WRONG, "no wait")
    found = reply.wait.wait
    wanted = WaitState.RESOLVED if comes else WaitState.TIMEOUT
    return Outcome(Answer.RIGHT if found.state is wanted else Answer.WRONG, f"{found.state}: {found.verdict.detail}")


def _case(name: str, text: str, *command: str, comes: bool, held_out: bool = False) -> Case:
    return Case(name, lambda daemon: _launch(daemon, text, *command, comes=comes), held_out)


_LATE = "sleep 2; exec xmessage -geometry 300x80+400+300 -buttons '' "
CASES = (
    _case("the words of another window", _READY, "xterm", "-e", "sleep", "60", comes=False),
    _case("its own window's words", "Budget 2026", "xmessage", "-geometry", "+300+300", "Budget 2026", comes=True),
    _case("a program without a window", _READY, "sleep", "60", comes=False),
    _case("a script whose program comes late", "Budget 2026", "sh", "-c", _LATE + "'Budget 2026'", comes=True),
    _case(
        "a program that leaves its session",
        "Budget 2026",
        *("sh", "-c", "setsid xmessage -geometry +300+300 'Budget 2026' & sleep 60"),
        comes=True,
        held_out=True,
    ),
    _case("a GTK dialog", "Budget 2026", "zenity", "--info", "--text", "Budget 2026", comes=True, held_out=True),
    _case("a GTK dialog of other words", _READY, "yad", "--text", "Budget 2026", comes=False, held_out=True),
    _case(
        "a launcher that starts it and ends",
        "Budget 2026",
        *("sh", "-c", "setsid xmessage -geometry +300+300 'Budget 2026' >/dev/null 2>&1 &"),
        comes=True,
        held_out=True,
    ),
)
