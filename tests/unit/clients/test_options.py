"""Option values: durations, boxes, sizes, and how numbers are shown."""

from pathlib import Path

import click
import pytest

from acud_cli import formatting
from acud_cli.options import BOX, DURATION, SIZE, Number, PictureFile, WholeNumber, picture_kind, seconds_of


@pytest.mark.parametrize(("text", "seconds"), [
    ("300", 300), ("0.5", 0.5), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("2d", 172_800), ("250ms", 0.25),
    ("1 m", 60),
])  # fmt: skip
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


@pytest.mark.parametrize(("seconds", "shown"), [
    (0.42, "0.42 s"), (4.24, "4.2 s"), (12, "12 s"), (59.96, "60 s"), (300, "5:00"), (3723, "1:02:03"),
    (273_600, "3 d 04:00"), (-3, "-3.0 s"),
])  # fmt: skip
def test_durations_as_people_read_them(seconds: float, shown: str) -> None:
    assert formatting.duration(seconds) == shown


def test_costs_are_never_hidden() -> None:
    assert formatting.cost(None) == "cost unknown"
    assert formatting.cost(0.000045) == "$0.000045"
    assert formatting.cost(0.0132) == "$0.0132"
    assert formatting.cost(12.3) == "$12.30"


@pytest.mark.parametrize(("kind", "text", "words"), [
    (WholeNumber(1, 1000), "abc", "'abc' is not a whole number"),
    (WholeNumber(1, 1000), "1.5", "'1.5' is not a whole number"),
    (WholeNumber(1, 1000), "5000", "5000 is not between 1 and 1000"), (WholeNumber(1), "0", "0 is not 1 or more"),
    (Number(0, 1), "5", "5 is not between 0 and 1"), (Number(0), "nan", "'nan' is not a number"),
])  # fmt: skip
def test_numbers_are_refused_in_words(kind: Number, text: str, words: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        kind.convert(text, None, None)
    assert refused.value.message == words


def test_numbers_within_their_limits() -> None:
    assert (WholeNumber(1, 9).convert("9", None, None), Number(0, 1).convert("0.5", None, None)) == (9, 0.5)


def test_pictures_are_named_by_their_kind(tmp_path: Path) -> None:
    kind = PictureFile(".png", ".jpg", ".jpeg", pipe=True)
    for name in ("a.PNG", "b.jpg", "c.jpeg", "no-suffix", "-"):
        assert kind.convert(name, None, None) == Path(name)
    assert [picture_kind(Path(name)) for name in ("a.PNG", "b.JPG", "no-suffix")] == ["png", "jpeg", "png"]
    with pytest.raises(click.BadParameter, match=r"no picture of the kind '\.gif' is made; end the name with \.png or"):
        kind.convert("x.gif", None, None)
    with pytest.raises(click.BadParameter, match="is a folder"):
        kind.convert(str(tmp_path), None, None)
    with pytest.raises(click.BadParameter, match="goes to a file"):
        PictureFile(".png").convert("-", None, None)
    assert kind.convert("/dev/null", None, None) == Path("/dev/null")
