"""Refused values in words: the field, its limits, what was given; over every request and setting there is."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from acud.base.typed_values import decode_json
from acud.base.value_errors import ValueFault, describe_decode_fault, value_fault
from acud.config import SECTIONS
from acud.protocol.requests import REQUESTS
from acud.types import Rect, Until


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Small(Struct, tag="small", forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=1, le=9)]
    note: str = ""


class Large(Struct, tag="large", forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=10)]


class Order(Struct, forbid_unknown_fields=True):
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.0
    count: Annotated[int, Meta(gt=0)] | None = None
    share: Annotated[float, Meta(gt=0, le=1)] = 1.0
    step: Annotated[int, Meta(multiple_of=5)] = 5
    name: Annotated[str, Meta(min_length=1, max_length=4)] = "x"
    code: Annotated[str, Meta(pattern="^[a-z]+$")] = "a"
    day: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}$", description="a month such as 2026-01")] | None = None
    words: Annotated[tuple[Annotated[str, Meta(max_length=3)], ...], Meta(max_length=2)] = ()
    pair: tuple[int, int] = (0, 0)
    box: Rect | None = None
    colour: Colour = Colour.RED
    way: Literal["up", "down"] = "up"
    kind: Literal["a", "b", "c"] = "a"
    prices: dict[str, Annotated[float, Meta(ge=0)]] = {}
    part: Small | Large | None = None
    small: Small | None = None
    on: bool = False


def fault(given: Any, kind: Any = Order, *, lax: bool = False) -> ValueFault:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, kind, strict=not lax)
    return value_fault(caught.value, kind, lax=lax)


@pytest.mark.parametrize(("given", "words"), [
    ({"temperature": 3}, "temperature must be between 0 and 2"),
    ({"temperature": "hot"}, "temperature must be a number between 0 and 2, not a text"),
    ({"count": 0}, "count must be more than 0"),
    ({"count": []}, "count must be a whole number more than 0 or null, not a list"),
    ({"share": 0.0}, "share must be more than 0 and at most 1"),
    ({"step": 7}, "step must be a multiple of 5"),
    ({"name": "lengthy"}, "name must have 1 to 4 characters"),
    ({"code": "A1"}, "code must be of another form"),
    ({"day": "May"}, "day must be a month such as 2026-01"),
    ({"day": 5}, "day must be a text or null, not a whole number"),
    ({"words": ["a", "lengthy"]}, "words[1] must have at most 3 characters"),
    ({"words": ["a", "b", "c"]}, "words must have at most 2 entries"),
    ({"pair": [1]}, "pair must have 2 entries"),
    ({"pair": [1, None]}, "pair[1] must be a whole number, not null"),
    ({"box": [1, 2, 3]}, "box must have at least 4 entries"),
    ({"box": [1, 2, "w", 4]}, "box[2] must be a whole number"),
    ({"colour": "green"}, "colour must be red or blue, not 'green'"),
    ({"way": "left"}, "way must be down or up, not 'left'"),
    ({"kind": "d"}, "kind must be one of a, b, c, not 'd'"),
    ({"way": 5}, "way must be down or up, not a whole number"),
    ({"prices": {"a": -1}}, "prices[…] must be at least 0"),
    ({"prices": {5: 1}}, "prices must be a text, not a whole number"),
    ({"part": {"type": "huge", "size": 1}}, "part.type must be small or large, not 'huge'"),
    ({"part": {"type": "small", "size": 99}}, "part.size must be at most 9"),
    ({"part": {"size": 99}}, "type is missing in part"),
    ({"small": {"type": "small"}}, "size is missing in small"),
    ({"small": {"type": "small", "size": 1, "odd": 2}}, "there is no field odd in small (there are: size, note)"),
    ({"odd": 1}, "there is no field odd"),
    ({"on": "perhaps"}, "on must be true or false, not a text"),
    ([], "the order must be an object, not a list"),
])  # fmt: skip
def test_a_fault_names_the_field_and_all_its_limits(given: Any, words: str) -> None:
    assert fault(given).of("the order").startswith(words)


def test_where_a_text_may_stand_for_a_number_it_is_not_told_to_be_a_text() -> None:
    assert fault({"temperature": "hot"}, lax=True).of("") == "temperature must be a number between 0 and 2"
    assert fault("hot", Annotated[float, Meta(ge=0, le=2)], lax=True).of("[a] b") == (
        "[a] b must be a number between 0 and 2"
    )


def test_words_of_our_own_checks_stay() -> None:
    class Checked(Struct):
        first: int

        def __post_init__(self) -> None:
            raise ValueError("first goes before second")

    assert fault({"inner": {"first": 1}}, dict[str, Checked]).of("it") == "[…]: first goes before second"
    assert fault({"first": 1}, Checked).of("it") == "first goes before second"


def _wrong(kind: type[Struct]) -> Iterator[tuple[str, msgspec.ValidationError]]:
    for field in msgspec.structs.fields(kind):
        for given in ({"odd": [{}]}, "\0odd", -(2**40), [[["odd"]]], True, 1e300):
            try:
                msgspec.convert({**_tag(kind), field.encode_name: given}, kind)
            except msgspec.ValidationError as refused:
                yield field.encode_name, refused


def _tag(kind: type[Struct]) -> dict[str, Any]:
    info = kind.__struct_config__
    return {info.tag_field: info.tag} if info.tag_field else {}


KINDS = [command.request for command in REQUESTS] + [section.type for section in SECTIONS]


def test_no_request_and_no_setting_is_refused_in_the_words_of_a_library() -> None:
    faults = [(kind, name, refused) for kind in KINDS for name, refused in _wrong(kind)]
    assert len(faults) > 1000
    for kind, name, refused in faults:
        words = value_fault(refused, kind).of("it")
        assert "`" not in words, (kind, str(refused))
        assert "Expected" not in words, (kind, str(refused))
        assert "Invalid" not in words, (kind, str(refused))
        assert name in words or "is missing" in words, (kind, name, words)


def test_a_condition_in_a_condition_is_named_by_its_path() -> None:
    given = {"type": "all", "parts": [{"type": "stable", "stable_s": "long"}]}
    assert value_fault(_refusal(given), Until).of("it").startswith("parts[0].stable_s must be a number")


def test_a_deep_condition_is_named_as_fast() -> None:
    given: Any = {"type": "stable", "stable_s": "long"}
    for depth in range(60):
        given = {"type": ("all", "any")[depth % 2], "parts": [given]}
    words = value_fault(_refusal(given), Until).of("it")
    assert words.startswith("parts[0].parts[0].")
    assert ".stable_s must be a number" in words


def _refusal(given: Any) -> msgspec.ValidationError:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, Until)
    return caught.value


@pytest.mark.parametrize(("data", "words"), [
    (b'{"type": "small", "size": "x"}', "size must be a whole number"),
    (b'{"type": "small", "size": 1, "nots": ""}', "there is no field nots (did you mean note?)"),
    (b"<html>", "it is no JSON: invalid character (byte 0)"),
    (b'{"type": "small", "size": 1, "note": "\xff"}', "it is no UTF-8"),
])  # fmt: skip
def test_a_fault_of_json_is_told_in_words(data: bytes, words: str) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)) as caught:
        decode_json(data, Small)
    assert describe_decode_fault(caught.value, Small, "it").startswith(words)
