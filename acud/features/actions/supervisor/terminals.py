"""Answer requests: terminal sessions that acud opens, types into and reads.

A command that is typed is echoed first. The moment after which its output counts is taken once the echo is there, and
before Enter is pressed: so neither the command itself nor what stood there before passes for its output.
"""

from __future__ import annotations

import shlex
import unicodedata
from abc import ABC, abstractmethod
from functools import partial
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
from acud.supervisor.coroutines import Callback, Steps, StepTask, first, sleep
from acud.supervisor.program_launcher import program_path, working_directory
from acud.supervisor.terminal_sessions.key_names import tmux_key
from acud.supervisor.terminal_sessions.own_tmux import HISTORY_LINES, TerminalState
from acud.supervisor.terminal_sessions.processes import has_foreground_job, has_others
from acud.types import TextLeaf
from acud.types.tasks import ActionType
from acud.waits.condition_tree import leaves
from acud.waits.terminals import OutputMark, checksum_line, parse_output_mark

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh", "tcsh", "csh", "nu", "xonsh"})
_START = OutputMark(0)
_ECHO_S, _ECHO_POLL_S = 0.5, 0.03
"""A program that echoes does so within this; one that reads a password never does."""
_POLL_S, _LONGEST_POLL_S = 0.05, 0.3
_QUIET_S = 0.3
"""A shell that waits for its next command has printed its prompt by then."""
_REST_S = 1.0
"""A program that runs on and writes nothing for so long has come to rest, until it writes more."""
_JUDGED_POLLS = 2.5
"""After so many readings of a session whose program has ended, its text has been judged."""
_MOST_CHARACTERS = 64_000
_MOST_LINES = 2000
_MOST_COMMAND_BYTES = 10_000


def _make_info(state: TerminalState) -> TerminalInfo:
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


class _Asked(Protocol):
    """The fields of a terminal request that decide when it is answered."""

    @property
    def moment(self) -> Moment: ...

    @property
    def block_s(self) -> float:
        """The longest time until the answer, in seconds."""

    @property
    def lines(self) -> int:
        """How many lines it takes at most."""


