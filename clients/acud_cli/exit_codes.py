"""Exit codes: one number, one meaning, for every command but `doctor` (0 well, 1 warnings, 2 faults)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acud.base.errors import AcudError
    from acud.types import WaitState


class Exit(IntEnum):
    """What a shell sees in `$?`."""

    OK = 0
    ERROR = 1
    USAGE = 2
    TIMEOUT = 3
    CANCELLED = 4
    FAILED = 5
    DAEMON_DOWN = 6
    NOT_FOUND = 7
    REFUSED = 8
    NO_JUDGE = 9
    DETACHED = 130


MEANINGS: dict[Exit, str] = {
    Exit.OK: "done; for a wait: its condition holds",
    Exit.ERROR: "error, named in one line on standard error",
    Exit.USAGE: "the command line, a value in it or a setting is wrong",
    Exit.TIMEOUT: "the wait timed out",
    Exit.CANCELLED: "the wait was cancelled",
    Exit.FAILED: "the wait failed",
    Exit.DAEMON_DOWN: "the daemon does not run or does not answer",
    Exit.NOT_FOUND: "no such wait, display or window",
    Exit.REFUSED: "a state, a limit, a policy or a missing extra says no",
    Exit.NO_JUDGE: "no judge is configured that could answer the sentence",
    Exit.DETACHED: "interrupted by Ctrl-C; a wait goes on in the daemon",
}

_BY_CODE = {
    "usage": Exit.USAGE,
    "invalid_request": Exit.USAGE,
    "config": Exit.USAGE,
    "daemon_down": Exit.DAEMON_DOWN,
    "not_found": Exit.NOT_FOUND,
    "conflict": Exit.REFUSED,
    "refused": Exit.REFUSED,
    "no_judge": Exit.NO_JUDGE,
    "not_enabled": Exit.REFUSED,
    "not_installed": Exit.REFUSED,
}

_BY_STATE = {
    "watching": Exit.OK,
    "resolved": Exit.OK,
    "timeout": Exit.TIMEOUT,
    "cancelled": Exit.CANCELLED,
    "failed": Exit.FAILED,
}


def exit_of_fault(fault: AcudError) -> Exit:
    return of_code(fault.code)


def of_code(code: str) -> Exit:
    return _BY_CODE.get(code, Exit.ERROR)


def exit_of_state(state: WaitState) -> Exit:
    return _BY_STATE[state.value]
