"""The condition that a number on the screen compares with another."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.language.numbers import numbers_in
from acud.language.quotation_marks import unquote
from acud.types.conditions.kind import Argument, ConditionKind, FormField, KindForm, check_zero_byte, quote_words


class Comparison(StrEnum):
    """A comparison of a number on the screen with a given number."""

    AT_LEAST = ">="
    MORE = ">"
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="


class ScreenNumber(ConditionKind, frozen=True, tag="number", forbid_unknown_fields=True):
    """A visible number compares with `value`: the one in the cell, row or card of the words `label`, or with no label
    the only one of the target.

    `unit`: what stands with it ("%", "MB", "€"; "": anything). Sizes and times in other units are converted. A number
    that is not there, or cannot be read for certain, is unknown.
    """

    compare: Comparison
    value: float
    label: Annotated[str, Meta(max_length=200)] = ""
    unit: Annotated[str, Meta(max_length=20)] = ""
    sentence: Annotated[str, Meta(max_length=4000)] = ""
    """The sentence it comes from: where no number can be read for certain, a configured model is asked this."""

    def describe(self) -> str:
        after = f' after "{self.label}"' if self.label else ""
        return f"the number{after} is {_COMPARED[self.compare]} {self._write_value()}"

    def abbreviate(self, *, detailed: bool) -> str:  # it has one form
        return f"number{f' {quote_words(self.label)}' if self.label else ''} {self.compare} {self._write_value()}"

    def _write_value(self) -> str:
        return f"{self.value:.12g}{f' {self.unit}' if self.unit else ''}"

    def normalise(self) -> ScreenNumber:
        check_zero_byte(self.label + self.unit, "the label or unit of the number")
        return replace(self, label=" ".join(self.label.split()), unit=self.unit.strip())


_COMPARED = {
    Comparison.AT_LEAST: "at least", Comparison.MORE: "more than", Comparison.EQUAL: "equal to",
    Comparison.NOT_EQUAL: "other than", Comparison.LESS: "less than", Comparison.AT_MOST: "at most",
}  # fmt: skip

_NUMBER = re.compile(r"(?P<label>.*?)\s*(?P<compare>>=|<=|!=|==?|>|<|≥|≤|≠)\s*(?P<amount>.+)")
_OTHER_UNIT = re.compile(
    r"(?P<before>[^\d\s.+-]{1,3}\s*)?(?P<value>-?(?:\d+(?:\.\d+)?|\.\d+))\s*(?P<after>[^\d\s][^\d]{0,19})?"
)
"""A number with a unit that no table has ("open files")."""
_SIGNS = {"==": "=", "≥": ">=", "≤": "<=", "≠": "!="}


def number_condition(text: str) -> ScreenNumber:
    """Return the condition that `text` spells: `[LABEL] COMPARISON NUMBER [UNIT]`, as in `Progress >= 90 %`.

    Raises: InvalidRequest.
    """
    found = _NUMBER.fullmatch(text.strip())
    amount = found["amount"].strip() if found is not None else ""
    if "+" in amount:
        raise InvalidRequest(
            f"a comparison has no sign +: {amount!r} may mean a number or a change by it",
            hint=f'write the number that is to be reached without it: ">= {amount.replace("+", "").strip()}"',
        )
    value, unit = _parse_amount(amount)
    if found is None or value is None:
        raise InvalidRequest(
            f"{text!r} is no comparison of a number",
            hint='write a label, one of >= > = != < <=, and a number: "Progress >= 90 %", "Price > $200", "= 0 errors"',
        )
    compare = Comparison(_SIGNS.get(found["compare"], found["compare"]))
    label = unquote(found["label"].strip().rstrip(":").strip()).rstrip(":").strip()
    return ScreenNumber(compare, value, label[:200], unit[:20])


def _parse_amount(text: str) -> tuple[float | None, str]:
    """Return the number and the unit in a comparison; its decimal sign is a point."""
    plain = _OTHER_UNIT.fullmatch(text)
    seen = next(numbers_in(text), None)
    if seen is not None and seen.text == text:
        if seen.scale and seen.bare:  # "5 M" and "512 B" are units, unless it is written "5M"
            written_as_unit = seen.scale in "mB" or text[-1 - len(seen.scale) :][:1].isspace()
            return (seen.bare[0], seen.scale) if written_as_unit else (seen.values[0], seen.unit)
        return seen.values[0], seen.unit
    return (float(plain["value"]), (plain["after"] or plain["before"] or "").strip()) if plain else (None, "")


ScreenNumber.arguments = (
    Argument(
        "number", number_condition, (), 'number, e.g. "Progress >= 90 %"', {"number": "Errors = 0"},
        help='A number on the screen compares: "Progress >= 90 %", "= 0 errors".', metavar="N",
    ),
)  # fmt: skip
ScreenNumber.form = KindForm(
    "A number",
    (
        FormField("label", "After the words", "Progress"),
        FormField(
            "compare",
            "The number",
            choices=tuple((f"is {is_so}", {"compare": one}) for one, is_so in _COMPARED.items()),
        ),
        FormField("value", "Value"),
        FormField("unit", "Unit", "%"),
    ),
)
