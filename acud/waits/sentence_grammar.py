"""The vocabulary and the patterns of sentences.toml, compiled."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from acud.language.numbers import COUNT_WORDS, TIME_UNITS
from acud.types import Comparison

_WORD = re.compile(r"\{([a-z]\w+)\}")


class Grammar:
    """The patterns of sentences.toml, compiled."""

    def __init__(self) -> None:
        table: dict[str, Any] = tomllib.loads(files("acud.waits").joinpath("sentences.toml").read_text("utf-8"))
        self._words: dict[str, str] = {**table["words"], **table["opening"]}
        self.contractions = [(self.compile(row["written"]), row["full"]) for row in table["contractions"]]
        self.never_first = frozenset(table["names"]["never_first"].split())
        self.never_within = frozenset(table["names"]["never_within"].split())
        self.plain_names = frozenset(table["names"]["plain"].split())
        self.units = frozenset(table["names"]["units"].split())
        self.roles = {written: role or written for written, role in table["roles"].items()}
        self.groups: dict[str, list[str]] = table["groups"]
        self._words |= {
            "role": _any_of(self.roles),
            "count_word": _any_of(COUNT_WORDS),
            "time_unit": _any_of(TIME_UNITS),
        }
        self._words |= {
            "state": self._state_words(table["states"]),
            "compared": self._comparison_words(table["compared"]),
        }
        self.compared = [
            (Comparison(row["sign"]), self.compile(row["verb"]), self.compile(row.get("after", "")))
            for row in table["compared"]
        ]
        self.clauses = [
            (row["kind"], way, self.compile(pattern))
            for row in table["clauses"]
            for way, patterns in row.items()
            if way != "kind"
            for pattern in patterns
        ]
        self.noun, self.role, self.any_state, self.compared_number, self.span = map(
            self.compile, ("{a_text}", r"\b{role}\b", r"\b{state}\b", r"(?<!\S){compared}", r"\b{span}\b")
        )
        self.hints = {name: self.compile(pattern) for name, pattern in table["hints"].items()}
        doubt = table["doubt"]
        self.doubt, self.negated, self.reached = map(self.compile, (doubt["words"], doubt["negated"], "{reaches}"))
        self.opening = self.compile(
            "(?:{polite},? )*(?:(?:{modal} )?(?:{polite} )*"
            "(?:{tell} {when}|{hold} (?:{until}|(?P<there>for))|{stay} (?:{until}|before))|{when}|{until}) "
        )
        self.closing = self.compile(f".*?(?P<end>{table['closing']['ask']}|{table['closing']['thanks']})")

    def compile(self, pattern: str) -> re.Pattern[str]:
        """Return a pattern with the words that its names in braces stand for."""
        while (full := _WORD.sub(lambda found: self._words[found[1]], pattern)) != pattern:
            pattern = full
        return re.compile(pattern, re.IGNORECASE)

    def _state_words(self, states: dict[str, str]) -> str:
        said = (
            f"(?P<{state}>(?:{{be}} )?(?:{words}))|(?P<not_{state}>{{not}} (?:{words}){{more}})"
            for state, words in states.items()
        )
        return f"(?:{'|'.join(said)})"

    def _comparison_words(self, rows: list[dict[str, str]]) -> str:
        verbs, after = ("|".join(dict.fromkeys(row[of] for row in rows if of in row)) for of in ("verb", "after"))
        return f"(?P<verb>{verbs}) {{amount}}(?P<after>{after}|)"


def _any_of(words: Any) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


@cache
def grammar() -> Grammar:
    """Return the grammar; reading and compiling it takes a moment the first time."""
    return Grammar()
