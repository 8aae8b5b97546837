"""Keys in text: tokens by their issuer's form, PEM blocks, and words that look random.

Each expression takes a run of characters whole (possessively) or is bounded, and can start only where a run does, so
that the time is in proportion to the length, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.features.redaction.spans import RedactedSpan, Rule, looks_random
from acud.features.redaction.token_forms import find_tokens
from acud.types import redaction_mark

_W = r"[A-Za-z0-9_-]"
_START = r"(?<![A-Za-z0-9])"

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

_TOKEN = re.compile(r"(?<![A-Za-z0-9_+/.~-])[A-Za-z0-9_+/.~-]{20,}+={0,2}")
_HEX = re.compile(r"[0-9a-fA-F-]*")
_LONG = 32
"""A word of one case and digits that is no hash is a key from this length on."""
_NAMED_PUBLIC = re.compile(
    r"(?i:(?:id|sha-?[0-9]*|md5|hash|digest|checksum|rev|ref|etag|uid|trace|span|integrity|fingerprint|address|txn?|"
    r"public[ _-]?key|pubkey|recipient|peer))"
    r"[\"']?[ ]?[:= -][ ]?[\"']?$|[\"'](?:kid|x|y|n|x5[ct](?:#S256)?)[\"'][ ]?:[ ]?[\"']$"
)
"""Right before a random word that is public: the name of an id or a hash."""
_PUBLIC_NEEDLES = (
    "AAAA",
    "iVB",
    "/9j/",
    "R0lGOD",
    "JVBER",
    "UEsDB",
    "PHN2",
    "base64,",
    "BEGIN",
    "bc1",
    "tb1",
    "0x",
    "ssh-",
    "age1",
    "rsa",
    "ed25519/",
    "sha",
)
_PUBLIC = re.compile(
    r"(?:[A4]{3}A[A-Z]3N|ssh-(?:rsa|ed25519|dss)[ ]|ecdsa-sha2-\w+[ ])[A-Za-z0-9+/= ]{1,1000}"
    r"|(?:iVB[O0]Rw[O0]K|/9j/4|R0lGOD|JVBERi0|UEsDB|PHN2Zy|data:[\w/+.-]{1,60}base64,)[A-Za-z0-9+/=]*+(?:\r?\n[A-Za-z0-9+/=]{30,}+)*"
    r"|-{1,6} ?BEGIN ?(?:CERTIFICATE|(?:[A-Z]+ ?)?PUBLIC ?KEY|PGP ?(?:PUBLIC ?KEY ?BLOCK|MESSAGE|SIGNATURE))[^\n]*"
    r"(?:\r?\n[A-Za-z0-9+/=:. -]*+){0,400}"
    r"|(?<![A-Za-z0-9])sha(?:1|224|256|384|512)[-:][A-Za-z0-9+/]{20,}+={0,2}"
    r"|(?:bc1|tb1|ltc1|age1)[a-z0-9]{20,}+|0x[0-9a-fA-F]{8,40}(?![0-9a-fA-F])|(?:rsa|dsa|elg|ed|cv|nistp)[0-9]{3,5}/(?:0x)?[0-9A-F]{8,40}(?![0-9A-F])"
)
"""Public random data: public keys, pictures, documents, certificates, addresses of wallets."""
_GROUPED = re.compile(
    r"(?<![A-Za-z0-9-])(?=[A-Za-z0-9]{4,6}[ -][A-Za-z0-9]{4,6}[ -][A-Za-z0-9]{4,6}[ -])"
    r"(?:[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}|[a-z2-7]{4}(?:[ ][a-z2-7]{4}){3,15}"
    r"|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}|(?:[0-9]{6}-){7}[0-9]{6})(?![\w-])"
)
"""Keys that people copy by hand: base32 of authenticator apps, product keys, recovery keys of disks."""
_BEGIN = re.compile(r"-{1,6} ?BEGIN[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: BLOCK)?[ -]{0,7}")
_END = re.compile(r"-{1,6} ?END[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: BLOCK)?[ -]{0,7}")
# Not `(?:…)*+`: before Python 3.11.5 one of a group keeps what its last, failed turn took (cpython#106052).
_BASE64_LINES = re.compile(r"(?>(?:[\s]{1,8}[A-Za-z0-9+/=:,\- .]{1,120}+(?=\s|$))*)")
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/= .-]{16,}|=[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{1,63}={1,2}")
_PRIVATE_LINES = re.compile(r"Private-Lines: ?[0-9]{1,3}(?P<body>(?:\r?\n[A-Za-z0-9+/]{1,100}={0,2}(?=\r?\n|$)){1,60})")
"""Of a key of PuTTY."""


def find_keys(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield the keys in `text`; `read`: it was read off a screen, so misread forms count too."""
    yield from find_tokens(text)
    if read:
        for pattern in _READ_ISSUED:
            yield from (RedactedSpan(match.start(), match.end(), Rule.KEY) for match in pattern.finditer(text))
    if "KEY" in text:
        yield from _find_blocks(text)
    if "Private-Lines" in text:
        for match in _PRIVATE_LINES.finditer(text):
            yield RedactedSpan(match.start("body") + 1, match.end("body"), Rule.KEY)
    yield from _find_links(text)
    yield from _find_random(text)
    yield from (RedactedSpan(*match.span(), Rule.KEY) for match in _GROUPED.finditer(text) if _is_grouped(match[0]))