class _TerminalCall(ABC):
    """One call on its way: what it does, then when it is answered, then the text that was written since."""

    def __init__(
        self, steps: DisplaySteps, request: _Asked, call: Call, name: str, task_id: str = "", summary: str = ""
    ) -> None:
        """`summary`: what it does, logged in the task; a call of none is not logged."""
        self._core = steps.core
        self._terminals = steps.core.terminals
        self._asked = request
        self._call = call
        self._name = name
        self._since = _START
        self._before: int | None = None
        """The cursor's cell when a command was handed to the session: only a change from there can be its doing."""
        self._wait: FollowedWait | None = None
        self._settled: bool | None = None
        self._note = ""
        self._now_s = steps.core.clock.monotonic_s
        self._until_s = self._now_s() + request.block_s
        self._log = steps.core.ports.tasks.begin_action(task_id, ActionType.CLI, summary)

    def begin(self) -> None:
        """Begin the terminal's work; its outcome answers the call."""
        StepTask(self._carry_out(), self._call.later, self._send_reply).begin()

    @abstractmethod
    async def _carry_out(self) -> TerminalReply:
        """Do what the request asks; return its answer. Raises: AcudError."""

    def _send_reply(self, outcome: TerminalReply | AcudError) -> None:
        """Reply; what programs wrote is not stored for a repeat."""
        if isinstance(outcome, AcudError):
            ended = self._wait.cancel(outcome.message) if self._wait is not None else ""
            words = f"{outcome.message}; {ended}" if ended else outcome.message
            fault = type(outcome)(words, hint=outcome.hint, **outcome.facts)
            self._log(fault, None)
            self._call.fail(fault)
            return
        self._log(None, {"terminal": outcome.terminal.name, "running": outcome.terminal.running})
        kept = replace(outcome, text="", note="an answer given again: without its text")
        self._call.reply(outcome, self._wait.mark_seen if self._wait is not None else None, kept)

    def _left_s(self) -> float:
        return max(self._until_s - self._now_s(), 0.0)

    def _place_wait(self, wait: WaitCreate, task_id: str) -> WaitCreate:
        """Return `wait` on what the session writes from now on, where it names no place itself."""
        is_here = wait.target.strip().lower() == "screen" and not wait.display
        target = f"pty:{self._name}:{self._since.text}" if is_here else wait.target
        return replace(wait, target=target, task_id=wait.task_id or task_id)

    def _check_wait(self, wait: WaitCreate | None, task_id: str) -> None:
        """Raises: what is wrong with `wait`, before anything is done."""
        if wait is not None:
            FollowedWait(self._core, self._place_wait(wait, task_id), self._call, 0.0)

    async def _arm_wait(self, wait: WaitCreate | None, task_id: str) -> None:
        if wait is not None:
            self._wait = FollowedWait(self._core, self._place_wait(wait, task_id), self._call, self._left_s())
            await self._wait.arm()

    async def _await_and_read(self, state: TerminalState, wait: WaitCreate | None) -> TerminalReply:
        """Return the answer when the wait has ended, or is in vain, or else at the moment that was asked for."""
        if wait is not None and self._wait is not None:
            await self._await_wait_end(self._wait, state, wait)
        elif self._asked.moment != "now":
            self._settled = await self._await_moment(self._asked.moment)
        return await self._read_output()

    async def _await_wait_end(self, followed: FollowedWait, state: TerminalState, wait: WaitCreate) -> None:
        """Return when the wait has ended. Where it is for text, give it up once the program, or the command of a shell,
        has ended and its text has been judged.
        """
        racers: list[Steps[str | None]] = [_await_end(followed)]
        is_text = all(isinstance(leaf, TextLeaf) for leaf in leaves(wait.until))
        if is_text and self._place_wait(wait, "").target.startswith(f"pty:{self._name}:"):
            racers += [self._watch_program(state)] + ([self._watch_command()] if state.is_shell else [])
        reason = await first(self._call.later, *racers)
        if reason:
            self._note = f"{reason}: {followed.give_up(reason)}"

    async def _watch_program(self, state: TerminalState) -> str | None:
        await Callback[None](partial(self._terminals.when_known, state.pid))
        return await self._find_end()

    async def _watch_command(self) -> str | None:
        return await self._find_end() if await self._await_moment("done") else None

    async def _find_end(self) -> str | None:
        """Return why the wait is in vain, once the text of now has been judged; None where programs go on writing."""
        over_s = self._now_s()
        while True:
            await sleep(self._core.loop, _JUDGED_POLLS * self._core.settings.pty.poll_s)
            state = await self._terminals.find_state(self._name)
            read = self._core.sessions.newest.get(f"{self._name}:{self._since.text}")
            if read is not None and read.begun_s < over_s:
                continue  # a loaded machine: the text of now has not been judged
            if state.ended:
                return f"the program has ended ({state.end}), and what was waited for is not in its text"
            if state.is_shell and not has_others(state.pid):
                return "the command has ended, and what was waited for is not in its text"
            return None

    async def _await_moment(self, moment: Moment) -> bool:
        """Return True once the session reaches `moment` (output at rest, command done); False after the time limit."""
        seen: tuple[object, ...] = ()
        since_s, poll_s = self._now_s(), _POLL_S
        while True:
            state, text = await self._terminals.read_screen(self._name, 0)
            now_s = self._now_s()
            if (state.history, state.x, state.y, text) != seen:
                seen, since_s, poll_s = (state.history, state.x, state.y, text), now_s, _POLL_S
            if self._is_reached(state, moment, now_s - since_s):
                return True
            if now_s >= self._until_s:
                return False
            poll_s = min(poll_s * 1.3, _LONGEST_POLL_S)
            await sleep(self._core.loop, min(poll_s, max(self._until_s - now_s, 0.01)))

    def _is_reached(self, state: TerminalState, moment: Moment, quiet_s: float) -> bool:
        if state.ended:
            return True
        if state.is_shell and quiet_s >= _QUIET_S and state.x > 0 and state.cell != self._before:
            return not has_foreground_job(state.pid)
        return moment == "settled" and quiet_s >= _REST_S

    async def _read_output(self) -> TerminalReply:
        state = await self._terminals.find_state(self._name)
        text = await self._terminals.read_since(state, self._since)
        return self._make_reply(state, text, self._since.text)

    def _make_reply(self, state: TerminalState, text: str, since: str = "", most: int = 0) -> TerminalReply:
        text = self._core.redaction.redact("\n".join(text.rstrip().split("\n")[-HISTORY_LINES:]))
        shown, left_out = _last_lines(text, most or self._asked.lines or _MOST_LINES)
        return TerminalReply(
            terminal=_make_info(state),
            text=shown,
            left_out=left_out,
            since=since,
            settled=self._settled,
            wait=self._wait.describe() if self._wait is not None else None,
            note=self._note,
        )


