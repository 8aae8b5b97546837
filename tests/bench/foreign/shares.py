"""Shares and windows that come back right after arming: is it said to have changed what did, and no more?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from acud.types import Change, DisplayInfo, WaitState
from acud.types.actions import Launch, Point, WindowDo, WindowList, WindowVerb
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

_PATIENCE_S = 40.0
_SETTLE_S = 2.0
"""Long enough for a false answer to come, and no wait for a right one."""
_XTERM = ("xterm", "-T", "Report", "-geometry", "50x12+20+20", "-e", "sh", "-c")
_STILL = (*_XTERM, "echo third quarter; exec sleep 600")
_TICKS = (*_XTERM, 'while :; do printf "\\r%s" "$(date +%S)"; sleep 1; done')
_ZENITY = ("zenity", "--info", "--title=Report", "--text=third quarter")
_XMESSAGE = ("xmessage", "-title", "Report", "-fn", "10x20", "\n   third quarter   \n\n")
_CLOCK = (
    "sh", "-c",
    "echo 'wm title . Report; wm geometry . 400x200+20+20; pack [label .l]; "
    "proc tick {} {.l configure -text [clock seconds]; after 500 tick}; tick' | exec wish -",
)  # fmt: skip
_COVER = ("xterm", "-T", "Over", "-geometry", "150x60+0+0", "-bg", "navy", "-e", "sleep 600")


@contextmanager
def _shown(daemon: Daemon, command: tuple[str, ...]) -> Iterator[DisplayInfo]:
    """Yield a display on which the program's window is shown and has been painted."""
    display = daemon.client.display_create(960, 640, window_manager="openbox").display
    try:
        daemon.client.desktop_action(Launch(command), display=display.name)
        _await(daemon, display, "Report", shown=True)
        daemon.client.wait_for_change("window:Report", display=display.name, timeout_s=_SETTLE_S)
        yield display
    finally:
        daemon.client.display_remove(display.name, force=True)


def _await(daemon: Daemon, display: DisplayInfo, title: str, *, shown: bool) -> None:
    until_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until_s:
        found = daemon.client.desktop_action(WindowList(title), display=display.name).windows
        if (bool(found) and found[0].visibility != "unmapped") is shown:
            return
        time.sleep(0.02)
    raise TimeoutError(f"{title} is not {'there' if shown else 'away'}")


def _hide_and_show(daemon: Daemon, display: DisplayInfo) -> None:
    for verb, shown in ((WindowVerb.MINIMISE, False), (WindowVerb.RESTORE, True)):
        daemon.client.desktop_action(WindowDo("Report", verb), display=display.name)
        _await(daemon, display, "Report", shown=shown)


def _cover_and_uncover(daemon: Daemon, display: DisplayInfo) -> None:
    daemon.client.desktop_action(Launch(_COVER), display=display.name)
    _await(daemon, display, "Over", shown=True)
    time.sleep(_SETTLE_S)  # some seconds of it are shown elsewhere
    daemon.client.desktop_action(WindowDo("Over", WindowVerb.CLOSE), display=display.name)
    _await(daemon, display, "Over", shown=False)


def _move(daemon: Daemon, display: DisplayInfo) -> None:
    daemon.client.desktop_action(WindowDo("Report", WindowVerb.MOVE, to=Point(333, 217)), display=display.name)


def _judge_kept(
    daemon: Daemon, command: tuple[str, ...], happen: Callable[[Daemon, DisplayInfo], None], share: float = 0.0
) -> Outcome:
    """What happens right after the arming changes nothing, or less than the share."""
    with _shown(daemon, command) as display:
        armed = daemon.client.wait_create(Change(share=share), "window:Report", display=display.name, timeout_s=60.0)
        happen(daemon, display)
        time.sleep(_SETTLE_S)
        wait = daemon.client.wait_show(armed.wait.wait_id, evaluations=0).wait
        printed = f"{wait.state}, {wait.verdict.answer}({wait.verdict.code}): {wait.verdict.detail}"
        if wait.state is not WaitState.WATCHING:
            return Outcome(Answer.WRONG, printed)
        return Outcome(Answer.UNKNOWN if wait.verdict.code == "not_compared" else Answer.RIGHT, printed)


CASES: tuple[Case, ...] = (
    Case("xterm: minimised and restored", partial(_judge_kept, command=_STILL, happen=_hide_and_show)),
    Case("xterm: a clock, covered", partial(_judge_kept, command=_TICKS, happen=_cover_and_uncover, share=0.5)),
    Case("zenity: minimised and restored", partial(_judge_kept, command=_ZENITY, happen=_hide_and_show), held_out=True),
    Case("xmessage: moved", partial(_judge_kept, command=_XMESSAGE, happen=_move), held_out=True),
    Case(
        "Tk: a clock, minimised", partial(_judge_kept, command=_CLOCK, happen=_hide_and_show, share=0.5), held_out=True
    ),
)
