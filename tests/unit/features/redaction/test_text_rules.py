"""What the text rules find and what they leave, and that no text keeps them busy."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.features.redaction.personal_data import find_cards, luhn
from acud.features.redaction.spans import RedactedSpan, Rule, merge_spans
from acud.features.redaction.text_rules import TextRules, find, redact, text_rules
from acud.types import redaction_mark

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA75\nqwertyASDFGH0123456789==\n-----END RSA PRIVATE KEY-----"

HIDDEN = [
    ("Visa 4111 1111 1111 1111 exp", "Visa [REDACTED_CARD] exp"),
    ("5500-0055-5555-5559", "[REDACTED_CARD]"),
    ("amex 378282246310005.", "amex [REDACTED_CARD]."),
    ("3714 496353 98431", "[REDACTED_CARD]"),
    ("6011111111111117 3530111333300000", "[REDACTED_CARD] [REDACTED_CARD]"),
    ("2026-11-22 4111 1111 1111 1111", "2026-11-22 [REDACTED_CARD]"),
    ("4222222222222", "[REDACTED_CARD]"),
    ("４１１１ １１１１ １１１１ １１１１", "[REDACTED_CARD]"),
    ("use sk-ant-api03-Ab1dEf2hIj3kLm4nOp5q now", "use [REDACTED_KEY] now"),
    ("sk-proj-a1B2c3D4e5F6g7H8i9J0k", "[REDACTED_KEY]"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[REDACTED_KEY]"),
    ("github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ", "[REDACTED_KEY]"),
    ("AKIAIOSFODNN7EXAMPLE", "[REDACTED_KEY]"),
    ("AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "[REDACTED_KEY]"),
    ("xoxb-123456789012-abcdefABCDEF", "[REDACTED_KEY]"),
    ("glpat-a1b2c3d4e5f6g7h8i9j0", "[REDACTED_KEY]"),
    ("npm_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[REDACTED_KEY]"),
    (f"cookie={JWT};", "cookie=[REDACTED_KEY];"),
    (f"{PEM}\nnext", "[REDACTED_KEY]\nnext"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA75\n$ ls", "[REDACTED_KEY]\n$ ls"),
    ("MIIEowIBAAKCAQEA75abcd\n-----END PRIVATE KEY-----\nx", "[REDACTED_KEY]\nx"),
    ("api_key = 9f8a7b6c5d4e3f2a1b0c", "api_key = [REDACTED_KEY]"),
    ('"client_secret": "Zx81-Qw27-Er93-Ty64",', '"client_secret": "[REDACTED_KEY]",'),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=[REDACTED_KEY]"),
    ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [REDACTED_KEY]"),
    ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [REDACTED_KEY]"),
    ("Password: hunter2", "Password: [REDACTED_PASSWORD]"),
    ("pwd=s3cret;server=db", "pwd=[REDACTED_PASSWORD];server=db"),
    ("?password=a;b&user=x", "?password=[REDACTED_PASSWORD]&user=x"),
    ('{"password": "correct horse"}', '{"password": "[REDACTED_PASSWORD]"}'),
    ("DB_PASSWORD='a b'", "DB_PASSWORD='[REDACTED_PASSWORD]'"),
    ("Passwort: geheim", "Passwort: [REDACTED_PASSWORD]"),
    ("mysql --password hunter2 db", "mysql --password [REDACTED_PASSWORD] db"),
    ("postgres://bob:s3cret@host/db", "postgres://bob:[REDACTED_PASSWORD]@host/db"),
    ("a <private>my\nsecret</private> b", "a [REDACTED_PRIVATE] b"),
    ("a <PRIVATE>to the end\nof it", "a [REDACTED_PRIVATE]"),
    ("scrolled away</private> b", "[REDACTED_PRIVATE] b"),
    ("<private>4111 1111 1111 1111</private>", "[REDACTED_PRIVATE]"),
]

LEFT = [
    "order 2024-0101-1234-5678",
    "4111 1111 1111 1112",
    "9111111111111111",
    "1700000000000 ms, 1700000000000000 us",
    "2026-11-22 02:05:42.123456",
    "+49 170 1234567890",
    "dd86e30f0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "550e8400-e29b-41d4-a716-446655440000",
    "key: value",
    "the token: expired",
    "primary key: order_items_2024",
    "key=getUserNameFromRequestAndSession",
    "Password required",
    "Password: incorrect",
    "Forgot your password? Reset it.",
    "Password: ********",
    "sk-learn-contrib-some-long-name",
    "task-force-of-some-thing-long",
    "eyJust a word",
    "https://host:8080/path",
    "a private matter, private> no",
    "-----BEGIN CERTIFICATE-----",
    "ghp_short",
    "192.168.1.1 10.0.0.1",
    "",
]


@pytest.mark.parametrize(("text", "left"), HIDDEN)
def test_what_is_hidden(text: str, left: str) -> None:
    assert redact(text) == left
    assert redact(left) == left


@pytest.mark.parametrize("text", LEFT)
def test_what_is_left(text: str) -> None:
    assert redact(text) == text


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
    ("\n‹private>x</private>\n", Rule.PRIVATE),
    ("\nprivate> x <lprivate>\n", Rule.PRIVATE),
]


@pytest.mark.parametrize(("text", "rule"), READ)
def test_what_an_engine_misreads_is_hidden_on_screens(text: str, rule: Rule) -> None:
    assert [span.rule for span in find(text, read=True)] == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "order 2024-0101-1234-5678",
        "2026-11-22 02:05:42",
        "dd86e30f0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "550e8400-e29b-41d4-a716-446655440000",
        "/usr/lib/python3.11/site-packages/x86_64",
        "The quick brown fox jumps over 13 lazy dogs",
        "a private matter",
    ],
)
def test_plain_screens_stay(text: str) -> None:
    assert find(text, read=True) == []


def test_the_users_own_patterns_and_rules_switched_off() -> None:
    rules = text_rules(("pattern",), (r"PRJ-\d{6}",))
    assert redact("PRJ-123456 of 4111 1111 1111 1111", rules) == "[REDACTED_PATTERN] of 4111 1111 1111 1111"
    assert redact("4111 1111 1111 1111", TextRules(frozenset())) == "4111 1111 1111 1111"


def test_overlaps_become_one_under_the_weightier_rule() -> None:
    spans = [
        RedactedSpan(5, 9, Rule.PASSWORD),
        RedactedSpan(0, 6, Rule.CARD),
        RedactedSpan(9, 9, Rule.KEY),
        RedactedSpan(9, 12, Rule.KEY),
    ]
    assert merge_spans(spans) == [RedactedSpan(0, 9, Rule.CARD), RedactedSpan(9, 12, Rule.KEY)]


SEEDS = [
    *(
        "1",
        "1 ",
        "44 ",
        "4 ",
        "4444 ",
        "12 34-",
        "sk-",
        "sk-a1",
        "eyJ",
        "eyJaaaaaaaaa.",
        "a://a:",
        "https://u:",
        "ghp_",
    ),
    *("password:", "password: ", "password\t", "key=", 'key: "', "--password ", "Bearer ", "authorization:", "mot de "),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAA\n", "AAAA\n"),
    *(
        "<private>",
        "</private>",
        "<private></private>",
        "<",
        "(",
        "a",
        "aA1",
        "-",
        "=",
        '"',
        " ",
        "\t",
        "\n",
        "0:",
        "SG.a",
    ),
]


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_time_grows_with_the_length_and_no_faster(seed: str, read: bool) -> None:
    """A search that is quadratic in the length would not end within the time of a test."""
    find((seed * (60_000 // len(seed) + 1))[:60_000], read=read)


@pytest.mark.long
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_megabyte_ends(seed: str, read: bool) -> None:
    find((seed * (1_000_000 // len(seed) + 1))[:1_000_000], read=read)


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
