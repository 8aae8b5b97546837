"""Answer requests: terminal sessions that acud opens, types into and reads.

A command that is typed is echoed first. The moment after which its output counts is taken once the echo is there, and
before Enter is pressed: so neither the command itself nor what stood there before passes for its output.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from acud.base.errors import AcudError, Conflict, InvalidRequest
from acud.features.actions.supervisor.action_wait import FollowedWait
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.protocol.requests.terminals import (
    Moment,
    TerminalClose,
    TerminalClosed,
    TerminalInfo,
    TerminalList,
    TerminalListReply,
    TerminalOpen,
    TerminalRead,
    TerminalReply,
    TerminalType,
)
from acud.protocol.requests.waits import WaitCreate
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.program_launcher import program_path, working_directory
from acud.supervisor.terminal_sessions.key_names import tmux_key
from acud.supervisor.terminal_sessions.own_tmux import HISTORY_LINES, TerminalState
from acud.supervisor.terminal_sessions.processes import has_foreground_job, has_others
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import TextLeaf
from acud.types.tasks import ActionType
from acud.waits.conditions import leaves
from acud.waits.terminals import OutputMark, checksum_line, parse_output_mark

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh", "tcsh", "csh", "nu", "xonsh"})
_START = OutputMark(0)
_ECHO_S, _ECHO_POLL_S = 0.5, 0.03
"""A program that echoes does so within this; one that reads a password never does."""
_POLL_S, _LONGEST_POLL_S = 0.05, 0.3
_QUIET_S = 0.3
"""A shell that waits for its next command has printed its prompt by then."""
_REST_S = 1.0
"""A program that runs on and writes nothing for so long has come to rest, until it has more to say."""
_JUDGED_POLLS = 2.5
"""After so many readings of a session whose program has ended, its text has been judged."""
_MOST_CHARACTERS = 64_000
_MOST_LINES = 2000
_MOST_COMMAND_BYTES = 10_000


def _info(state: TerminalState) -> TerminalInfo:
    busy = has_foreground_job(state.pid) if state.is_shell and not state.ended else None
    return TerminalInfo(
        name=state.name,
        target=f"pty:{state.name}",
        pid=state.pid,
        command=state.command,
        running=not state.ended,
        columns=state.columns,
        rows=state.rows,
        opened_utc_s=state.opened_utc_s,
        busy=busy,
        end=state.end,
        exit_code=state.exit_code,
    )


class _Settling:
    """Calls `done` with whether a session is at the `moment` that was asked for, or it is not after `within_s`.

    `before`: its cursor when a command was handed to it; only a change from there can be what that did.
    """

    def __init__(
        self,
        core: Core,
        name: str,
        moment: Moment,
        within_s: float,
        before: int | None,
        done: Callable[[bool], None],
        fail: Callable[[AcudError], None],
    ) -> None:
        self._core = core
        self._name = name
        self._moment = moment
        self._before = before
        self._done = done
        self._fail = fail
        self._now = self._core.clock.monotonic_s
        self._until_s = self._now() + within_s
        self._seen: tuple[object, ...] = ()
        self._since_s = self._now()
        self._poll_s = _POLL_S
        self._poll()

    def _poll(self) -> None:
        self._core.terminals.screen(self._name, 0, self._read, self._fail)

    def _read(self, state: TerminalState, text: str) -> None:
        now_s = self._now()
        seen = (state.history, state.x, state.y, text)
        if seen != self._seen:
            self._seen, self._since_s, self._poll_s = seen, now_s, _POLL_S
        if self._is_reached(state, now_s - self._since_s):
            self._done(True)
        elif now_s >= self._until_s:
            self._done(False)
        else:
            self._poll_s = min(self._poll_s * 1.3, _LONGEST_POLL_S)
            self._core.loop.call_later(min(self._poll_s, max(self._until_s - now_s, 0.01)), self._poll)

    def _is_reached(self, state: TerminalState, quiet_s: float) -> bool:
        if state.ended:
            return True
        if state.is_shell and quiet_s >= _QUIET_S and state.x > 0 and state.cell != self._before:
            return not has_foreground_job(state.pid)
        return self._moment == "settled" and quiet_s >= _REST_S


class _Asked(Protocol):
    """What every request says of its answer."""

    @property
    def moment(self) -> Moment:
        """When it is answered."""
        ...

    @property
    def block_s(self) -> float:
        """After how long it is answered at the latest."""
        ...

    @property
    def lines(self) -> int:
        """How many lines it takes at most."""
        ...


class _TerminalCall:
    """One call on its way: what it does, then when it is answered, then the text that was written since."""

    def __init__(
        self, feature: DisplaySteps, request: _Asked, call: Call, name: str, task_id: str = "", summary: str = ""
    ) -> None:
        """`summary`: what it does, logged in the task; a call of none is not logged."""
        self.core = feature.core
        self.terminals = feature.core.terminals
        self.request = request
        self.call = call
        self.name = name
        self.since = _START
        self.before: int | None = None
        self.wait: FollowedWait | None = None
        self.settled: bool | None = None
        self.is_answered = False
        self.note = ""
        self.over_s = 0.0
        self.began_s = feature.core.clock.monotonic_s()
        self.log = feature.core.ports.tasks.begin_action(task_id, ActionType.CLI, summary)
        self.failed = call.later(self.fail)

    def fail(self, fault: AcudError) -> None:
        """Answer with a fault; once."""
        if self.is_answered:
            return
        self.is_answered = True
        became = self.wait.cancel(fault.message) if self.wait is not None else ""
        told = type(fault)(f"{fault.message}; {became}", hint=fault.hint, **fault.facts) if became else fault
        self.log(told, None)
        self.call.fail(told)

    def left_s(self) -> float:
        """Return how long the answer may still take."""
        return max(self.request.block_s - (self.core.clock.monotonic_s() - self.began_s), 0.0)

    # ---- what is waited for ----------------------------------------------------------------------------------------

    def wait_of(self, wait: WaitCreate, task_id: str) -> WaitCreate:
        """Return `wait` on what the session writes from now on, where it names no place itself."""
        is_here = wait.target.strip().lower() == "screen" and not wait.display
        target = f"pty:{self.name}:{self.since.text}" if is_here else wait.target
        return replace(wait, target=target, task_id=wait.task_id or task_id)

    def arm(self, wait: WaitCreate | None, task_id: str, then: Callable[[], None]) -> None:
        """Arm what is to be waited for, if anything, then go on."""
        if wait is None:
            then()
            return
        self.wait = FollowedWait(self.core, self.wait_of(wait, task_id), self.call, self.left_s())
        self.wait.arm(then, self.fail)

    def follow(self, state: TerminalState, wait: WaitCreate | None) -> None:
        """Answer when the wait has ended, or is in vain, or else at the moment that was asked for."""
        if wait is not None and self.wait is not None:
            is_text = all(isinstance(leaf, TextLeaf) for leaf in leaves(wait.until))
            if is_text and self.wait_of(wait, "").target.startswith(f"pty:{self.name}:"):
                self.follow_end(state)
            self.wait.when_over(self.read, 0.0)
        elif self.request.moment == "now":
            self.read()
        else:
            self.settle()

    def settle(self) -> None:
        """Answer at the moment that was asked for."""
        _Settling(
            self.core, self.name, self.request.moment, self.left_s(), self.before,
            self.call.later(self.on_settled), self.failed,
        )  # fmt: skip

    def on_settled(self, settled: bool) -> None:
        """It is at rest or done, or is not in time."""
        self.settled = settled
        self.read()

    def follow_end(self, state: TerminalState) -> None:
        """Once the program, or the command of a shell, has ended and its text has been judged, a wait for text is in
        vain."""

        def settled(is_done: bool) -> None:
            if is_done:
                self.look_later()

        self.terminals.when_known(state.pid, self.look_later)
        if state.is_shell:
            done = self.call.later(settled)
            _Settling(self.core, self.name, "done", self.left_s(), self.before, done, self.failed)

    def look_later(self) -> None:
        """See whether the wait is in vain, once the text of now has been judged."""
        self.over_s = self.over_s or self.core.clock.monotonic_s()
        in_vain = self.call.later(self.in_vain)
        later_s = _JUDGED_POLLS * self.core.settings.pty.poll_s
        self.core.loop.call_later(later_s, lambda: self.terminals.state(self.name, in_vain, self.failed))

    def in_vain(self, state: TerminalState) -> None:
        """Give the wait up: nothing is written any more, but by what runs in the background."""
        if self.wait is None or self.is_answered:
            return
        read = self.core.sessions.newest.get(f"{self.name}:{self.since.text}")
        if read is not None and read.begun_s < self.over_s:
            self.look_later()  # a loaded machine: the text of now has not been judged
            return
        if state.ended:
            reason = f"the program has ended ({state.end}), and what was waited for is not in its text"
        elif state.is_shell and not has_others(state.pid):
            reason = "the command has ended, and what was waited for is not in its text"
        else:
            return
        self.note = f"{reason}: {self.wait.give_up(reason)}"
        self.read()

    # ---- the answer ------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read what was written since, and answer."""
        if not self.is_answered:
            self.terminals.state(self.name, self.call.later(self.on_state), self.failed)

    def on_state(self, state: TerminalState) -> None:
        """Read the text."""
        self.terminals.since(
            state, self.since, self.call.later(lambda text: self.answer(state, text, self.since.text)), self.failed
        )

    def answer(self, state: TerminalState, text: str, since: str = "", most: int = 0) -> None:
        """Reply; what programs wrote is not stored for a repeat."""
        if self.is_answered:
            return
        self.is_answered = True
        shown, left_out = _last_lines(self.core.redaction.redact, text, most or self.request.lines or _MOST_LINES)
        reply = TerminalReply(
            terminal=_info(state),
            text=shown,
            left_out=left_out,
            since=since,
            settled=self.settled,
            wait=self.wait.told() if self.wait is not None else None,
            note=self.note,
        )
        self.log(None, {"terminal": state.name, "running": not state.ended})
        kept = replace(reply, text="", note="an answer given again: without its text")
        self.call.reply(reply, self.wait.seen if self.wait is not None else None, kept)


