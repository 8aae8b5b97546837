"""Surveys terminal sessions while a wait targets one.

A short call lists those of tmux every `[pty] poll_s` while a wait has such a target, and soon after output in a pane
with wanted text. tmux's control mode would report changes by itself, but is a client of the session too (which is then
never detached, and may take its size).
"""

from __future__ import annotations

import os
import stat as stats
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from acud.base import log
from acud.base.errors import AcudError, Unavailable
from acud.base.ids import new_id
from acud.config import PtySettings
from acud.process.event_loop import EventLoop, Timer
from acud.supervisor.coroutines import run_steps, sleep
from acud.supervisor.host_conditions.inotify import MODIFY, ONESHOT, Inotify
from acud.supervisor.observers import Observers
from acud.supervisor.terminal_sessions import own_tmux, processes, tmux
from acud.supervisor.terminal_sessions.program_call import CallResult, run_program
from acud.supervisor.terminal_sessions.tmux import HistoryMark, PaneOutput
from acud.types import Verdict, WindowInfo
from acud.waits import terminals
from acud.waits.terminals import SessionName, SessionSurvey, Tty, parse_session_name

_LOG = log.logger("sessions")
_INHERITED = ("TMUX", "TMUX_PANE")  # A daemon started inside tmux must not use that server as the usual one
_SOON_S = 0.2  # the least time between two surveys of a pane with continuous output

Done = Callable[[SessionSurvey], None]
Surveyed = tuple[SessionSurvey, dict[str, HistoryMark]]
"""A survey, and for each pane where the next one continues."""


class SessionWatcher(Protocol):
    """A user of terminal sessions."""

    def sessions_seen(self, wanted: str) -> None:
        """Handle a newer survey of the session `wanted` (a target's `pty`)."""


class TerminalText(NamedTuple):
    """The text of a session: its screen now (None: not known), what it wrote since the survey before, and when the
    reading began.
    """

    screen: str | None
    written: str
    read_at: float


class _Wanted(Struct, frozen=True):
    name: SessionName
    text: bool


