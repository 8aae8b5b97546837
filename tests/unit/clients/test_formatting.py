"""Nothing that a screen shows can act on the terminal that shows it."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from acud_cli.formatting import plain, plain_json, shortened

_ACTIVE = {"Cc", "Cs", "Zl", "Zp"}
_BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
ANY = st.text(st.characters(exclude_categories=()))


def _acts(text: str) -> bool:
    return any(unicodedata.category(c) in _ACTIVE or unicodedata.bidirectional(c) in _BIDI for c in text)


@given(ANY)
def test_no_character_acts(text: str) -> None:
    assert not _acts(plain(text))
    assert len(plain(text).splitlines()) <= 1


@given(ANY)
def test_json_stays_the_same_document_and_acts_neither(text: str) -> None:
    written = plain_json(json.dumps({"title": text}, ensure_ascii=False))
    assert json.loads(written) == {"title": text}
    assert not _acts(written)


@given(st.text(st.characters(categories=("L", "N", "P", "S"), include_characters=" ")))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert plain(text) == text


def test_escapes_are_seen() -> None:
    assert plain("\x1b[2J\x1b]0;owned\x07ok\n\u202etxt.exe") == r"\x1b[2J\x1b]0;owned\x07ok\n\u202etxt.exe"
    assert plain("\x9b31m") == r"\x9b31m"


def test_cutting_counts_what_is_shown() -> None:
    assert shortened("\x1b" * 9, 10) == r"\x1b\x1b\x"[:9] + "…"
    assert shortened("short", 10) == "short"
