"""Patterns mean what they mean to Python, letters of every script included; what RE2 cannot say is refused."""

import re
import sys
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.base import patterns
from acud.base.patterns import PatternFault, compile_pattern

ALPHABET = "aAbz_19 -\n\tßẞäÄöéÉИиЖжж日本語가٣५๓²½Ⅷⅷ\u00a0\u2003\x1f\u3000İıiIſsSKkKµμςσΣﬅﬆ\u0345ͅιΐΐǅǆǄ🙂①\u200b"
TEXTS = st.text(ALPHABET, max_size=12) | st.text(max_size=8)
CLASSES = [r"\w", r"\W", r"\d", r"\D", r"\s", r"\S"]
PLACES = [r"\b", r"\B", "^", "$", r"\A", r"\Z"]
LITERALS = st.sampled_from(ALPHABET).map(re.escape)
MEMBERS = st.one_of(
    st.sampled_from(CLASSES), LITERALS, st.sampled_from(["a-z", "À-ɏ", "а-я", "0-9", "\\x00-\\U0010ffff", "ℂ-ℿ"])
)
SETS = st.tuples(st.booleans(), st.lists(MEMBERS, min_size=1, max_size=3)).map(
    lambda drawn: f"[{'^' if drawn[0] else ''}{''.join(drawn[1])}]"
)
ATOMS = st.one_of(st.sampled_from([*CLASSES, *PLACES, ".", r"\n"]), LITERALS, SETS)


def _larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Patterns of `parts`. What can be empty is not repeated: there engines differ in where a match ends."""
    return st.one_of(
        st.lists(parts, min_size=1, max_size=4).map("".join),
        st.lists(parts, min_size=1, max_size=3).map(lambda some: f"(?:{'|'.join(some)})"),
        st.tuples(st.one_of(st.sampled_from([*CLASSES, "."]), LITERALS, SETS), st.sampled_from(REPEATS)).map("".join),
        st.tuples(st.sampled_from(["(?i:", "(?s:", "(", "(?P<name>", "(?-i:"]), parts).map(
            lambda two: f"{two[0]}{two[1]})"
        ),
        parts.map(lambda part: f"(?:{part}x)+"),
    )


REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"]
PATTERNS = st.recursive(ATOMS, _larger, max_leaves=8)


def compute_expected(pattern: str, text: str, flags: int = 0) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(pattern, text, flags)]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(PATTERNS, TEXTS, st.booleans(), st.booleans())
def test_a_match_is_where_python_finds_it(pattern: str, text: str, ignore_case: bool, lines: bool) -> None:
    flags = (re.IGNORECASE if ignore_case else 0) | (re.MULTILINE if lines else 0)
    try:
        found = re.search(pattern, text, flags)
    except re.error:
        return
    ours = compile_pattern(pattern, ignore_case=ignore_case, lines=lines).search(text)
    # Before Python 3.14 nothing is no place between two letters of the same kind; to RE2 it is.
    assert ours == (found.span() if found else None) or (not text and r"\B" in pattern)


@pytest.mark.parametrize("pattern", [*CLASSES, *PLACES, ".", r"[\w-]", r"[^\w-]", r"[^\D٣]", r"[\W\d]", r"\b\w+\b"])
@pytest.mark.parametrize("ignore_case", [False, True])
def test_classes_and_boundaries_over_all_of_unicode(pattern: str, ignore_case: bool) -> None:
    """Each character between a letter and a blank, in texts of a few thousand."""
    flags = re.IGNORECASE if ignore_case else 0
    engine = compile_pattern(pattern, ignore_case=ignore_case)
    for start in (0, 0x2000, 0xA000, 0xF000, 0x10000, 0x1D000, 0x1F000):
        text = "".join(f"a{chr(code)} " for code in range(start, start + 0x1000))
        assert list(engine.spans(text)) == compute_expected(pattern, text, flags)


def test_case_is_ignored_as_python_ignores_it() -> None:
    cased = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if chr(code).lower() != chr(code) or chr(code).upper() != chr(code)
    ]
    assert max(map(ord, cased)) < patterns.LAST_CASED
    text = "".join(cased)
    for char in cased:
        same = "".join(re.findall(re.escape(char), text, re.IGNORECASE))
        ours = patterns.any_case(((ord(char), ord(char)),))
        assert same == "".join(chr(code) for first, last in ours for code in range(first, last + 1)), char


@pytest.mark.parametrize(("pattern", "text"), [
    ("(?x) a b # said", "xab"), (r"\N{GREEK SMALL LETTER ALPHA}\x41\u00e4\101\0", "αAäA\0"),
    ("(?im)^ende$|x", "a\nENDE\nb"), ("a$", "a\n"), ("a$", "a\n\n"), (r"a\n$", "a\n"), (r"\s$", "a \n"),
    (r"a\Z", "a\n"), ("(?m)a$", "a\n\na"), ("(?m)^$", "a\n\nb\n"), ("[[a]", "["), ("", ""), ("a|", "ba"),
    ("(?i)[^ä]", "Ää"), (r"[\ud800-\udfff]?x", "x"),
])  # fmt: skip
def test_what_else_python_says(pattern: str, text: str) -> None:
    ours = list(compile_pattern(pattern).spans(text))
    with warnings.catch_warnings(action="ignore"):
        assert ours == compute_expected(pattern, text)


def test_half_a_character_is_one_of_another_kind() -> None:
    assert list(compile_pattern(r"\W.").spans("a\ud800b\udfff")) == [(1, 3)]
    assert compile_pattern("\ud800x").search("\ud800") is None


@pytest.mark.parametrize(("pattern", "reason"), [
    (r"(a)\1", "refers back"), (r"(a)?(?(1)b|c)", "refers back"), ("(?=a)", "looks ahead or behind"),
    ("(?<!a)b", "looks ahead or behind"), ("(?!)", "looks ahead or behind"), ("(?>a+)b", "atomic"),
    ("a*+", "possessive"), (r"(?a)\w", "ASCII"), ("a{1001}", "too large"), ("(?:a{100}){100}", "too large"),
    ("(?:(?:[^x]?[^y]?[^z]?){30}){33}" * 9, "too large"), (r"(?m:a$)|b$", "means two things"),
    ("(" * 60 + ")" * 60, "nested deeper"), ("(" * 240 + ")" * 240, "nested"), ("(", "does not compile"),
    ("a{99999999999}", "does not compile"), ("*", "does not compile"),
])  # fmt: skip
def test_what_cannot_be_said_is_refused_with_a_next_step(pattern: str, reason: str) -> None:
    with pytest.raises(PatternFault, match=reason) as caught:
        compile_pattern(pattern)
    assert caught.value.hint


@pytest.mark.parametrize(
    "pattern", ["(?:A?){60}b", "(a+)+$", "(a|aa)*b", "a*a*a*a*b", "(?:(?:.?){30}){33}b", r"(?:\w{1,30}\s?){1,30}!"]
)
def test_no_pattern_takes_long(pattern: str) -> None:
    """Python's engine needs from minutes to the age of the universe for each."""
    engine, started = compile_pattern(pattern, ignore_case=True), time.process_time()
    assert engine.search("a" * 3000 + " ") is None
    assert time.process_time() - started < 20
