"""The rules that search text, and the text with their finds masked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from acud.base.extras import is_installed
from acud.base.patterns import Pattern, compile_pattern
from acud.features.redaction.answers import find_answers
from acud.features.redaction.identity_numbers import find_ibans, find_ids
from acud.features.redaction.keys import find_keys
from acud.features.redaction.label_search import find_labelled
from acud.features.redaction.labels import RULES
from acud.features.redaction.personal_data import find_cards, find_private
from acud.features.redaction.scanner import find_by_rules
from acud.features.redaction.seed_phrases import find_seeds
from acud.features.redaction.spans import USUAL_TEXT_RULES, RedactedSpan, Rule, looks_random, merge_spans
from acud.features.redaction.text_tables import find_in_inserts, find_in_tables
from acud.features.redaction.values import looks_chosen
from acud.types import RedactedText, redaction_mark

_OF_EXTRA = frozenset((Rule.SEED, Rule.IBAN, Rule.ID, Rule.SECURE))


def find_missing_rules(names: Iterable[str]) -> list[str]:
    """Return which of the rules need acud[redact], if that is missing."""
    return [] if is_installed("redact") else [name for name in names if name in _OF_EXTRA]


def _keep_installed(names: Sequence[str]) -> frozenset[Rule]:
    return frozenset(map(Rule, names)) - frozenset(map(Rule, find_missing_rules(names)))


class TextRules(Struct, frozen=True):
    """The active rules, and the user's own expressions (`pattern`)."""

    active: frozenset[Rule] = _keep_installed(USUAL_TEXT_RULES)
    patterns: tuple[Pattern, ...] = ()


ALL = TextRules()


def text_rules(names: tuple[str, ...], patterns: tuple[str, ...]) -> TextRules:
    """Return the rules of settings: names of text rules and regular expressions; without those whose extra is missing.

    Raises: ValueError, PatternFault.
    """
    return TextRules(_keep_installed(names), tuple(map(compile_pattern, patterns)))


def find(text: str, rules: TextRules = ALL, *, read: bool = False) -> list[RedactedSpan]:
    """Return what the rules hide in `text`, in order and disjoint.

    `read`: the text was read off a screen; misread letters are allowed for, and more is hidden by mistake. A tab stands
    between two boxes of one row then, and a line break after each row.
    """
    plain = _fold_width(text)
    looks = (look for wanted, look in _LOOKS if not rules.active.isdisjoint(wanted))
    spans = merge_spans(span for look in looks for span in look(plain, rules, read) if span.rule in rules.active)
    again = list(_find_repeated(plain, spans))
    return merge_spans((*spans, *again)) if again else spans


_REPEATED = frozenset((Rule.PASSWORD, Rule.KEY))


def _find_repeated(text: str, spans: Iterable[RedactedSpan]) -> Iterator[RedactedSpan]:
    """Yield further occurrences of a password or key: in the field that repeats it, in a log of typed text."""
    known = {text[span.start : span.end]: span.rule for span in spans if span.rule in _REPEATED}
    hidden = {span.start for span in spans}
    for value, rule in known.items():
        if text.count(value) > 1 and "\n" not in value and (looks_chosen(value) or looks_random(value)):
            for match in re.finditer(rf"(?<![\w.-]){re.escape(value)}(?![\w-])", text):
                if match.start() not in hidden:
                    yield RedactedSpan(match.start(), match.end(), rule)


def redact(text: str, rules: TextRules = ALL) -> str:
    """Return `text` with a mark such as `[REDACTED_CARD]` in place of each thing found. A mark is not found again."""
    return mask_spans(text, find(text, rules))


def redact_with_rule(text: str, rules: TextRules) -> RedactedText:
    """Return `redact`'s text, and the rule of its first find."""
    spans = find(text, rules)
    return RedactedText(mask_spans(text, spans), spans[0].rule.value if spans else "")


def mask_spans(text: str, spans: Iterable[RedactedSpan]) -> str:
    """Return `text` with a mark in place of each of `spans`, which are in order and disjoint."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], redaction_mark(span.rule))
        at = span.end
    return "".join((*parts, text[at:]))


def _fold_width(text: str) -> str:
    """Return `text` with full-width and other compatibility forms made plain, each character in its place."""
    return text if text.isascii() else "".join(map(_plain_character, text))


@lru_cache(4096)
def _plain_character(c: str) -> str:
    plain = unicodedata.normalize("NFKC", c)
    return plain if len(plain) == 1 else c


def _find_patterns(text: str, rules: TextRules, read: bool) -> Iterator[RedactedSpan]:
    for pattern in rules.patterns:
        yield from (RedactedSpan(start, end, Rule.PATTERN) for start, end in pattern.spans(text))


_Look = Callable[[str, TextRules, bool], Iterable[RedactedSpan]]
_LOOKS: tuple[tuple[frozenset[Rule], _Look], ...] = (
    (frozenset({Rule.PRIVATE}), lambda text, rules, read: find_private(text, read=read)),
    (frozenset({Rule.PATTERN}), _find_patterns),
    (frozenset({Rule.KEY}), lambda text, rules, read: find_keys(text)),
    (frozenset({Rule.CARD, Rule.CODE}), lambda text, rules, read: find_cards(text, read=read)),
    (frozenset({Rule.SEED}), lambda text, rules, read: find_seeds(text, read=read)),
    (frozenset({Rule.IBAN}), lambda text, rules, read: find_ibans(text, read=read)),
    (frozenset({Rule.ID}), lambda text, rules, read: find_ids(text)),
    (frozenset(Rule), lambda text, rules, read: find_by_rules(text, rules.active, read=read)),
    (frozenset(RULES.values()) | {Rule.CODE}, lambda text, rules, read: find_labelled(text, read=read)),
    (frozenset(RULES.values()), lambda text, rules, read: find_in_tables(text, read=read)),
    (frozenset(RULES.values()), lambda text, rules, read: find_in_inserts(text)),
    (frozenset({Rule.PASSWORD, Rule.CODE, Rule.KEY}), lambda text, rules, read: find_answers(text)),
)
"""The rules that each search may report, and the search."""
