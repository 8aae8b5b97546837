"""Places on the command line: two numbers, or an id."""

import click
import pytest

from acud.types.actions import Point
from acud_cli.do import parse_place, parse_places


def test_numbers_and_ids_in_any_order() -> None:
    assert parse_places(("10", "-20", "t3-12"), 2) == [Point(10, -20), "t3-12"]
    assert parse_places(("A3-4", "1", "2"), 2) == ["a3-4", Point(1, 2)]
    assert (parse_place(()), parse_place(("v1-1",)), parse_place(("1", "2"))) == (None, "v1-1", Point(1, 2))


@pytest.mark.parametrize(("words", "message"), [
    (("10",), "only '10' was given"), (("x", "2"), "'x' is neither"), (("1", "99999"), "'99999' is neither"),
    (("1", "2", "3"), "'3' is one too many"), (("t3-12", "t3-13"), "'t3-13' is one too many"),
    (("t0-1", "1"), "'t0-1' is neither"),
])  # fmt: skip
def test_anything_else_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(click.UsageError, match=message):
        parse_places(words, 1)