def _last_lines(redact: Callable[[str], str], text: str, most: int) -> tuple[str, int]:
    """Return the last lines of `text`, redacted, and how many were left out."""
    lines = text.rstrip().split("\n")
    kept = redact("\n".join(lines[-HISTORY_LINES:])).split("\n")
    shown = "\n".join(line.rstrip() for line in kept[-most:])
    if len(shown) > _MOST_CHARACTERS:
        shown = shown[-_MOST_CHARACTERS:].partition("\n")[2]
    return shown, max(len(kept) - (shown.count("\n") + 1), 0) if most else 0


# ---- open ------------------------------------------------------------------------------------------------------------


class _Opening(_TerminalCall):
    """A session on its way."""

    def __init__(self, feature: DisplaySteps, request: TerminalOpen, call: Call) -> None:
        self.place = feature.core.ports.tasks.place(request.task_id, "screen", request.display)
        summary = f"open terminal session {request.name}".rstrip()
        super().__init__(feature, request, call, request.name or "new", self.place.task_id, summary)
        self.given = request
        if any("\0" in word for word in request.command):
            raise InvalidRequest("a word of the command holds a zero byte", hint="leave it out")
        if sum(len(word.encode()) for word in request.command) > _MOST_COMMAND_BYTES:
            raise InvalidRequest("the command is too long for tmux", hint="open a shell, or run a script")
        if request.wait is not None:
            FollowedWait(self.core, self.wait_of(request.wait, request.task_id), call, 0.0)  # if it can be

    def begin(self) -> None:
        """Its start is on disk: find its display, if it has one."""
        if self.place.display:
            found = self.call.then(self.on_display, self.fail)
            self.core.displays.with_display(self.place.display, found)
        else:
            self.start({})

    def on_display(self, watched: WatchedDisplay) -> None:
        """Its programs are programs of the display."""
        launcher = self.core.program_launcher
        launcher.check_room(watched)
        self.start(dict(launcher.environment(watched).items() - launcher.inherited.items()))

    def start(self, env: dict[str, str]) -> None:
        """Start it."""
        request, inherited = self.given, self.core.program_launcher.inherited
        whole = {**inherited, **env}
        shell = inherited.get("SHELL", "")
        command = request.command or ((shell if Path(shell).name in _SHELLS else "/bin/sh"),)
        path = program_path(command[0], whole)
        is_shell = Path(path).name in _SHELLS and len(command) == 1
        self.core.terminals.open(
            request.name,
            [path, *command[1:]],
            working_directory(request.cwd, whole),
            (request.columns, request.rows),
            env,
            is_shell=is_shell,
            shown=shlex.join(command),
            touch=self.call.touch,
            then=self.call.later(self.opened),
            fail=self.failed,
        )

    def opened(self, state: TerminalState) -> None:
        """It is there: wait for what it is to bring."""
        self.name = state.name
        self.arm(self.given.wait, self.place.task_id, lambda: self.follow(state, self.given.wait))