async def _await_end(followed: FollowedWait) -> str:
    await followed.await_end_or_dialog(0.0)
    return ""


def _last_lines(text: str, most: int) -> tuple[str, int]:
    """Return the last lines of `text`, and how many were left out."""
    kept = text.split("\n")
    shown = "\n".join(line.rstrip() for line in kept[-most:])
    if len(shown) > _MOST_CHARACTERS:
        shown = shown[-_MOST_CHARACTERS:].partition("\n")[2]
    return shown, max(len(kept) - (shown.count("\n") + 1), 0) if most else 0


class _Opening(_TerminalCall):
    """A session on its way."""

    def __init__(self, steps: DisplaySteps, request: TerminalOpen, call: Call) -> None:
        self._place = steps.core.ports.tasks.find_place(request.task_id, "screen", request.display)
        summary = f"open terminal session {request.name}".rstrip()
        super().__init__(steps, request, call, request.name or "new", self._place.task_id, summary)
        self._request = request
        if any("\0" in word for word in request.command):
            raise InvalidRequest("a word of the command holds a zero byte", hint="leave it out")
        if sum(len(word.encode()) for word in request.command) > _MOST_COMMAND_BYTES:
            raise InvalidRequest("the command is too long for tmux", hint="open a shell, or run a script")
        self._check_wait(request.wait, request.task_id)

    async def _carry_out(self) -> TerminalReply:
        launcher, env = self._core.program_launcher, {}
        if self._place.display:
            watched = await self._core.displays.find_display(self._place.display)
            launcher.check_room(watched)
            env = dict(launcher.environment(watched).items() - launcher.inherited.items())
        state = await self._open_session(env)
        self._name = state.name
        await self._arm_wait(self._request.wait, self._place.task_id)
        return await self._await_and_read(state, self._request.wait)

    async def _open_session(self, env: dict[str, str]) -> TerminalState:
        """Return the session; `env`: what its programs have of a display."""
        request, inherited = self._request, self._core.program_launcher.inherited
        whole = {**inherited, **env}
        shell = inherited.get("SHELL", "")
        command = request.command or ((shell if Path(shell).name in _SHELLS else "/bin/sh"),)
        path = program_path(command[0], whole)
        is_shell = Path(path).name in _SHELLS and len(command) == 1
        return await self._terminals.open(
            request.name,
            [path, *command[1:]],
            working_directory(request.cwd, whole),
            (request.columns, request.rows),
            env,
            is_shell=is_shell,
            shown=shlex.join(command),
            touch=self._call.touch,
        )


