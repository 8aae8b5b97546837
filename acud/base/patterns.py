"""Regular expressions from clients: Python's syntax and meaning, searched by RE2 in time linear in the text.

Python's own engine backtracks: `(?:A?){60}b` on 60 letters holds a process up for longer than its machine lasts.
RE2 does not, but its `\\w`, `\\d`, `\\s` and `\\b` know ASCII only, and it folds case in other pairs than Python. So a
pattern is taken apart by Python's parser and written anew for RE2, without case and without classes of its own: each
character of a text is given to RE2 between two marks for the class that Python puts it in.

    a letter of a word: AéA    a digit: B٣B    a blank: ? ?    anything else: @-@

`\\d` then is a character marked B, and because RE2 counts A and B as letters of words, `?` and `@` not, its `\\b`
between two marks is Python's between the two characters. A line's end is marked with line ends, for RE2's `^` and `$`.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from acud.base.errors import InvalidRequest

MAX_PATTERN = 500
"""Characters."""
MAX_DEPTH = 50
"""Groups within groups; deeper nesting is not written by people."""
MAX_SIZE = 600
"""Steps of a pattern's program that the supervisor itself searches with: 1 to 2 ms for a title of 300 characters."""
_MAX_MEM = 1 << 18
"""Bytes for RE2's program and its automaton. It bounds the time too: a search takes at most program times text."""
LAST_CASED = 0x20000
"""No character from here on has another case (a test checks all of Unicode)."""

_WORD, _DIGIT, _BLANK, _OTHER, _LINE_END = "A", "B", "?", "@", "\n"
_UNREADABLE = "\ufffd"
_ANY_MARK = r"[\n?-B]"
_ANY = f"{_ANY_MARK}.{_ANY_MARK}"
_KINDS = {
    "CATEGORY_WORD": frozenset({_WORD, _DIGIT}),
    "CATEGORY_DIGIT": frozenset({_DIGIT}),
    "CATEGORY_SPACE": frozenset({_BLANK, _LINE_END}),
}
_ALL_KINDS = frozenset({_WORD, _DIGIT, _BLANK, _OTHER, _LINE_END})
_FOLLOWING = {
    "ASSERT": "looks ahead or behind, as in (?=...)",
    "ASSERT_NOT": "looks ahead or behind, as in (?!...)",
    "FAILURE": "looks ahead or behind, as in (?!...)",
    "GROUPREF": "refers back to one of its groups, as in \\1",
    "GROUPREF_EXISTS": "refers back to one of its groups, as in (?(1)...)",
    "ATOMIC_GROUP": "has an atomic group, as in (?>...)",
    "POSSESSIVE_REPEAT": "has a possessive repeat, as in a*+",
}
_INSTEAD = {
    "ASSERT": r"use \b, ^ or $, or match what stands there",
    "ASSERT_NOT": r"use \b, ^ or $, or match what stands there with a class such as [^x]",
    "FAILURE": r"use \b, ^ or $, or match what stands there with a class such as [^x]",
    "GROUPREF": "write out what the group may hold",
    "GROUPREF_EXISTS": "write out both forms, as in (?:one|other)",
    "ATOMIC_GROUP": "write (?:...): no search takes long without it",
    "POSSESSIVE_REPEAT": "leave the second + out: no search takes long without it",
}


class PatternFault(InvalidRequest):
    """A pattern does not compile, or needs a feature that RE2 lacks; the message begins with a verb."""


