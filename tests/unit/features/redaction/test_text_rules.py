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
    (f"{PEM}\nnext", "-----BEGIN RSA PRIVATE KEY-----\n[REDACTED_KEY]\n-----END RSA PRIVATE KEY-----\nnext"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA75\n$ ls", "-----BEGIN PRIVATE KEY-----\n[REDACTED_KEY]\n$ ls"),
    ("MIIEowIBAAKCAQEA75abcd\n-----END PRIVATE KEY-----\nx", "[REDACTED_KEY]\n-----END PRIVATE KEY-----\nx"),
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
    # commands and addresses
    ("$ mysql -uroot -pGr4nite!Fox -e 'show tables'", "$ mysql -uroot -p[REDACTED_PASSWORD] -e 'show tables'"),
    ("$ curl -u admin:Quill77 https://x.example", "$ curl -u admin:[REDACTED_PASSWORD] https://x.example"),
    ("$ sshpass -p 'Winter$Coat42' scp a b", "$ sshpass -p '[REDACTED_PASSWORD]' scp a b"),
    ("$ docker login -u ci -p Tidal44 r.example", "$ docker login -u ci -p [REDACTED_PASSWORD] r.example"),
    ("$ echo moss-Harbor-8 | sudo -S reboot", "$ echo [REDACTED_PASSWORD] | sudo -S reboot"),
    ("$ ./deploy --client-secret 9f8a7b6c5d4e3f2a1b0c", "$ ./deploy --client-secret [REDACTED_KEY]"),
    ("db.internal:5432:crm:mara:blue", "db.internal:5432:crm:mara:[REDACTED_PASSWORD]"),
    ("machine a.example login mara password rose", "machine a.example login mara password [REDACTED_PASSWORD]"),
    (
        "Set-Cookie: session=Zk29dXw0bELsk2Vtn8q7; Path=/; HttpOnly",
        "Set-Cookie: session=[REDACTED_KEY]; Path=/; HttpOnly",
    ),
    ("GET /cb?code=Zk29dXw0bELsk2Vtn8q7&state=in", "GET /cb?code=[REDACTED_KEY]&state=in"),
    (
        "https://hooks.slack.com/services/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",  # pragma: allowlist secret
        "https://hooks.slack.com/services/T99X7G9XZ/BMT8CVEL4/[REDACTED_KEY]",
    ),
    # settings
    ("DB_PASS=tuna", "DB_PASS=[REDACTED_PASSWORD]"),
    ('<add key="SmtpPassword" value="heron!2" />', '<add key="SmtpPassword" value="[REDACTED_PASSWORD]" />'),
    ("<password>Inlet5</password>", "<password>[REDACTED_PASSWORD]</password>"),
    ("define('DB_PASSWORD', 'Inlet5');", "define('DB_PASSWORD', '[REDACTED_PASSWORD]');"),
    ("TWILIO_AUTH_TOKEN=d3baf02c087daee2662112944a988ba8", "TWILIO_AUTH_TOKEN=[REDACTED_KEY]"),
    (
        "the passphrase for the disk: gentle mammoth quarry. It is",
        "the passphrase for the disk: [REDACTED_PASSWORD]. It is",
    ),
    # sentences
    ("New password is Hazel-Otter-31, please", "New password is [REDACTED_PASSWORD], please"),
    ("typed Hunter-2-go as the password.", "typed [REDACTED_PASSWORD] as the password."),
    ("the guest wifi password is riverstone22", "the guest wifi password is [REDACTED_PASSWORD]"),
    ("Das Passwort lautet Lerche_Stein9. Ruf", "Das Passwort lautet [REDACTED_PASSWORD]. Ruf"),
    ("密码是sakura77", "密码是[REDACTED_PASSWORD]"),
    ("use the password:\n\nZk29dXw0bELs\n", "use the password:\n\n[REDACTED_PASSWORD]\n"),
    # codes, words of wallets, accounts, ids
    ("My new PIN is 8306, don't tell", "My new PIN is [REDACTED_CODE], don't tell"),
    ("481 920 is your Northbank verification code.", "[REDACTED_CODE] is your Northbank verification code."),
    ("exp 11/27 cvc 123", "exp 11/27 cvc [REDACTED_CODE]"),
    ("Recovery codes: ab12-cd34 ef56-gh78", "Recovery codes: [REDACTED_CODE] [REDACTED_CODE]"),
    ("Door code at the Lisbon office: 5023#", "Door code at the Lisbon office: [REDACTED_CODE]"),
    ("legal winner thank year wave sausage worth useful legal winner thank yellow", " ".join(["[REDACTED_SEED]"] * 12)),
    ("auf DE89 3704 0044 0532 0130 00, Miete", "auf [REDACTED_IBAN], Miete"),
    ("SSN 123-45-6789, phone", "SSN [REDACTED_ID], phone"),
    ("PESEL 44051401359", "PESEL [REDACTED_ID]"),
    ("Passport no. C01X00T47 issued 2021-03-30", "Passport no. [REDACTED_ID] issued 2021-03-30"),
    ("身份证号：11010519491231002X，电话", "身份证号：[REDACTED_ID]，电话"),
    # what looks random
    ("use Zk29dXw0bELsk2Vtn8q7Yc41 here", "use [REDACTED_KEY] here"),
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
    # labels that are none
    "TOKEN_BUCKET_SIZE=500 PASSWORD_MIN_LENGTH=12 FEATURE_PASSWORDLESS_LOGIN=true",
    "PWD=/home/deploy/shop",
    "The token bucket holds 500 tokens, and a secret ballot needs no key.",
    "A password reset takes two minutes; the PIN header has 40 pins.",
    "PIN the release thread please. Secret Santa is on 2026-12-18; the pass to the ski lift costs 62.00",
    "Tests: 12 passed, 0 failed --- PASS: TestTokenRefresh (0.02s)",
    "Error code: 40401, promo code SPRING25, zip code: 94107",
    "max_tokens=4096, cache_key = users:list:page:1",
    "password = os.environ['DB_PASSWORD']",
    "def login(user, password): return check(user, password)",
    "if password == confirm_password: raise",
    "WARNING! Using --password via the CLI is insecure. Use --password-stdin.",
    "spec/test_password_policy.py spec/test_token_refresh.py",
    # random, and for everybody
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQZk29dXw0bELsk2Vtn8q7Yc41Zk29dXw0bELsk2 mara@wren",
    "integrity sha512-Zk29dXw0bELsk2Vtn8q7Yc41Zk29dXw0bELsk2Vtn8q7Yc41Zk29dXw0bELsk2Vtn8q7Yc41Zk29dXw0bELsk2Vtn8q7==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAZk29dXw0bELsk2Vtn8q7Yc41",
    "https://docs.example.com/d/1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6/edit",
    "pod/api-6d8f7c9b5-x2k4z 1/1 Running, i-0a1b2c3d4e5f60718",
    # numbers
    "DE88 3704 0044 0532 0130 00",  # its checksum is wrong
    "tracking JJD000390007912345678, ISBN 978-3-16-148410-0, 1Z 999 AA1 01 2345 6784",
    "mara.lindqvist@example.org, +49 30 5550 1234",
]


def test_what_is_hidden_and_stays_hidden() -> None:
    wrong = [(text, redact(text)) for text, left in HIDDEN if redact(text) != left or redact(left) != left]
    assert wrong == []


def test_what_is_left() -> None:
    assert [redact(text) for text in LEFT] == LEFT


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
@pytest.mark.parametrize("length", [30_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_time_grows_with_the_length_and_no_faster(length: int, read: bool) -> None:
    """A search that is quadratic in the length would not end within the time of a test."""
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
