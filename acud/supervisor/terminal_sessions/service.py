"""Which terminal sessions there are, surveyed only while a wait targets one.

tmux is asked by a short call every `[pty] poll_s` while a wait has such a target, and soon after a pane whose text is
wanted was written to. Its control mode would tell changes by itself, but is a client of the session too (which is then
never detached, and may take its size).
"""

from __future__ import annotations

import os
import stat as stats
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from acud.base import log
from acud.base.errors import Unavailable
from acud.base.ids import new_id
from acud.config import PtySettings
from acud.process.event_loop import EventLoop, Timer
from acud.supervisor.observers import Observers
from acud.supervisor.terminal_sessions import own_tmux, processes, tmux
from acud.supervisor.terminal_sessions.output_notices import OutputNotices
from acud.supervisor.terminal_sessions.program_call import ProgramCall, Said
from acud.supervisor.terminal_sessions.tmux import HistoryMark, PaneOutput
from acud.types import Verdict, WindowInfo
from acud.waits import terminals
from acud.waits.terminals import OutputMark, SessionName, SessionSurvey, Tty, session_name

_LOG = log.logger("sessions")
_INHERITED = ("TMUX", "TMUX_PANE")
"""A daemon started inside tmux must not take that server for the usual one."""
_SOON_S = 0.2
"""The least time between two surveys of a pane that is written to again and again."""

Done = Callable[[SessionSurvey], None]
Surveyed = Callable[[SessionSurvey, dict[str, HistoryMark]], None]
"""Gets a survey, and where the next one reads on in each pane."""


