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
from acud.supervisor.displays.processes import start_ticks
from acud.supervisor.displays.watched_process import WatchedProcess
from acud.supervisor.terminal_sessions import own_tmux, tmux
from acud.supervisor.terminal_sessions.own_tmux import TerminalState
from acud.supervisor.terminal_sessions.program_call import CallResult, ProgramCall
from acud.waits.terminals import OutputMark

_LOG = log.logger("terminals")
MOST_SESSIONS = 32
_MOST_ENDED = 256
_STATUS_TRIES, _STATUS_S = 50, 0.02
"""tmux reaps a program a moment after its end."""
_OPEN_TRIES, _OPEN_S = 40, 0.05
"""With its last session the server ends, and for a moment still takes calls that it does not carry out."""
_LISTED = 8

Then = Callable[[str], None]
Fail = Callable[[AcudError], None]


class EndedProgram(Struct, frozen=True):
    """How the program of a session ended. `start_ticks` 0: not known."""

    start_ticks: int
    reason: str


class OwnTerminals:
    """`socket`: of the tmux server. `env`: what its programs inherit."""

    def __init__(self, loop: EventLoop, socket: Path, settings: PtySettings, env: Mapping[str, str]) -> None:
        self._loop = loop
        self._socket = socket
        self._settings = settings
        self._env = {name: value for name, value in env.items() if name not in ("TMUX", "TMUX_PANE", "DISPLAY")}
        self._watched: dict[str, WatchedProcess] = {}
        self._ends: dict[int, EndedProgram] = {}
        self._awaited: dict[int, list[Callable[[], None]]] = {}
        self._is_surveyed = True

    @property
    def has_server(self) -> bool:
        """Whether the tmux server may be running."""
        return self._socket.exists()

    def resume(self) -> None:
        """Find the sessions that a former daemon opened."""
        if self.has_server:
            self._is_surveyed = False
            self.list_states(lambda _: self._finish_survey(), lambda _: self._finish_survey())

    def _finish_survey(self) -> None:
        self._is_surveyed = True
        for pid in [pid for pid in self._awaited if not self._is_ending(pid)]:
            self._run_awaiting(pid)

    # ---- requests --------------------------------------------------------------------------------------------------

    def list_states(self, then: Callable[[tuple[TerminalState, ...]], None], fail: Fail) -> None:
        """Call `then` with every session; with none if there is no server."""

        def on_listed(answer: CallResult, *, is_last: bool = False) -> None:
            if answer.complaint and not tmux.is_server_missing(answer.complaint):
                fail(_build_failure(answer.complaint))
                return
            found = own_tmux.read_states(answer.output)
            if not is_last and any(one.ended and one.exit_code is None for one in found):
                self._call(own_tmux.reap_arguments(), lambda again: on_listed(again, is_last=True))
                return
            self._follow(found)
            then(found)

        if self.has_server:
            self._call(own_tmux.state_arguments(), on_listed)
        else:
            self._loop.call_later(0.0, lambda: then(()))

    def find_state(self, name: str, then: Callable[[TerminalState], None], fail: Fail) -> None:
        """Call `then` with the session `name`, or `fail` with a fault that lists the open ones."""

        def on_states(found: tuple[TerminalState, ...]) -> None:
            one = next((state for state in found if state.name == name), None)
            if one is None:
                fail(unknown_terminal(name, found))
            else:
                then(one)

        self.list_states(on_states, fail)

    def open(
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
        then: Callable[[TerminalState], None],
        fail: Fail,
    ) -> None:
        """Start `command` in a session `name` ("": a free name); `env`: on top of what programs inherit.

        `touch` is called before it is started. `fail` may get: Conflict, Refused, Unavailable.
        """

        def begin(free: str, words: list[str], tries: int = _OPEN_TRIES) -> None:
            self._call(words, lambda answer: on_opened(free, words, answer, tries))

        def on_opened(free: str, words: list[str], answer: CallResult, tries: int) -> None:
            if answer.complaint.startswith("duplicate session"):
                fail(_refuse_taken_name(free))
            elif tmux.is_server_missing(answer.complaint) and tries:
                self._loop.call_later(_OPEN_S, lambda: begin(free, words, tries - 1))
            elif answer.complaint:
                fail(_build_failure(answer.complaint))
            else:
                self.find_state(free, lambda found: self._keep_ticks(found, then, fail), fail)

        def on_states(found: tuple[TerminalState, ...]) -> None:
            names = {one.name for one in found}
            if name in names:
                fail(_refuse_taken_name(name))
            elif len(found) >= MOST_SESSIONS:
                fail(_refuse_too_many(found))
            else:
                free = name or next(f"t{number}" for number in range(1, 1000) if f"t{number}" not in names)
                words = own_tmux.open_arguments(free, command, cwd, size, env, shown=shown, is_shell=is_shell)
                touch()
                _LOG.info("terminal.opened", terminal=free)
                begin(free, words)

        try:
            make_private(self._socket.parent)
        except AcudError as fault:
            fail(fault)
            return
        self.list_states(on_states, fail)

    def _keep_ticks(self, found: TerminalState, then: Callable[[TerminalState], None], fail: Fail) -> None:
        ticks = 0 if found.ended else start_ticks(found.pid) or 0
        if not ticks:
            then(found)  # it has ended already
            return
        self._act(found.name, own_tmux.ticks_arguments(found.name, ticks), lambda _: then(found), fail)

    def paste(self, name: str, text: str, then: Then, fail: Fail) -> None:
        """Type `text` as it is."""
        self._act(name, own_tmux.paste_arguments(name, new_id("typed")), then, fail, text.encode("utf-8", "replace"))

    def press(self, name: str, keys: Sequence[str], then: Then, fail: Fail) -> None:
        """Press keys, named as tmux does."""
        self._act(name, own_tmux.key_arguments(name, keys), then, fail)

    def close(self, name: str, then: Then, fail: Fail) -> None:
        """End a session and everything in it."""
        _LOG.info("terminal.closed", terminal=name)
        self._act(name, own_tmux.close_arguments(name), then, fail)

    def read_screen(self, name: str, lines: int, then: Callable[[TerminalState, str], None], fail: Fail) -> None:
        """Call `then` with the session and its screen, with `lines` above it."""
        mark = f"{new_id('mark')}:"

        def on_output(output: str) -> None:
            states_text, _, text = output.partition(f"{mark}\n")
            states = own_tmux.read_states(states_text)
            if states:
                then(states[0], text)
            else:
                fail(_build_failure("it does not tell how the session is"))

        self._ask(own_tmux.screen_arguments(name, lines, mark), on_output, fail, name)

    def read_since(self, state: TerminalState, since: OutputMark, then: Then, fail: Fail) -> None:
        """Call `then` with what the session wrote after `since`."""
        mark = f"{new_id('mark')}:"

        def on_output(output: str) -> None:
            text = own_tmux.read_since(output, since, mark)
            if text is None:
                fail(_build_failure("it does not tell what the session wrote"))
            else:
                then(text)

        self._ask(own_tmux.since_arguments(state.pane, since, mark), on_output, fail, state.name)

    def read_line(self, state: TerminalState, line: int, then: Then, fail: Fail) -> None:
        """Call `then` with a line, counted from the first that the session wrote."""
        self._ask(
            own_tmux.line_arguments(state.pane, line), lambda answer: then(answer.split("\n")[0]), fail, state.name
        )

    # ---- calls of tmux ---------------------------------------------------------------------------------------------

    def _act(self, name: str, arguments: list[str], then: Then, fail: Fail, given: bytes = b"") -> None:
        """Run the commands; a last one in the same call confirms that none was cut off."""
        done = new_id("done")

        def on_output(output: str) -> None:
            if done in output or not self.has_server:
                then(output)
            else:
                fail(_build_failure("a call was cut off"))

        self._ask([*arguments, ";", "display-message", "-p", done], on_output, fail, name, given)

    def _ask(self, arguments: list[str], then: Then, fail: Fail, name: str, given: bytes = b"") -> None:
        def on_answer(answer: CallResult) -> None:
            if not answer.complaint:
                then(answer.output)
            elif tmux.is_server_missing(answer.complaint) or answer.complaint.startswith("can't find"):
                self.list_states(lambda found: fail(unknown_terminal(name, found)), fail)
            else:
                fail(_build_failure(answer.complaint))

        self._call(arguments, on_answer, given)

    def _call(self, arguments: list[str], done: Callable[[CallResult], None], given: bytes = b"") -> None:
        command = [self._settings.tmux, "-u", "-f", "/dev/null", "-S", str(self._socket), *arguments]
        try:
            ProgramCall(self._loop, command, self._env, self._settings.timeout_s, done, given)
        except Unavailable as fault:
            answer = CallResult("", fault.message)
            self._loop.call_later(0.0, lambda: done(answer))

    # ---- ends of programs ------------------------------------------------------------------------------------------

    def ended_program(self, pid: int) -> EndedProgram | None:
        """Return how the newest session's program with this pid ended; None if none has ended."""
        return self._ends.get(pid)

    def when_known(self, pid: int, step: Callable[[], None]) -> None:
        """Call `step` once it is known how the program `pid` ended; in a later turn if it is of no session."""
        if self._is_ending(pid) or not self._is_surveyed:
            self._awaited.setdefault(pid, []).append(step)
        else:
            self._loop.call_later(0.0, step)

    def is_known(self, pid: int) -> bool:
        """Return whether nothing more will be learned of the end of `pid`."""
        return self._is_surveyed and not self._is_ending(pid)

    def _is_ending(self, pid: int) -> bool:
        return any(one.pid == pid for one in self._watched.values())

    def _follow(self, found: tuple[TerminalState, ...]) -> None:
        for state in found:
            before = self._watched.get(state.name)
            if state.ended:
                self._record(state)
            elif before is None or before.pid != state.pid:
                self._watch(state)

    def _watch(self, state: TerminalState) -> None:
        name = state.name
        try:
            self._watched[name] = WatchedProcess(self._loop, state.pid, lambda process, _: self._on_exit(name, process))
        except ProcessLookupError:
            _LOG.debug("terminal.ended", terminal=name)  # the next listing of tmux shows it

    def _on_exit(self, name: str, process: WatchedProcess, tries: int = _STATUS_TRIES) -> None:
        def on_state(state: TerminalState) -> None:
            if state.pid == process.pid and not state.ended and tries:
                self._loop.call_later(_STATUS_S, lambda: self._on_exit(name, process, tries - 1))
            elif state.pid == process.pid and state.ended:
                self._record(state, process.start_ticks)
            else:
                self._lose(name, process)

        self.find_state(name, on_state, lambda _: self._lose(name, process))

    def _record(self, state: TerminalState, ticks: int = 0) -> None:
        known = self._watched.get(state.name)
        if known is not None and known.pid == state.pid:
            ticks = ticks or known.start_ticks
        self._ends.pop(state.pid, None)
        self._ends[state.pid] = EndedProgram(ticks or state.start_ticks, state.end)
        for old in list(self._ends)[: max(0, len(self._ends) - _MOST_ENDED)]:
            del self._ends[old]
        if known is not None and known.pid == state.pid:
            self._lose(state.name, known)

    def _lose(self, name: str, process: WatchedProcess) -> None:
        """Stop watching a program: its end is known, or never will be."""
        if self._watched.get(name) is process:
            del self._watched[name]
            process.close()
            self._run_awaiting(process.pid)

    def _run_awaiting(self, pid: int) -> None:
        for step in self._awaited.pop(pid, ()):
            step()


def unknown_terminal(name: str, found: Sequence[TerminalState]) -> NotFound:
    """Return the error for an unknown session, listing the open ones."""
    there = ", ".join(one.name for one in found[:_LISTED]) or "none; open one"
    return NotFound(f"no terminal session {name!r} is open", hint=f"sessions open: {there}")


def _refuse_taken_name(name: str) -> Conflict:
    return Conflict(f"a terminal session {name!r} is open already", hint="type into it, close it, or give another name")


def _refuse_too_many(found: Sequence[TerminalState]) -> Refused:
    ended = ", ".join(one.name for one in found if one.ended)
    words = f"close those that have ended: {ended}" if ended else f"close one: {', '.join(one.name for one in found)}"
    return Refused(f"{len(found)} terminal sessions are open, which is the most there may be", hint=words)


def _build_failure(complaint: str) -> Unavailable:
    return Unavailable(f"tmux did not do it: {complaint}", hint="is tmux 3.2 or newer installed, and in PATH?")
