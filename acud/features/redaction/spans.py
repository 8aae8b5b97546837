"""Spans of secret text: the rules by name, their marks, and the test for random-looking text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import NamedTuple


class Rule(StrEnum):
    """Kinds of hidden content in order of weight: where two overlap, the first names both."""

    PRIVATE = "private"
    PATTERN = "pattern"
    KEY = "key"
    CARD = "card"
    SEED = "seed"
    IBAN = "iban"
    ID = "id"
    CODE = "code"
    PASSWORD = "password"  # noqa: S105 - the name of a rule
    EMAIL = "email"
    PHONE = "phone"
    WINDOW = "window"
    REGION = "region"
    SECURE = "secure"


USUAL_TEXT_RULES = (
    Rule.PRIVATE, Rule.PATTERN, Rule.KEY, Rule.CARD, Rule.SEED, Rule.IBAN, Rule.ID, Rule.CODE, Rule.PASSWORD
)  # fmt: skip
"""The rules that search text, without those that must be switched on (`email`, `phone`)."""
_WEIGHT = {rule: place for place, rule in enumerate(Rule)}


class RedactedSpan(NamedTuple):
    """text[start:end] is hidden by `rule`."""

    start: int
    end: int
    rule: Rule


def merge_spans(spans: Iterable[RedactedSpan]) -> list[RedactedSpan]:
    """Return `spans` in order, overlapping ones merged under the weightier rule; empty ones are left out."""
    done: list[RedactedSpan] = []
    for span in sorted(span for span in spans if span.end > span.start):
        if done and span.start < done[-1].end:
            last = done.pop()
            rule = min(last.rule, span.rule, key=_WEIGHT.__getitem__)
            span = RedactedSpan(last.start, max(last.end, span.end), rule)
        done.append(span)
    return done


def lower_in_place(text: str) -> str:
    """Return `text` in lower case, each character in its place: only the Turkish capital İ would become two."""
    return text.replace("İ", "i").lower()


@cache
def number_check(module: str) -> Callable[[str], bool]:
    """Return the check of a number that `module` of python-stdnum has, which is imported for its first number."""
    found: Callable[[str], bool] = import_module(module).is_valid
    return found


_WRAPPED = re.compile(r"\n(?<=[^\W\d_]{3}\n|\w[^\W\d_],\n)(?=[^\s:=|]{1,40}[ .,;!]|[^\s:=|]{1,40}$)(?<=[^\n]{50}\n)")
"""Where a sentence continues in the next line, because its line was full."""


def join_full_lines(text: str, *, read: bool) -> str:
    """Return `text` with a blank where a sentence goes on in the next line; `read`: an engine read it off a screen."""
    return _WRAPPED.sub(" ", text.replace(";", ":") if read else text)


def split_lines(text: str) -> list[tuple[int, str]]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    return lines


def find_words(text: str) -> list[re.Match[str]]:
    """Return what stands between blanks in `text`."""
    return list(re.finditer(r"\S+", text))


def is_mixed(word: str) -> bool:
    """Return whether `word` has both letters and digits."""
    return any(map(str.isalpha, word)) and any(map(str.isdigit, word))


_MIN_CHARS = 12
_ENOUGH = 256
"""Characters to look at: more add nothing, and a word may be a megabyte."""
_MIN_TURNS_PER_CHAR = 0.2
_MIN_BITS = 3.0

# A word of letters alone must be longer, and change case more often than CamelCase does.
_MIN_LETTERS = 20
_MIN_TURNS_OF_LETTERS = 0.4
_MIN_LETTER_BITS = 4.0


def looks_random(word: str) -> bool:
    """Return whether `word` has at least 12 letters and digits in an order that neither people nor programs choose.

    Words of a language and identifiers change seldom between letters and digits, or are of one case.
    """
    seen = [c for c in word[:_ENOUGH] if c.isalnum()]
    if len(seen) < _MIN_CHARS:
        return False
    kinds = ["digit" if c.isdigit() else "upper" if c.isupper() else "lower" for c in seen]
    turns = sum(1 for a, b in pairwise(kinds) if a != b)
    if "digit" in kinds:
        return turns >= _MIN_TURNS_PER_CHAR * len(kinds) and _entropy_bits(seen) >= _MIN_BITS
    return (
        len(kinds) >= _MIN_LETTERS
        and turns >= _MIN_TURNS_OF_LETTERS * len(kinds)
        and _entropy_bits(seen) >= _MIN_LETTER_BITS
    )


def _entropy_bits(seen: list[str]) -> float:
    counts = Counter(seen)
    return -sum(n / len(seen) * math.log2(n / len(seen)) for n in counts.values())