class _Typing(_TerminalCall):
    """Text and keys on their way into a session."""

    def __init__(self, steps: DisplaySteps, request: TerminalType, call: Call) -> None:
        self._task_id = steps.core.ports.tasks.find_place(request.task_id, "screen", "").task_id
        summary = f"type into terminal session {request.terminal}"
        super().__init__(steps, request, call, request.terminal, self._task_id, summary)
        self._request = request
        self._keys = tuple(map(tmux_key, request.keys))
        if not (request.text or self._keys):
            raise InvalidRequest("there is nothing to type", hint="give text, keys or both")
        self._check_wait(request.wait, request.task_id)

    async def _carry_out(self) -> TerminalReply:
        request, was = self._request, await self._terminals.find_state(self._request.terminal)
        if was.ended:
            hint = "read what it wrote, then close it and open another"
            raise Conflict(f"the program in {was.name} has ended: {was.end}", hint=hint)
        state, line, is_apart = await self._type_text(was) if request.text else (was, was.line, False)
        if not is_apart:
            self._note_enter()
        before = await self._terminals.read_line(state, line - 1)
        self._since = OutputMark(line, checksum_line(before)) if line else _START
        self._before = state.cell if self._keys else was.cell
        await self._arm_wait(request.wait, self._task_id)
        if self._keys:
            self._call.touch()
            if is_apart:
                self._note_enter()
            await self._terminals.press(state.name, self._keys)
        return await self._await_and_read(state, request.wait)

    async def _type_text(self, before: TerminalState) -> tuple[TerminalState, int, bool]:
        """Type the text; return the session then, the line from which on output counts, and whether its echo stands
        before that: it does where the text was echoed at the cursor and Enter ends it. Else the line of the cursor
        counts from its beginning.
        """
        self._call.touch()
        until_s, cells = self._now_s() + _ECHO_S, _count_cells(self._request.text)
        self._core.waits.targets.note_typed(f"pty:{before.name}", self._request.text)
        await self._terminals.paste(before.name, self._request.text)
        while True:
            state = await self._terminals.find_state(self._request.terminal)
            if cells is not None and state.cell == before.cell + cells:
                is_apart = self._keys[:1] == ("Enter",)
                return state, state.line + 1 if is_apart else before.line, is_apart
            if cells is None or self._now_s() >= until_s:
                return state, before.line, False
            await sleep(self._core.loop, _ECHO_POLL_S)

    def _note_enter(self) -> None:
        if "Enter" in self._keys:
            self._core.waits.targets.note_typed(f"pty:{self._name}", "\n")


def _count_cells(text: str) -> int | None:
    """Return how many cells `text` takes where it is echoed; None for what a terminal does not show as it is."""
    if not text.isprintable():
        return None
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)


class _TerminalReading(_TerminalCall):
    """The screen of a session, its last lines, or what it wrote since."""

    def __init__(self, steps: DisplaySteps, request: TerminalRead, call: Call) -> None:
        super().__init__(steps, request, call, request.terminal)
        self._request = request
        self._since = parse_output_mark(request.since) if request.since else _START

    async def _carry_out(self) -> TerminalReply:
        request = self._request
        if request.moment != "now":
            self._settled = await self._await_moment(request.moment)
        if request.since:
            return await self._read_output()
        state = await self._terminals.find_state(self._name)
        _, text = await self._terminals.read_screen(self._name, request.lines)
        return self._make_reply(state, text, most=request.lines or state.rows)


@handles(TerminalOpen)
def terminal_open(steps: DisplaySteps, request: TerminalOpen, call: Call) -> None:
    """Open it once the start of the request is on disk: no repeat will do it again."""
    call.when_started(_Opening(steps, request, call).begin)


@handles(TerminalType)
def terminal_type(steps: DisplaySteps, request: TerminalType, call: Call) -> None:
    """Type it once the start of the request is on disk: no repeat will do it again."""
    call.when_started(_Typing(steps, request, call).begin)


@handles(TerminalRead)
def terminal_read(steps: DisplaySteps, request: TerminalRead, call: Call) -> None:
    """Read the session at the moment that was asked for."""
    _TerminalReading(steps, request, call).begin()


@handles(TerminalList)
async def terminal_list(steps: DisplaySteps, request: TerminalList, call: Call) -> TerminalListReply:
    oldest = sorted(await steps.core.terminals.list_states(), key=lambda state: int(state.pane[1:]))
    return TerminalListReply(tuple(map(_make_info, oldest)))


@handles(TerminalClose)
async def terminal_close(steps: DisplaySteps, request: TerminalClose, call: Call) -> TerminalClosed:
    """Close the session once the start of the request is on disk."""
    await call.started()
    state = await steps.core.terminals.find_state(request.terminal)
    call.touch()
    await steps.core.terminals.close(state.name)
    return TerminalClosed(_make_info(state))
