"""Finds the window that a launched program opens, for waits armed with the launch."""

from __future__ import annotations

import os

from acud.supervisor.displays.proc_files import start_ticks
from acud.supervisor.waits.active_waits import ActiveWait
from acud.types import Verdict, WindowInfo, unknown


class OpenedWindows:
    """Finds the windows of launched programs. Each program leads a session of its own, by which the windows of its
    helper processes are recognised.
    """

    def __init__(self) -> None:
        self._launched: set[int] = set()

    def note_launch(self, pid: int) -> None:
        """Note the launched program `pid`, which has opened no window yet."""
        self._launched = {pid, *filter(_has_processes, self._launched)}

    def find(self, active: ActiveWait, windows: tuple[WindowInfo, ...]) -> int | Verdict:
        """Return the id of the window that the launch of `active` opened, or why there is none.

        A window of the program's own session comes first. Otherwise it is the first new one that no other program
        surely opened; a program that has ended may have handed over to a running one, such as a browser.
        """
        pid = active.spec.target.opened_by
        if not pid:
            return unknown("window_missing", "the program has not been launched yet")
        has_ended = start_ticks(pid) is None
        shown = [one for one in windows if one.kind != "popup"]
        new = [one for one in shown if active.stood is not None and one.window_id not in active.stood]
        busy = set() if has_ended else {one.pid for one in shown if one not in new and one.pid}
        own = [one for one in shown if _find_session(one.pid) == pid]
        found = own or [one for one in new if one.pid not in busy and _find_session(one.pid) not in self._launched]
        seen = [one.window_id for one in found if one.visibility != "unmapped"] or [one.window_id for one in found]
        if not seen:
            ended = ", and it has ended" if has_ended else ""
            return unknown("window_missing", f"the launched program (pid {pid}) has opened no window{ended}")
        return active.window_id if active.window_id in seen else seen[0]


def _has_processes(pid: int) -> bool:
    """Return whether a process of the program `pid`, which leads a group of its own, is still there."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _find_session(pid: int) -> int:
    """Return the session of the process that a window names as its own; 0 for none on this host."""
    try:
        return os.getsid(pid) if pid else 0
    except (ProcessLookupError, PermissionError):
        return 0