class SessionWatcher(Protocol):
    """A user of terminal sessions."""

    def sessions_seen(self, wanted: str) -> None:
        """There is a newer survey of the session `wanted` (a target's `pty`)."""
        ...


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

    def __init__(
        self,
        loop: EventLoop,
        monotonic_s: Callable[[], float],
        settings: PtySettings,
        env: Mapping[str, str],
        own_socket: Path,
    ) -> None:
        """`own_socket`: of the sessions that acud opened; a name alone means one of those, else the usual server's."""
        self._loop = loop
        self._now = monotonic_s
        self._settings = settings
        self._own_socket = own_socket
        self._env = {name: value for name, value in env.items() if name not in _INHERITED}
        self._wanted: dict[object, _Wanted] = {}
        self._surveying: set[str] = set()
        self._due: set[str] = set()
        self._timers: dict[str, Timer] = {}
        self._marks: dict[str, dict[str, HistoryMark]] = {}
        """By a target's `pty` and by pane: where the next reading of its history begins."""
        self._notices = OutputNotices(loop, self._read_soon)
        self._written_to: set[str] = set()
        """What was written to since its last survey began."""
        self.newest: dict[str, SessionSurvey] = {}
        self.watchers = Observers[SessionWatcher]()

    # ---- asked for -------------------------------------------------------------------------------------------------

    def watch(self, consumer: object, pty: str, *, text: bool) -> None:
        """Survey the session `pty` from now on, its text too with `text`, until `unwatch`."""
        wanted = _Wanted(session_name(pty), text)
        if self._wanted.get(consumer) != wanted:
            self._wanted[consumer] = wanted
            self._poll(pty)

    def unwatch(self, consumer: object) -> None:
        """Want nothing any more; harmless for who never did."""
        gone = self._wanted.pop(consumer, None)
        if gone is not None and not self._of(gone.name.text):
            self.newest.pop(gone.name.text, None)
            self._marks.pop(gone.name.text, None)

    def place(self, pty: str, windows: tuple[WindowInfo, ...]) -> Verdict | int | None:
        """Return the window that shows the session, or why none does; None before the first survey."""
        survey = self.newest.get(pty)
        return None if survey is None else terminals.find_window(session_name(pty), survey, windows)

    def read_text(self, pty: str, since_s: float) -> TerminalText:
        """Return the session's text from a survey begun at or after `since_s`, and what it wrote before that survey and
        after one that was not begun before `since_s` either.
        """
        survey = self.newest.get(pty)
        if survey is None or survey.begun_s < since_s:
            return TerminalText(None, "", since_s)
        session = survey.session(session_name(pty).name)
        if session is None:
            return TerminalText(None, "", survey.begun_s)
        return TerminalText(session.pane, session.written if survey.since_s >= since_s else "", survey.begun_s)

    def read(self, pty: str) -> None:
        """Survey the session `pty`, which is watched, now and not at its next turn."""
        self._poll(pty)

    def survey(self, name: SessionName, done: Done) -> None:
        """Call `done` with every session there is: the terminals, and the tmux server's that `name` means.

        Within `done`, `place` knows of it too.
        """

        def surveyed(survey: SessionSurvey, marks: dict[str, HistoryMark]) -> None:
            before = self.newest.get(name.text)
            self.newest[name.text] = told = replace(survey, ttys=processes.ttys())
            done(told)
            if before is not None and self._of(name.text):
                self.newest[name.text] = before
            else:
                self.newest.pop(name.text, None)

        _Round(self, name, (), surveyed, {}).begin()

    # ---- surveys ---------------------------------------------------------------------------------------------------

    def _of(self, pty: str) -> list[_Wanted]:
        return [wanted for wanted in self._wanted.values() if wanted.name.text == pty]

    def _poll(self, pty: str) -> None:
        """Survey now; a survey under way began too early to tell, so another follows it."""
        wanted = self._of(pty)
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
            self._loop.call_later(0.0, lambda: self._surveyed(pty, self._of_tty(name)))
        else:
            shown = (name.name,) if any(one.text for one in wanted) else ()
            began_s = self.newest[pty].begun_s if pty in self.newest else float("inf")

            def surveyed(survey: SessionSurvey, marks: dict[str, HistoryMark]) -> None:
                self._marks[pty] = marks
                self._surveyed(pty, replace(survey, since_s=began_s))

            _Round(self, name, shown, surveyed, self._marks.get(pty, {})).begin()

    def _expect_output(self, pty: str) -> None:
        """Ask for a notice of what the panes of a session write whose text is wanted, once a survey has named them."""
        session = self.newest[pty].session(session_name(pty).name) if pty in self.newest else None
        if session is not None and any(one.text for one in self._of(pty)):
            self._notices.expect(pty, session.ttys)

    def _read_soon(self, pty: str) -> None:
        """Survey the session that was just written to, no sooner than `_SOON_S` after the last survey began."""
        if pty not in self.newest:
            return  # nothing watches it any more
        self._written_to.add(pty)
        timer = self._timers.get(pty)
        if timer is not None and pty not in self._surveying:
            timer.cancel()
            self._timers[pty] = self._loop.call_at(self.newest[pty].begun_s + _SOON_S, lambda: self._poll(pty))

    def _of_tty(self, name: SessionName) -> SessionSurvey:
        begun_s, before = self._now(), self.newest.get(name.text)
        known = before.tty(name.name) if before is not None else None
        still: Tty | None = processes.tty(known.leader) if known is not None else None
        if still is not None and still.name == name.name:
            return SessionSurvey(begun_s, (still,))
        return SessionSurvey(begun_s, processes.ttys())

    def _surveyed(self, pty: str, survey: SessionSurvey) -> None:
        self._surveying.discard(pty)
        if not self._of(pty):
            self._due.discard(pty)
            return
        is_first = pty not in self.newest
        self.newest[pty] = survey
        if is_first:
            self._expect_output(pty)
        if pty in self._due:
            self._due.discard(pty)
            self._poll(pty)
        else:
            pause_s = min(_SOON_S, self._settings.poll_s) if pty in self._written_to else self._settings.poll_s
            self._timers[pty] = self._loop.call_later(pause_s, lambda: self._poll(pty))
        for watcher in self.watchers:
            watcher.sessions_seen(pty)

    # ---- tmux ------------------------------------------------------------------------------------------------------

    def now_s(self) -> float:
        """Return the loop's time."""
        return self._now()

    @property
    def own_socket(self) -> str:
        """The socket of the sessions that acud opened, "" where there are none."""
        return str(self._own_socket) if self._own_socket.exists() else ""

    def ask_tmux(self, socket: str, arguments: list[str], done: Callable[[Said], None]) -> None:
        """Call tmux; what keeps it from answering is a complaint too."""
        try:
            _check_socket(socket)
            command = [*tmux.command(self._settings.tmux, socket), *arguments]
            ProgramCall(self._loop, command, self._env, self._settings.timeout_s, done)
        except Unavailable as fault:
            said = Said("", fault.message)
            self._loop.call_later(0.0, lambda: done(said))


