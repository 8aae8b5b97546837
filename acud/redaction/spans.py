"""Where something secret stands in a text, and what it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Rule(StrEnum):
    """What is hidden, in the order of weight: of two that overlap the first names both."""

    PRIVATE = "private"
    PATTERN = "pattern"
    KEY = "key"
    CARD = "card"
    PASSWORD = "password"  # noqa: S105 - the name of a rule
    WINDOW = "window"
    REGION = "region"
    SECURE = "secure"


TEXT_RULES = (Rule.PRIVATE, Rule.PATTERN, Rule.KEY, Rule.CARD, Rule.PASSWORD)
"""The rules that look for text; the others are places."""

_WEIGHT = {rule: place for place, rule in enumerate(Rule)}


class Span(NamedTuple):
    """text[start:end] is hidden by `rule`."""

    start: int
    end: int
    rule: Rule


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return `spans` in order, those that overlap made one under the weightier rule; empty ones are left out."""
    done: list[Span] = []
    for span in sorted(span for span in spans if span.end > span.start):
        if done and span.start < done[-1].end:
            last = done.pop()
            rule = min(last.rule, span.rule, key=_WEIGHT.__getitem__)
            span = Span(last.start, max(last.end, span.end), rule)
        done.append(span)
    return done


def mark(rule: Rule) -> str:
    """Return what stands in a text in place of what was hidden."""
    return f"[REDACTED_{rule.upper()}]"
