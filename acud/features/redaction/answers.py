"""Secrets that follow from the line before: answers in chats, and the output of programs that print secrets.

`Tom: what was the wifi password?` — `Lea: Tulip_bulb9`; `$ pwgen -s 18` — `7kiWqQelwan7GmeY5R`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from acud.features.redaction.labels import RULES, LabelKind, find_label, may_announce
from acud.features.redaction.spans import RedactedSpan, Rule, looks_random
from acud.features.redaction.values import looks_chosen

_RUN = re.compile(r"\w{2,60}")
_SPEAKER = re.compile(
    r"[ \t>]{0,4}(?:[\[(]?[0-9]{1,2}[:.][0-9]{2}(?::[0-9]{2})?[\])]?[ \t]{1,3})?"
    r"(?:[^\W\d][\w .-]{0,24}?(?:[:>]|[ \t]{1,3}))?"
    r"(?:[ \t]?[0-9]{1,2}:[0-9]{2})?[ \t]{0,3}"
)
_LEAD = re.compile(
    r"(?i:(?:[\w'’]{1,10},?[ ]){0,3}?"
    r"(?:it|that)(?:['’]s|[ ]is)|its|es[ ]ist|das[ ]ist|c['’]est|es|to|het[ ]is|это)[ :]{1,2}"
)
_WORD = re.compile(r"[^\s,]{4,64}")
_CODE = re.compile(r"(?<![\w.])[0-9]{2,8}(?:[ #*-][0-9]{2,6}){0,3}[#*]?(?![\w:%/-]|[.,][0-9])")
_ANSWERS = 2
"""Lines that may answer a question."""
_ASKS = re.compile(r"[\w\"')]\?(?:[ \t]|$)")
_AFTER_QUESTION = 48
"""Characters after the question mark at most: something may be added, `… the PIN? We keep forgetting it.`"""

_TELLS = re.compile(
    r"(?:(?<![\w/-])(?:pwgen|apg|xkcdpass|makepasswd|wg[ ]gen(?:key|psk)|openssl[ ]rand|oathtool|gopass[ ]show|"
    r"pass[ ]show(?![ ]-c)|op[ ]read|bw[ ]get[ ](?:password|totp)|lpass[ ]show[^\n]*--password|secret-tool[ ]lookup|"
    r"vault[ ](?:kv[ ]get|read)[^\n]*-field|security[ ]find-(?:generic|internet)-password[^\n]*-w|"
    r"aws[ ]secretsmanager[ ]get-secret-value|gcloud[ ]secrets[ ]versions[ ]access|az[ ]keyvault[ ]secret[ ]show|"
    r"kubeadm[ ]token[ ]create|gh[ ]auth[ ]token|gcloud[ ]auth[ ]print-\w*-?token|az[ ]account[ ]get-access-token|"
    r"docker[ ]swarm[ ]join-token[ ]-q|rails[ ]secret|php[ ]artisan[ ]key:generate[ ]--show|mkpasswd)(?![\w=])"
    r"|(?i:pass|secret|token|\bkey)[^\n]{0,80}\|[ ]?base64[ ](?:-d|-D|--decode)"
    r"|(?:cat|type|less|head|tail)[ ]"
    r"[^\n|]{0,120}(?i:password|passwd\.txt|secret|token|\.pass|initialAdmin)[\w.]{0,20}[ ]*$)"
)
_PROMPT = re.compile(r"[\w.@~:/\\\[\]() -]{0,80}[$#%>❯➜][ ]")
_IS_COMMAND = re.compile(r"(?:[$#%>❯➜]|PS[ ][^\n>]{1,60}>)[ ]")
_PRINTED = 8
_OTHERS = re.compile(r"[\w-]{2,30}:(?:[ ]|$)")


def find_answers(text: str) -> Iterator[RedactedSpan]:
    """Yield the secrets in lines of `text` that follow a question for one, or a command that prints one."""
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    for number, (_, line) in enumerate(lines):
        below = lines[number + 1 : number + 1 + _PRINTED]
        if "?" in line and _ASKS.search(line, max(0, len(line) - _AFTER_QUESTION)):
            asked = "\n".join(one for _, one in lines[max(0, number - _ANSWERS) : number + 1])
            asks = line.rindex("?") + 1
            is_answered = line[asks:].strip() and any(_kinds(re.split(r"[.!?][ ]", line[:asks])[-1]))
            rest = [(lines[number][0] + asks, line[asks:])] if is_answered else []
            yield from _find_answer(line, asked, [*rest, *below])
        elif _IS_COMMAND.search(line) and _TELLS.search(line):
            yield from _find_printed(below)


def _find_answer(line: str, asked: str, below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    kinds = {kind for part in (line, asked) for kind in _kinds(part)}
    if not kinds & {LabelKind.PASSWORD, LabelKind.PHRASE, LabelKind.CODE}:
        return
    for start, reply in below[:_ANSWERS]:
        speaker = _SPEAKER.match(reply)
        places = {0, speaker.end() if speaker is not None else 0}
        for begin in sorted(places, reverse=True):
            lead = _LEAD.match(reply, begin)
            begin = lead.end() if lead is not None else begin
            code = _CODE.match(reply, begin) if LabelKind.CODE in kinds else None
            word = _WORD.match(reply, begin)
            if code is not None and sum(c.isdigit() for c in code[0]) > 2:
                yield RedactedSpan(start + begin, start + code.end(), Rule.CODE)
                return
            if word is not None and kinds != {LabelKind.CODE} and looks_chosen(word[0]) and word[0][-1] not in ":?":
                kept = word[0].rstrip(".,;!")
                yield RedactedSpan(start + begin, start + begin + len(kept), Rule.PASSWORD)
                return


def _kinds(line: str) -> Iterator[LabelKind]:
    """Yield the kinds that the words of a line announce."""
    for match in _RUN.finditer(line):
        names = line[max(0, match.start() - 24) : match.end()].rpartition("\n")[2]
        found = find_label(names) if may_announce(match[0]) else None
        if found is not None and not found.is_bare:
            yield found.kind
        elif match[0].casefold() in _CODES:
            yield LabelKind.CODE


_CODES = frozenset(("code", "kod", "kode", "koden", "código", "codice", "код"))


def _find_printed(below: Sequence[tuple[int, str]]) -> Iterator[RedactedSpan]:
    """Yield a command's output up to the next prompt: the first line, and random-looking words in others."""
    for number, (start, line) in enumerate(below):
        prompt = _PROMPT.match(line)
        if prompt is not None or not line.strip():
            return
        for word in re.finditer(r"\S{4,400}", line):
            is_first = number == 0 and len(line.split()) <= _FIRST_WORDS and not _OTHERS.match(line)
            alone = number == 0 and word[0] == line.strip() and len(word[0]) >= _LEAST
            strong = alone or looks_chosen(word[0]) or looks_random(word[0]) or word[0].isdigit()
            if (is_first and strong) or (looks_random(word[0]) and not _OTHERS.match(line)):
                yield RedactedSpan(start + word.start(), start + word.end(), RULES[LabelKind.KEY])


_FIRST_WORDS, _LEAST = 8, 6