class Pattern:
    """A compiled pattern."""

    def __init__(self, engine: Any, *, line_ends: bool) -> None:
        """`engine`: RE2's object; group 1 is the match. `line_ends`: `$` matches before every line end."""
        self._engine, self._line_ends = engine, line_ends
        self.size: int = engine.programsize
        """Steps of its program; a search takes at most this times the length of the text."""

    def search(self, text: str) -> tuple[int, int] | None:
        """Return the beginning and end of the first match in `text`, or None."""
        return next(self.spans(text), None)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the beginning and end of each match, from the left, without overlaps."""
        marked = _add_marks(text, self._line_ends)
        at = begun = 0
        while (found := self._engine.match(marked, at)) is not None:
            start, end = found.span(1)
            first = begun + _characters(marked[at:start])
            yield first, (last := first + _characters(marked[start:end]))
            if end == start:
                if end == len(marked):
                    return
                last, end = last + 1, end + len(_add_marks(text[last], self._line_ends))
            at, begun = end, last


@lru_cache(256)
def compile_pattern(pattern: str, *, ignore_case: bool = False, lines: bool = False) -> Pattern:
    """Return `pattern`, which has Python's syntax. `lines`: `^` and `$` match at each line's beginning and end. Raises:
    PatternFault.
    """
    flags = (re.IGNORECASE if ignore_case else 0) | (re.MULTILINE if lines else 0)
    parsed = _parse_pattern(pattern, flags)
    writer = _Re2Writer()
    body = writer.sequence(parsed, parsed.state.flags, 0)
    if writer.ends == {"line", "text"}:
        raise PatternFault("means two things by $", hint="use (?m) for all of the pattern, or \\Z for the text's end")
    return Pattern(_engine(f"(?s)(?:{_ANY})*?({body})"), line_ends="line" in writer.ends)


@lru_cache(1 << 14)
def is_found(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """Return whether `pattern` is found in the short `text`, such as a title; each pair is searched once. Raises:
    PatternFault.
    """
    return compile_pattern(pattern, ignore_case=ignore_case).search(text) is not None


@lru_cache(1 << 16)
def count_matches(pattern: str, line: str, *, ignore_case: bool = False) -> int:
    """Return how often `pattern` is found in a line of a terminal; each pair is searched once. Raises: PatternFault."""
    return sum(1 for _ in compile_pattern(pattern, ignore_case=ignore_case).spans(line))


def _parse_pattern(pattern: str, flags: int) -> Any:
    # Python has no public name for its parser; `tests/unit/test_patterns.py` runs all of its nodes through this.
    parser = importlib.import_module("re._parser")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about syntax that may change in a later Python
            return parser.parse(pattern, flags)
    except (re.error, OverflowError, RecursionError) as fault:
        raise PatternFault(
            f"does not compile: {str(fault) or 'it is nested too deep'}", hint="mend the pattern"
        ) from fault


def _engine(source: str) -> Any:
    import re2  # at the first pattern: most processes never see one

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEM
    try:
        return re2.compile(source, options)
    except re2.error as fault:
        said = fault.args[0].decode() if fault.args and isinstance(fault.args[0], bytes) else str(fault)
        raise PatternFault(
            f"is too large ({said.partition(':')[0]})", hint="repeat at most 1000 times in all, and use fewer parts"
        ) from fault


class _Class(NamedTuple):
    """The possible values of one character: of one of `kinds`, or one of `codes`, which are spans; or neither."""

    kinds: frozenset[str]
    codes: tuple[tuple[int, int], ...]
    negated: bool = False


class _Re2Writer:
    """Writes a parsed pattern for RE2. `ends`: the meanings of `$` where it stood, "line" or "text"."""

    def __init__(self) -> None:
        self.ends: set[str] = set()

    def sequence(self, nodes: Iterable[Any], flags: int, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise PatternFault(f"has groups nested deeper than {MAX_DEPTH}", hint="flatten it")
        if flags & re.ASCII:
            raise PatternFault("is limited to ASCII by (?a)", hint="leave (?a) out and write [0-9A-Za-z_] for \\w")
        return "".join(self._write_one(op.name, value, flags, depth) for op, value in nodes)

    def _write_one(self, op: str, value: Any, flags: int, depth: int) -> str:
        match op:
            case "LITERAL" | "NOT_LITERAL":
                return self._write_class(_Class(frozenset(), ((value, value),), op == "NOT_LITERAL"), flags)
            case "IN":
                return self._write_class(_read_class(value), flags)
            case "ANY":
                return _ANY if flags & re.DOTALL else f"{_ANY_MARK}[^\\n]{_ANY_MARK}"
            case "AT":
                return self._write_place(value.name, flags)
            case "BRANCH":
                return f"(?:{'|'.join(self.sequence(part, flags, depth + 1) for part in value[1])})"
            case "SUBPATTERN":
                _, added, taken, part = value
                return f"(?:{self.sequence(part, flags & ~taken | added, depth + 1)})"
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, part = value
                many = f"{{{least},}}" if most == _parser_constant("MAXREPEAT") else f"{{{least},{most}}}"
                return f"(?:{self.sequence(part, flags, depth + 1)}){many}{'?' if op == 'MIN_REPEAT' else ''}"
        raise PatternFault(_FOLLOWING.get(op, f"has a part that RE2 cannot say ({op})"), hint=_INSTEAD.get(op, ""))

    def _write_class(self, one: _Class, flags: int) -> str:
        codes = any_case(one.codes) if flags & re.IGNORECASE and one.codes else one.codes
        if not one.negated and not one.kinds and len(codes) == 1 and codes[0][0] == codes[0][1] != 10:
            kind = _kind(chr(codes[0][0]))
            return f"{kind}{_code(codes[0][0])}{kind}".replace("?", "\\?")
        kinds = "".join("\\n" if kind == _LINE_END else kind for kind in sorted(one.kinds))
        listed = "".join(f"{_code(first)}-{_code(last)}" for first, last in codes)
        if one.negated:
            return f"{f'[^{kinds}]' if kinds else _ANY_MARK}{f'[^{listed}]' if listed else '.'}{_ANY_MARK}"
        by_kind = f"[{kinds}].{_ANY_MARK}" if kinds else ""
        by_code = f"{_ANY_MARK}[{listed}]{_ANY_MARK}" if listed else ""
        return f"(?:{by_kind}|{by_code})" if kinds and listed else by_kind or by_code

    def _write_place(self, name: str, flags: int) -> str:
        match name:
            case "AT_BEGINNING":
                return "(?m:^)" if flags & re.MULTILINE else "\\A"
            case "AT_END":
                self.ends.add("line" if flags & re.MULTILINE else "text")
                return "(?m:$)"
        return {"AT_BEGINNING_STRING": "\\A", "AT_END_STRING": "\\z", "AT_BOUNDARY": "\\b", "AT_NON_BOUNDARY": "\\B"}[
            name
        ]


@cache
def _parser_constant(name: str) -> int:
    return int(getattr(importlib.import_module("re._constants"), name))


def _read_class(parts: Iterable[Any]) -> _Class:
    kinds: frozenset[str] = frozenset()
    codes: list[tuple[int, int]] = []
    negated = False
    for op, value in parts:
        match op.name:
            case "NEGATE":
                negated = True
            case "LITERAL":
                codes.append((value, value))
            case "RANGE":
                codes.append(value)
            case _:
                kinds |= _named_kinds(value.name)
    return _Class(kinds, tuple(codes), negated)


def _named_kinds(category: str) -> frozenset[str]:
    kinds = _KINDS[category.replace("_NOT_", "_")]
    return _ALL_KINDS - kinds if "_NOT_" in category else kinds


def _code(code: int) -> str:
    return f"\\x{{{code:x}}}"


# ---- case ---------------------------------------------------------------------------------------------------------


@lru_cache(64)
def any_case(codes: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the spans with all characters that are equal when Python ignores case."""
    same = _case_groups()
    more = {other for first, last in codes for code in _find_cased(first, last) for other in same.get(code, ())}
    return _join_spans([*codes, *((code, code) for code in more)])


