"""What a case of `scripts/bench foreign` is, and the answers it may have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from acud.types import Verdict
from tests.fixtures.daemon import Daemon

SETTINGS = '[vision]\nbackend = "ocr"\n'
"""What a daemon of these cases runs with, unless their module says otherwise."""


class Answer(StrEnum):
    """How acud answered: as it is, falsely, or not at all (`unknown`, refused) where it could have known."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of one case and what acud printed, in one line."""

    answer: Answer
    printed: str


@dataclass(frozen=True, slots=True)
class Case:
    """One real situation. `check` makes it on a display of its own, asks acud, and ends what it started.

    `held_out`: its program or layout was not used while the rules were written.
    """

    name: str
    check: Callable[[Daemon], Outcome]
    held_out: bool = False


def compare(seen: object, expected: object, printed: str = "") -> Outcome:
    """Return right where `seen` equals `expected`, else wrong."""
    return Outcome(Answer.RIGHT if seen == expected else Answer.WRONG, printed or repr(seen))


def compare_verdict(verdict: Verdict, *expected: str) -> Outcome:
    """Return right for a verdict of one of the `expected` answers, unknown for any other "unknown", else wrong."""
    answer = str(verdict.answer)
    if answer in expected:
        return Outcome(Answer.RIGHT, f"{answer}: {verdict.detail}")
    return Outcome(Answer.UNKNOWN if answer == "unknown" else Answer.WRONG, f"{answer}: {verdict.detail}")


def count(outcomes: Iterable[Outcome], answer: Answer) -> int:
    return sum(outcome.answer is answer for outcome in outcomes)