def _is_grouped(key: str) -> bool:
    """Return whether the groups form a key: letters and digits mixed in several, and no hex, as in fingerprints."""
    groups = re.split("[ -]", key)
    if len(groups) == _DISK_GROUPS and key.replace("-", "").isdigit():
        return True
    mixed = sum(any(c.isdigit() for c in group) and any(c.isalpha() for c in group) for group in groups)
    return 2 * mixed >= len(groups) and any(c in "GHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz" for c in key)


_DISK_GROUPS = 8
"""Of the recovery key of a disk (BitLocker)."""


def _find_random(text: str) -> Iterator[RedactedSpan]:
    found = [match for match in _TOKEN.finditer(text) if _is_secret(match[0].strip("=.-"))]
    if not found:
        return
    public = _public_spans(text)
    for match in found:
        named = _NAMED_PUBLIC.search(text, max(0, match.start() - 24), match.start())
        if named is None and not any(start <= match.start() < end for start, end in public):
            yield from (RedactedSpan(*part, Rule.KEY) for part in _secret_parts(text, *match.span()))


_LINK = re.compile(
    r"://[\w.:-]{3,100}/(?:[\w.%~#?=&-]{1,80}/){0,5}"
    r"(?:[\w-]{0,30}(?:reset|activat|verif|confirm|invit|magic|passwordless|sign-?in|log-?in|auth|token|unlock|recover|claim|"
    r"onboard|welcome|einladung|bestaetig|reinit)[\w-]{0,30})"
    r"(?:/[\w%~-]{1,40}){0,2}/(?P<secret>[A-Za-z0-9_~-]{16,400})"
)
"""A link that gives access to its holder."""


def _find_links(text: str) -> Iterator[RedactedSpan]:
    for match in _LINK.finditer(text) if "://" in text else ():
        if looks_random(match["secret"]):
            yield RedactedSpan(*match.span("secret"), Rule.KEY)


def _secret_parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the secret parts of a random word: for an address, the random-looking parts of its path."""
    if text[start - 1 : start] != ":" or not text.startswith("//", start):
        yield start, end
        return
    parts = [part.span() for part in _PATH_PART.finditer(text, start + 2, end)]
    random = [part for part in parts[1:] if looks_random(text[part[0] : part[1]])]
    yield from random or [(start, end)]


_PATH_PART = re.compile(r"[^/]+")


def _public_spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _PUBLIC.finditer(text)] if any(one in text for one in _PUBLIC_NEEDLES) else []


def _is_secret(word: str) -> bool:
    if _HEX.fullmatch(word) or word.count(".") > 1 or not looks_random(word):
        return False
    if "/" in word and any(len(part) >= _LONG and _HEX.fullmatch(part) for part in word.split("/")):
        return False  # an id behind its kind
    if word.count("/") > 1 and (word[0] == "/" or len(word) != _AWS_SECRET):
        return False  # a path
    if word.rpartition(".")[2].lower() in _ENDINGS or all(len(part) < _PART for part in re.split("[-_./]", word)):
        return False
    has_upper, has_lower = any(c.isupper() for c in word), any(c.islower() for c in word)
    if has_upper and has_lower:
        return 2 * sum(map(len, _OF_WORDS.findall(word))) < len(word)
    return len(word) >= _LONG


_OF_WORDS = re.compile(r"[a-z]{4,}")
"""Most of a name composed of words (`InvalidBase64PaddingDefect`), a tenth of a random one."""


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
    ends = [match.span() for match in _END.finditer(text)]
    next_end = 0
    past = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < past:
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
