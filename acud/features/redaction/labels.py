"""Labels: which words (`labels.toml`) announce what kind of secret.

A label stands before a value: `Wi-Fi password`, `aws_secret_access_key`, `SmtpPassword`, `Código PIN`. The words after
a word of the vocabulary decide: `password` and `password for the disk` announce one, `password length` and `TOKEN_TTL`
do not.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from acud.features.redaction.rule_data import rule_data
from acud.features.redaction.spans import Rule


class LabelKind(StrEnum):
    """The kind of secret that a label announces."""

    PASSWORD = "password"  # noqa: S105 - the name of a kind
    PHRASE = "phrase"
    KEY = "key"
    CODE = "code"
    SEED = "seed"
    ID = "id"
    ACCOUNT = "account"
    CARD = "card"


RULES = {
    LabelKind.PASSWORD: Rule.PASSWORD,
    LabelKind.PHRASE: Rule.PASSWORD,
    LabelKind.KEY: Rule.KEY,
    LabelKind.CODE: Rule.CODE,
    LabelKind.SEED: Rule.SEED,
    LabelKind.ID: Rule.ID,
    LabelKind.ACCOUNT: Rule.IBAN,
    LabelKind.CARD: Rule.CARD,
}

_COMPOUND = re.compile(
    r".{2,}?(password|passwd|passwort|kennwort|passphrase|pwd|apikey|accesskey|secretkey|secret|token|wachtwoord|"
    r"lösenord)"
)
"""Names that are written together: dbpassword, authtoken, Datenbankpasswort."""
_PART_OF_NAME = re.compile(r"(?:[A-Za-z0-9]_(?i:pass)|[a-z]Pass)(?![A-Za-z])")
"""DB_PASS is a password, `12 pass, 0 fail` is none."""
_SPLIT = re.compile(r"[A-Z]+(?![a-zà-ÿ])|[A-Z]?[a-zà-ÿ]+|[0-9]+|[^\W\d_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


@cache
def _load_terms() -> dict[tuple[str, ...], LabelKind]:
    listed = rule_data("labels")["terms"]
    return {words_of(term): LabelKind(kind) for kind, terms in listed.items() for term in terms}


@cache
def label_words(name: str) -> frozenset[str]:
    return frozenset(rule_data("labels")["words"][name])


@cache
def _longest_label() -> int:
    return max(map(len, _load_terms()))


@cache
def _written_together() -> tuple[tuple[str, LabelKind], ...]:
    """The terms of scripts that put no blanks between words, the longest first."""
    found = ((term[0], kind) for term, kind in _load_terms().items() if len(term) == 1 and _CJK.search(term[0]))
    return tuple(sorted(found, key=lambda one: -len(one[0])))


@cache
def _term_words() -> frozenset[str]:
    generic = label_words("generic")
    return frozenset(next((word for word in reversed(term) if word not in generic), term[-1]) for term in _load_terms())


def find_announcing(text: str) -> set[str]:
    """Return the words of `text` that may announce a secret; see `may_announce`."""
    return {word for word in set(re.findall(r"\w{2,100}", text)) if may_announce(word)}


@lru_cache(4096)
def may_announce(word: str) -> bool:
    """Return whether `word`, letters and digits without a gap, holds a word of a term."""
    words = words_of(word)
    return any(one in _term_words() or _COMPOUND.fullmatch(one) for one in words) or bool(_CJK.search(word))


def words_of(phrase: str) -> tuple[str, ...]:
    """Return the words of a phrase or an identifier in lower case: `dbPassword_2` is db, password, 2."""
    return tuple(word.casefold() for word in _SPLIT.findall(phrase))


class Label(NamedTuple):
    """A term as found, its kind, and whether it is weak by itself (`key`, `token`). `is_setting`: it stood as the name
    of a program's setting (`SESSION_SECRET=`).
    """

    term: str
    kind: LabelKind
    is_bare: bool
    is_setting: bool = False


@lru_cache(4096)
def find_label(phrase: str) -> Label | None:
    """Return the label in `phrase`: its last term, unless a later word gives it another subject."""
    words = words_of(phrase)
    for start in range(len(words) - 1, -1, -1):
        for size in range(min(_longest_label(), len(words) - start), 0, -1):
            kind = _load_terms().get(words[start : start + size])
            if kind is LabelKind.ID and (_is_part(words[start : start + size], phrase) or _is_of_thing(words, start)):
                continue
            if kind is not None:
                found = _label_before(words, start) or _check_label(words, start, size, kind)
                return found._replace(is_bare=found.is_bare and not _PART_OF_NAME.search(phrase)) if found else None
        compound = _COMPOUND.fullmatch(words[start])
        if compound is not None:
            kind = LabelKind.PASSWORD if compound[1][0] in "pkwl" else LabelKind.KEY
            return _check_label(words, start, 1, LabelKind.PHRASE if compound[1] == "passphrase" else kind)
    together = next((kind for term, kind in _written_together() if phrase.rstrip(" *:：").endswith(term)), None)
    return Label(phrase, together, is_bare=False) if together is not None else None


def _is_part(term: tuple[str, ...], phrase: str) -> bool:
    """Return whether a short term is only a part of a word with capitals, as TIN of `privTin66`."""
    return (
        len(term) == 1
        and len(term[0]) <= _SHORT
        and not re.search(rf"(?<![^\W_]){term[0]}(?![^\W\d_])", phrase, re.IGNORECASE)
    )


def _is_of_thing(words: tuple[str, ...], start: int) -> bool:
    """Return whether the `id number` at `start` is that of an order or a customer, not of a person by law."""
    return words[start] == "id" and start > 0 and words[start - 1] not in label_words("of_people")


_SHORT = 4


def _label_before(words: tuple[str, ...], start: int) -> Label | None:
    """Return the label before a preposition and the term at `start`: in `passphrase of the key` it is the first."""
    before = start
    while before and words[before - 1] in (label_words("prepositions") | label_words("articles")):
        before -= 1
    if not set(words[before:start]) & label_words("prepositions"):
        return None
    found = find_label(" ".join(words[:before]))
    return found if found is not None and found.kind in (LabelKind.PASSWORD, LabelKind.PHRASE, LabelKind.CODE) else None


def _check_label(words: tuple[str, ...], start: int, size: int, kind: LabelKind) -> Label | None:
    # A longer term that ends here begins earlier: `wi-fi password`, `secret access key`.
    terms = _load_terms()
    for earlier in range(max(0, start + size - _longest_label()), start):
        longer = terms.get(words[earlier : start + size])
        if longer is not None:
            start, size, kind = earlier, start + size - earlier, longer
            break
    rest = words[start + size :]
    if kind is LabelKind.KEY and rest[:1] == ("id",):
        return None  # a key's id, which is public: where an id is secret too, the whole is a term
    for place, word in enumerate(rest):
        if word in label_words("prepositions"):
            break
        if word not in label_words("tails") and not word.isdigit() and find_label(word) is None:
            return None
        if place > 4:
            return None
    is_bare = size == 1 and words[start] in label_words("bare")
    if (
        kind is LabelKind.KEY
        and start
        and words[start - 1] in label_words("no_keys")
        and (is_bare or words[start] == "keys")
    ):
        return None
    return Label(" ".join(words[start : start + size]), kind, is_bare)
