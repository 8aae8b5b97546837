"""The rules that search text, and the text with their finds masked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from acud.base.extras import is_installed
from acud.base.patterns import Pattern, compile_pattern
from acud.features.redaction.identity_numbers import find_ibans, find_ids
from acud.features.redaction.keys import find_keys
from acud.features.redaction.label_search import find_labelled
from acud.features.redaction.labels import RULES, LabelKind, find_label, may_announce
from acud.features.redaction.personal_data import find_cards, find_private
from acud.features.redaction.rule_data import forms
from acud.features.redaction.scanner import find_by_rules
from acud.features.redaction.seed_phrases import find_seeds
from acud.features.redaction.spans import (
    USUAL_TEXT_RULES,
    RedactedSpan,
    Rule,
    find_words,
    looks_random,
    merge_spans,
    split_lines,
)
from acud.features.redaction.text_tables import find_in_inserts, find_in_tables
from acud.features.redaction.values import looks_chosen
from acud.types import RedactedText, redaction_mark

_OF_EXTRA = frozenset((Rule.SEED, Rule.IBAN, Rule.ID, Rule.SECURE))


def find_missing_rules(names: Iterable[str]) -> list[str]:
    """Return which of the rules need acud[redact], if that extra is missing."""
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
    # `text` with full-width and other compatibility forms made plain, each character in its place.
    plain = text if text.isascii() else "".join(map(_plain_character, text))
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


_ANSWERS, _AFTER_QUESTION, _PRINTED, _FIRST_WORDS, _LEAST, _LONGEST = 2, 48, 8, 8, 6, 400
"""Lines that may answer a question, and characters that may follow its mark (`… the PIN? We keep forgetting it.`).
Lines that a command prints, and words and letters of the first one; the longest secret.
"""
_CODES = frozenset(("code", "kod", "kode", "koden", "código", "codice", "код"))


def find_answers(text: str) -> Iterator[RedactedSpan]:
    """Yield the secrets in lines of `text` that follow a question for one, or a command that prints one."""
    # `Tom: what was the wifi password?` — `Lea: Tulip_bulb9`; `$ pwgen -s 18` — `7kiWqQelwan7GmeY5R`.
    lines = split_lines(text)
    for number, (_, line) in enumerate(lines):
        below = lines[number + 1 : number + 1 + _PRINTED]
        asks = line.rfind("?") + 1
        if max(1, len(line) - _AFTER_QUESTION) < asks and not line[asks : asks + 1].strip():
            asked = "\n".join(one for _, one in lines[max(0, number - _ANSWERS) : number + 1])
            question = line[: asks - 1].replace("!", ".").replace("?", ".").rpartition(". ")[2]
            is_answered = line[asks:].strip() and any(_find_kinds(question))
            rest = [(lines[number][0] + asks, line[asks:])] if is_answered else []
            yield from _find_answer(line, asked, [*rest, *below])
        elif forms()["command line"].search(line) and forms()["printing command"].search(line):
            yield from _find_printed(below)


def _find_answer(line: str, prompt: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    kinds = {kind for part in (line, prompt) for kind in _find_kinds(part)}
    if not kinds & {LabelKind.PASSWORD, LabelKind.PHRASE, LabelKind.CODE}:
        return
    for start, reply in below[:_ANSWERS]:
        speaker = forms()["chat speaker"].match(reply)
        for begin in dict.fromkeys((speaker.end() if speaker is not None else 0, 0)):
            lead = forms()["chat lead"].match(reply, begin)
            begin = lead.end() if lead is not None else begin
            code = forms()["chat code"].match(reply, begin) if LabelKind.CODE in kinds else None
            word = f"{reply[begin : begin + 64]} ".replace(",", " ").partition(" ")[0]
            if code is not None and sum(c.isdigit() for c in code[0]) > 2:
                yield RedactedSpan(start + begin, start + code.end(), Rule.CODE)
                return
            if len(word) > 3 and kinds != {LabelKind.CODE} and looks_chosen(word) and word[-1] not in ":?":
                kept = word.rstrip(".;!")
                yield RedactedSpan(start + begin, start + begin + len(kept), Rule.PASSWORD)
                return


def _find_kinds(line: str) -> Iterator[LabelKind]:
    """Yield the kinds that the words of a line announce."""
    for match in re.finditer(r"\w{2,60}", line):
        names = line[max(0, match.start() - 24) : match.end()].rpartition("\n")[2]
        found = find_label(names) if may_announce(match[0]) else None
        if found is not None and not found.is_bare:
            yield found.kind
        elif match[0].casefold() in _CODES:
            yield LabelKind.CODE


def _find_printed(below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield a command's output up to the next prompt: the first line, and random-looking words in others."""
    for number, (start, line) in enumerate(below):
        if forms()["prompt"].match(line) or not line.strip():
            return
        named = line.partition(":")[0].replace("-", "").replace("_", "").isalnum() and ": " in f"{line} "
        for word in (one for one in find_words(line) if 4 <= len(one[0]) <= _LONGEST):
            is_first = number == 0 and len(line.split()) <= _FIRST_WORDS and not named
            alone = number == 0 and word[0] == line.strip() and len(word[0]) >= _LEAST
            strong = alone or looks_chosen(word[0]) or looks_random(word[0]) or word[0].isdigit()
            if (is_first and strong) or (looks_random(word[0]) and not named):
                yield RedactedSpan(start + word.start(), start + word.end(), RULES[LabelKind.KEY])
