"""Nothing that a screen shows can act on the terminal that shows it."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud_cli.formatting import in_words, plain, plain_json, shorten

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
    assert shorten("\x1b" * 9, 10) == r"\x1b\x1b\x"[:9] + "…"
    assert shorten("short", 10) == "short"


@pytest.mark.parametrize(("reason", "words"), [
    ("ConnectError: [Errno 111] Connect call failed ('127.0.0.1', 11434)", "nothing answers at 127.0.0.1:11434"),
    ("ollama: ReadTimeout: no answer within 5 s", "ollama: no answer within 5 s"),
    ("the model llava is not there", "the model llava is not there"),
    ("OSError: [Errno 28] No space left on device", "No space left on device"),
])  # fmt: skip
def test_reasons_have_no_names_of_libraries(reason: str, words: str) -> None:
    assert in_words(reason) == words
