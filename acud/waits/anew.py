"""What counts as new: not what acud itself typed and, with `fresh`, not what was there before; and words for that.

`Standing` holds for each leaf how many of its present places do not count: with `fresh` those of the first look, and
each place of what acud itself typed, once it is shown. Where fewer are left, the rest is forgotten: what comes after
that is new.

Typed text is kept in lines. A line ended by Enter is usually a command: it is shown after a prompt, at times twice
(typed ahead, `set -x`), and may be wrapped or cleared. Its echoes are recognised by the words around them, from the
name of the command on, as a command does not print its own name before its arguments. Each place in any other line, and
in words that begin a line, is echoed once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from acud.base.patterns import compile_pattern
from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Echo,
    Leaf,
    NotOf,
    PlacedLeaf,
    ScreenNumber,
    Stable,
    Text,
    TextLeaf,
    Then,
    Until,
    Verdict,
    WindowTitle,
)
from acud.waits.condition_tree import leaves
from acud.waits.model import Standing, Wait
from acud.waits.presence import NEVER_THERE, NOT_IN_STAGE, find_absences, is_there, list_negations
from acud.waits.read_text import ECHO_LETTERS, comparable, find_places, normalise_text, reduce_letters

WAS_THERE = "it was there when the wait began to look"
WAS_IN_STAGE = "it was there when this stage began"
_ONLY_NEW = "and only what comes anew counts"
_OWN = "it is what acud itself typed, which does not count until it appears anew"
_QUOTED = re.compile("\"[^\"]*\"?|'[^']*'?")
_COMMAND_END = re.compile(r"[;&|`\n]|\$\(")
MOST_LINES = 32
MOST_CHARACTERS = 4000
"""Per line."""


class OwnInput(Struct, frozen=True):
    """What acud typed, as a leaf sees it. `echoes`: of commands. `once`: how often it typed the words elsewhere."""

    echoes: tuple[Echo, ...] = ()
    once: int = 0


def add_typed(lines: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Return the lines after `text` was typed, which may continue the last line; "" begins another line."""
    pieces = text.splitlines(keepends=True) if text else [""]
    is_open = bool(lines) and bool(text) and not lines[-1].endswith("\n")
    if is_open:
        lines, pieces = lines[:-1], [lines[-1] + pieces[0], *pieces[1:]]
    return (*lines, *(piece[-MOST_CHARACTERS:] for piece in pieces))[-MOST_LINES:]


def find_typed(leaf: Leaf, lines: Sequence[str]) -> OwnInput:
    """Return what in the typed `lines` matches `leaf`; nothing for a leaf that reads no text, or asks for absence."""
    if not lines or not isinstance(leaf, TextLeaf) or (isinstance(leaf, Text) and leaf.gone):
        return OwnInput()
    found = [
        (_make_echo(before, after), line.endswith("\n")) for line in lines for before, after in _cut_around(leaf, line)
    ]
    echoes = tuple(echo for echo, is_entered in found if is_entered and echo.before)
    return OwnInput(echoes, len(found) - len(echoes) if isinstance(leaf, Text) else 0)


def _make_echo(before: str, after: str) -> Echo:
    """Return the echo of words of a command line, between what was typed before and after them."""
    unquoted = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), before)
    begins = max((end.end() for end in _COMMAND_END.finditer(unquoted)), default=0)
    _, _, arguments = before[begins:].lstrip().partition(" ")
    counts = (min(len(reduce_letters(part)), ECHO_LETTERS) for part in (before[begins:], arguments))
    return Echo(reduce_letters(before)[-ECHO_LETTERS:], reduce_letters(after)[:ECHO_LETTERS], *counts)