# ---- type ------------------------------------------------------------------------------------------------------------


class _Typing(_TerminalCall):
    """Text and keys on their way into a session."""

    def __init__(self, feature: DisplaySteps, request: TerminalType, call: Call) -> None:
        self.task_id = feature.core.ports.tasks.place(request.task_id, "screen", "").task_id
        summary = f"type into terminal session {request.terminal}"
        super().__init__(feature, request, call, request.terminal, self.task_id, summary)
        self.given = request
        self.keys = tuple(map(tmux_key, request.keys))
        self.is_apart = False
        """Whether the echo of the text stands before what counts."""
        if not (request.text or self.keys):
            raise InvalidRequest("there is nothing to type", hint="give text, keys or both")
        if request.wait is not None:
            FollowedWait(self.core, self.wait_of(request.wait, request.task_id), call, 0.0)  # if it can be

    def begin(self) -> None:
        """Its start is on disk: see what stands there."""
        self.terminals.state(self.given.terminal, self.call.later(self.type_text), self.failed)

    def type_text(self, state: TerminalState) -> None:
        """Type the text."""
        self.first = state
        if state.ended:
            hint = "read what it wrote, then close it and open another"
            raise Conflict(f"the program in {state.name} has ended: {state.end}", hint=hint)
        if not self.given.text:
            self.mark(state, state.line)
            return
        self.call.touch()
        self.echo_until_s = self.core.clock.monotonic_s() + _ECHO_S
        self.core.waits.targets.note_typed(f"pty:{state.name}", self.given.text)
        typed = self.call.later(lambda _: self.look_for_echo())
        self.terminals.paste(state.name, self.given.text, typed, self.failed)

    def look_for_echo(self) -> None:
        """See whether the text is on the screen, at the cursor."""
        self.terminals.state(self.first.name, self.call.later(self.on_echo), self.failed)

    def on_echo(self, state: TerminalState) -> None:
        """What follows begins a line later where the text was echoed and Enter ends it; else nobody knows, and the line
        of the cursor counts from its beginning."""
        cells = _cells(self.given.text)
        if cells is not None and state.cell == self.first.cell + cells:
            self.is_apart = self.keys[:1] == ("Enter",)
            self.mark(state, state.line + 1 if self.is_apart else self.first.line)
        elif cells is None or self.core.clock.monotonic_s() >= self.echo_until_s:
            self.mark(state, self.first.line)
        else:
            again = self.call.later(lambda _: self.look_for_echo())
            self.core.loop.call_later(_ECHO_POLL_S, lambda: again(None))

    def mark(self, state: TerminalState, line: int) -> None:
        """Take down the moment from which on output counts; an echo after it is told apart by its words."""
        if not self.is_apart:
            self.note_enter()

        def read(before: str) -> None:
            self.on_mark(state, line, before)

        self.terminals.line(state, line - 1, self.call.later(read), self.failed)

    def on_mark(self, state: TerminalState, line: int, before: str) -> None:
        """Arm the wait, then press the keys."""
        self.since = OutputMark(line, checksum_line(before)) if line else _START
        self.before = state.cell if self.keys else self.first.cell
        self.arm(self.given.wait, self.task_id, lambda: self.press(state))

    def note_enter(self) -> None:
        """Tell waits that Enter is about to be pressed, if it is."""
        if "Enter" in self.keys:
            self.core.waits.targets.note_typed(f"pty:{self.name}", "\n")

    def press(self, state: TerminalState) -> None:
        """Press the keys, then answer when there is something to answer."""
        if not self.keys:
            self.follow(state, self.given.wait)
            return
        self.call.touch()
        if self.is_apart:
            self.note_enter()
        pressed = self.call.later(lambda _: self.follow(state, self.given.wait))
        self.terminals.press(state.name, self.keys, pressed, self.failed)


