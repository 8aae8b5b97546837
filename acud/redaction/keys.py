"""Keys and tokens that say themselves what they are: by their issuer's prefix, or as a PEM block.

Each expression takes a run of characters whole (possessively) and can start only where a run does, so that the time is
in proportion to the length, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.redaction.randomness import looks_random
from acud.redaction.spans import Rule, Span

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


def find_keys(text: str, *, read: bool = False) -> Iterator[Span]:
    """Yield the keys in `text`; `read`: it was read off a screen: misread prefixes and what looks random count too."""
    for pattern in (*_ISSUED, _JWT, *(_READ_ISSUED if read else ())):
        yield from (Span(match.start(), match.end(), Rule.KEY) for match in pattern.finditer(text))
    for match in _SK.finditer(text):
        if any(c.isdigit() for c in match[0]) or looks_random(match[0][3:]):
            yield Span(match.start(), match.end(), Rule.KEY)
    yield from _blocks(text)
    if read:
        yield from _random(text)


def _random(text: str) -> Iterator[Span]:
    for match in _READ_TOKEN.finditer(text):
        word = match[0].strip("=.-")
        if not _HEX.fullmatch(word) and word.count("/") < 2 and word.count(".") < 2 and looks_random(word):
            yield Span(match.start(), match.end(), Rule.KEY)


def _blocks(text: str) -> Iterator[Span]:
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
        yield Span(begin.start(), past, Rule.KEY)
    for end in ends[next_end:]:
        yield from _headless(text, end, past)
        past = end[1]


def _headless(text: str, end: tuple[int, int], floor: int) -> Iterator[Span]:
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
    yield Span(start, end[1], Rule.KEY)
