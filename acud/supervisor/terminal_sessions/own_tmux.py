"""The commands for acud's own tmux server, and the parser of their answers. Runs nothing."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from acud.supervisor.terminal_sessions.tmux import history_place, lines_arguments
from acud.waits.terminals import OutputMark, checksum_line

HISTORY_LINES = 20_000
_STATE = (
    "T #{session_name} #{pane_id} #{pane_pid} #{pane_dead} x#{pane_dead_status} x#{pane_dead_signal}"
    " #{history_size} #{cursor_x} #{cursor_y} #{pane_width} #{pane_height} #{session_created}"
    " x#{@acud_ticks} x#{@acud_shell} #{@acud_command}"
)
_FIELDS = 15
_RUN = ("sh", "-c", 'exec "$@"', "sh")  # tmux passes a single word to a shell, so every command has more than one
_LEADER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("pane_leader.py")))
"""Runs a command that ends. A shell leads its pane itself, as it must to run jobs."""


class TerminalState(Struct, frozen=True):
    """A session as tmux reports it. `history`: lines above the screen; `x`, `y`: the cursor on it. `start_ticks` 0:
    not known. `exit_code`: a signal's number negative.
    """

    name: str
    pane: str
    pid: int
    ended: bool
    exit_code: int | None
    history: int
    x: int
    y: int
    columns: int
    rows: int
    opened_utc_s: float
    start_ticks: int
    is_shell: bool
    command: str

    @property
    def end(self) -> str:
        """How its program ended, "" while it runs."""
        if not self.ended:
            return ""
        if self.exit_code is None:
            return "ended, and tmux does not tell how"
        return f"killed by {_signal_name(-self.exit_code)}" if self.exit_code < 0 else f"exit status {self.exit_code}"

    @property
    def line(self) -> int:
        """The line of the cursor; line 0 is the first line ever written."""
        return self.history + self.y

    @property
    def cell(self) -> int:
        """The cell of the cursor, counted likewise."""
        return self.line * self.columns + self.x


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def state_arguments() -> list[str]:
    return ["list-sessions", "-F", _STATE]


def reap_arguments() -> list[str]:
    """Return the arguments that list the sessions after a child of tmux ended: without that, tmux 3.3a misses one of
    five ends of programs (measured) until its next child ends.
    """
    return ["run-shell", ":", ";", *state_arguments()]


def read_states(output: str) -> tuple[TerminalState, ...]:
    """Parse what `state_arguments` printed. Other lines are left out."""
    found = (_parse_state(line.split(" ", _FIELDS)) for line in output.splitlines() if line.startswith("T "))
    return tuple(one for one in found if one is not None)


def _parse_state(fields: list[str]) -> TerminalState | None:
    try:
        _, name, pane, pid, dead, status, number = fields[:7]
        history, x, y, columns, rows, opened = map(int, fields[7:13])
        ticks, shell = fields[13][1:], fields[14][1:]
        code = -_parse_signal(number[1:]) if number[1:] else int(status[1:]) if status[1:] else None
        is_ended = dead == "1"
        return TerminalState(
            name, pane, int(pid), is_ended, code if is_ended else None, history, x, y, columns, rows,
            float(opened), int(ticks or 0), shell == "1", fields[15] if len(fields) > _FIELDS else "",
        )  # fmt: skip
    except ValueError:
        return None


def _parse_signal(name: str) -> int:
    return int(name) if name.isdecimal() else signal.Signals[f"SIG{name.removeprefix('SIG')}"].value


def open_arguments(
    name: str,
    command: Sequence[str],
    cwd: str,
    size: tuple[int, int],
    env: Mapping[str, str],
    *,
    shown: str,
    is_shell: bool,
) -> list[str]:
    """Return the arguments that start a session, and the server if it is the first one. `shown`: the command as text.
    The user's tmux.conf is not read. A session stays after its program ended.
    """
    given = [part for key, value in env.items() for part in ("-e", f"{key}={value}")]
    options = [
        *("start-server", ";", "set", "-g", "exit-empty", "on", ";", "set", "-sq", "escape-time", "0", ";"),
        *("set", "-g", "history-limit", str(HISTORY_LINES), ";", "set", "-g", "default-terminal", "screen-256color"),
        *(";", "set", "-g", "status", "off", ";", "set", "-wg", "remain-on-exit", "on", ";"),
        *("set", "-wqg", "remain-on-exit-format", "", ";", "set", "-wg", "allow-rename", "off", ";"),
    ]
    start = ["new-session", "-d", "-E", "-s", name, "-x", str(size[0]), "-y", str(size[1])]
    place = ["-c", cwd.replace("#", "##")]
    words = ["--", *(() if is_shell else _LEADER), *_RUN, *map(_escape_word, command)]
    kept = [
        *(";", "set-option", "-t", _pane_target(name), "@acud_shell", "1" if is_shell else "0"),
        *(";", "set-option", "-t", _pane_target(name), "@acud_command", _escape_word(" ".join(shown.split()))),
    ]
    return [*options, *start, *place, *map(_escape_word, given), *words, *kept]


def ticks_arguments(name: str, ticks: int) -> list[str]:
    """Return the arguments that store when the session's process started, as its pid may be given to another later."""
    return ["set-option", "-t", _pane_target(name), "@acud_ticks", str(ticks)]


