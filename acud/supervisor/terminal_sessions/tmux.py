"""The commands for tmux(1) and the parser of its answers. Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from acud.waits.terminals import TmuxSession

_END_LINES = 10  # lines of the history's end: enough to differ from any other place, at no cost
_NOT_THERE = ("(No such file or directory)", "(Connection refused)")
_SESSIONS = "S #{session_id} #{session_name}"
_CLIENTS = "C #{session_id} #{client_control_mode} #{client_pid}"
_PANES = "P #{session_id} #{window_active} #{window_zoomed_flag} #{pane_active} #{pane_id} #{pane_tty}"


class Pane(Struct, frozen=True):
    """A pane. `shows`: whether a client of its session sees it."""

    session_id: str
    pane_id: str
    tty: str
    shows: bool


class HistoryMark(Struct, frozen=True):
    """How far the output of a pane had come: the lines above its screen, and the last of them without white space."""

    lines: int
    end: str


class PaneOutput(Struct, frozen=True):
    """A pane's screen. `written`: its output since the mark before, with the screen (None: not known). `mark`: where
    the next reading begins. `moved`: the mark before, if tmux restarted its line count since.
    """

    screen: str
    mark: HistoryMark | None = None
    written: str | None = None
    moved: HistoryMark | None = None


class Listing(Struct, frozen=True):
    """What one tmux server holds. `clients`: session id and pid of each client that draws on a terminal."""

    names: dict[str, str]
    clients: tuple[tuple[str, int], ...]
    panes: tuple[Pane, ...]

    def shown_panes(self, session: str) -> tuple[str, ...]:
        """Return the ids of the panes that the session of this name shows."""
        return tuple(p.pane_id for p in self.panes if p.shows and self.names.get(p.session_id) == session)

    def sessions(self, chains: Mapping[int, tuple[int, ...]]) -> tuple[TmuxSession, ...]:
        """Return the sessions. `chains`: the process of each client, with its parents."""
        return tuple(
            TmuxSession(
                name,
                key,
                tuple(chains[pid] for session, pid in self.clients if session == key),
                tuple(pane.tty for pane in self.panes if pane.session_id == key),
            )
            for key, name in self.names.items()
        )


def build_tmux_prefix(program: str, socket: str) -> list[str]:
    """Return the beginning of a command for the tmux server of `socket`: a name, a path, or "" for the usual one.
    `program`: the executable of tmux.
    """
    named = ["-S" if socket.startswith("/") else "-L", socket] if socket else []
    return [program, "-u", *named]


def listing_arguments() -> list[str]:
    """Return the arguments that list sessions, clients and panes."""
    return [
        "list-sessions",
        "-F",
        _SESSIONS,
        ";",
        "list-clients",
        "-F",
        _CLIENTS,
        ";",
        "list-panes",
        "-a",
        "-F",
        _PANES,
    ]


def capture_arguments(panes: Mapping[str, HistoryMark | None], mark: str) -> list[str]:
    """Return the arguments that print, of each pane, its history's end, what it wrote since a `HistoryMark`, and its
    screen; each after a line with `mark` and the pane's id.

    `mark` must be new and random, so that no text on a screen can imitate it. Wrapped lines are joined (-J), except in
    the history's end, where lines are counted.
    """
    asked: list[str] = []
    for pane, before in panes.items():
        number = pane.removeprefix("%")  # a per cent sign would be read as a time format
        # These two run at one moment. What follows is read later, so no line falls between this mark and the next.
        asked += [";", "display-message", "-p", "-t", pane, f"{mark}{number} E #{{history_size}} #{{alternate_on}}"]
        asked += [";", "capture-pane", "-p", "-t", pane, "-S", f"-{_END_LINES}", "-E", "-1"]
        if before is not None:
            asked += [";", "display-message", "-p", f"{mark}{number} B", ";"]
            asked += lines_arguments(pane, max(0, before.lines - _END_LINES), before.lines - 1)
            asked += [";", "display-message", "-p", f"{mark}{number} W", ";"]
            asked += lines_arguments(pane, before.lines)
        asked += [";", "display-message", "-p", f"{mark}{number} S", ";", "capture-pane", "-p", "-J", "-t", pane]
    return asked[1:]


def history_arguments(pane: str) -> list[str]:
    """Return the arguments that print all that a pane keeps, its screen last."""
    return ["capture-pane", "-p", "-J", "-t", pane, "-S", "-"]


def lines_arguments(pane: str, first: int, last: int | None = None) -> list[str]:
    """Return the arguments that print the lines from `first` to `last`, counted from the first that was written.
    Without `last`: to the end of the screen, and joined. tmux computes these places at the moment it reads them.
    """
    what = f"-J -S {history_place(first)}" if last is None else f"-S {history_place(first)} -E {history_place(last)}"
    return ["run-shell", "-C", "-t", pane, f"capture-pane -p -t {pane} {what}"]


def history_place(line: int) -> str:
    """Return tmux's expression for a line counted from the first that was written."""
    return f"#{{e|-:{line},#{{history_size}}}}"


