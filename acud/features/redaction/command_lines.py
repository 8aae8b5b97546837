"""Secrets in command lines, headers and addresses, where a program's own syntax marks them.

`mysql -p…`, `curl -u user:…`, `echo … | sudo -S`, `Authorization: …`, `Cookie: …`, `user:…@host`, `?token=…`, lines of
`.pgpass` and `.netrc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from acud.base.typed_values import convert
from acud.features.redaction.rule_data import rule_data
from acud.features.redaction.spans import RedactedSpan, Rule, looks_random
from acud.features.redaction.values import is_example

_MASKED = r"(?!\[REDACTED_)"
_BARE = r"[^\s\"'|;&<>,]|,(?!\w{1,30}=)|&(?=[^\s&|;])(?!\w{1,30}=)"
_QUOTED_OR_NOT = rf"""{_MASKED}(?:"(?P<a>[^"\n]{{1,200}})"|'(?P<b>[^'\n]{{1,200}})'|(?P<c>(?:{_BARE}){{1,400}}))"""
_PAIRED = (
    r"""(?:"[^":\n]{1,80}:(?P<a>[^"\n]{1,200})"|'[^':\n]{1,80}:(?P<b>[^'\n]{1,200})'|"""
    rf"""(?!\w+://)[^\s"':/]{{1,80}}:{_MASKED}(?P<c>[^\s"']{{1,400}}))"""
)
_ARGS = r"(?:[ \t][^\n|;&]{0,300}?)??[ \t]"

_AUTHORIZATION = re.compile(
    r"(?i:(?:proxy-)?authorization)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?"
    r"(?i:(?:bearer|basic|token|digest|apikey|negotiate|ssws|aws4-hmac-sha256)[ \t]{1,3})?"
    rf"{_MASKED}(?!(?i:bearer|basic|token|digest)(?:[^\w.=-]|$)|[$<{{%])(?P<value>[^\s\"']{{4,4096}})"
)
_BEARER = re.compile(r"(?<![A-Za-z])(?i:bearer)[ \t]{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,}+)")
_USERINFO = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,24}:/{2}[^\s/:@\[\"']{0,64}:"
    rf"{_MASKED}(?P<value>[^\s/@\"']{{1,128}}(?:/[^\s/@\"']{{1,64}}){{0,2}})@"
)
_COOKIE = re.compile(r"(?i:\b(?:set-)?cookies?)[\"']?[ \t]{0,2}:[ \t]{0,3}[\"']?(?P<pairs>[^\n]{1,4000})")
_PAIR = re.compile(rf"(?P<name>[\w.-]{{1,60}})=(?P<value>{_MASKED}[^;,\s\"']{{8,4000}})")
_QUERY = re.compile(
    r"[?&#](?i:code|sig|signature|x-(?:amz|goog)-signature|x-amz-security-token|key|state|nonce|ticket|auth|sas|t|s|k)="
    rf"{_MASKED}(?P<value>[A-Za-z0-9%._~+/-]{{16,2000}})"
)
_USER_ONLY = re.compile(r"://(?P<value>(?=[A-Za-z_-]{0,100}[0-9])[A-Za-z0-9_-]{20,200})@[\w-]{1,60}[.:/]")
"""`https://TOKEN@host`: no user has so long a name."""
_HEX = re.compile(r"[0-9a-f]+")
"""The public key of an error reporter (Sentry)."""
_WIFI = re.compile(r"WIFI:(?:[TSHRU]:[^;\n]{0,80};){0,4}P:(?P<value>(?:\\[^\n]|[^;\\\n]){1,128});")
"""The content of a network's QR code."""
_PGPASS = re.compile(
    r"^[\w.*-]{1,100}:(?:[0-9]{2,5}|\*):[\w*-]{1,64}:[\w.*@-]{1,64}:(?P<value>[^\s:]{1,200})$", re.MULTILINE
)
_PGPASS_COLONS = 4
_PUBLIC_NAMES = frozenset(("path", "expires", "max-age", "domain", "samesite", "lang", "locale", "theme", "timezone"))


def find_in_commands(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield passwords (`password`) and keys (`key`) in the syntax of programs; `read`: it was read off a screen."""
    for command in _commands():
        for needle in command.needles:
            for line in _lines_with(text, needle):
                yield from _find_in_program(text, command, *line)
    if "//" in text and "@" in text:
        # In small letters an engine takes one for the other.
        for match in _USERINFO.finditer(text.replace(";", ":") if read else text):
            if not _is_reference(match["value"]):
                yield RedactedSpan(*match.span("value"), Rule.PASSWORD)
        for match in _USER_ONLY.finditer(text):
            if looks_random(match["value"]) and not _HEX.fullmatch(match["value"]):
                yield RedactedSpan(*match.span("value"), Rule.KEY)
    for match in _WIFI.finditer(text) if "WIFI:" in text else ():
        yield RedactedSpan(*match.span("value"), Rule.PASSWORD)
    if text.count(":") >= _PGPASS_COLONS:
        yield from (RedactedSpan(*match.span("value"), Rule.PASSWORD) for match in _PGPASS.finditer(text))
    yield from _find_in_headers(text)


def _lines_with(text: str, needle: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield max(text.rfind("\n", 0, at) + 1, at - _BEFORE), end
        at = text.find(needle, end)


def _find_in_program(text: str, command: _Command, start: int, end: int) -> Iterator[RedactedSpan]:
    for match in _compile_command(command.pattern).finditer(text, start, end):
        group = next(name for name, value in match.groupdict().items() if value is not None)
        if not _is_reference(match[group]):
            yield RedactedSpan(*match.span(group), Rule.PASSWORD)


_BEFORE = 500
"""Characters of a line before a program's name that may hold its password, as in `echo … | sudo -S`."""


def _find_in_headers(text: str) -> Iterator[RedactedSpan]:
    low = text.lower()
    if "authorization" in low:
        yield from (RedactedSpan(*match.span("value"), Rule.KEY) for match in _AUTHORIZATION.finditer(text))
    if "bearer" in low:
        yield from (RedactedSpan(*match.span("value"), Rule.KEY) for match in _BEARER.finditer(text))
    if "cookie" in low:
        for found in _COOKIE.finditer(text):
            for match in _PAIR.finditer(text, *found.span("pairs")):
                if match["name"].lower() not in _PUBLIC_NAMES and looks_random(match["value"]):
                    yield RedactedSpan(*match.span("value"), Rule.KEY)
    if "=" in text and ("?" in text or "&" in text):
        for match in _QUERY.finditer(text):
            if looks_random(match["value"]):
                yield RedactedSpan(*match.span("value"), Rule.KEY)


class _Command(Struct, frozen=True, forbid_unknown_fields=True):
    """A form of command: see the head of `commands.toml`."""

    needles: tuple[str, ...]
    pattern: str


@cache
def _commands() -> tuple[_Command, ...]:
    return convert(rule_data("commands")["command"], tuple[_Command, ...])


@cache
def _compile_command(pattern: str) -> re.Pattern[str]:
    for name, part in (("ARGS", _ARGS), ("VALUE", _QUOTED_OR_NOT), ("PAIRED", _PAIRED)):
        pattern = pattern.replace(name, part)
    return re.compile(pattern)


def _is_reference(value: str) -> bool:
    if is_example(value) or value.startswith(("<(", "$(", "…", "...")):
        return True
    return value.startswith(("$", "{{", "<", "%(", "-")) and not re.search(r"[a-z][0-9]|[0-9][a-z]|[!#]", value)
