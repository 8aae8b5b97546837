"""What the text rules find and what they leave, and that no text keeps them busy."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.features.redaction.personal_data import find_cards, luhn
from acud.features.redaction.spans import RedactedSpan, Rule, merge_spans
from acud.features.redaction.text_rules import TextRules, find, redact, text_rules
from acud.types import redaction_mark

HIDDEN = [
    tuple(part.replace("\\n", "\n") for part in line.split(" ⇒ "))
    for line in Path(__file__).with_name("hidden.txt").read_text(encoding="utf-8").splitlines()
]
"""A text, and what is left of it; `\\n` is a line break. Texts that stay are in everyday_plain.txt."""


def test_what_is_hidden_and_stays_hidden() -> None:
    wrong = [(text, redact(text)) for text, left in HIDDEN if redact(text) != left or redact(left) != left]
    assert wrong == []


READ = [
    ("4111 1111 l111 1112", Rule.CARD),  # one digit wrong, one letter
    ("4111 1111 1111 111", Rule.CARD),  # one lost
    ("4111111111111112", Rule.CARD),
    ("ghp 16C7e42F292c6912E7710c838347Ae178B4a", Rule.KEY),
    ("AKlAIOSFODNN7EXAMPLE", Rule.KEY),
    ("sk ant-api03-Ab1dEf2hIj3kLm4nOp5q", Rule.KEY),
    ("Zx81Qw27Er93Ty64Ui05Op38", Rule.KEY),
    ("Password:\thunter2", Rule.PASSWORD),
    ("Password\thunter2", Rule.PASSWORD),
    ("Password: correct horse battery", Rule.PASSWORD),
    ("postgres;//bob;rQJM9UayY209@db.example,org/main", Rule.PASSWORD),
    ("api_key; 9f8a-7b6c-5d4e", Rule.KEY),
    ("name\tI\ttoken\t| created\nsync | c46ede23bc0fc9b74e97d6a49cf58ab33a86ec64 | 2025-02-11", Rule.KEY),
    ("name\tI\ttoken\t| note\nsync | c46ede23bc0fc9b74e97d6a49cf58ab33a86ec64 | ''", Rule.KEY),
    ("\n‹private>x</private>\n", Rule.PRIVATE),
    ("\nprivate> x <lprivate>\n", Rule.PRIVATE),
]


def test_what_an_engine_misreads_is_hidden_on_screens() -> None:
    assert [(text, *[span.rule for span in find(text, read=True)]) for text, _ in READ] == READ


@pytest.mark.parametrize("text", [
    "order 2024-0101-1234-5678", "2026-11-22 02:05:42", "dd86e30f0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "550e8400-e29b-41d4-a716-446655440000", "/usr/lib/python3.11/site-packages/x86_64",
    "The quick brown fox jumps over 13 lazy dogs", "a private matter",
])  # fmt: skip
def test_plain_screens_stay(text: str) -> None:
    assert find(text, read=True) == []


def test_the_users_own_patterns_and_rules_switched_off() -> None:
    rules = text_rules(("pattern",), (r"PRJ-\d{6}",))
    assert redact("PRJ-123456 of 4111 1111 1111 1111", rules) == "[REDACTED_PATTERN] of 4111 1111 1111 1111"
    assert redact("4111 1111 1111 1111", TextRules(frozenset())) == "4111 1111 1111 1111"


def test_addresses_and_phones_are_hidden_only_when_asked() -> None:
    said = "write to mara.l@example.org, or call +49 30 5550 1234 or (415) 555-0132 before 2026-11-22"
    assert redact(said) == said
    asked = text_rules(("email", "phone"), ())
    assert redact(said, asked) == (
        "write to [REDACTED_EMAIL], or call [REDACTED_PHONE] or [REDACTED_PHONE] before 2026-11-22"
    )


def test_overlaps_become_one_under_the_weightier_rule() -> None:
    spans = [
        RedactedSpan(5, 9, Rule.PASSWORD),
        RedactedSpan(0, 6, Rule.CARD),
        RedactedSpan(9, 9, Rule.KEY),
        RedactedSpan(9, 12, Rule.KEY),
    ]
    assert merge_spans(spans) == [RedactedSpan(0, 9, Rule.CARD), RedactedSpan(9, 12, Rule.KEY)]


SEEDS = [
    "1", "1 ", "44 ", "4 ", "4444 ", "12 34-", "sk-", "sk-a1", "eyJ", "eyJaaaaaaaaa.", "a://a:", "https://u:", "ghp_",
    "password:", "password: ", "password\t", "key=", 'key: "', "--password ", "Bearer ", "authorization:", "mot de ",
    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAA\n", "AAAA\n",
    "<private>", "</private>", "<private></private>", "<", "(", "a", "aA1", "-", "=", '"', " ", "\t", "\n", "0:",
    "SG.a",
]  # fmt: skip


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("length", [10_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_time_grows_with_the_length_and_no_faster(length: int, read: bool) -> None:
    """A search that is cubic in the length, or quadratic in the long one, would not end within the time of a test."""
    for seed in SEEDS:
        find((seed * (length // len(seed) + 1))[:length], read=read)


@given(st.text(max_size=300), st.booleans())
def test_spans_are_in_order_apart_and_inside(text: str, read: bool) -> None:
    spans = find(text, read=read)
    assert all(0 <= a.start < a.end <= len(text) for a in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))


@given(st.text(alphabet="ab :\n\t,", max_size=40), st.text(alphabet="ab :\n,", max_size=40), st.integers(0, 10**11 - 1))
def test_any_card_in_any_words_is_hidden(before: str, after: str, account: int) -> None:
    digits = f"4{account:014d}"
    number = next(digits + str(check) for check in range(10) if luhn(digits + str(check)))
    grouped = " ".join(number[i : i + 4] for i in range(0, 16, 4))
    for shown in (number, grouped, grouped.replace(" ", "-")):
        left = redact(f"{before} {shown} {after}")
        assert shown not in left
        assert "[REDACTED_" in left
        assert [span.rule for span in find_cards(shown)] == [Rule.CARD]


@given(st.text(alphabet=st.characters(blacklist_characters="<>"), max_size=60))
def test_private_regions_leave_nothing(secret: str) -> None:
    assert redact(f"a <private>{secret}</private> b") == f"a {redaction_mark(Rule.PRIVATE)} b"


_PHRASE = (
    *("abandon", "ability", "able", "about", "above", "absent"),
    *("absorb", "abstract", "absurd", "abuse", "access", "accident"),
)


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("text", [
    " ".join(_PHRASE), "The phrase - " + " ".join(_PHRASE), "Kept: " + ", ".join(_PHRASE),
    " ".join(f"{place}. {word}" for place, word in enumerate(_PHRASE, 1)), "\n".join(word.title() for word in _PHRASE),
], ids=["plain", "after a dash", "commas", "numbered", "a column"])  # fmt: skip
def test_a_seed_phrase_is_hidden_to_its_first_word(text: str, read: bool) -> None:
    hidden = {text[span.start : span.end].lower() for span in find(text, read=read)}
    assert hidden >= set(_PHRASE)


@pytest.mark.parametrize("read", [False, True])
def test_listed_words_in_different_forms_are_no_seed_phrase(read: bool) -> None:
    words = (
        "Account Column DANGER Describe General Mother OFFICE Parent record answer, around dance. direct, during easily"
    )
    assert find(words, read=read) == []


@pytest.mark.parametrize("told", [
    "login: mara / Kestrel44!", "use 482913 to sign in", "changed the password from Kestrel44! to Sunset!22",
    "Kestrel44! as the password",
])  # fmt: skip
def test_a_letter_that_grows_in_lower_case_hides_no_secret_from_the_rules(told: str) -> None:
    assert redact(told) != told
    assert redact(f"İstanbul İzmir {told}") == f"İstanbul İzmir {redact(told)}"
