"""Growth in a calm part is held against a bound, and the words for it say whether the run could tell."""

import pytest

from tests.soak.calm import BOUNDS_MB_H, verdict
from tests.soak.slopes import Slope


@pytest.mark.parametrize(("kind", "low", "high", "words"), [
    ("supervisor", -3.0, 10.0, "bounded"), ("supervisor", 3.0, 60.0, "not shown"), ("supervisor", 24.5, 60.0, "grows"),
    ("supervisor", None, None, "not shown"), ("recorder", 24.5, 60.0, "not shown"),
])  # fmt: skip
def test_an_interval_is_held_against_the_bound_of_its_kind(
    kind: str, low: float | None, high: float | None, words: str
) -> None:
    assert BOUNDS_MB_H["supervisor"] == 24.0
    assert verdict(kind, Slope(None if low is None else 10.0, low, high, 20, 1)) == words
