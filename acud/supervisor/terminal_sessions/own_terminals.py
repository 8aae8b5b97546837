"""The terminal sessions that acud opens, in a tmux server of its own that outlives the daemon.

tmux holds their state; only how programs ended is kept here, for the conditions on processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from acud.base import log
from acud.base.errors import AcudError, Conflict, NotFound, Refused, Unavailable
from acud.base.ids import new_id
from acud.base.paths import make_private
from acud.config import PtySettings
from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import Resume, run_steps, sleep
from acud.supervisor.displays.proc_files import start_ticks
from acud.supervisor.displays.watched_process import WatchedProcess
from acud.supervisor.terminal_sessions import own_tmux, tmux
from acud.supervisor.terminal_sessions.own_tmux import TerminalState
from acud.supervisor.terminal_sessions.program_call import CallResult, run_program
from acud.waits.terminals import OutputMark

_LOG = log.logger("terminals")
MOST_SESSIONS = 32
_MOST_ENDED = 256
_STATUS_TRIES, _STATUS_S = 50, 0.02
"""tmux reaps a program a moment after its end."""
_OPEN_TRIES, _OPEN_S = 40, 0.05
"""With its last session the server ends, and for a moment still takes calls that it does not carry out."""
_LISTED = 8


class EndedProgram(Struct, frozen=True):
    """How the program of a session ended. `start_ticks` 0: not known."""

    start_ticks: int
    reason: str


class OwnTerminals:
    """`socket`: of the tmux server. `env`: what its programs inherit."""

    def __init__(self, loop: EventLoop, socket: Path, settings: PtySettings, env: Mapping[str, str]) -> None:
        self._loop, self._socket, self._settings = loop, socket, settings
        self._env = {name: value for name, value in env.items() if name not in ("TMUX", "TMUX_PANE", "DISPLAY")}
        self._watched: dict[str, WatchedProcess] = {}
        self._ends: dict[int, EndedProgram] = {}
        self._awaited: dict[int, list[Resume[None]]] = {}
        self._is_surveyed = True

    @property
    def has_server(self) -> bool:
        """Whether the tmux server may be running."""
        return self._socket.exists()

    def resume(self) -> None:
        """Find the sessions that a former daemon opened."""
        if self.has_server:
            self._is_surveyed = False
            run_steps(self.list_states(), lambda _: self._finish_survey())

    def _finish_survey(self) -> None:
        self._is_surveyed = True
        for pid in [pid for pid in self._awaited if not self._is_ending(pid)]:
            self._run_awaiting(pid)

    # ---- requests --------------------------------------------------------------------------------------------------

    async def list_states(self) -> tuple[TerminalState, ...]:
        """Return the state of every session; empty without a tmux server. Raises: Unavailable."""
        if not self.has_server:
            return ()
        found = await self._list_with(own_tmux.state_arguments())
        if any(one.ended and one.exit_code is None for one in found):
            found = await self._list_with(own_tmux.reap_arguments())
        for state in found:
            before = self._watched.get(state.name)
            if state.ended:
                self._record_end(state)
            elif before is None or before.pid != state.pid:
                self._watch_program(state)
        return found

    async def _list_with(self, arguments: list[str]) -> tuple[TerminalState, ...]:
        answer = await self._call_tmux(arguments)
        if answer.complaint and not tmux.is_server_missing(answer.complaint):
            raise _build_failure(answer.complaint)
        return own_tmux.read_states(answer.output)

    async def find_state(self, name: str) -> TerminalState:
        """Return the session `name`. Raises: NotFound, which lists the open ones; Unavailable."""
        found = await self.list_states()
        one = next((state for state in found if state.name == name), None)
        if one is None:
            raise unknown_terminal(name, found)
        return one

    async def open(
        self,
        name: str,
        command: Sequence[str],
        cwd: str,
        size: tuple[int, int],
        env: Mapping[str, str],
        *,
        is_shell: bool,
        shown: str,
        touch: Callable[[], None],
    ) -> TerminalState:
        """Start `command` in a session `name` ("": a free name); `env`: on top of what programs inherit. `touch` is
        called before it is started. Raises: Conflict, Refused, Unavailable.
        """
        make_private(self._socket.parent)
        found = await self.list_states()
        names = {one.name for one in found}
        if name in names:
            raise _refuse_taken_name(name)
        if len(found) >= MOST_SESSIONS:
            raise _refuse_too_many(found)
        free = name or next(f"t{number}" for number in range(1, 1000) if f"t{number}" not in names)
        words = own_tmux.open_arguments(free, command, cwd, size, env, shown=shown, is_shell=is_shell)
        touch()
        _LOG.info("terminal.opened", terminal=free)
        complaint, tries = (await self._call_tmux(words)).complaint, _OPEN_TRIES
        while tmux.is_server_missing(complaint) and tries:
            await sleep(self._loop, _OPEN_S)
            complaint, tries = (await self._call_tmux(words)).complaint, tries - 1
        if complaint.startswith("duplicate session"):
            raise _refuse_taken_name(free)
        if complaint:
            raise _build_failure(complaint)
        state = await self.find_state(free)
        ticks = 0 if state.ended else start_ticks(state.pid) or 0
        if ticks:  # else it has ended already
            await self._run_commands(free, own_tmux.ticks_arguments(free, ticks))
        return state

    async def paste(self, name: str, text: str) -> None:
        """Type `text` as it is, with no key names in it."""
        await self._run_commands(name, own_tmux.paste_arguments(name, new_id("typed")), text.encode("utf-8", "replace"))

    async def press(self, name: str, keys: Sequence[str]) -> None:
        """Press keys, named as tmux does."""
        await self._run_commands(name, own_tmux.key_arguments(name, keys))

    async def close(self, name: str) -> None:
        """End a session and its programs."""
        _LOG.info("terminal.closed", terminal=name)
        await self._run_commands(name, own_tmux.close_arguments(name))

    async def read_screen(self, name: str, lines: int) -> tuple[TerminalState, str]:
        mark = f"{new_id('mark')}:"
        output = await self._ask_tmux(own_tmux.screen_arguments(name, lines, mark), name)
        states_text, _, text = output.partition(f"{mark}\n")
        states = own_tmux.read_states(states_text)
        if not states:
            raise _build_failure("it does not tell how the session is")
        return states[0], text

    async def read_since(self, state: TerminalState, since: OutputMark) -> str:
        mark = f"{new_id('mark')}:"
        output = await self._ask_tmux(own_tmux.since_arguments(state.pane, since, mark), state.name)
        text = own_tmux.read_since(output, since, mark)
        if text is None:
            raise _build_failure("it does not tell what the session wrote")
        return text

    async def read_line(self, state: TerminalState, line: int) -> str:
        """Return a line, counted from the first that the session wrote."""
        return (await self._ask_tmux(own_tmux.line_arguments(state.pane, line), state.name)).split("\n")[0]

    # ---- calls of tmux ---------------------------------------------------------------------------------------------

    async def _run_commands(self, name: str, arguments: list[str], stdin: bytes = b"") -> None:
        """Run the tmux commands; a last one in the same call confirms that none was cut off."""
        done = new_id("done")
        output = await self._ask_tmux([*arguments, ";", "display-message", "-p", done], name, stdin)
        if done not in output and self.has_server:
            raise _build_failure("a call was cut off")

    async def _ask_tmux(self, arguments: list[str], name: str, stdin: bytes = b"") -> str:
        answer = await self._call_tmux(arguments, stdin)
        if not answer.complaint:
            return answer.output
        if tmux.is_server_missing(answer.complaint) or answer.complaint.startswith("can't find"):
            raise unknown_terminal(name, await self.list_states())
        raise _build_failure(answer.complaint)

    async def _call_tmux(self, arguments: list[str], stdin: bytes = b"") -> CallResult:
        command = [self._settings.tmux, "-u", "-f", "/dev/null", "-S", str(self._socket), *arguments]
        return await run_program(self._loop, command, self._env, self._settings.timeout_s, stdin)

    # ---- ends of programs ------------------------------------------------------------------------------------------

    def ended_program(self, pid: int) -> EndedProgram | None:
        """Return how the newest session's program with this pid ended; None if none has ended."""
        return self._ends.get(pid)

    def when_known(self, pid: int, step: Resume[None]) -> None:
        """Call `step` once it is known how the program `pid` ended; in a later turn if it is of no session."""
        if self._is_ending(pid) or not self._is_surveyed:
            self._awaited.setdefault(pid, []).append(step)
        else:
            self._loop.call_later(0.0, lambda: step(None))

    def is_known(self, pid: int) -> bool:
        """Return whether nothing more will be learned of the end of `pid`."""
        return self._is_surveyed and not self._is_ending(pid)

    def _is_ending(self, pid: int) -> bool:
        return any(one.pid == pid for one in self._watched.values())

    def _watch_program(self, state: TerminalState) -> None:
        name = state.name
        try:
            self._watched[name] = WatchedProcess(
                self._loop, state.pid, lambda process, _: run_steps(self._follow_end(name, process))
            )
        except ProcessLookupError:
            _LOG.debug("terminal.ended", terminal=name)  # the next listing of tmux shows it

    async def _follow_end(self, name: str, process: WatchedProcess) -> None:
        """Record how a program ended, as soon as tmux has reaped it."""
        for _ in range(_STATUS_TRIES + 1):
            try:
                state = await self.find_state(name)
            except AcudError:
                break
            if state.pid == process.pid and state.ended:
                self._record_end(state, process.start_ticks)
            if state.pid != process.pid or state.ended:
                break
            await sleep(self._loop, _STATUS_S)
        self._unwatch_program(name, process)

    def _record_end(self, state: TerminalState, ticks: int = 0) -> None:
        known = self._watched.get(state.name)
        if known is not None and known.pid == state.pid:
            ticks = ticks or known.start_ticks
        self._ends.pop(state.pid, None)
        self._ends[state.pid] = EndedProgram(ticks or state.start_ticks, state.end)
        for old in list(self._ends)[: max(0, len(self._ends) - _MOST_ENDED)]:
            del self._ends[old]
        if known is not None and known.pid == state.pid:
            self._unwatch_program(state.name, known)

    def _unwatch_program(self, name: str, process: WatchedProcess) -> None:
        """Stop watching a program: its end is known, or never will be."""
        if self._watched.get(name) is process:
            del self._watched[name]
            process.close()
            self._run_awaiting(process.pid)

    def _run_awaiting(self, pid: int) -> None:
        for step in self._awaited.pop(pid, ()):
            step(None)


def unknown_terminal(name: str, sessions: Sequence[TerminalState]) -> NotFound:
    """Return the error for an unknown session, listing the open ones."""
    there = ", ".join(one.name for one in sessions[:_LISTED]) or "none; open one"
    return NotFound(f"no terminal session {name!r} is open", hint=f"sessions open: {there}")


def _refuse_taken_name(name: str) -> Conflict:
    return Conflict(f"a terminal session {name!r} is open already", hint="type into it, close it, or give another name")


def _refuse_too_many(sessions: Sequence[TerminalState]) -> Refused:
    ended = ", ".join(one.name for one in sessions if one.ended)
    words = (
        f"close those that have ended: {ended}" if ended else f"close one: {', '.join(one.name for one in sessions)}"
    )
    return Refused(f"{len(sessions)} terminal sessions are open, which is the most there may be", hint=words)


def _build_failure(complaint: str) -> Unavailable:
    return Unavailable(f"tmux did not do it: {complaint}", hint="is tmux 3.2 or newer installed, and in PATH?")
