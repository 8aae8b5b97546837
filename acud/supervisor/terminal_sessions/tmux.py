"""The commands for tmux(1) and the parser of its answers. Runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from acud.waits.terminals import TmuxSession

_NOT_THERE = ("(No such file or directory)", "(Connection refused)")
_SESSIONS = "S #{session_id} #{session_name}"
_CLIENTS = "C #{session_id} #{client_control_mode} #{client_pid}"
_PANES = "P #{session_id} #{window_active} #{window_zoomed_flag} #{pane_active} #{pane_id} #{pane_tty}"


class Pane(Struct, frozen=True):
    """A pane. `shows`: it is part of what a client of its session sees."""

    session_id: str
    pane_id: str
    tty: str
    shows: bool


class Listing(Struct, frozen=True):
    """What one tmux server holds. `clients`: session id and pid of each that draws on a terminal."""

    names: dict[str, str]
    clients: tuple[tuple[str, int], ...]
    panes: tuple[Pane, ...]

    def shown_panes(self, session: str) -> tuple[str, ...]:
        """Return the ids of the panes that the session of this name shows."""
        return tuple(p.pane_id for p in self.panes if p.shows and self.names.get(p.session_id) == session)

    def sessions(self, chain: Callable[[int], tuple[int, ...]]) -> tuple[TmuxSession, ...]:
        """Return the sessions; `chain` gives a process with its parents."""
        return tuple(
            TmuxSession(
                name,
                key,
                tuple(chain(pid) for session, pid in self.clients if session == key),
                tuple(pane.tty for pane in self.panes if pane.session_id == key),
            )
            for key, name in self.names.items()
        )


def command(program: str, socket: str) -> list[str]:
    """Return how to call the tmux of a socket: a name, a path, or "" for the usual one."""
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


def capture_arguments(panes: Iterable[str], mark: str) -> list[str]:
    """Return the arguments that print each pane's text after a line with `mark` and its id.

    `mark` must be new and random: what a screen shows could else pass for it. Wrapped lines are joined (-J).
    """
    asked: list[str] = []
    for pane in panes:
        number = pane.removeprefix("%")  # a per cent sign would be read as a time format
        asked += [";", "display-message", "-p", f"{mark}{number}", ";", "capture-pane", "-p", "-J", "-t", pane]
    return asked[1:]


def is_nobody(said: str) -> bool:
    """Tell whether tmux's complaint means that no server runs there: there are no sessions, and that is known."""
    refused = said.startswith("error connecting to") and said.endswith(_NOT_THERE)
    return refused or said.startswith(("no server running", "server exited"))  # at its end, or just before


def read_listing(said: str) -> Listing:
    """Return what `listing_arguments` printed. A line that is none of its kinds is left out."""
    names: dict[str, str] = {}
    clients: list[tuple[str, int]] = []
    panes: list[Pane] = []
    for line in said.splitlines():
        kind, _, rest = line.partition(" ")
        fields = rest.split(" ")
        if kind == "S" and len(fields) >= 2:
            names[fields[0]] = rest.partition(" ")[2]
        elif kind == "C" and len(fields) == 3 and fields[1] != "1" and fields[2].isdecimal() and len(fields[2]) < 12:
            clients.append((fields[0], int(fields[2])))
        elif kind == "P" and len(fields) == 6:
            panes.append(_pane(fields))
    return Listing(names, tuple(clients), tuple(panes))


def _pane(fields: list[str]) -> Pane:
    session, window_active, zoomed, pane_active, pane, tty = fields
    shows = window_active == "1" and (zoomed != "1" or pane_active == "1")
    return Pane(session, pane, tty.removeprefix("/dev/"), shows)


def read_panes(said: str, mark: str) -> dict[str, str]:
    """Return the text of each pane, by its id, out of what `capture_arguments` printed."""
    texts: dict[str, list[str]] = {}
    into: list[str] = []
    for line in said.split("\n"):
        if line.startswith(mark):
            into = texts.setdefault(f"%{line.removeprefix(mark)}", [])
        else:
            into.append(line)
    return {pane: "\n".join(lines) for pane, lines in texts.items()}


def with_text(session: TmuxSession, shown: tuple[str, ...], texts: dict[str, str]) -> TmuxSession:
    """Return the session with the text of its panes; without any when one of them did not tell."""
    if not shown or any(pane not in texts for pane in shown):
        return session
    return replace(session, pane="\n".join(texts[pane] for pane in shown))
