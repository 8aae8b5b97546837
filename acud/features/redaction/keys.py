"""Keys in text: PEM blocks of private keys, and words that look random.

Each expression takes a run of characters whole (possessively) or is bounded, and can start only where a run does, so
that the time is in proportion to the length, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.features.redaction.rule_data import forms
from acud.features.redaction.spans import RedactedSpan, Rule, looks_random
from acud.types import redaction_mark

_TOKEN = re.compile(r"(?<![A-Za-z0-9_+/.~-])[A-Za-z0-9_+/.~-]{20,}+={0,2}")
_LONG = 32
"""A word of one case and digits that is no hash is a key from this length on."""
_HEX = frozenset("0123456789abcdefABCDEF-")
_MARK = re.compile(r"-{1,6} ?(?P<mark>BEGIN|END)[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: BLOCK)?[ -]{0,7}")
# Not `(?:…)*+`: before Python 3.11.5 one of a group keeps what its last, failed turn took (cpython#106052).
_BASE64_LINES = re.compile(r"(?>(?:[\s]{1,8}[A-Za-z0-9+/=:,\- .]{1,120}+(?=\s|$))*)")
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/= .-]{16,}|=[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{1,63}={1,2}")


def find_keys(text: str) -> Iterator[RedactedSpan]:
    if "KEY" in text:
        yield from _find_blocks(text)
    yield from _find_random(text)


def _find_random(text: str) -> Iterator[RedactedSpan]:
    found = [match for match in _TOKEN.finditer(text) if _is_secret(match[0].strip("=.-"))]
    if not found:
        return
    public = [match.span() for match in forms()["public"].finditer(text)]
    for match in found:
        named = forms()["public name"].search(text, max(0, match.start() - 24), match.start())
        if named is None and not any(start <= match.start() < end for start, end in public):
            yield from (RedactedSpan(*part, Rule.KEY) for part in _secret_parts(text, *match.span()))


def _secret_parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the secret parts of a random word: for an address, the random-looking parts of its path."""
    if text[start - 1 : start] != ":" or not text.startswith("//", start):
        yield start, end
        return
    random, at = [], start
    for part in text[start:end].split("/"):
        if at > start + 2 and looks_random(part):
            random.append((at, at + len(part)))
        at += len(part) + 1
    yield from random or [(start, end)]


def _is_secret(word: str) -> bool:
    if set(word) <= _HEX or word.count(".") > 1 or not looks_random(word):
        return False
    if "/" in word and any(len(part) >= _LONG and set(part) <= _HEX for part in word.split("/")):
        return False  # an id behind its kind
    if word.count("/") > 1 and (word[0] == "/" or len(word) != _AWS_SECRET):
        return False  # a path
    if word.rpartition(".")[2].lower() in _ENDINGS or all(len(part) < _PART for part in word.translate(_PARTS).split()):
        return False
    has_upper, has_lower = any(c.isupper() for c in word), any(c.islower() for c in word)
    if has_upper and has_lower:
        # Most of a name composed of words (`InvalidBase64PaddingDefect`), a tenth of a random one.
        return 2 * sum(map(len, re.findall(r"[a-z]{4,}", word))) < len(word)
    return len(word) >= _LONG


_PARTS = str.maketrans("-_./", "    ")
_AWS_SECRET = 40
"""Characters of base64."""
_PART = 11
"""Names of machines, jobs and files are composed of shorter parts."""
_FILES = (
    "crt cer der csr md rst sh c h cpp go rs ts tsx jsx java kt xml yaml yml toml ini cfg conf csv xlsx docx pptx iso "
    "img deb rpm apk exe dll msi dmg bak sql tmp lock mov mkv webm webp mp3 wav ttf otf whl jar war bin dat "
    "js css map png jpg jpeg gif svg pdf txt log json html htm zip gz py so tar mp4 woff woff2 ico"
)
_ENDINGS = frozenset(_FILES.split())


def _find_blocks(text: str) -> Iterator[RedactedSpan]:
    """Yield PEM blocks of private keys; a truncated one goes as far as its lines do, up or down."""
    marks = list(_MARK.finditer(text))
    ends = [match.span() for match in marks if match["mark"] == "END"]
    next_end = 0
    past = 0
    for begin in marks:
        if begin["mark"] == "END" or begin.start() < past:
            continue
        while next_end < len(ends) and ends[next_end][0] < begin.end():
            yield from _find_headless(text, ends[next_end], past)
            past = max(past, ends[next_end][1])
            next_end += 1
        if next_end < len(ends):
            stop, past = ends[next_end]
            next_end += 1
        else:
            rest = _BASE64_LINES.match(text, begin.end())
            stop = past = rest.end() if rest else begin.end()
        yield from _block_body(text, begin.end(), stop)
    for end in ends[next_end:]:
        yield from _find_headless(text, end, past)
        past = end[1]


def _find_headless(text: str, end: tuple[int, int], floor: int) -> Iterator[RedactedSpan]:
    """Yield the block that ends at `end` and begins before the text."""
    if end[0] < floor:
        return
    start = end[0]
    while start > floor:
        line_start = text.rfind("\n", floor, start - 1) + 1
        line_start = max(line_start, floor)
        if not _BASE64_LINE.fullmatch(text[line_start:start].strip()):
            break
        start = line_start
    yield from _block_body(text, start, end[0])


def _block_body(text: str, start: int, stop: int) -> Iterator[RedactedSpan]:
    """Yield the content between the marks of a block; the marks themselves are no secret."""
    body = text[start:stop]
    start, stop = stop - len(body.lstrip()), start + len(body.rstrip())
    if start < stop and body.strip() != redaction_mark(Rule.KEY):
        yield RedactedSpan(start, stop, Rule.KEY)