def is_server_missing(output: str) -> bool:
    """Return whether tmux's complaint means that no server runs there, so that there are surely no sessions."""
    refused = output.startswith("error connecting to") and output.endswith(_NOT_THERE)
    return refused or output.startswith(("no server running", "server exited"))  # at its end, or just before


def read_listing(output: str) -> Listing:
    """Parse what `listing_arguments` printed. Other lines are left out."""
    names: dict[str, str] = {}
    clients: list[tuple[str, int]] = []
    panes: list[Pane] = []
    for line in output.splitlines():
        kind, _, rest = line.partition(" ")
        fields = rest.split(" ")
        if kind == "S" and len(fields) >= 2:
            names[fields[0]] = rest.partition(" ")[2]
        elif kind == "C" and len(fields) == 3 and fields[1] != "1" and fields[2].isdecimal() and len(fields[2]) < 12:
            clients.append((fields[0], int(fields[2])))
        elif kind == "P" and len(fields) == 6:
            panes.append(_parse_pane(fields))
    return Listing(names, tuple(clients), tuple(panes))


def _parse_pane(fields: list[str]) -> Pane:
    session, window_active, zoomed, pane_active, pane, tty = fields
    shows = window_active == "1" and (zoomed != "1" or pane_active == "1")
    return Pane(session, pane, tty.removeprefix("/dev/"), shows)


def read_panes(output: str, mark: str, before: Mapping[str, HistoryMark | None]) -> dict[str, PaneOutput]:
    """Return the output of each pane, by its id, parsed from the output of `capture_arguments`."""
    parts: dict[str, dict[str, list[str]]] = {}
    into: list[str] = []
    for line in output.split("\n"):
        if line.startswith(mark):
            pane, _, what = line.removeprefix(mark).partition(" ")
            part, _, state = what.partition(" ")
            into = parts.setdefault(f"%{pane}", {}).setdefault(part, [state] if part == "E" else [])
        else:
            into.append(line)
    return {pane: _parse_output(found, before.get(pane)) for pane, found in parts.items() if {"E", "S"} <= found.keys()}


def _parse_output(parts: dict[str, list[str]], before: HistoryMark | None) -> PaneOutput:
    size, _, drawn = parts["E"][0].partition(" ")
    screen = "\n".join(parts["S"])
    if drawn != "0" or not size.isdecimal():
        return PaneOutput(screen, before)  # a program draws on the whole screen: nothing is added to the history
    now = HistoryMark(int(size), _squeeze_all(parts["E"][1:]) if int(size) else "")
    if before is None:
        return PaneOutput(screen, now)
    if now.lines < before.lines or (before.lines and _squeeze_all(parts.get("B", [])) != before.end):
        return PaneOutput(screen, now, moved=before)
    return PaneOutput(screen, now, "\n".join(parts.get("W", [])))


def find_written(text: str, before: HistoryMark) -> str | None:
    """Return the part of a pane's kept text that was written after `before`; None where that cannot be known.

    tmux restarts its line count when a full history drops its oldest tenth, when the width changes and when the history
    is cleared. The history's end at `before` is searched for; if it is gone, all that is kept is newer.
    """
    if before.lines and not before.end:
        return None
    lines, end, at = text.split("\n"), 0, "".join(map(_squeeze_spaces, text.split("\n"))).rfind(before.end)
    if at < 0 or not before.lines:
        return text
    for number, line in enumerate(lines):
        end += len(_squeeze_spaces(line))
        if end >= at + len(before.end):
            return "\n".join(lines[number + 1 :])
    return ""


def _squeeze_all(lines: list[str]) -> str:
    return "".join(map(_squeeze_spaces, lines))


def _squeeze_spaces(line: str) -> str:
    # Lines are broken at another cell at another width, and blanks at their ends are left out.
    return "".join(line.split())


def with_text(session: TmuxSession, shown: tuple[str, ...], panes: Mapping[str, PaneOutput]) -> TmuxSession:
    """Return the session with the text of its panes; without text if one of them is missing."""
    if not shown or any(pane not in panes for pane in shown):
        return session
    written = [panes[pane].written for pane in shown]
    return replace(
        session,
        pane="\n".join(panes[pane].screen for pane in shown),
        written="\n".join(text for text in written if text is not None),
    )
