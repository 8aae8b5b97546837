"""Secrets in text: keys and tokens by their issuer's prefix, PEM blocks, and values after a label.

Labels are such as `Password: …`, `api_key=…`, `Authorization: Bearer …`, or an address's login. After a password's
label any word is a password. After a key's (`key`, `token`, `secret`) only what looks random is: "key: value" is prose.
Each expression takes a run of characters whole (possessively) or is bounded, and can start only where a run does, so
that the time is in proportion to the length, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.features.redaction.spans import RedactedSpan, Rule, looks_random

_W = r"[A-Za-z0-9_-]"
_START = r"(?<![A-Za-z0-9])"

_ISSUED = tuple(
    re.compile(_START + pattern)
    for pattern in (
        r"gh[pousr]_[A-Za-z0-9]{30,}+",  # GitHub
        r"github_pat_\w{22,}+",
        r"(?:AKIA|ASIA|AIDA|AROA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
        rf"AIza{_W}{{30,}}+",  # Google
        rf"GOCSPX-{_W}{{20,}}+",
        rf"ya29\.{_W}{{20,}}+",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}+",  # Slack
        r"xapp-[A-Za-z0-9-]{20,}+",
        rf"gl(?:pat|ptt|dt|rt|cbt|soat)-{_W}{{16,}}+",  # GitLab
        r"npm_[A-Za-z0-9]{30,}+",
        rf"pypi-{_W}{{40,}}+",
        r"hf_[A-Za-z0-9]{30,}+",  # Hugging Face
        r"[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}+",  # Stripe
        r"whsec_[A-Za-z0-9+/=]{16,}+",
        r"dckr_pat_[A-Za-z0-9_-]{20,}+",
        rf"SG\.{_W}{{16,64}}+\.{_W}{{16,}}+",  # SendGrid
        rf"[0-9]{{8,10}}:AA{_W}{{33}}(?!{_W})",  # Telegram
    )
)
_SK = re.compile(rf"{_START}sk-{_W}{{16,}}+")
_JWT = re.compile(rf"(?<!{_W})eyJ{_W}{{8,}}+\.{_W}{{8,}}+(?:\.{_W}*+)?")

_READ_ISSUED = tuple(
    re.compile(_START + pattern)
    for pattern in (
        r"gh[pousr][_ .-]{0,2}[A-Za-z0-9]{20,}+",
        r"g[il1I]thub[_ .-]{0,2}pat[_ .-]{0,2}[\w ]{22,}+",
        r"[A4][KS][Il1|][A4][A-Za-z0-9]{12,20}+",
        rf"A[Il1|]z[a-z]{_W}{{25,}}+",
        rf"xox[abeoprs][-_. ]{{0,2}}{_W}{{10,}}+",
        rf"g[l1I|]pat[-_. ]{{0,2}}{_W}{{14,}}+",
        r"npm[_ .-]{0,2}[A-Za-z0-9]{26,}+",
        rf"s[kK][-_. ]{{1,2}}(?:ant|proj|or)?[-_. ]{{0,2}}{_W}{{16,}}+",
        rf"ey[JjIl1]{_W}{{12,}}+(?:\. ?{_W}*+){{0,2}}",
        r"hf[_ ]{0,2}[A-Za-z0-9]{28,}+",
        r"[rsp]k[_ ](?:live|test)[_ ][A-Za-z0-9]{12,}+",
    )
)
"""The same as an engine reads them: underscores lost under the line, `I` and `l` and `1` confused."""

_READ_TOKEN = re.compile(r"[A-Za-z0-9_+/.~-]{20,}+={0,2}")
_HEX = re.compile(r"[0-9a-fA-F-]*")
_BEGIN = re.compile(r"-{3,6} ?BEGIN[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: BLOCK)?[ -]{0,7}")
_END = re.compile(r"-{3,6} ?END[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: BLOCK)?[ -]{0,7}")
# Not `(?:…)*+`: before Python 3.11.5 one of a group keeps what its last, failed turn took (cpython#106052).
_BASE64_LINES = re.compile(r"(?>(?:[\s]{1,8}[A-Za-z0-9+/=:,\- .]{1,120}+(?=\s|$))*)")
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/= .-]{16,}")


def find_keys(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield the keys in `text`; `read`: it was read off a screen: misread prefixes and what looks random count too."""
    for pattern in (*_ISSUED, _JWT, *(_READ_ISSUED if read else ())):
        yield from (RedactedSpan(match.start(), match.end(), Rule.KEY) for match in pattern.finditer(text))
    for match in _SK.finditer(text):
        if any(c.isdigit() for c in match[0]) or looks_random(match[0][3:]):
            yield RedactedSpan(match.start(), match.end(), Rule.KEY)
    yield from _blocks(text)
    if read:
        yield from _random(text)