class Sessions:
    """Surveys sessions. `newest` holds the last survey by a target's `pty`, while it is watched."""

    def __init__(self, loop: EventLoop, settings: PtySettings, env: Mapping[str, str], own_socket: Path) -> None:
        """`own_socket`: of the sessions that acud opened; a bare name means one of those, else the usual server's."""
        self._loop = loop
        self._now = loop.now_s
        self._settings, self._own_socket = settings, own_socket
        self._env = {name: value for name, value in env.items() if name not in _INHERITED}
        self._wanted: dict[object, _Wanted] = {}
        self._surveying: set[str] = set()
        self._due: set[str] = set()
        self._timers: dict[str, Timer] = {}
        self._marks: dict[str, dict[str, HistoryMark]] = {}
        """By a target's `pty` and by pane: where the next reading of its history begins."""
        self._notices = OutputNotices(loop, self._read_soon)
        self._written_to: set[str] = set()  # sessions with output since their last survey began
        self.newest: dict[str, SessionSurvey] = {}
        self.watchers = Observers[SessionWatcher]()

    # ---- requests --------------------------------------------------------------------------------------------------

    def watch(self, consumer: object, pty: str, *, text: bool) -> None:
        """Survey the session `pty` from now on, its text too with `text`, until `unwatch`."""
        wanted = _Wanted(parse_session_name(pty), text)
        if self._wanted.get(consumer) != wanted:
            self._wanted[consumer] = wanted
            self.survey_now(pty)

    def unwatch(self, consumer: object) -> None:
        """Stop watching for `consumer`; harmless for an unknown consumer."""
        gone = self._wanted.pop(consumer, None)
        if gone is not None and not self._find_wanted(gone.name.text):
            self.newest.pop(gone.name.text, None)
            self._marks.pop(gone.name.text, None)

    def find_window(self, pty: str, windows: tuple[WindowInfo, ...]) -> Verdict | int | None:
        """Return the window that shows the session, or why none does; None before the first survey."""
        survey = self.newest.get(pty)
        return None if survey is None else terminals.find_window(parse_session_name(pty), survey, windows)

    def read_text(self, pty: str, since_s: float) -> TerminalText:
        """Return the session's text from a survey begun at or after `since_s`; with what it wrote since the survey
        before, if that was begun at or after `since_s` too.
        """
        survey = self.newest.get(pty)
        if survey is None or survey.begun_s < since_s:
            return TerminalText(None, "", since_s)
        session = survey.session(parse_session_name(pty).name)
        if session is None:
            return TerminalText(None, "", survey.begun_s)
        return TerminalText(session.pane, session.written if survey.since_s >= since_s else "", survey.begun_s)

    def survey(self, name: SessionName, on_done: Done) -> None:
        """Call `on_done` with every terminal, and every session of the tmux server that `name` means. Within `on_done`,
        `find_window` uses this survey too.
        """

        run_steps(_SurveyRound(self, name, (), {}).survey(), partial(self._finish_survey, name.text, on_done))

    def _finish_survey(self, pty: str, on_done: Done, outcome: Surveyed | AcudError) -> None:
        assert not isinstance(outcome, AcudError)  # a survey reports its faults itself
        before = self.newest.get(pty)
        self.newest[pty] = complete = replace(outcome[0], ttys=processes.list_ttys())
        on_done(complete)
        if before is not None and self._find_wanted(pty):
            self.newest[pty] = before
        else:
            self.newest.pop(pty, None)

    # ---- surveys ---------------------------------------------------------------------------------------------------

    def _find_wanted(self, pty: str) -> list[_Wanted]:
        return [wanted for wanted in self._wanted.values() if wanted.name.text == pty]

    def survey_now(self, pty: str) -> None:
        """Survey the watched session now, or once more after a survey that is under way, which began too early."""
        wanted = self._find_wanted(pty)
        timer = self._timers.pop(pty, None)
        if timer is not None:
            timer.cancel()
        if not wanted:
            return
        if pty in self._surveying:
            self._due.add(pty)
            return
        self._surveying.add(pty)
        self._written_to.discard(pty)
        self._expect_output(pty)
        name = wanted[0].name
        if name.kind == "tty":
            self._loop.call_later(0.0, lambda: self._on_survey(pty, self._survey_tty(name)))
        else:
            shown = (name.name,) if any(one.text for one in wanted) else ()
            run_steps(self._survey_server(pty, name, shown))

    async def _survey_server(self, pty: str, name: SessionName, shown: tuple[str, ...]) -> None:
        began_s = self.newest[pty].begun_s if pty in self.newest else float("inf")
        survey, self._marks[pty] = await _SurveyRound(self, name, shown, self._marks.get(pty, {})).survey()
        self._on_survey(pty, replace(survey, since_s=began_s))

    def _expect_output(self, pty: str) -> None:
        """Request a notice of output in the session's panes, if its text is wanted and a survey has named them."""
        session = self.newest[pty].session(parse_session_name(pty).name) if pty in self.newest else None
        if session is not None and any(one.text for one in self._find_wanted(pty)):
            self._notices.expect(pty, session.ttys)

    def _read_soon(self, pty: str) -> None:
        """Survey a session with new output, no sooner than `_SOON_S` after its last survey began."""
        if pty not in self.newest:
            return  # nothing watches it any more
        self._written_to.add(pty)
        timer = self._timers.get(pty)
        if timer is not None and pty not in self._surveying:
            timer.cancel()
            self._timers[pty] = self._loop.call_at(self.newest[pty].begun_s + _SOON_S, lambda: self.survey_now(pty))

    def _survey_tty(self, name: SessionName) -> SessionSurvey:
        begun_s, before = self._now(), self.newest.get(name.text)
        known = before.tty(name.name) if before is not None else None
        still: Tty | None = processes.find_tty(known.leader) if known is not None else None
        if still is not None and still.name == name.name:
            return SessionSurvey(begun_s, (still,))
        return SessionSurvey(begun_s, processes.list_ttys())

    def _on_survey(self, pty: str, survey: SessionSurvey) -> None:
        self._surveying.discard(pty)
        if not self._find_wanted(pty):
            self._due.discard(pty)
            return
        is_first = pty not in self.newest
        self.newest[pty] = survey
        if is_first:
            self._expect_output(pty)
        if pty in self._due:
            self._due.discard(pty)
            self.survey_now(pty)
        else:
            pause_s = min(_SOON_S, self._settings.poll_s) if pty in self._written_to else self._settings.poll_s
            self._timers[pty] = self._loop.call_later(pause_s, lambda: self.survey_now(pty))
        for watcher in self.watchers:
            watcher.sessions_seen(pty)

    # ---- tmux ------------------------------------------------------------------------------------------------------

    def now_s(self) -> float:
        return self._now()

    @property
    def own_socket(self) -> str:
        """The tmux socket of the sessions that acud opened, "" without sessions."""
        return str(self._own_socket) if self._own_socket.exists() else ""

    async def ask_tmux(self, socket: str, arguments: list[str]) -> CallResult:
        """Call tmux; a failure to call it is a complaint too, in a later turn."""
        try:
            _check_socket(socket)
        except Unavailable as fault:
            await sleep(self._loop, 0.0)
            return CallResult("", fault.message)
        command = [*tmux.build_tmux_prefix(self._settings.tmux, socket), *arguments]
        return await run_program(self._loop, command, self._env, self._settings.timeout_s)