def _cells(text: str) -> int | None:
    """Return how many cells `text` takes where it is echoed; None for what a terminal does not show as it is."""
    if not text.isprintable():
        return None
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)


# ---- read ------------------------------------------------------------------------------------------------------------


class _TerminalReading(_TerminalCall):
    """The screen of a session, its last lines, or what it wrote since."""

    def __init__(self, feature: DisplaySteps, request: TerminalRead, call: Call) -> None:
        super().__init__(feature, request, call, request.terminal)
        self.given = request
        self.since = parse_output_mark(request.since) if request.since else _START

    def begin(self) -> None:
        """Read it now, or at the moment that was asked for."""
        if self.given.moment == "now":
            self.read()
        else:
            self.settle()

    def on_state(self, state: TerminalState) -> None:
        """Read the text."""
        if self.given.since:
            super().on_state(state)
            return

        def shown(text: str) -> None:
            self.answer(state, text, most=self.given.lines or state.rows)

        read = self.call.later(shown)
        self.terminals.screen(self.name, self.given.lines, lambda _, text: read(text), self.failed)


# ---- handlers --------------------------------------------------------------------------------------------------------


@handles(TerminalOpen)
def terminal_open(feature: DisplaySteps, request: TerminalOpen, call: Call) -> None:
    """Open it once the start of the request is on disk: no repeat will do it again."""
    call.when_started(_Opening(feature, request, call).begin)


