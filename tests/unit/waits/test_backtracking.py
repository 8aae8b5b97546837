"""Patterns that could take for ever are refused, and what people write is not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.errors import InvalidRequest
from acud.waits.backtracking import MOST_WAYS, ways
from acud.waits.patterns import check_pattern, check_searched


@pytest.mark.parametrize(
    "pattern",
    [
        r"Done|Failed|Error",
        r"\d+\.\d+\.\d+\.\d+",
        r"(\d+)\.(\d+)\.(\d+)\.(\d+)",
        r"\d+ of \d+ files, \d+ MB/s",
        r"\w+\s+\w+\s+\w+\s+\w+",
        r".*Inbox.*Mail.*",
        r"(?i)(error|failed): .* at .*",
        r"(?:[01]?\d|2[0-3]):[0-5]\d",
        r"https?://\S+/\S*\.zip",
        r"^\[[^\]]*\] [^:]*: .*$",
        r"a*+a*+a*+a*+b",
    ],
)
def test_what_people_write(pattern: str) -> None:
    check_searched(pattern, "title")


@pytest.mark.parametrize(
    "pattern",
    [
        "a*a*a*a*b",
        ".*a.*b.*c.*d",
        "(a*)(a*)(a*)(a*)b",
        "a?" * 40 + "a" * 40,
        "(a|aa)" * 60 + "b",
        "a+ab+bc+cd+d" + "a+" * 3 + "b",
        "(?x)a* a* a* a* b",
        "(?=a*a*a*a*b)",
        "[ab]{0,250}[ab]{0,250}[ab]{0,250}[ab]{0,250}c",
        "(?i)A*a*A*a*b",
    ],
)
def test_what_would_take_minutes(pattern: str) -> None:
    check_pattern(pattern, "title")
    with pytest.raises(InvalidRequest, match="too many parts of any length"):
        check_searched(pattern, "title")


def test_one_part_more_is_never_less_work() -> None:
    found = [ways("a*" * count + "b") for count in range(1, 9)]
    assert found == sorted(found)
    assert found[-1] > MOST_WAYS


PARTS = st.sampled_from(["a", "b", ".", "[ab]", r"\w", r"\.", *"()|*+?^$", "{0,9}", "{3}", "(?:", "(?="])


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.lists(PARTS, max_size=20).map("".join))
def test_any_pattern_that_compiles_is_read_to_its_end(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        return
    assert ways(pattern) >= 1
