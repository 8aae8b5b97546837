"""Reasons why a value is refused, naming the field and its limits: "temperature must be between 0 and 2".

msgspec: "Expected `float` <= 2.0 - at `$.temperature`": one limit of two, in the names of Python's types. The other
limits are read from the expected type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from acud.base.errors import suggest

_MAX_CHOICES = 40
_PLACE = re.compile(r"(?P<reason>.*?)(?: - at (?:`(?P<part>key|value)` in )?`\$(?P<path>[^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_MISMATCH = re.compile(r"Expected `(?P<wanted>[^`]+)`(?:, got `(?P<given>[^`]+)`)?")
_LIMIT = re.compile(r"Expected `(?P<kind>\w+)` (?P<sign><=|>=|<|>) (?P<bound>\S+)")
_MULTIPLE = re.compile(r"Expected `\w+` that's a multiple of (?P<bound>\S+)")
_LENGTH = re.compile(
    r"Expected `(?P<kind>\w+)` of (?P<least>at least |at most )?length (?P<sign><=|>=)? ?"
    r"(?P<bound>\d+(?: to \d+)?)(?:, got \d+)?"
)
_PATTERN = "Expected `str` matching regex "
_CHOICE = re.compile(r"Invalid (?:enum )?value (?P<given>.+)", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.+)`", re.DOTALL)
_NOUNS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "null",
    "array": "a list", "object": "an object", "bytes": "bytes",
}  # fmt: skip
_UNITS = {"str": "characters", "bytes": "bytes", "array": "entries", "object": "entries"}
_SIGNS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_KINDS: dict[type[inspect.Type], str] = {
    inspect.IntType: "int", inspect.FloatType: "float", inspect.StrType: "str", inspect.BoolType: "bool",
    inspect.NoneType: "null", inspect.BytesType: "bytes", inspect.ListType: "array", inspect.TupleType: "array",
    inspect.VarTupleType: "array", inspect.SetType: "array", inspect.FrozenSetType: "array", inspect.DictType: "object",
}  # fmt: skip


class ValueFault(NamedTuple):
    """The fault of a value. `field`: its path, "" for the whole. `reason`: what it must be, or the words of a check of
    ours; with `unknown`, a field that does not exist, the likely one; "" with `missing`, a required one.
    """

    field: str
    reason: str
    unknown: str = ""
    missing: str = ""

    def of(self, name: str) -> str:
        """Return the fault as a sentence, with `name` for the whole value and paths for its fields."""
        where = f" in {self.field}" if self.field else ""
        if self.unknown:
            return f"there is no field {self.unknown}{where}" + (f" ({self.reason.strip()})" if self.reason else "")
        if self.missing:
            return f"{self.missing} is missing{where}"
        if self.reason.startswith("must "):
            return f"{self.field or name} {self.reason}"
        return f"{self.field}: {self.reason}" if self.field else self.reason


def value_fault(fault: msgspec.ValidationError, kind: Any, *, lax: bool = False) -> ValueFault:
    """Return the fault of a value of the expected type `kind`. `lax`: a text may stand for a number, so the fault does
    not mention that it is a text.
    """
    found = _PLACE.fullmatch(str(fault))
    assert found is not None, "every text matches"
    path = found["path"] or ""
    field = path.removeprefix(".").replace("[...]", "[…]")
    types = tuple(_types_at(_type_info(kind), path)) if found["part"] != "key" else ()
    said = found["reason"]
    if unknown := _UNKNOWN.fullmatch(said):
        known = [one.encode_name for kind in types if isinstance(kind, inspect.StructType) for one in kind.fields]
        choices = f"there are: {', '.join(known[:_MAX_CHOICES])}" if known else ""
        return ValueFault(field, suggest(unknown["name"], known) or choices, unknown=unknown["name"])
    if missing := _MISSING.fullmatch(said):
        return ValueFault(field, "", missing=missing["name"])
    return ValueFault(field, _explain(said, types, lax=lax))


def describe_decode_fault(fault: Exception, kind: Any, name: str, *, lax: bool = False) -> str:
    """Return `fault`, raised while decoding the JSON of a `kind`, as a sentence about `name`."""
    if isinstance(fault, msgspec.ValidationError):
        return value_fault(fault, kind, lax=lax).of(name)
    if isinstance(fault, UnicodeError | RecursionError):
        return f"{name} is {'nested too deeply' if isinstance(fault, RecursionError) else 'no UTF-8'}"
    return f"{name} is no JSON: {str(fault).removeprefix('JSON is malformed: ')}"


def _explain(message: str, types: tuple[inspect.Type, ...], *, lax: bool) -> str:
    if mismatch := _MISMATCH.fullmatch(message):
        wanted = _join_or(_describe_types(types)) or _join_or(
            _NOUNS.get(one, one) for one in mismatch["wanted"].split(" | ")
        )
        given = mismatch["given"]
        told = given and not (lax and given == "str")
        return f"must be {wanted}, not {_NOUNS.get(given, given)}" if told else f"must be {wanted}"
    if limit := _LIMIT.fullmatch(message):
        alone = f"{_SIGNS[limit['sign']]} {_format_number(limit['bound'])}"
        return f"must be {_describe_bounds(_only_type(types, limit['kind'])) or alone}"
    if multiple := _MULTIPLE.fullmatch(message):
        return f"must be a multiple of {_format_number(multiple['bound'])}"
    if length := _LENGTH.fullmatch(message):
        least = length["least"] or (f"{_SIGNS[length['sign']]} " if length["sign"] else "")
        count = _describe_length(_only_type(types, length["kind"])) or f"{least}{length['bound']}"
        return f"must have {count} {_UNITS[length['kind']]}"
    if message.startswith(_PATTERN):
        return f"must be {next(filter(None, map(_text_form, types)), 'of another form')}"
    if choice := _CHOICE.fullmatch(message):
        choices = [str(one) for one in _choices(types)]
        near = suggest(choice["given"].strip("'"), choices).strip()
        words = f"must be {_list_choices(choices)}, not {choice['given']}" + (f" ({near})" if near else "")
        return words if choices else message
    return message


# ---- the type at a place -------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _type_info(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)


def _types_at(kind: inspect.Type, path: str) -> Iterator[inspect.Type]:
    """Yield the possible types of the value at `path`: several where a union lies on the way."""
    types = list(_flatten(kind))
    for name, index in _STEP.findall(path):
        found = [part for one in types for inner in _inner_types(one, name, index) for part in _flatten(inner)]
        # Each once: of types that hold each other there would be twice as many with each step.
        types = list({id(one): one for one in found}.values())
    yield from types


def _flatten(kind: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.Metadata) and not _text_form(kind):
        yield from _flatten(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _flatten(one)
    else:
        yield kind


def _inner_types(kind: inspect.Type, name: str, index: str) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.StructType):
        if name and name == kind.tag_field:
            yield inspect.LiteralType((kind.tag,))
        fields = kind.fields[int(index) : int(index) + 1] if kind.array_like and index.isdigit() else kind.fields
        yield from (field.type for field in fields if index or field.encode_name == name)
    elif isinstance(kind, inspect.DictType) and not name:
        yield kind.value_type
    elif isinstance(kind, inspect.TupleType) and index.isdigit():
        yield from kind.item_types[int(index) : int(index) + 1]
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType | inspect.SetType | inspect.FrozenSetType):
        yield kind.item_type


def _only_type(types: Iterable[inspect.Type], name: str) -> Any:
    """Return the only type of that name, None for several: then its limits are unknown."""
    found = [kind.type if isinstance(kind, inspect.Metadata) else kind for kind in types if _type_name(kind) == name]
    return found[0] if found and all(kind == found[0] for kind in found) else None


def _text_form(kind: inspect.Type) -> str:
    """Return the form of a text that must match a pattern, "" where its type does not describe it."""
    if isinstance(kind, inspect.Metadata) and isinstance(kind.type, inspect.StrType) and kind.type.pattern:
        return str((kind.extra_json_schema or {}).get("description", ""))
    return ""


def _type_name(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.Metadata):
        return _type_name(kind.type)
    if isinstance(kind, inspect.StructType):
        return "array" if kind.array_like else "object"
    return _KINDS.get(type(kind), "")


# ---- words -------------------------------------------------------------------------------------------------------


def _describe_types(types: Iterable[inspect.Type]) -> Iterator[str]:
    for kind in types:
        name = _type_name(kind)
        limits = _describe_bounds(kind) if name in ("int", "float") else ""
        if isinstance(kind, inspect.EnumType | inspect.LiteralType):
            yield _list_choices(_choices((kind,)))
        elif name:
            yield f"{_NOUNS[name]} {limits}".strip()


def _choices(types: Iterable[inspect.Type]) -> Iterator[object]:
    for kind in types:
        if isinstance(kind, inspect.EnumType):
            yield from (member.value for member in kind.cls)
        elif isinstance(kind, inspect.LiteralType):
            yield from kind.values


def _list_choices(choices: Iterable[object]) -> str:
    found = list(dict.fromkeys(map(str, choices)))
    more = ", …" if len(found) > _MAX_CHOICES else ""
    return _join_or(found) if len(found) < 3 else f"one of {', '.join(found[:_MAX_CHOICES])}{more}"


def _join_or(words: Iterable[str]) -> str:
    found = list(dict.fromkeys(words))
    return " or ".join((", ".join(found[:-1]), found[-1])) if len(found) > 1 else "".join(found)


def _describe_bounds(kind: Any) -> str:
    if kind is None:
        return ""
    if kind.ge is not None and kind.le is not None:
        return f"between {_format_number(kind.ge)} and {_format_number(kind.le)}"
    limits = ((">=", kind.ge), (">", kind.gt), ("<=", kind.le), ("<", kind.lt))
    return " and ".join(f"{_SIGNS[sign]} {_format_number(bound)}" for sign, bound in limits if bound is not None)


def _describe_length(kind: Any) -> str:
    if kind is None:
        return ""
    least, most = getattr(kind, "min_length", None), getattr(kind, "max_length", None)
    if least is not None and most is not None:
        return f"{least} to {most}" if least != most else str(least)
    return f"at least {least}" if least is not None else f"at most {most}" if most is not None else ""


def _format_number(limit: object) -> str:
    value = float(str(limit))
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(limit)
