"""Regular expressions from clients: they compile, are short, and cannot take for ever."""

from __future__ import annotations

import re

from acud.errors import InvalidRequest
from acud.waits.backtracking import MOST_WAYS, PIECE, ways

MAX_PATTERN = 500
_REPEATS = re.compile(r"[*+]|\{\d*,\d*\}|\{[2-9]\d*\}|\{1\d+\}")


def check_pattern(pattern: str, name: str) -> None:
    """Raise InvalidRequest when `pattern` does not compile, is too long, or repeats what itself repeats or branches.

    Python's engine backtracks: on `(a+)+$` thirty letters take minutes, and a deadline must not wait for a title.
    """
    if len(pattern) > MAX_PATTERN:
        raise InvalidRequest(f"the {name} pattern is longer than {MAX_PATTERN} characters", hint="shorten it")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidRequest(f"the {name} pattern does not compile: {error}", hint="mend the pattern") from error
    if _explodes(pattern):
        raise InvalidRequest(
            f"the {name} pattern repeats a group that itself repeats or branches, which can take for ever",
            hint="repeat a single character or class instead, such as [ab]+ for (a|b)+",
        )


def check_searched(pattern: str, name: str) -> None:
    """Raise InvalidRequest for what `check_pattern` refuses, and for what the supervisor itself cannot search for.

    There is no end by time there: see `backtracking`.
    """
    check_pattern(pattern, name)
    if ways(pattern) > MOST_WAYS:
        raise InvalidRequest(
            f"the {name} pattern has too many parts of any length, which can take for ever",
            hint="say what ends a part, such as [^:]*: for .*:, or use fewer of them",
        )


def _explodes(pattern: str) -> bool:
    """Tell whether a group with a repeat or a branch inside is followed by a repeat."""
    groups = [False]
    closed = False
    for piece in PIECE.findall(pattern):
        if _REPEATS.fullmatch(piece):
            if closed:
                return True
            groups[-1] = True
        closed = False
        if piece.startswith("("):
            groups.append(False)
        elif piece == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] |= closed
        elif piece == "|":
            groups[-1] = True
    return False