def _cut_around(leaf: TextLeaf, line: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before and after each place of the wanted words in a line."""
    is_pattern = isinstance(leaf, Text) and leaf.regex
    text = normalise_text(line) if isinstance(leaf, Text) and (leaf.regex or leaf.match_case) else comparable(line)
    if isinstance(leaf, ScreenNumber):
        spans: Iterable[tuple[int, int]] = find_places(comparable(leaf.label), text, whole_words=True)
    elif is_pattern:
        spans = compile_pattern(leaf.text, ignore_case=not leaf.match_case).spans(text)
    else:
        wanted = normalise_text(leaf.text) if leaf.match_case else comparable(leaf.text)
        spans = find_places(wanted, text, whole_words=leaf.whole_words)
    return ((text[:start], text[end:]) for start, end in spans)


def find_echoes(until: Until, lines: Sequence[str]) -> tuple[Echo, ...]:
    """Return the echoes of commands among the `lines`, for every text and number that `until` asks for."""
    found = (echo for leaf in leaves(until) for echo in find_typed(leaf, lines).echoes) if lines else ()
    return tuple(dict.fromkeys(found))


# ---- words ---------------------------------------------------------------------------------------------------------


def describe_presence(wait: Wait, verdicts: Mapping[int, Verdict]) -> dict[int, Verdict]:
    """Return the verdicts with a remark on what was never there, and on what was there before the wait began."""
    signs = tuple(list_negations(wait.until))
    return {index: _explain_presence(wait, index, verdict, signs[index]) for index, verdict in verdicts.items()}


def _explain_presence(wait: Wait, index: int, verdict: Verdict, negated: bool) -> Verdict:
    leaf = wait.leaves[index]
    words = ""
    if wait.is_new and index not in wait.leaves_seen and is_there(leaf, verdict) is False:
        words = (NOT_IN_STAGE if wait.stage else NEVER_THERE) if index in find_absences(wait) else ""
    elif wait.is_new and isinstance(leaf, PlacedLeaf | WindowTitle) and not leaf.gone:
        standing = wait.standing.get(index, Standing(was_away=True))
        stood = verdict.answer is Answer.YES and not negated and not standing.was_away and not standing.there
        words = (WAS_IN_STAGE if wait.stage else WAS_THERE) if stood else ""
    return replace(verdict, detail=f"{verdict.detail}; {words}") if words else verdict


# ---- what does not count -------------------------------------------------------------------------------------------


def note_look(wait: Wait, verdicts: Mapping[int, Verdict], *, is_of_arming: bool = True) -> Wait:
    """Return the wait after a look with these `verdicts`. `is_of_arming`: it shows what was there at arming."""
    signs = tuple(list_negations(wait.until))
    found = dict(wait.standing)
    for index, verdict in verdicts.items():
        if verdict.answer is Answer.UNKNOWN or not wait.leaves[index].can_recur:
            continue
        holds, times = _count_places(verdict, signs[index])
        now = found.get(index)
        if now is None:
            now = Standing(times if wait.spec.policy.fresh else 0, 0, was_away=not (holds and is_of_arming))
        elif times < now.there or not holds:
            now = replace(now, there=min(now.there, times), was_away=now.was_away or not holds)
        typed = find_typed(wait.leaves[index], wait.typed).once - now.echoed if wait.typed and not signs[index] else 0
        taken = max(min(times - now.there, typed), 0)
        found[index] = replace(now, there=now.there + taken, echoed=now.echoed + taken) if taken else now
    return wait if found == wait.standing else replace(wait, standing=found)


def note_absent_target(wait: Wait) -> Wait:
    """Return the wait with the note that its target, and so everything in it, was absent before the first look."""
    return replace(wait, standing={index: Standing(was_away=True) for index in range(len(wait.leaves))} | wait.standing)


def count_anew(wait: Wait, verdicts: Mapping[int, Verdict]) -> dict[int, Verdict]:
    """Return the verdicts without what does not count. One new part of an `all` is enough."""
    found = dict(verdicts)
    if not any(standing.there for standing in wait.standing.values()):
        return found
    signs = tuple(list_negations(wait.until))
    old = {index for index, verdict in found.items() if _is_old(wait, index, verdict, signs[index])}
    own = {index for index in old if wait.standing[index].there <= wait.standing[index].echoed}
    settled = {index for index, leaf in enumerate(wait.leaves) if isinstance(leaf, Stable)}
    for index in own | _find_stale(wait.until, iter(range(len(wait.leaves))), frozenset(old | settled)) & old:
        words = _OWN if index in own else f"{WAS_IN_STAGE if wait.stage else WAS_THERE}, {_ONLY_NEW}"
        answer = Answer.YES if signs[index] else Answer.NO
        found[index] = replace(found[index], answer=answer, detail=f"{found[index].detail}; {words}")
    return found


def _count_places(verdict: Verdict, negated: bool) -> tuple[bool, int]:
    """Return whether a leaf holds, and how many places make it hold."""
    holds = verdict.answer is (Answer.NO if negated else Answer.YES)
    return holds, int(holds) if negated else max(verdict.times, int(holds))


def _is_old(wait: Wait, index: int, verdict: Verdict, negated: bool) -> bool:
    standing, leaf = wait.standing.get(index), wait.leaves[index]
    holds, times = _count_places(verdict, negated)
    wanted = leaf.count if isinstance(leaf, Text) else 1
    return standing is not None and bool(standing.there) and holds and times - standing.there < wanted


def _find_stale(until: Until, indexes: Iterator[int], old: frozenset[int]) -> frozenset[int]:
    """Return the leaves of `old` that do not count, as no part of their `all` is new."""
    if isinstance(until, NotOf):
        return _find_stale(until.part, indexes, old)
    if isinstance(until, AllOf):
        own = frozenset(next(indexes) for _ in leaves(until))
        return own if own <= old else frozenset()
    if isinstance(until, AnyOf | Then):
        return frozenset().union(*(_find_stale(part, indexes, old) for part in until.parts))
    return frozenset({next(indexes)}) & old
