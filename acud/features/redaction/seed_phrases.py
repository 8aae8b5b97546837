"""Seed phrases of wallets: twelve or more words of one BIP-39 list in a row, numbered or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from acud.features.redaction.spans import RedactedSpan, Rule

_LANGUAGES = ("english", "spanish", "french", "italian", "portuguese", "czech", "turkish")
"""The lists in Latin letters."""
_WORDS = 12
_READ_WORDS = 9
"""Of a phrase that an engine read, which may lose some."""
_WORD = re.compile(r"[^\W\d_]+")
_NO_WORDS = dict.fromkeys(map(ord, "0123456789.,;:)#|·•*\"'[]-"), " ")
_GAP, _LONGEST_GAP = frozenset("0123456789.,;:)#|·•*\"'[]- \t\r\n\u00a0"), 24


@cache
def _load_word_lists() -> tuple[frozenset[str], ...]:
    from mnemonic import Mnemonic  # acud[redact]: without it the rule is not active

    return tuple(frozenset(Mnemonic(language).wordlist) for language in _LANGUAGES)


@cache
def _all_words() -> frozenset[str]:
    return frozenset().union(*_load_word_lists())


def find_seeds(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield each word of a seed phrase; `read`: the text was read off a screen, where a word may be wrong.

    Twelve words of a list of 2,048 with no other between them are no prose: `the`, `a`, `of`, `is` are in no list. A
    phrase is written in one way: its words all in the same case, and numbered or parted by the same mark.
    """
    least = _READ_WORDS if read else _WORDS
    # In a row: where one was misread, three stand before it.
    in_a_row = 4 if read else _WORDS
    spoken = text.lower().translate(_NO_WORDS).split()
    if len(spoken) < in_a_row or not _has_row(spoken, _all_words(), in_a_row):
        return
    for words in _load_word_lists():
        if _has_row(spoken, words, in_a_row):
            yield from _find_runs(text, words, least, read)


def _has_row(spoken: list[str], words: frozenset[str], count: int) -> bool:
    return b"\1" * count in bytes(map(words.__contains__, spoken))


def _find_runs(text: str, words: frozenset[str], least: int, read: bool) -> Iterator[RedactedSpan]:
    run: list[tuple[int, int]] = []
    known, case, mark = 0, "", None
    for match in _WORD.finditer(text):
        if run:
            gap = text[run[-1][1] : match.start()]
            parted = _find_separator(gap)
            if (
                len(gap) > _LONGEST_GAP
                or not set(gap) <= _GAP
                or (":" in gap and not gap.partition(":")[0][-1:].isdigit())
            ):
                yield from _seed_spans(run, known, least)
                run, known, mark = [], 0, None
            elif parted != mark and None not in (parted, mark):
                # The word before may be the first of a phrase: `the phrase - abandon ability`.
                yield from _seed_spans(run, known, least)
                run, known, mark = run[-1:], 1, parted
            else:
                mark = parted if mark is None else mark
        is_known = match[0].lower() in words
        if is_known and (not run or _case_of(match[0]) == case):
            case = _case_of(match[0])
            run.append(match.span())
            known += 1
        elif read and 3 <= known < _WORDS and len(run) < known * 5 // 4 and 3 <= len(match[0]) <= 8:
            run.append(match.span())  # perhaps misread
        else:
            yield from _seed_spans(run, known, least)
            run, known, case, mark = [match.span()] * is_known, int(is_known), _case_of(match[0]), None
    yield from _seed_spans(run, known, least)


def _find_separator(gap: str) -> str | None:
    """Return what separates two words, without blanks; None where the words are numbered."""
    return None if any(c.isdigit() for c in gap) else "".join(gap.split())


def _case_of(word: str) -> str:
    return "lower" if word.islower() else "upper" if word.isupper() else "title" if word.istitle() else "mixed"


def _seed_spans(run: list[tuple[int, int]], known: int, least: int) -> Iterator[RedactedSpan]:
    if known >= least:
        yield from (RedactedSpan(start, end, Rule.SEED) for start, end in run)
