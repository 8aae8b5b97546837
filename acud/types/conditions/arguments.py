"""Conditions from the arguments of tools and the options of commands, as the kinds declare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct, field
from msgspec.json import schema_components
from msgspec.structs import FieldInfo, asdict, fields

from acud.base.errors import InvalidRequest
from acud.types.conditions import (
    AllOf,
    AnyOf,
    ConditionKind,
    Criteria,
    Leaf,
    PixelLeaf,
    Text,
    TileLeaf,
    Until,
    appears_then_goes,
    in_sequence,
)
from acud.types.conditions.kind import Argument, FormField, Refinement

KINDS: tuple[type[ConditionKind], ...] = get_args(Leaf)
ARGUMENTS = tuple(one for kind in KINDS for one in kind.arguments)
_APPEARS, _THEN = SEQUENCES = (
    Argument(
        "appears_then_goes", Text, ("regex", "match_case", "whole_words"),
        "text that was seen, then is gone", {"appears_then_goes": "Loading"},
    ),
    Argument(
        "then", Text, ("regex", "match_case", "whole_words"),
        "texts after all that, in turn", {"text": "Building", "then": ["Tests passed"]},
    ),
)  # fmt: skip
Given = Mapping[str, Any]
"""What was given, by the names of arguments and of the fields that they take; several values as a tuple."""


class OfferedField(FormField, frozen=True, kw_only=True):
    """A field in the form of a condition. `schema`: its JSON Schema; {} where the form offers a list to choose from."""

    schema: dict[str, Any] = field(default_factory=dict)
    is_required: bool = False


class OfferedKind(Struct, frozen=True):
    """A kind of condition in a form. `scope`: what an access token needs. `is_recorded`: recordings can answer it."""

    type: str
    title: str
    scope: str
    is_recorded: bool
    fields: tuple[OfferedField, ...]


def list_forms() -> tuple[OfferedKind, ...]:
    _, components = schema_components(KINDS)
    return tuple(_make_form(kind, components[kind.__name__]) for kind in KINDS if kind.form.title)


def _make_form(kind: type[ConditionKind], schema: dict[str, Any]) -> OfferedKind:
    found = tuple(
        OfferedField(
            **asdict(one), schema=schema["properties"].get(one.name, {}), is_required=one.name in schema["required"]
        )
        for one in kind.form.fields
    )
    is_recorded = issubclass(kind, Criteria | PixelLeaf | TileLeaf)
    tag = str(kind.__struct_config__.tag)
    return OfferedKind(
        tag, kind.form.title, "act" if kind.is_of_machine or kind.needs_act else "wait", is_recorded, found
    )


def list_refinements(*kinds: type[ConditionKind]) -> Iterator[tuple[Refinement, FieldInfo]]:
    """Yield the fields of `kinds` (none: of all) that arguments take, each with its type and default."""
    for kind in kinds or KINDS:
        known = {one.name: one for one in fields(kind)}
        yield from ((one, known[one.field]) for one in kind.refinements)


def read_parts(given: Given, readers: Mapping[type, Callable[[str], Any]]) -> list[Until]:
    """Return the conditions that `given` names. `readers`: by what an argument is given, how its words are read.

    Raises: InvalidRequest.
    """
    found = ((one, readers.get(one.gives), value) for one in ARGUMENTS for value in _list_values(given, one))
    return [_make_field(one, read(value) if read else value, given) for one, read, value in found]


def join_parts(parts: Sequence[Until], given: Given) -> Until | None:
    """Return the `parts` as one condition, with `any`, `then` and `appears_then_goes`; None when nothing was given.

    Raises: InvalidRequest.
    """
    later = [_make_field(_THEN, words, given) for words in _list_values(given, _THEN)]
    if (words := next(_list_values(given, _APPEARS), None)) is not None:
        if parts:
            hint = "leave the other conditions out, or put what comes later into then"
            raise InvalidRequest("appears_then_goes stands alone, or before then", hint=hint)
        return in_sequence(appears_then_goes(_make_field(_APPEARS, words, given)), *later)
    if not parts:
        if later:
            raise InvalidRequest("then needs something that comes before it", hint="give text, criteria, change …")
        return None
    first = parts[0] if len(parts) == 1 else AnyOf(tuple(parts)) if given.get("any") else AllOf(tuple(parts))
    return in_sequence(first, *later)


def _list_values(given: Given, argument: Argument) -> Iterator[Any]:
    value = given.get(argument.name)
    yield from value if isinstance(value, tuple) else () if value in (None, "") or value is False else (value,)


def _make_field(argument: Argument, value: Any, given: Given) -> Any:
    return argument.make(value, **{name: given[name] for name in argument.takes if given.get(name) is not None})