class _Round:
    """One survey of a tmux server: what there is, then the text of the sessions `shown`.

    Where no server is named, that of acud's own sessions is asked first: the usual one is, when it has no such session.
    """

    def __init__(
        self,
        sessions: Sessions,
        name: SessionName,
        shown: tuple[str, ...],
        done: Surveyed,
        marks: dict[str, HistoryMark],
    ) -> None:
        self._sessions = sessions
        self._name = name
        self._socket = name.socket if name.kind == "tmux" else ""
        self._own_fault = ""
        self._shown = shown
        self._done = done
        self._marks = marks
        self._begun_s = sessions.now_s()
        self._mark = f"{new_id('mark')}:"

    def begin(self) -> None:
        """Ask; `done` is called later, never at once."""
        own = self._sessions.own_socket if not self._socket else ""
        if own:
            self._sessions.ask_tmux(own, tmux.listing_arguments(), lambda said: self._own_listed(own, said))
        else:
            self._ask()

    def _ask(self) -> None:
        self._sessions.ask_tmux(self._socket, tmux.listing_arguments(), self._listed)

    def _own_listed(self, socket: str, said: Said) -> None:
        if not said.complaint and self._name.name in tmux.read_listing(said.output).names.values():
            self._socket = socket
            self._listed(said)
            return
        self._own_fault = "" if tmux.is_nobody(said.complaint) else said.complaint
        self._ask()

    def _listed(self, said: Said) -> None:
        if said.complaint:
            fault = "" if tmux.is_nobody(said.complaint) else said.complaint
            self._done(SessionSurvey(self._begun_s, fault=fault or self._own_fault), {})
            return
        listing = tmux.read_listing(said.output)
        panes = [pane for name in self._shown for pane in listing.shown_panes(name)]
        since = self._name.since
        if len(panes) == 1 and since is not None:
            arguments = own_tmux.since_arguments(panes[0], since, self._mark)
            self._sessions.ask_tmux(
                self._socket, arguments, lambda text: self._read_since(listing, panes[0], since, text)
            )
        elif panes:
            before = {pane: self._marks.get(pane) for pane in panes}
            arguments = tmux.capture_arguments(before, self._mark)
            self._sessions.ask_tmux(self._socket, arguments, lambda texts: self._read(listing, texts, before))
        else:
            self._finish(listing, {})

    def _read(self, listing: tmux.Listing, said: Said, before: Mapping[str, HistoryMark | None]) -> None:
        if said.complaint:  # a pane closed in between: nobody knows whose text is whole
            _LOG.debug("tmux.unread", fault=said.complaint)
        self._read_moved(listing, {} if said.complaint else tmux.read_panes(said.output, self._mark, before))

    def _read_moved(self, listing: tmux.Listing, panes: dict[str, PaneOutput]) -> None:
        """Read the whole history of the panes whose lines are counted anew, one after the other; then finish."""
        pane, before = next(((pane, one.moved) for pane, one in panes.items() if one.moved is not None), ("", None))
        if before is None:
            self._finish(listing, panes)
            return

        def read(said: Said) -> None:
            written = None if said.complaint else tmux.find_written(said.output, before)
            self._read_moved(listing, {**panes, pane: replace(panes[pane], written=written, moved=None)})

        self._sessions.ask_tmux(self._socket, tmux.history_arguments(pane), read)

    def _read_since(self, listing: tmux.Listing, pane: str, since: OutputMark, said: Said) -> None:
        text = None if said.complaint else own_tmux.read_since(said.output, since, self._mark)
        self._finish(listing, {} if text is None else {pane: PaneOutput(text)})

    def _finish(self, listing: tmux.Listing, panes: dict[str, PaneOutput]) -> None:
        found = listing.sessions(processes.chain)
        told = tuple(tmux.with_text(one, listing.shown_panes(one.name), panes) for one in found)
        fault = "" if any(one.name == self._name.name for one in told) else self._own_fault
        marks = {pane: output.mark for pane, output in panes.items() if output.mark is not None}
        self._done(SessionSurvey(self._begun_s, sessions=told, fault=fault), marks)


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
