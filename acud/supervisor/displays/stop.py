"""The end of a display: its programs, then its X server, then its files."""

from __future__ import annotations

import signal
from collections.abc import Iterable

from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import Callback, Resume, sleep
from acud.supervisor.displays import proc_files as proc
from acud.supervisor.displays.folders import DisplayFolders
from acud.supervisor.displays.watched_process import WatchedProcess, ignore_exit

_SILENT_S = 1.0
"""How long the socket of an X server that ended may take to fall silent, on a machine that has a lot to do."""
_LOOK_S = 0.05
_ROUNDS = 20  # how often programs that start during the end are ended too: a fork bomb must not hold it up for ever


class SharedLooks:
    """Looks at all processes once for all displays that ask in the same turn.

    On a loaded machine one look takes up to half a second, and a stop ends all displays at once.
    """

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._asking: list[Resume[proc.MarkedProcesses]] = []

    def await_look(self) -> Callback[proc.MarkedProcesses]:
        """Await a look that begins after this call: in a later turn, or later in this one."""
        return Callback(self._queue_look)

    def _queue_look(self, on_done: Resume[proc.MarkedProcesses]) -> None:
        self._asking.append(on_done)
        if len(self._asking) == 1:
            self._loop.call_later(0.0, self._look_for_all)

    def _look_for_all(self) -> None:
        asking, self._asking = self._asking, []
        look = proc.look_for_marked()
        for done in asking:
            done(look)


class DisplayEnd:
    """Ends everything that carries the display's marker, the X server last, and removes what they leave.

    Programs get SIGTERM while their display still answers, so that they can save and close their windows.
    """

    def __init__(
        self, loop: EventLoop, looks: SharedLooks, places: DisplayFolders, x_server: WatchedProcess | None
    ) -> None:
        """`x_server`: None when it is dead or among the `known`."""
        self._loop, self._looks, self._places = loop, looks, places
        self._x_server = x_server

    async def end_programs(self, known: list[WatchedProcess]) -> tuple[str, ...]:
        """Return what could not be ended or removed. `known`: the watched processes without the X server."""
        for process in known if self._x_server is None else [*known, self._x_server]:
            process.on_exit = ignore_exit
        programs, _ = self._attach_marked(await self._looks.await_look(), known)
        await self._end_processes(known + programs)
        look = await self._looks.await_look()
        server = [self._x_server] if self._x_server is not None and self._x_server.alive else []
        # Again, for programs started while the others ended.
        programs, _ = self._attach_marked(look, server)
        remaining = await self._end_late_ones(await self._end_processes(server + programs))
        left = tuple(f"process {pid} cannot be ended" for pid in remaining)
        return await self._fall_silent(left + self._places.remove())

    def _end_processes(self, processes: list[WatchedProcess], **limits: float) -> Callback[tuple[int, ...]]:
        return Callback(lambda done: ProcessEnd(self._loop, processes, done, **limits))

    async def _end_late_ones(self, remaining: tuple[int, ...]) -> tuple[int, ...]:
        """End programs started meanwhile, until a look shows for certain that only `remaining` are left."""
        rounds = _ROUNDS
        while True:
            found, is_sure = self._attach_marked(await self._looks.await_look(), ())
            late = {process.pid: process for process in found if process.pid not in remaining}
            for process in found:
                if process.pid in remaining or not rounds:
                    process.close()
            if not rounds:
                return remaining + tuple(late)
            if late:
                remaining += await self._end_processes([*late.values()], ask_s=0)
            elif is_sure:
                return remaining
            else:
                await sleep(self._loop, _LOOK_S)
            rounds -= 1

    async def _fall_silent(self, left: tuple[str, ...]) -> tuple[str, ...]:
        """Return once no server of ours listens on the X server's socket, or after some looks, with what is left."""
        for _ in range(round(_SILENT_S / _LOOK_S)):
            if self._x_server is None or left or self._places.is_silent():
                return left
            await sleep(self._loop, _LOOK_S)
        is_silent = self._x_server is None or left or self._places.is_silent()
        return left if is_silent else (f"the socket of X server {self._places.name} is still there",)

    def _attach_marked(
        self, look: proc.MarkedProcesses, known: Iterable[WatchedProcess]
    ) -> tuple[list[WatchedProcess], bool]:
        """Attach to the display's processes that `look` lists, except those in `known` and the X server. Return them,
        and whether the list is surely complete.
        """
        mine = str(self._places.folder)
        besides = {process.pid for process in known}
        if self._x_server is not None:
            besides.add(self._x_server.pid)
        pids = [pid for pid, folder in look.folders.items() if folder == mine and pid not in besides]
        found = [process for pid in pids if (process := _watch_marked(self._loop, pid, mine)) is not None]
        return found, not look.unsettled and len(found) == len(pids)


def _watch_marked(loop: EventLoop, pid: int, folder: str) -> WatchedProcess | None:
    try:
        process = WatchedProcess(loop, pid, ignore_exit)
    except ProcessLookupError:
        return None
    # Looked at again behind the pidfd: the pid may have changed hands between scan and open.
    if proc.marked_folder(pid) == folder:
        return process
    process.close()
    return None


ASK_S = 2.0
"""How long a program may take to end by itself; toolkits that ask "save?" never do."""

KILL_S = 5.0
"""How long a killed process may take to go; one in uninterruptible I/O (proc(5), state D) can stay longer."""


class ProcessEnd:
    """Ends `processes`, then calls `on_done(remaining)` once; `remaining` are the pids that even SIGKILL left."""

    def __init__(
        self,
        loop: EventLoop,
        processes: list[WatchedProcess],
        on_done: Resume[tuple[int, ...]],
        *,
        ask_s: float = ASK_S,
        kill_s: float = KILL_S,
    ) -> None:
        self._loop, self._on_done, self._kill_s = loop, on_done, kill_s
        self._left = {process.pid: process for process in processes if process.alive}
        for process in self._left.values():
            process.on_exit = self._on_exit
            process.send(signal.SIGTERM)
            process.send(signal.SIGCONT)  # a stopped process handles SIGTERM only then (signal(7))
        self._timer = loop.call_later(ask_s if self._left else 0, self._kill_left)

    def _on_exit(self, process: WatchedProcess, reason: str) -> None:
        del self._left[process.pid]
        if not self._left:
            self._report_left()

    def _kill_left(self) -> None:
        if not self._left:
            self._report_left()
            return
        for process in self._left.values():
            process.send(signal.SIGKILL)
        self._timer = self._loop.call_later(self._kill_s, self._report_left)

    def _report_left(self) -> None:
        self._timer.cancel()
        remaining = tuple(self._left)
        for process in self._left.values():
            process.close()
        self._left.clear()
        self._on_done(remaining)
