"""Passwords beside user names: `login: mara / Kestrel44`, `mara@example.org:Kestrel44`, `sign in as root with …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.features.redaction.spans import RedactedSpan, Rule, lower_in_place
from acud.features.redaction.values import looks_chosen

_USER = r"[\w.+-]{1,40}(?:@[\w-]{1,40}(?:\.[\w-]{1,40}){0,4})?"
_NAMED = re.compile(
    r"(?i:(?:cred(?:ential)?s?|log[ -]?ins?|sign[ -]?in|logon|account|access|user(?:name)?/pass(?:word)?|"
    r"zugangsdaten|anmeldedaten|zugang|identifiants?|accès|credenciales|acceso|credenziali|accesso|credenciais|acesso|"
    r"inloggegevens|inlog|dane[ ]logowania|inloggning|доступ|логин|данные[ ]для[ ]входа))"
    r"(?:[ ](?![^ ]{0,30}(?:[/@0-9]|:[^ ]))\w{1,20}){0,5}?"
    r"(?:[ ]?[:=][ ]{0,2}|[ ][\[({<\"'](?=[^\n]{1,120}[\])}>\"'])|"
    r"[ ](?:are|is|ist|sind|est|son|es|sono|è|with|as|als)[ :]{1,2}|[ ](?=[^ ]{1,60}[ ]?/))"
    rf"{_USER}[ ]?[:/|][ ]?(?P<value>[^\s,;\"'<>]{{3,100}})"
)
_AS_WITH = re.compile(
    r"(?i:(?:log(?:ged)?[ -]?(?:in|on)|sign(?:ed)?[ -]?in|connect|authenticate)"
    r"(?:[ ]\w{1,12}){0,4}?[ ](?:as|with)[ ]"
    rf"(?:user[ ])?){_USER}(?i:[ ](?:with|and|using)[ ]|[ ]?/[ ]?)(?P<value>[^\s,;\"'<>]{{4,100}})"
)
_LOG_IN_WITH = re.compile(r"(?i:(?:log|sign)[ -]?(?:in|on)[ ](?:with|using)[ ])(?P<value>[^\s,;\"'<>]{6,100})")
_MAIL_PAIR = re.compile(
    r"@[\w-]{1,40}(?:\.[\w-]{1,40}){1,4}(?:[ ]?[:|;,][ ]?|[ ]/[ ]|\t)"
    r"(?P<value>[^\s,;\"'<>|/]{4,100})(?=\s|$|[,;|])"
)
_CHANGES = re.compile(r"pass|kennwort|pw|set|chang|updat|rotat")
_CHANGED = re.compile(
    r"(?i:(?:password|passwort|kennwort|passphrase|passcode|pw)(?!\w)[^.\n]{0,40}?[ ]from[ ])"
    r"(?P<old>[^\s]{4,100})"
    r"(?P<join>[ ]to[ ])(?P<value>[^\s]{4,100})"
)
_SET = re.compile(
    r"(?i:(?:set|changed?|updated?|rotated?)[ ](?:it|them|mine|yours|back|this)[ ]"
    r"(?:back[ ])?(?:to|as)[ ])(?P<value>[^\s]{4,100})"
)
_SHORT_NAME = re.compile(r"(?:u|un|user|usr|username|login|benutzer|usuario|utilisateur)[ ]?[:=]")
_SHORT_NAMES = re.compile(
    r"(?<![\w-])(?i:u|un|user|usr|username|login|benutzer|usuario|utilisateur)[ ]?[:=][ ]?[^\s,;]{2,60}[ ,;/|\n]{1,3}"
    r"(?i:p|pw|pass|pwd)[ ]?[:=][ ]?(?P<value>[^\s,;\"'<>]{4,100})"
)
_PAIR_LINE = re.compile(
    r"^(?P<user>[A-Za-z][\w.-]{1,31})(?P<mark>[:;|]|[ ]/[ ])(?P<value>[^\s:/\"'<>,;|]{6,64})$", re.MULTILINE
)
_LOGINS = re.compile(
    r"cred|log[ -]?[io]n|sign[ -]?in|account|access|user|zugang|anmeldedaten|identifiant|acc[eè]s|acesso|inlog|"
    r"dane[ ]log|доступ|логин|данные"
)
_SIGNS = re.compile(r"log|sign|connect|authent")
_AT = re.compile(r"@(?<=\w@)(?=\w)")


def find_login_pairs(text: str) -> Iterator[RedactedSpan]:
    """Yield the passwords beside user names."""
    low = lower_in_place(text)
    for pattern, needles in ((_NAMED, _LOGINS), (_AS_WITH, _SIGNS), (_LOG_IN_WITH, _SIGNS)):
        for needle in needles.finditer(low):
            at = needle.start()
            match = None if text[at - 1 : at].isalnum() else pattern.match(text, at)
            if match is not None:
                yield from _take_value(match)
    for needle in _SHORT_NAME.finditer(low):
        match = _SHORT_NAMES.match(text, needle.start())
        if match is not None:
            yield from _take_value(match)
    if "pass" in low or "pw" in low or "kennwort" in low:
        for needle in _CHANGES.finditer(low):
            match = _CHANGED.match(text, needle.start()) or _SET.match(text, needle.start())
            if match is not None:
                yield from _take_value(match)
                if match.re is _CHANGED and looks_chosen(match["old"]):
                    yield RedactedSpan(*match.span("old"), Rule.PASSWORD)
    for sign in _AT.finditer(text):
        match = _MAIL_PAIR.match(text, sign.start())
        if match is not None:
            yield from _take_value(match)
    for match in _PAIR_LINE.finditer(text):
        if _is_strong(match["value"]):
            yield from _take_value(match)


def _take_value(match: re.Match[str]) -> Iterator[RedactedSpan]:
    value = match["value"].rstrip(".,;:?)\"']}")
    if looks_chosen(value) and not value.startswith(("[REDACTED_", "$", "//", "{", "(", "http")):
        start = match.start("value")
        yield RedactedSpan(start, start + len(value), Rule.PASSWORD)


def _is_strong(value: str) -> bool:
    """Return whether an unlabelled word mixes letters, digits and signs as only passwords do."""
    return (
        any(c.isalpha() for c in value)
        and any(c.isdigit() for c in value)
        and any(c in "!#$%&*+?^~@" for c in value)
        and not re.search(r"[()\[\]{}=]|\$[A-Za-z{]|[#@][A-Za-z-]+$|%[0-9A-F]{2}|^[0-9]", value)
    )
