"""Secrets that follow from the line before: answers in chats, and the output of programs that print secrets.

`Tom: what was the wifi password?` — `Lea: Tulip_bulb9`; `$ pwgen -s 18` — `7kiWqQelwan7GmeY5R`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from acud.features.redaction.labels import RULES, LabelKind, find_label, may_announce
from acud.features.redaction.rule_data import forms
from acud.features.redaction.spans import RedactedSpan, Rule, find_words, looks_random, split_lines
from acud.features.redaction.values import looks_chosen

_ANSWERS, _AFTER_QUESTION, _PRINTED, _FIRST_WORDS, _LEAST, _LONGEST = 2, 48, 8, 8, 6, 400
"""Lines that may answer a question, and characters that may follow its mark (`… the PIN? We keep forgetting it.`).
Lines that a command prints, and words and letters of the first one; the longest secret.
"""
_CODES = frozenset(("code", "kod", "kode", "koden", "código", "codice", "код"))


def find_answers(text: str) -> Iterator[RedactedSpan]:
    """Yield the secrets in lines of `text` that follow a question for one, or a command that prints one."""
    lines = split_lines(text)
    for number, (_, line) in enumerate(lines):
        below = lines[number + 1 : number + 1 + _PRINTED]
        asks = line.rfind("?") + 1
        if max(1, len(line) - _AFTER_QUESTION) < asks and not line[asks : asks + 1].strip():
            asked = "\n".join(one for _, one in lines[max(0, number - _ANSWERS) : number + 1])
            question = line[: asks - 1].replace("!", ".").replace("?", ".").rpartition(". ")[2]
            is_answered = line[asks:].strip() and any(_kinds(question))
            rest = [(lines[number][0] + asks, line[asks:])] if is_answered else []
            yield from _find_answer(line, asked, [*rest, *below])
        elif forms()["command line"].search(line) and forms()["printing command"].search(line):
            yield from _find_printed(below)


def _find_answer(line: str, prompt: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    kinds = {kind for part in (line, prompt) for kind in _kinds(part)}
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


def _kinds(line: str) -> Iterator[LabelKind]:
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
