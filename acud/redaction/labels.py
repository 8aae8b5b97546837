"""Secrets that a label announces: `Password: …`, `api_key=…`, `Authorization: Bearer …`, an address's login.

After a password's label any word is a password. After a key's (`key`, `token`, `secret`) only what looks random is:
"key: value" is prose. Every expression is bounded, and none can start within a run that it has taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.redaction.randomness import looks_random
from acud.redaction.spans import Rule, Span

_ANNOUNCING = (
    r"pass(?:word|wort|wd|phrase|code)|passwd|pwd|kennwort|mot de passe|contrase(?:ñ|n)a|senha|пароль|密码|密碼|"
    r"パスワード|비밀번호"
)
_KEY_WORDS = (
    r"(?:api|access|private|secret|auth|account|client|encryption|signing|master|license)?[ _-]?"
    r"(?:key(?:[ _-]?id)?|token|secret|credentials?)"
)
_BEFORE = r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
_JOIN = r"""["'`]?[ \t]{0,3}(?:[:=：]{1,2}>?|=>)[ \t]{0,3}"""
_MARKED = r"(?!\[REDACTED_)"
_QUOTED = r""""[^"\n]{1,200}"|'[^'\n]{1,200}'|`[^`\n]{1,200}`"""
_WORD = r"(?:(?![&;]\w{1,40}=)[^\s]){1,400}"
_VALUE = rf"(?P<value>{_QUOTED}|{_WORD})"

_LABELLED_PASSWORD = re.compile(rf"{_BEFORE}(?i:{_ANNOUNCING})[A-Za-z0-9_]{{0,12}}{_JOIN}{_MARKED}{_VALUE}")
_LABELLED_KEY = re.compile(rf"{_BEFORE}(?i:{_KEY_WORDS}){_JOIN}{_MARKED}{_VALUE}")
_OPTION = re.compile(
    rf"(?<![\w-])--?(?i:pass(?:word|wd|phrase)?|pwd)(?:[ \t]{{1,3}}|=){_MARKED}(?!-)(?P<value>{_QUOTED}|\S{{1,400}})"
)
_KEY_OPTION = re.compile(
    rf"(?<![\w-])--?(?i:[a-z-]{{0,20}}(?:key|token|secret))[ \t]{{1,3}}{_MARKED}(?!-)(?P<value>{_QUOTED}|\S{{1,400}})"
)
_AUTHORIZATION = re.compile(
    r"(?i:authorization)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?i:(?:bearer|basic|token|digest)[ \t]{1,3})?"
    rf"{_MARKED}"
    r"(?!(?i:bearer|basic|token|digest)[ \t])(?P<value>[^\s\"']{4,4096})"
)
_BEARER = re.compile(r"(?<![A-Za-z])(?i:bearer)[ \t]{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,}+)")
_USERINFO = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s/:@\[]{0,64}:"
    rf"{_MARKED}(?P<value>[^\s/@]{{1,128}})@"
)
_READ_LINE = re.compile(rf"{_BEFORE}(?i:{_ANNOUNCING})[ \t]{{0,3}}[:：;][ \t]{{0,3}}(?P<value>[^\t\n]{{1,400}})")
_READ_FIELD = re.compile(
    rf"(?:^|[\t\n])[^\t\n]{{0,20}}?(?i:{_ANNOUNCING})[ *]{{0,3}}[:：=]?\t(?P<value>[^\t\n]{{1,400}})", re.MULTILINE
)

_NO_PASSWORDS = frozenset(
    [
        "required",
        "incorrect",
        "wrong",
        "invalid",
        "optional",
        "forgot",
        "forgotten",
        "must",
        "should",
        "is",
        "are",
        "was",
        "expired",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "yes",
        "no",
        "reset",
        "changed",
        "empty",
        "missing",
        "str",
        "string",
        "bool",
        "int",
        "field",
        "input",
        "prompt",
        "please",
        "enter",
        "your",
        "********",
    ]
)
_DOTS = re.compile(r"[*•●·∙⚫○xX.]{3,}")


def find_labelled(text: str, *, read: bool = False) -> Iterator[Span]:
    """Yield what labels announce in `text`, quotes left out; `read`: it was read off a screen, a tab between boxes."""
    if read:
        text = text.replace(";", ":")  # in small letters an engine takes one for the other
    for pattern in (_LABELLED_PASSWORD, _OPTION, _USERINFO, *((_READ_LINE, _READ_FIELD) if read else ())):
        yield from (_span(match, Rule.PASSWORD) for match in pattern.finditer(text) if _is_password(match["value"]))
    for pattern in (_LABELLED_KEY, _KEY_OPTION):
        yield from (_span(match, Rule.KEY) for match in pattern.finditer(text) if looks_random(match["value"]))
    for pattern in (_AUTHORIZATION, _BEARER):
        yield from (_span(match, Rule.KEY) for match in pattern.finditer(text))


def _span(match: re.Match[str], rule: Rule) -> Span:
    start, end = match.span("value")
    quoted = end - start > 1 and match["value"][0] in "\"'`" and match["value"][0] == match["value"][-1]
    return Span(start + quoted, end - quoted, rule)


def _is_password(value: str) -> bool:
    bare = value.strip("\"'`.,;:()[]{}<>!?").casefold()
    first = bare.split(maxsplit=1)[0] if bare.split() else ""
    return first not in _NO_PASSWORDS and not _DOTS.fullmatch(value.strip()) and bool(value.strip("\"'`"))
