"""The contents of the redaction set: texts in which the secrets are marked, and made-up values stand as forms.

A text of the files writes `⟦secret⟧`; `⟦+more⟧` continues the secret before it (a seed phrase in several cells). Within
or outside of a secret stands `⟨w36⟩` for 36 drawn characters of a class of `CLASSES`, and `⟨luhn 4539 16⟩`,
`⟨card 4539 16⟩`, `⟨iban DE 370400440532013000⟩`, `⟨IBAN …⟩`, `⟨jwt NAME⟩`, `⟨basic USER:PASSWORD⟩` for values that have
a right checksum or encoding. `¦` is left out: it parts what a scanner of repositories would take for a real token.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import string
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

CLASSES = {
    "w": string.ascii_letters + string.digits, "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits, "a": string.ascii_lowercase, "A": string.ascii_uppercase,
    "d": string.digits, "h": "0123456789abcdef", "H": "0123456789ABCDEF",
    "b": string.ascii_letters + string.digits + "-_", "B": string.ascii_letters + string.digits + "+/",
    "t": string.ascii_uppercase + "234567",
}  # fmt: skip
"""What a form's letter draws from: `b` base64url, `B` base64, `t` base32."""


class Span(NamedTuple):
    """Characters `begin` to before `end` of a text belong to the secret of this number."""

    begin: int
    end: int
    secret: int


class Marked(NamedTuple):
    """A text as a program shows it, and where its secrets stand. `entry`: it stands in a field that can be edited."""

    text: str
    spans: tuple[Span, ...]
    entry: bool = False

    def secret_at(self, place: int) -> int:
        return next((span.secret for span in self.spans if span.begin <= place < span.end), -1)


class Screen(NamedTuple):
    """What one screen shows. `form`: lines, left, above, table. `rows`: its cells; a terminal has one, all its text."""

    name: str
    toolkit: str
    form: str
    px: int
    dark: bool
    title: str
    rows: tuple[tuple[Marked, ...], ...]

    @property
    def cells(self) -> tuple[Marked, ...]:
        return tuple(cell for row in self.rows for cell in row)


class Text(NamedTuple):
    """A text that leaves as text: where such texts come from, and what it says."""

    kind: str
    marked: Marked


class Half(NamedTuple):
    """The screens and texts of one or more files."""

    screens: tuple[Screen, ...]
    texts: tuple[Text, ...]

    @property
    def secrets(self) -> tuple[int, int]:
        seen = [len({span.secret for cell in screen.cells for span in cell.spans}) for screen in self.screens]
        return sum(seen), sum(len({span.secret for span in text.marked.spans}) for text in self.texts)

    def sha256(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()


def read(*sources: Path) -> Half:
    """Return what files of the set describe; the drawn values follow from a file's name and the place in it."""
    screens: list[Screen] = []
    texts: list[Text] = []
    for source in sources:
        found = tomllib.loads(source.read_text(encoding="utf-8"))
        screens += [_screen(one, random.Random(f"{source.name} screen {n}")) for n, one in enumerate(found["screen"])]
        texts += [_text(one, random.Random(f"{source.name} text {n}")) for n, one in enumerate(found["text"])]
    return Half(tuple(screens), tuple(texts))


def parse(text: str, drawn: random.Random, first: int = 0, *, entry: bool = False) -> Marked:
    """Return a text of the files without its marks, its secrets numbered from `first`. Raises: ValueError for a mark
    that is not closed, or a form that is not known.
    """
    shown, spans, number = "", [], first - 1
    for place, part in enumerate(re.split(r"[⟦⟧]", text)):
        more = place % 2 == 1 and part.startswith("+")
        plain = _filled(part[more:].replace("¦", ""), drawn)
        if place % 2:
            number += 0 if more else 1
            spans.append(Span(len(shown), len(shown) + len(plain), number))
        shown += plain
    if text.count("⟦") != text.count("⟧") or re.search("[⟨⟩]", shown):
        raise ValueError(f"a mark is not closed in {text!r}")
    return Marked(shown, tuple(spans), entry)


def _screen(told: dict[str, Any], drawn: random.Random) -> Screen:
    toolkit, body = told["toolkit"], told["text"].strip("\n")
    rows: list[tuple[Marked, ...]] = []
    number = 0
    for line in [body] if toolkit == "xterm" else body.split("\n"):
        cells: list[Marked] = []
        for cell in [line] if toolkit == "xterm" else line.split(" | "):
            entry = cell.startswith(">") and toolkit != "xterm"
            cells.append(parse(cell[entry:], drawn, number, entry=entry))
            number = max([number, *(span.secret + 1 for span in cells[-1].spans)])
        rows.append(tuple(cells))
    return Screen(
        told["name"],
        toolkit,
        told.get("form", "lines"),
        told["px"],
        told.get("dark", False),
        told["title"],
        tuple(rows),
    )


def _text(told: dict[str, Any], drawn: random.Random) -> Text:
    return Text(told["kind"], parse(told["text"].strip("\n"), drawn))


# ---- made-up values ----------------------------------------------------------------------------------------------


def _filled(text: str, drawn: random.Random) -> str:
    return re.sub(r"⟨([^⟩]+)⟩", lambda form: _value(form[1], drawn), text)


def _value(form: str, drawn: random.Random) -> str:
    plain = re.fullmatch(r"([a-zA-Z])(\d+)", form)
    if plain:
        return _of_class(plain[1], int(plain[2]), drawn)
    kind, *more = form.split(" ")
    if kind in ("luhn", "card"):
        number = more[0] + _of_class("d", int(more[1]) - len(more[0]) - 1, drawn)
        number += next(digit for digit in string.digits if luhn_sum(number + digit) % 10 == 0)
        return _grouped(number) if kind == "card" else number
    if kind in ("iban", "IBAN"):
        return _grouped(iban(*more)) if kind == "iban" else iban(*more)
    if kind == "basic":
        return base64.b64encode(" ".join(more).encode()).decode()
    if kind == "jwt":
        claims = f'{{"sub":"{_of_class("d", 10, drawn)}","name":"{" ".join(more)}","iat":17{_of_class("d", 8, drawn)}}}'
        return ".".join([_base64url('{"alg":"HS256","typ":"JWT"}'), _base64url(claims), _of_class("b", 43, drawn)])
    raise ValueError(f"no such form: {form!r}")


def _of_class(letter: str, count: int, drawn: random.Random) -> str:
    return "".join(drawn.choice(CLASSES[letter]) for _ in range(count))


def _base64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _grouped(text: str) -> str:
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def luhn_sum(digits: str) -> int:
    """Return the sum of ISO/IEC 7812-1, annex B; a number with a right check digit has one that ends in 0."""
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled)


def iban(country: str, account: str) -> str:
    """Return the IBAN of an account: ISO 7064, mod 97-10."""
    letters = "".join(str(int(letter, 36)) for letter in f"{account}{country}00")
    return f"{country}{98 - int(letters) % 97:02}{account}"
