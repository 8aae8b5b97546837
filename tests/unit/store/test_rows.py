"""Structs to rows and back."""

from enum import StrEnum

import msgspec
import pytest

from acud.base.errors import StoreUnavailable
from acud.store.rows import RowCodec


class Colour(StrEnum):
    RED = "red"


class Part(msgspec.Struct, frozen=True):
    x: int


class Whole(msgspec.Struct, frozen=True):
    name: str
    flag: bool
    colour: Colour
    cost: float | None
    part: Part | None
    parts: tuple[Part, ...] = ()


CODEC = RowCodec(Whole)
FULL = Whole("n", True, Colour.RED, 0.25, Part(1), (Part(2), Part(3)))


def test_round_trip() -> None:
    assert CODEC.read(CODEC.bind(FULL)) == FULL


def test_columns_are_what_sqlite_holds() -> None:
    bound = CODEC.bind(FULL)
    assert bound == {
        "name": "n", "flag": 1, "colour": "red", "cost": 0.25, "part": '{"x":1}', "parts": '[{"x":2},{"x":3}]',
    }  # fmt: skip
    assert {type(value) for value in bound.values()} <= {str, int, float}


def test_statements_get_the_columns_of_the_struct() -> None:
    codec = RowCodec(Whole, found=("flag", "parts"), fixed=("name",))
    sql = "INSERT INTO t ({Whole.columns}) VALUES ({Whole.values}) ON CONFLICT DO UPDATE SET {Whole.changes}, {Other.x}"
    assert codec.fill_columns(sql) == (
        "INSERT INTO t (name, colour, cost, part) VALUES (:name, :colour, :cost, :part) "
        "ON CONFLICT DO UPDATE SET colour = :colour, cost = :cost, part = :part, {Other.x}"
    )


def test_nothing_is_null() -> None:
    empty = Whole("", False, Colour.RED, None, None)
    bound = CODEC.bind(empty)
    assert (bound["cost"], bound["part"]) == (None, None)
    assert CODEC.read(bound) == empty


def test_columns_of_no_field_are_ignored() -> None:
    assert CODEC.read({**CODEC.bind(FULL), "seq": 4}) == FULL


@pytest.mark.parametrize(("column", "value"), [("part", "{"), ("part", '{"y":1}'), ("colour", "blue"), ("name", None)])
def test_a_strange_value_is_an_error(column: str, value: str | None) -> None:
    with pytest.raises(StoreUnavailable, match="not a Whole") as caught:
        CODEC.read({**CODEC.bind(FULL), column: value})
    assert caught.value.facts["fault"] == "corrupt"
