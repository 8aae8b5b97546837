"""Option values: durations, boxes, sizes, and how numbers are shown."""

from __future__ import annotations

import click
import pytest

from acud_cli import formatting
from acud_cli.options import BOX, DURATION, SIZE, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("300", 300),
        ("0.5", 0.5),
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("250ms", 0.25),
        ("1 m", 60),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "-5", "5x", "m", "1h-2m", "inf", "nan", "1e3", "5m junk", "9" * 400])
def test_no_durations(text: str) -> None:
    assert seconds_of(text) is None
    with pytest.raises(click.BadParameter, match="not a duration"):
        DURATION.convert(text, None, None)


def test_boxes() -> None:
    assert BOX.convert("0,0,400,30", None, None) == (0, 0, 400, 30)
    assert BOX.convert("-5, 2, 4, 3", None, None) == (-5, 2, 4, 3)


@pytest.mark.parametrize("text", ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "1,2,0,4", "1,2,3,-4"])
def test_no_boxes(text: str) -> None:
    with pytest.raises(click.BadParameter):
        BOX.convert(text, None, None)


def test_sizes() -> None:
    assert SIZE.convert("1280x720", None, None) == (1280, 720)
    with pytest.raises(click.BadParameter, match="1280x720"):
        SIZE.convert("big", None, None)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.42, "0.42 s"),
        (4.24, "4.2 s"),
        (12, "12 s"),
        (59.96, "60 s"),
        (300, "5:00"),
        (3723, "1:02:03"),
        (273_600, "3 d 04:00"),
        (-3, "-3.0 s"),
    ],
)
def test_durations_as_people_read_them(seconds: float, shown: str) -> None:
    assert formatting.duration(seconds) == shown


def test_costs_are_never_hidden() -> None:
    assert formatting.cost(None) == "cost unknown"
    assert formatting.cost(0.000045) == "$0.000045"
    assert formatting.cost(0.0132) == "$0.0132"
    assert formatting.cost(12.3) == "$12.30"
