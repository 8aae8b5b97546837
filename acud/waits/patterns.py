"""Regular expressions from clients: short enough, and of the kind that `acud.patterns` searches for."""

from __future__ import annotations

from collections.abc import Iterable

from acud.errors import InvalidRequest
from acud.patterns import MAX_PATTERN, PatternFault, compiled
from acud.types import Leaf, Text, Until, WindowTitle
from acud.waits.conditions import leaves


def check_pattern(pattern: str, name: str) -> None:
    """Raise InvalidRequest, with the next step, when `pattern` is too long or none that can be searched for."""
    _check(pattern, name, ways=((False, False),))


def check_leaf(leaf: Leaf) -> None:
    """Raise InvalidRequest as `check_pattern` does for a leaf whose words are a pattern, in each way it is searched."""
    if isinstance(leaf, Text) and leaf.regex:
        _check(leaf.text, "text", ways=((not leaf.match_case, lines) for lines in (False, True)))
    elif isinstance(leaf, WindowTitle) and leaf.regex:
        check_pattern(leaf.title, "window title")


def unsearchable(until: Until) -> str:
    """Return why a condition of before this version cannot be searched for now, "" when it can."""
    try:
        for leaf in leaves(until):
            check_leaf(leaf)
    except InvalidRequest as fault:
        return str(fault)
    return ""


def _check(pattern: str, name: str, ways: Iterable[tuple[bool, bool]]) -> None:
    if len(pattern) > MAX_PATTERN:
        raise InvalidRequest(f"the {name} pattern is longer than {MAX_PATTERN} characters", hint="shorten it")
    try:
        for ignore_case, lines in ways:
            compiled(pattern, ignore_case=ignore_case, lines=lines)
    except PatternFault as fault:
        raise InvalidRequest(f"the {name} pattern {fault.message}", hint=fault.hint) from fault