class _SurveyRound:
    """One survey of a tmux server: lists its sessions, then reads the text of those `shown`.

    If no server is named, acud's own is asked first, and the usual one if that has no such session.
    """

    def __init__(
        self, sessions: Sessions, name: SessionName, shown: tuple[str, ...], marks: dict[str, HistoryMark]
    ) -> None:
        self._sessions, self._name = sessions, name
        self._socket = name.socket if name.kind == "tmux" else ""
        self._own_fault = ""
        self._shown, self._marks = shown, marks
        self._begun_s = sessions.now_s()
        self._mark = f"{new_id('mark')}:"

    async def survey(self) -> Surveyed:
        """Survey, in later turns; return the survey, and for each pane where the next one continues."""
        answer = await self._list_sessions()
        if answer.complaint:
            fault = "" if tmux.is_server_missing(answer.complaint) else answer.complaint
            return SessionSurvey(self._begun_s, fault=fault or self._own_fault), {}
        listing = tmux.read_listing(answer.output)
        panes = await self._read_panes([pane for name in self._shown for pane in listing.shown_panes(name)])
        found = listing.sessions({pid: processes.list_ancestors(pid) for _, pid in listing.clients})
        complete = tuple(tmux.with_text(one, listing.shown_panes(one.name), panes) for one in found)
        fault = "" if any(one.name == self._name.name for one in complete) else self._own_fault
        marks = {pane: output.mark for pane, output in panes.items() if output.mark is not None}
        return SessionSurvey(self._begun_s, sessions=complete, fault=fault), marks

    async def _list_sessions(self) -> CallResult:
        """Return the listing of the server that has the session; of the usual one if none has it."""
        own = self._sessions.own_socket if not self._socket else ""
        if own:
            answer = await self._sessions.ask_tmux(own, tmux.listing_arguments())
            if not answer.complaint and self._name.name in tmux.read_listing(answer.output).names.values():
                self._socket = own
                return answer
            self._own_fault = "" if tmux.is_server_missing(answer.complaint) else answer.complaint
        return await self._sessions.ask_tmux(self._socket, tmux.listing_arguments())

    async def _read_panes(self, panes: list[str]) -> dict[str, PaneOutput]:
        since, ask = self._name.since, partial(self._sessions.ask_tmux, self._socket)
        if len(panes) == 1 and since is not None:
            answer = await ask(own_tmux.since_arguments(panes[0], since, self._mark))
            text = None if answer.complaint else own_tmux.read_since(answer.output, since, self._mark)
            return {} if text is None else {panes[0]: PaneOutput(text)}
        if not panes:
            return {}
        before = {pane: self._marks.get(pane) for pane in panes}
        answer = await ask(tmux.capture_arguments(before, self._mark))
        if answer.complaint:  # a pane closed in between: any text may be incomplete
            _LOG.debug("tmux.unread", fault=answer.complaint)
            return {}
        outputs = tmux.read_panes(answer.output, self._mark, before)
        for pane, output in outputs.items():
            if output.moved is not None:  # its line count was restarted: read its whole history
                answer = await ask(tmux.history_arguments(pane))
                written = None if answer.complaint else tmux.find_written(answer.output, output.moved)
                outputs[pane] = replace(output, written=written, moved=None)
        return outputs


def _check_socket(socket: str) -> None:
    """Refuse a path that is no socket of this user. Raises: Unavailable."""
    if not socket.startswith("/"):
        return
    try:
        found = Path(socket).stat()
    except FileNotFoundError:
        raise Unavailable(f"error connecting to {socket} (No such file or directory)") from None
    except OSError as fault:
        raise Unavailable(f"{socket}: {fault.strerror}") from fault
    if not stats.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise Unavailable(f"{socket} is not a socket of this user")


class OutputNotices:
    """Calls `on_output` with a target's `pty` once inotify reports output on its terminals, once for each `expect`."""

    def __init__(self, loop: EventLoop, on_output: Callable[[str], None]) -> None:
        self._loop, self._on_output = loop, on_output
        self._inotify: Inotify | None = None
        self._expected: dict[int, set[str]] = {}  # by watch: the targets that show its terminal

    def expect(self, pty: str, ttys: Iterable[str]) -> None:
        """Give one notice of the next output on `ttys` ("pts/3"); a log line where inotify cannot."""
        for tty in ttys:
            try:
                watch = self._open_inotify().add(f"/dev/{tty}", MODIFY | ONESHOT)
            except FileNotFoundError:
                continue  # the terminal has just closed, as the next survey shows
            except OSError as fault:
                _LOG.warning("tmux.no_notices", fault=fault.strerror)
                return
            self._expected.setdefault(watch, set()).add(pty)

    def _open_inotify(self) -> Inotify:
        if self._inotify is None:
            self._inotify = Inotify(only_folders=False)
            self._loop.watch(self._inotify, self._on_readable)
        return self._inotify

    def _on_readable(self) -> None:
        for event in self._inotify.read() if self._inotify is not None else ():
            for pty in self._expected.pop(event.watch, ()):
                self._on_output(pty)