def paste_arguments(name: str, buffer: str) -> list[str]:
    """Return the arguments that type standard input unchanged."""
    return ["load-buffer", "-b", buffer, "-", ";", "paste-buffer", "-d", "-b", buffer, "-t", _pane_target(name)]


def key_arguments(name: str, keys: Sequence[str]) -> list[str]:
    """Return the arguments that press keys, named as tmux does."""
    return ["send-keys", "-t", _pane_target(name), "--", *map(_escape_word, keys)]


def close_arguments(name: str) -> list[str]:
    """Return the arguments that end a session and its programs."""
    return ["kill-session", "-t", f"={name}"]


def screen_arguments(name: str, lines: int, mark: str) -> list[str]:
    """Return the arguments that print the state, then the screen with `lines` above it. `mark`: new and random."""
    output = ["display-message", "-p", "-t", _pane_target(name), _STATE, ";", "display-message", "-p", mark, ";"]
    return [*output, "capture-pane", "-p", "-J", "-t", _pane_target(name), "-S", f"-{lines}"]


def line_arguments(pane: str, line: int) -> list[str]:
    """Return the arguments that print one line, counted from the first that was written."""
    return lines_arguments(pane, line, line)


def since_arguments(pane: str, since: OutputMark, mark: str) -> list[str]:
    """Return the arguments that print the line before `since`, what was written after it, and the whole screen, each
    after a line `mark`. tmux computes these places at the moment it reads them.
    """
    after = history_place(since.line)
    header = f"{mark}#{{alternate_on}} #{{pane_height}} {after}"
    return [
        *("display-message", "-p", "-t", pane, header, ";"),
        *line_arguments(pane, since.line - 1),
        ";",
        *("display-message", "-p", mark, ";"),
        *lines_arguments(pane, since.line),
        ";",
        *("display-message", "-p", mark, ";", "capture-pane", "-p", "-J", "-t", pane),
    ]


def read_since(output: str, since: OutputMark, mark: str) -> str | None:
    """Return what was written after `since`, parsed from the output of `since_arguments`; None if that is incomplete.
    Return the whole screen where a program draws on it, or where the line before has changed.
    """
    parts = output.split(mark)
    if len(parts) != 4:
        return None
    header, _, before = parts[1].partition("\n")
    drawn, height, at = header.split(" ")
    written, screen = parts[2].removeprefix("\n"), parts[3].removeprefix("\n")
    is_another = since.check and checksum_line(before.split("\n")[0]) != since.check
    if drawn == "1" or is_another:
        return screen
    return "" if int(at) >= int(height) else written


def _pane_target(name: str) -> str:
    return f"={name}:"


def _escape_word(text: str) -> str:
    """Return a word that tmux takes literally: a semicolon at its end would separate two commands."""
    return f"{text[:-1]}\\;" if text.endswith(";") else text
