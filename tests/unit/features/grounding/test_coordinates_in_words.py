"""Coordinates in descriptions."""

import pytest

from acud.features.grounding.visible_words import coordinates


@pytest.mark.parametrize(("words", "point"), [
    ("847, 523", (847, 523)), ("(847,523)", (847, 523)), ("[847, 523]", (847, 523)), ("at 10 20", (10, 20)),
    ("At (10, 20).", (10, 20)), ("10;20", (10, 20)), ("x=10 y=20", (10, 20)), ("x: 10, y: 20", (10, 20)),
    ("the point 10, 20", (10, 20)), ("position (10,20)", (10, 20)), ("-3, 20", (-3, 20)),
    ("10.5, 20.25", (10.5, 20.25)),
])  # fmt: skip
def test_they_are_read(words: str, point: tuple[float, float]) -> None:
    assert coordinates(words) == point


@pytest.mark.parametrize(
    "words", ["", "10", "1 2 3", "the 10, 20 button", "10,20,30", "Page 10 20", "1234567, 1", "a, b"]
)
def test_anything_else_is_none(words: str) -> None:
    assert coordinates(words) is None
