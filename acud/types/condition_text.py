"""Conditions in words, for every surface."""

from __future__ import annotations

from enum import StrEnum

from acud.types.conditions import AllOf, AnyOf, NotOf, Then, Until, appears_then_goes


class ConditionWords(StrEnum):
    """The form of a condition in words."""

    SENTENCE = "sentence"
    """In wakes, events and task logs: `the text "Done" is visible`."""
    BRIEF = "brief"
    """In replies to models: `text "Done"`."""
    DETAILED = "detailed"
    """On a terminal: brief, with patterns between slashes, shares, and brackets around nested parts."""


def condition_text(until: Until, wording: ConditionWords = ConditionWords.SENTENCE) -> str:
    match until:
        case AllOf():
            return " and ".join(_write_part(part, wording) for part in until.parts)
        case AnyOf():
            return " or ".join(_write_part(part, wording) for part in until.parts)
        case NotOf():
            if wording is ConditionWords.SENTENCE:
                return f"not {_write_part(until.part, wording)}"
            return f"not ({condition_text(until.part, wording)})"
        case Then():
            if until == appears_then_goes(until.parts[0]):
                return f"{_write_part(until.parts[0], wording)}, then no longer"
            return ", then ".join(_write_part(part, wording) for part in until.parts)
    if wording is ConditionWords.SENTENCE:
        return until.describe()
    return until.abbreviate(detailed=wording is ConditionWords.DETAILED)


def _write_part(until: Until, wording: ConditionWords) -> str:
    text = condition_text(until, wording)
    if not isinstance(until, AllOf | AnyOf) or wording is ConditionWords.BRIEF:
        return text
    bare = wording is ConditionWords.SENTENCE and len(until.parts) == 1
    return text if bare else f"({text})"