def _random(text: str) -> Iterator[RedactedSpan]:
    for match in _READ_TOKEN.finditer(text):
        word = match[0].strip("=.-")
        if not _HEX.fullmatch(word) and word.count("/") < 2 and word.count(".") < 2 and looks_random(word):
            yield RedactedSpan(match.start(), match.end(), Rule.KEY)


def _blocks(text: str) -> Iterator[RedactedSpan]:
    """Yield PEM blocks of private keys; one cut off goes as far as lines of it do, up or down."""
    ends = [match.span() for match in _END.finditer(text)]
    next_end = 0
    past = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < past:
            continue
        while next_end < len(ends) and ends[next_end][0] < begin.end():
            yield from _headless(text, ends[next_end], past)
            past = max(past, ends[next_end][1])
            next_end += 1
        if next_end < len(ends):
            past = ends[next_end][1]
            next_end += 1
        else:
            rest = _BASE64_LINES.match(text, begin.end())
            past = rest.end() if rest else begin.end()
        yield RedactedSpan(begin.start(), past, Rule.KEY)
    for end in ends[next_end:]:
        yield from _headless(text, end, past)
        past = end[1]


def _headless(text: str, end: tuple[int, int], floor: int) -> Iterator[RedactedSpan]:
    """Yield the block that ends at `end` and whose beginning is not in the text."""
    if end[0] < floor:
        return
    start = end[0]
    while start > floor:
        line_start = text.rfind("\n", floor, start - 1) + 1
        line_start = max(line_start, floor)
        if not _BASE64_LINE.fullmatch(text[line_start:start].strip()):
            break
        start = line_start
    yield RedactedSpan(start, end[1], Rule.KEY)


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

_AFTER_LABELS = """
required incorrect wrong invalid optional forgot forgotten must should is are was expired none null nil true
false yes no reset changed empty missing str string bool int field input prompt please enter your ********
"""
_NO_PASSWORDS = frozenset(_AFTER_LABELS.split())
_DOTS = re.compile(r"[*•●·∙⚫○xX.]{3,}")


def find_labelled(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield what labels announce in `text`, quotes left out; `read`: it was read off a screen, a tab between boxes."""
    if read:
        text = text.replace(";", ":")  # in small letters an engine takes one for the other
    for pattern in (_LABELLED_PASSWORD, _OPTION, _USERINFO, *((_READ_LINE, _READ_FIELD) if read else ())):
        yield from (_span(match, Rule.PASSWORD) for match in pattern.finditer(text) if _is_password(match["value"]))
    for pattern in (_LABELLED_KEY, _KEY_OPTION):
        yield from (_span(match, Rule.KEY) for match in pattern.finditer(text) if looks_random(match["value"]))
    for pattern in (_AUTHORIZATION, _BEARER):
        yield from (_span(match, Rule.KEY) for match in pattern.finditer(text))


def _span(match: re.Match[str], rule: Rule) -> RedactedSpan:
    start, end = match.span("value")
    quoted = end - start > 1 and match["value"][0] in "\"'`" and match["value"][0] == match["value"][-1]
    return RedactedSpan(start + quoted, end - quoted, rule)


def _is_password(value: str) -> bool:
    bare = value.strip("\"'`.,;:()[]{}<>!?").casefold()
    first = bare.split(maxsplit=1)[0] if bare.split() else ""
    return first not in _NO_PASSWORDS and not _DOTS.fullmatch(value.strip()) and bool(value.strip("\"'`"))