def _find_cased(first: int, last: int) -> Iterable[int]:
    """Return the characters of first..last that may have another case, and perhaps more."""
    same = _case_groups()
    return range(first, last + 1) if last - first < len(same) else (code for code in same if first <= code <= last)


def _join_spans(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


@cache
def _case_groups() -> dict[int, tuple[int, ...]]:
    """Return the characters that Python's `re.IGNORECASE` takes for others, with those. Two are the same when their
    lower cases are, or the upper cases of these (CPython, `re/_casefix.py`).
    """
    groups: dict[str, list[int]] = {}
    for code in range(LAST_CASED):
        char = chr(code)
        lower = char.lower()
        if lower != char or char.upper() != char:
            groups.setdefault(lower[0].upper(), []).append(code)
    return {code: tuple(group) for group in groups.values() if len(group) > 1 for code in group}


# ---- texts --------------------------------------------------------------------------------------------------------


@lru_cache(64)
def _add_marks(text: str, line_ends: bool) -> bytes:
    """Return `text` with a mark before and behind each character. The last line end has one as the mark before it too,
    the others only with `line_ends`: there `$` matches.
    """
    marked = "".join(map(_with_marks, text))
    if line_ends:
        marked = marked.replace("?\n\n", "\n\n\n")
    elif text.endswith("\n"):
        marked = f"{marked[:-3]}\n\n\n"
    return marked.encode()


@lru_cache(4096)
def _with_marks(char: str) -> str:
    if char == "\n":
        return "?\n\n"
    kind = _kind(char)
    return f"{kind}{_UNREADABLE if _is_surrogate(char) else char}{kind}"


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"  # half a character, which UTF-8 has no bytes for


def _kind(char: str) -> str:
    if char.isdecimal():
        return _DIGIT
    if char.isalnum() or char == "_":
        return _WORD
    return _BLANK if char.isspace() else _OTHER


def _characters(run: bytes) -> int:
    return len(run.decode()) // 3