@handles(TerminalType)
def terminal_type(feature: DisplaySteps, request: TerminalType, call: Call) -> None:
    """Type it once the start of the request is on disk: no repeat will do it again."""
    call.when_started(_Typing(feature, request, call).begin)


@handles(TerminalRead)
def terminal_read(feature: DisplaySteps, request: TerminalRead, call: Call) -> None:
    """Read it at the moment that was asked for."""
    _TerminalReading(feature, request, call).begin()


@handles(TerminalList)
def terminal_list(feature: DisplaySteps, request: TerminalList, call: Call) -> None:
    """Return the sessions."""

    def listed(found: tuple[TerminalState, ...]) -> None:
        oldest = sorted(found, key=lambda state: int(state.pane[1:]))
        call.reply(TerminalListReply(tuple(map(_info, oldest))))

    feature.core.terminals.states(call.later(listed), call.later(call.fail))


@handles(TerminalClose)
def terminal_close(feature: DisplaySteps, request: TerminalClose, call: Call) -> None:
    """Close it once the start of the request is on disk."""
    terminals, fail = feature.core.terminals, call.later(call.fail)

    def found(state: TerminalState) -> None:
        call.touch()
        closed = call.later(lambda _: call.reply(TerminalClosed(_info(state))))
        terminals.close(state.name, closed, fail)

    call.when_started(lambda: terminals.state(request.terminal, call.later(found), fail))
