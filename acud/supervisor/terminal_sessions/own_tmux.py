"""The commands for the tmux server whose sessions acud opens, and the parser of their answers. Runs nothing."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from acud.supervisor.terminal_sessions.tmux import history_place, lines_arguments
from acud.waits.terminals import OutputMark, line_check

HISTORY_LINES = 20_000
_STATE = (
    "T #{session_name} #{pane_id} #{pane_pid} #{pane_dead} x#{pane_dead_status} x#{pane_dead_signal}"
    " #{history_size} #{cursor_x} #{cursor_y} #{pane_width} #{pane_height} #{session_created}"
    " x#{@acud_ticks} x#{@acud_shell} #{@acud_command}"
)
_FIELDS = 15
_RUN = ("sh", "-c", 'exec "$@"', "sh")
"""tmux hands one word alone to a shell; so every command has more than one."""
_LEADER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("pane_leader.py")))
"""Before a command that ends. A shell leads its pane itself, as it must to run jobs."""


class TerminalState(Struct, frozen=True):
    """A session as tmux tells it. `history`: lines above the screen; `x`, `y`: the cursor on it. `start_ticks` 0:
    not known. `exit_code`: a signal's number negative."""

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
        """The line of the cursor, counted from the first that was written."""
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
    """Return the arguments that list the sessions."""
    return ["list-sessions", "-F", _STATE]


def reap_arguments() -> list[str]:
    """Return the arguments that list the sessions once tmux has reaped a child of its own: one of five ends of programs
    it does not notice by itself (3.3a, measured), until the next end of a child.
    """
    return ["run-shell", ":", ";", *state_arguments()]


def read_states(said: str) -> tuple[TerminalState, ...]:
    """Return what `state_arguments` printed. A line that is none of its kind is left out."""
    found = (_state(line.split(" ", _FIELDS)) for line in said.splitlines() if line.startswith("T "))
    return tuple(one for one in found if one is not None)


def _state(fields: list[str]) -> TerminalState | None:
    try:
        _, name, pane, pid, dead, status, number = fields[:7]
        history, x, y, columns, rows, opened = map(int, fields[7:13])
        ticks, shell = fields[13][1:], fields[14][1:]
        code = -_number(number[1:]) if number[1:] else int(status[1:]) if status[1:] else None
        is_ended = dead == "1"
        return TerminalState(
            name, pane, int(pid), is_ended, code if is_ended else None, history, x, y, columns, rows,
            float(opened), int(ticks or 0), shell == "1", fields[15] if len(fields) > _FIELDS else "",
        )  # fmt: skip
    except ValueError:
        return None


def _number(name: str) -> int:
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
    """Return the arguments that start a session, and the server where it is the first one.

    `shown`: the command in words. Nothing of the user's tmux.conf counts. A session whose program has ended stays.
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
    words = ["--", *(() if is_shell else _LEADER), *_RUN, *map(_word, command)]
    kept = [
        *(";", "set-option", "-t", _pane(name), "@acud_shell", "1" if is_shell else "0"),
        *(";", "set-option", "-t", _pane(name), "@acud_command", _word(" ".join(shown.split()))),
    ]
    return [*options, *start, *place, *map(_word, given), *words, *kept]


def ticks_arguments(name: str, ticks: int) -> list[str]:
    """Return the arguments that keep when the session's process started: its number alone may be another's later."""
    return ["set-option", "-t", _pane(name), "@acud_ticks", str(ticks)]


def paste_arguments(name: str, buffer: str) -> list[str]:
    """Return the arguments that type standard input, as it is."""
    return ["load-buffer", "-b", buffer, "-", ";", "paste-buffer", "-d", "-b", buffer, "-t", _pane(name)]


def key_arguments(name: str, keys: Sequence[str]) -> list[str]:
    """Return the arguments that press keys, named as tmux does."""
    return ["send-keys", "-t", _pane(name), "--", *map(_word, keys)]


def close_arguments(name: str) -> list[str]:
    """Return the arguments that end a session and everything in it."""
    return ["kill-session", "-t", f"={name}"]


def screen_arguments(name: str, lines: int, mark: str) -> list[str]:
    """Return the arguments that print the state, then the screen with `lines` above it. `mark`: new and random."""
    said = ["display-message", "-p", "-t", _pane(name), _STATE, ";", "display-message", "-p", mark, ";"]
    return [*said, "capture-pane", "-p", "-J", "-t", _pane(name), "-S", f"-{lines}"]


def line_arguments(pane: str, line: int) -> list[str]:
    """Return the arguments that print one line, counted from the first that was written."""
    return lines_arguments(pane, line, line)


def since_arguments(pane: str, since: OutputMark, mark: str) -> list[str]:
    """Return the arguments that print the line before `since`, what was written after it, and the whole screen, each
    after a line `mark`. tmux computes where that is at the moment at which it reads.
    """
    after = history_place(since.line)
    told = f"{mark}#{{alternate_on}} #{{pane_height}} {after}"
    return [
        *("display-message", "-p", "-t", pane, told, ";"),
        *line_arguments(pane, since.line - 1),
        ";",
        *("display-message", "-p", mark, ";"),
        *lines_arguments(pane, since.line),
        ";",
        *("display-message", "-p", mark, ";", "capture-pane", "-p", "-J", "-t", pane),
    ]


def read_since(said: str, since: OutputMark, mark: str) -> str | None:
    """Return what was written after `since`, out of what `since_arguments` printed; None when that is not whole.

    The whole screen where a program draws on it, or where the line before is another one now.
    """
    parts = said.split(mark)
    if len(parts) != 4:
        return None
    told, _, before = parts[1].partition("\n")
    drawn, height, at = told.split(" ")
    written, screen = parts[2].removeprefix("\n"), parts[3].removeprefix("\n")
    is_another = since.check and line_check(before.split("\n")[0]) != since.check
    if drawn == "1" or is_another:
        return screen
    return "" if int(at) >= int(height) else written


def _pane(name: str) -> str:
    return f"={name}:"


def _word(text: str) -> str:
    """Return a word that tmux takes as it is: a semicolon at its end would part two commands."""
    return f"{text[:-1]}\\;" if text.endswith(";") else text
