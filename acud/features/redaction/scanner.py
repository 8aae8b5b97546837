"""The scanner: finds secrets by the rules of `rules.toml`, and tokens by the forms of the two `…_token_forms.toml`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from msgspec import Struct

from acud.base.typed_values import convert
from acud.features.redaction.labels import label_words
from acud.features.redaction.rule_data import compile_rule, rule_data
from acud.features.redaction.spans import (
    RedactedSpan,
    Rule,
    join_full_lines,
    looks_random,
    lower_in_place,
    number_check,
)
from acud.features.redaction.values import is_reference, looks_chosen


class PatternRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule: see the head of `rules.toml`."""

    rule: Rule
    needles: tuple[str, ...]
    pattern: str
    test: str = ""
    within: str = ""
    anywhere: bool = False
    any_case: bool = False
    prose: bool = False
    read: bool = False


class TokenForm(Struct, frozen=True, forbid_unknown_fields=True):
    """A form of tokens: see the head of `other_token_forms.toml`."""

    id: str
    needles: tuple[str, ...]
    pattern: str
    source: str = "gitleaks"
    seen: str = ""
    anywhere: bool = False
    any_case: bool = False


class _Option(Struct, frozen=True, forbid_unknown_fields=True):
    programs: tuple[str, ...]
    options: tuple[str, ...]
    gap: str = r"[ \t]{1,2}"
    value: str = "@VALUE@"


def find_by_rules(text: str, active: frozenset[Rule], *, read: bool) -> Iterator[RedactedSpan]:
    """Yield what the rules find in `text` for `active` ones; `read`: an engine read it off a screen."""
    flow = join_full_lines(text, read=read)
    low = lower_in_place(text)
    low_flow = low if flow == text else lower_in_place(flow)
    for rule in _make_rules():
        if rule.rule not in active or (rule.read and not read):
            continue
        shown, lowered = (flow, low_flow) if rule.prose else (text, low)
        searched = lowered if rule.any_case else shown
        for needle in rule.needles:
            if needle in searched:
                for match in _find_matches(rule, shown, searched):
                    yield from _take_groups(rule, match)
                break  # of most rules, by far, no needle is there


def _find_matches(rule: PatternRule, text: str, searched: str) -> Iterator[re.Match[str]]:
    pattern = compile_rule(rule.pattern, any_case=rule.any_case)
    if rule.within:
        for region in compile_rule(rule.within, any_case=rule.any_case).finditer(text):
            yield from pattern.finditer(text, *region.span())
    elif rule.anywhere:
        yield from pattern.finditer(text)
    else:
        for needle in rule.needles:
            at = searched.find(needle)
            while at >= 0:
                match = pattern.match(text, at)
                if match is not None:
                    yield match
                at = searched.find(needle, at + 1)


def _take_groups(rule: PatternRule, match: re.Match[str]) -> Iterator[RedactedSpan]:
    if rule.test == "access code" and not _gives_access(match.string, *match.span("_name")):
        return
    accept, trimmed = _TESTS.get(rule.test) or (number_check(rule.test), "")
    for group in [name for name in match.re.groupindex if name[0] != "_"] or (0,):
        value = match[group]
        if value is not None:
            value, start = value.rstrip(trimmed), match.start(group)
            if value and not _is_mark(match.string, start) and accept(value):
                yield RedactedSpan(start, start + len(value), rule.rule)


def _is_mark(text: str, start: int) -> bool:
    """Return whether a mark of something hidden begins at `start`, or its bracket right before."""
    return "[REDACTED_" in text[max(0, start - 1) : start + len("[REDACTED_")]


_ENDS_PROSE = ".,;:?)\"']}"


def _is_chosen(value: str) -> bool:
    return looks_chosen(value) and not value.startswith(("$", "//", "{", "(", "http"))


def _is_grouped(key: str) -> bool:
    """Return whether the groups form a key: letters and digits mixed in several, and no hex, as in fingerprints."""
    groups = key.replace("-", " ").split()
    if len(groups) == _DISK_GROUPS and all(map(str.isdigit, groups)):
        return True
    mixed = sum(any(c.isdigit() for c in group) and any(c.isalpha() for c in group) for group in groups)
    return 2 * mixed >= len(groups) and any(c in "GHIJKLMNOPQRSTUVWXYZ" for c in key.upper())


_DISK_GROUPS = 8
"""Of the recovery key of a disk (BitLocker)."""

_TESTS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "": (bool, ""),
    "access code": (bool, ""),
    "literal": (lambda value: not is_reference(value), ""),
    "random": (looks_random, ""),
    "chosen": (_is_chosen, _ENDS_PROSE),
    "grouped": (_is_grouped, ""),
    "phone": (lambda value: 7 <= sum(map(str.isdigit, value)) <= 15, ""),
    "digit": (lambda value: any(c.isdigit() for c in value), ""),
}
"""What a value must be, and what is cut off from its end."""


def token_forms() -> tuple[TokenForm, ...]:
    """Return the forms of API keys and other tokens, from the rule files of this package."""
    written = (*rule_data("gitleaks_token_forms")["form"], *rule_data("other_token_forms")["form"])
    return convert(written, tuple[TokenForm, ...])


@cache
def _make_rules() -> tuple[PatternRule, ...]:
    data = rule_data("rules")
    options = (
        PatternRule(
            Rule.PASSWORD,
            one.programs,
            rf"\b(?:{'|'.join(map(re.escape, one.programs))})(?![\w.])@ARGS@{re.escape(option)}{one.gap}{one.value}",
            "literal",
        )
        for one in convert(data["option"], tuple[_Option, ...])
        for option in one.options
    )
    tokens = (
        PatternRule(Rule.KEY, one.needles, rf"{_ALONE}(?:{one.pattern})", anywhere=one.anywhere, any_case=one.any_case)
        for one in token_forms()
    )
    return (*tokens, *options, *convert(data["rule"], tuple[PatternRule, ...]))


_ALONE = "(?<![A-Za-z0-9])"


# ---- names of codes ----------------------------------------------------------------------------------------------


_NEAR = 80
_BEFORE = re.compile(r"(?:(\w+)\W{1,2})?([\w-]*)$")
_AFTER = re.compile(r"\W{1,2}(\w+)")


def _gives_access(text: str, start: int, end: int) -> bool:
    """Return whether the word that ends with text[start:end] names a code that lets people in."""
    before = lower_in_place(text[max(0, start - _NEAR) : start]).rpartition("\n")[2]
    after = lower_in_place(text[end : end + _NEAR]).partition("\n")[0]
    left, right = _BEFORE.search(before[-_NEAR:]), _AFTER.match(after)
    assert left is not None
    word, topics = left[2] + lower_in_place(text[start:end]), label_words("code_topics")
    if word in label_words("other_codes") or left[1] in topics or (right is not None and right[1] in topics):
        return False
    if any(word.startswith(topic) and len(word) - len(topic) < 6 for topic in topics if len(topic) > 3):
        return False
    if word not in label_words("plain_codes"):
        return True
    return compile_rule("@ABOUT_CODE@", any_case=True).search(before + word + after) is not None
