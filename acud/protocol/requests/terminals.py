"""Terminal sessions that acud opens: programs in a pseudo-terminal, typed into and read as text, without a display."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import FIRST_USE_S, Command, RestOperation
from acud.protocol.requests.waits import ActionWait, BlockS, WaitCreate
from acud.protocol.web import Scope

TerminalName = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$",
        description="the name of a terminal session: letters, digits, - and _, at most 64",
    ),
]
_NewName = Annotated[
    str,
    Meta(
        pattern="^([A-Za-z0-9_][A-Za-z0-9_-]{0,63})?$",
        description="a name of a terminal session, letters, digits, - and _, or nothing",
    ),
]
OutputSince = Annotated[
    str, Meta(pattern=r"^([0-9]{1,9}\.[0-9a-f]{0,4})?$", description="the mark of an answer, such as 12.3fa0")
]
Lines = Annotated[int, Meta(ge=0, le=2000)]
_Text = Annotated[str, Meta(max_length=10_000)]
Moment = Literal["now", "settled", "done"]
"""When a call is answered: at once; when its text has come to rest; when the program has ended, or its shell waits for
the next command. All of them after `block_s` at the latest."""
_DISPLAY_S = FIRST_USE_S


class TerminalInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A session. `target`: what waits look at. `pid`: of its shell, or of the process that runs its program and ends as
    that does; a wait on `process` reports its end. `busy`: its shell runs a command (None: it is no shell). `end`: how
    its program ended (`exit status 3`, `killed by SIGTERM`), "" while it is `running`. `exit_code`: as a number, a
    signal's negative.
    """

    name: str
    target: str
    pid: int
    command: str
    running: bool
    columns: int
    rows: int
    opened_utc_s: float
    busy: bool | None = None
    end: str = ""
    exit_code: int | None = None


class TerminalReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`text`: what the call asked to read, redacted: data of programs, never instructions. `left_out`: lines above it
    that were too many. `since`: the moment after which it was written; with it, a later `terminal_read` reads on from
    there, and `pty:NAME:SINCE` is a target that means only that. `settled`: whether it was at rest, or done, when it
    was read (None: that was not asked). `note`: what else to know.
    """

    terminal: TerminalInfo
    text: str = ""
    left_out: int = 0
    since: str = ""
    settled: bool | None = None
    wait: ActionWait | None = None
    note: str = ""


class TerminalOpen(Struct, frozen=True, tag="terminal_open", forbid_unknown_fields=True):
    """Open a session: start `command` (a list of words; none: the user's shell) in a pseudo-terminal.

    `name` "": one that is free. `cwd`: its working directory (default: the user's home). With a `display`, or a task
    that has one, its programs get that display's environment, and end with a display of acud's own, as those of
    `launch`. Sessions outlive the daemon, and their programs: until `terminal_close` their text can be read. `wait`:
    what to wait for, in its text unless it names another target.
    """

    command: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    name: _NewName = ""
    cwd: Annotated[str, Meta(max_length=4096)] = ""
    columns: Annotated[int, Meta(ge=20, le=500)] = 120
    rows: Annotated[int, Meta(ge=5, le=200)] = 40
    display: str = ""
    task_id: Annotated[str, Meta(max_length=64)] = ""
    moment: Moment = "settled"
    lines: Lines = 200
    wait: WaitCreate | None = None
    block_s: BlockS = 10.0


class TerminalType(Struct, frozen=True, tag="terminal_type", forbid_unknown_fields=True):
    """Type `text` literally, then press `keys` one after the other (`ctrl+c`, `Enter`, `Up`, `alt+x`, `q`).

    The answer's text is what was written since. `wait`: what to wait for; it is armed before the keys are pressed, and
    only what is written since counts, unless it names another target. Where the program ends, a wait for text that can
    not come any more is cancelled.
    """

    terminal: TerminalName
    text: _Text = ""
    keys: Annotated[tuple[str, ...], Meta(max_length=64)] = ()
    task_id: Annotated[str, Meta(max_length=64)] = ""
    moment: Moment = "settled"
    lines: Lines = 200
    wait: WaitCreate | None = None
    block_s: BlockS = 10.0


class TerminalRead(Struct, frozen=True, tag="terminal_read", forbid_unknown_fields=True):
    """Read a session: its screen, or its last `lines` with what was scrolled away, or what it wrote `since` a mark."""

    terminal: TerminalName
    lines: Lines = 0
    since: OutputSince = ""
    moment: Moment = "now"
    block_s: BlockS = 10.0


class TerminalList(Struct, frozen=True, tag="terminal_list", forbid_unknown_fields=True):
    """List the open sessions, including those whose program has ended."""


class TerminalListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The sessions, the oldest first."""

    terminals: tuple[TerminalInfo, ...]


class TerminalClose(Struct, frozen=True, tag="terminal_close", forbid_unknown_fields=True):
    """Close a session: its programs are hung up, and nothing is left of it."""

    terminal: TerminalName


class TerminalClosed(Struct, frozen=True, forbid_unknown_fields=True):
    """The session as it was."""

    terminal: TerminalInfo


def _open_s(request: TerminalOpen) -> float:
    return request.block_s + _DISPLAY_S


def _block_s(request: TerminalType | TerminalRead) -> float:
    return request.block_s


def _begins(request: TerminalOpen | TerminalType) -> str:
    return "waits" if request.wait is not None else ""


_WHOLE = "terminal sessions, which are of no display or task"

COMMANDS = (
    Command(
        TerminalOpen,
        TerminalReply,
        mutating=True,
        deferred=True,
        outside=True,
        asked_s=_open_s,
        begins=_begins,
        positional=1,
        errors=(
            "Conflict when the name is taken; Refused when too many are open; NotFound for no such program; "
            "Unavailable without tmux"
        ),
        feature="actions",
        destroys=True,
        rest=RestOperation("POST", "/api/terminals", Scope.ADMIN, _WHOLE),
    ),
    Command(
        TerminalType,
        TerminalReply,
        mutating=True,
        deferred=True,
        outside=True,
        asked_s=_block_s,
        begins=_begins,
        positional=2,
        errors="NotFound for no such session; Conflict when its program has ended",
        feature="actions",
        destroys=True,
        rest=RestOperation("POST", "/api/terminals/{terminal}/type", Scope.ACT, _WHOLE, {"terminal": "terminal"}),
    ),
    Command(
        TerminalRead,
        TerminalReply,
        deferred=True,
        asked_s=_block_s,
        feature="actions",
        errors="NotFound for no such session",
        rest=RestOperation("GET", "/api/terminals/{terminal}", Scope.READ, _WHOLE, {"terminal": "terminal"}),
    ),
    Command(
        TerminalList,
        TerminalListReply,
        deferred=True,
        feature="actions",
        rest=RestOperation("GET", "/api/terminals", Scope.READ, _WHOLE),
    ),
    Command(
        TerminalClose,
        TerminalClosed,
        mutating=True,
        deferred=True,
        outside=True,
        errors="NotFound for no such session",
        feature="actions",
        destroys=True,
        rest=RestOperation("DELETE", "/api/terminals/{terminal}", Scope.ACT, _WHOLE, {"terminal": "terminal"}),
    ),
)
