"""The end of a display: its programs, then its X server, then its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from acud.event_loop import EventLoop
from acud.supervisor.displays import proc
from acud.supervisor.displays.places import Places
from acud.supervisor.displays.stopping import Stopping
from acud.supervisor.displays.watched import WatchedProcess, ignore_exit

_SILENT_S = 1.0
"""How long the socket of an X server that ended may take to fall silent, on a machine that has a lot to do."""
_LOOK_S = 0.05

OnEnded = Callable[[tuple[str, ...]], None]


class Ending:
    """Ends everything that carries the display's marker, the X server last, and removes what they leave.

    Calls `on_ended(left)` once; `left` says what could not be ended or removed. Programs are asked first (SIGTERM)
    while their display still answers, so that they can save and say goodbye.
    """

    def __init__(
        self,
        loop: EventLoop,
        places: Places,
        known: list[WatchedProcess],
        x_server: WatchedProcess | None,
        on_ended: OnEnded,
    ) -> None:
        """`known`: the watched processes without `x_server`, which is None when it is dead or not known apart."""
        self._loop, self._places, self._x_server, self._on_ended = loop, places, x_server, on_ended
        if x_server is not None:
            x_server.on_exit = ignore_exit
        Stopping(loop, known + self._marked(known), self._programs_ended)

    def _programs_ended(self, remaining: tuple[int, ...]) -> None:
        server = [self._x_server] if self._x_server is not None and self._x_server.alive else []
        # Once more: what was started while the others ended.
        Stopping(self._loop, server + self._marked(server), self._all_ended)

    def _all_ended(self, remaining: tuple[int, ...]) -> None:
        left = tuple(f"process {pid} cannot be ended" for pid in remaining)
        left += self._places.remove()
        self._fall_silent(left, round(_SILENT_S / _LOOK_S))

    def _fall_silent(self, left: tuple[str, ...], looks: int) -> None:
        """Call `on_ended` once nobody of ours listens where the X server did, or after so many looks."""
        if self._x_server is None or left or self._places.is_silent():
            self._on_ended(left)
        elif looks:
            self._loop.call_later(_LOOK_S, lambda: self._fall_silent(left, looks - 1))
        else:
            self._on_ended((f"the socket of X server {self._places.name} is still there",))

    def _marked(self, known: Iterable[WatchedProcess]) -> list[WatchedProcess]:
        mine = str(self._places.folder)
        besides = {process.pid for process in known}
        if self._x_server is not None:
            besides.add(self._x_server.pid)
        pids = [pid for pid, folder in proc.marked().items() if folder == mine and pid not in besides]
        found = [_attach(self._loop, pid, mine) for pid in pids]
        return [process for process in found if process is not None]


def _attach(loop: EventLoop, pid: int, folder: str) -> WatchedProcess | None:
    try:
        process = WatchedProcess(loop, pid, ignore_exit)
    except ProcessLookupError:
        return None
    # Looked at again behind the pidfd: the pid may have changed hands between scan and open.
    if proc.marked_folder(pid) == folder:
        return process
    process.close()
    return None
