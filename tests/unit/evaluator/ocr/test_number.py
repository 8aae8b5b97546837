"""Which number of a screen belongs to a label: in its cell, row or card, and no other one."""

import numpy as np
import pytest

from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.number import look_for_number, outside_bars
from acud.types import Answer, Rect, Verdict, WindowInfo, number_condition

AT = Rect(100, 50, 640, 480)


def line(text: str, x: int, y: int, h: int = 16, confidence: float = 0.99) -> Line:
    return Line(text, confidence, Rect(x, y, h * len(text) // 2, h))


def number(lines: list[Line], condition: str, boxes: tuple[Rect, ...] = ()) -> Verdict:
    """Return the verdict where `boxes` are drawn around what stands in them."""
    pixels = np.full((AT.h, AT.w, 4), 255, np.uint8)
    for box in boxes:
        pixels[box.y : box.bottom, box.x : box.right] = 160
        pixels[box.y + 1 : box.bottom - 1, box.x + 1 : box.right - 1] = 255
    return look_for_number(lines, number_condition(condition), 0.5, AT, pixels)


def test_a_number_stands_after_its_label_in_the_row_or_below_it() -> None:
    card = [line("CPU load", 0, 0), line("57 %", 0, 24), line("Errors", 300, 0), line("3", 400, 1), line("9", 300, 24)]
    load = number(card, "CPU load >= 57 %")
    assert (load.detail, load.boxes) == ('reads "57 %" after "CPU load" at 100,74 (32x16)', (Rect(0, 24, 32, 16),))
    assert number(card, "errors = 3").answer is Answer.YES
    assert number(card, "Errors > 3").answer is Answer.NO


@pytest.mark.parametrize(("lines", "words"), [
    ([line("Progress", 0, 0)], "no number"),
    ([line("90 %", 0, 0)], "the label"),
    ([line("Progress", 0, 0), line("l00 %", 100, 0)], "no number"),
    ([line("Progress 90 %", 0, 0, confidence=0.3)], "the label"),
    ([line("Progress", 0, 0), line("Errors 3", 100, 0)], "no number"),
    ([line("Progress: none yet", 0, 0), line("95 warnings", 0, 20)], "no number"),
    ([line("Read", 0, 0), line("95", 9, 20), line("Progress", 0, 40), line("none", 9, 60)], "no number"),
    (
        [line("Progress", 0, 0), line("none", 200, 0), line("95", 0, 20), line("hangs", 200, 20)],
        "region:100,70,16,16",
    ),
    ([line("Progress", 0, 0), line("95 open issues", 100, 0)], "no number"),
    ([line("Progress", 0, 0), line("Orlux", 80, 0), line("95", 140, 0)], "region:240,50,16,16"),
    ([line("Progress", 0, 0), line("95", 480, 0), line("Errors", 480, 18)], "region:580,50,16,16"),
])  # fmt: skip
def test_a_number_that_cannot_be_read_is_unknown(lines: list[Line], words: str) -> None:
    found = number(lines, "Progress >= 90")
    assert (found.answer, found.code) == (Answer.UNKNOWN, "ambiguous" if "region" in words else "unreadable")
    assert words in found.detail


STAT = [line("1,847", 20, 20, 28), line("Visitors", 20, 52), line("92", 20, 100, 28), line("Orders", 20, 132)]
TABLE = [
    *(line(text, x, 20) for x, text in ((20, "Host"), (200, "Load"), (400, "Disk"))),
    *(line(text, x, 50) for x, text in ((20, "alpha"), (200, "12"), (400, "80 %"))),
    *(line(text, x, 80) for x, text in ((20, "beta"), (200, "3"), (400, "95 %"))),
]
PIVOT = [
    *(line(text, x, 20) for x, text in ((20, "Region"), (200, "North"), (300, "South"), (400, "West"))),
    *(line(text, x, 50) for x, text in ((20, "Orders"), (200, "17"), (300, "250"), (400, "4"))),
]
DEFINITIONS = [
    *(line(text, 20, 20 + 40 * row) for row, text in enumerate(("Requests", "Failures", "Latency"))),
    *(line(text, 60, 40 + 40 * row) for row, text in enumerate(("12,480", "none", "230 ms"))),
]
PLAIN = [line(text, 20, 20 + 20 * row) for row, text in enumerate(("17", "Reads", "92", "Writes"))]


STEPPER = [
    line(text, x, 20)
    for text, x in (("1", 20), ("Basket", 36), ("2", 140), ("Payment", 156), ("3", 280), ("Finish", 296))
]


@pytest.mark.parametrize(("lines", "unread", "condition"), [
    (STEPPER, STEPPER[2].box, "Payment >= 2"), (STAT, STAT[0].box, "Visitors >= 2")
])  # fmt: skip
def test_where_the_own_number_was_not_read_the_next_label_s_is_none(
    lines: list[Line], unread: Rect, condition: str
) -> None:
    rest = [one for one in lines if one.box != unread]
    found = number(rest, condition, boxes=(unread,))
    assert (found.answer, found.code) == (Answer.UNKNOWN, "ambiguous")
    assert number(rest, condition).answer is Answer.YES  # nothing stands there


@pytest.mark.parametrize(("lines", "condition", "answer"), [
    (STAT, "Visitors = 1847", "yes"), (STAT, "Orders = 92", "yes"), (TABLE, "alpha = 12", "yes"),
    (TABLE, "Load = 12", "unknown"), (PIVOT, "Orders > 200", "unknown"), (DEFINITIONS, "Requests = 12480", "yes"),
    (TABLE, "Disk > 50 %", "yes"), (PLAIN, "Reads = 17", "unknown"),
    ([line("Total", 20, 20), line("Total cost: 9", 20, 60), line("5", 90, 20)], "Total = 5", "yes"),
    ([line("Errors", 20, 20), line("5", 90, 20), line("Errors", 20, 200)], "Errors = 5", "unknown"),
])  # fmt: skip
def test_columns_and_gaps_say_which_number_is_meant(lines: list[Line], condition: str, answer: str) -> None:
    found = number(lines, condition)
    assert (found.answer, found.code) == (answer, "ambiguous" if answer == "unknown" else "")


def table(*rows: tuple[str, ...], xs: tuple[int, ...] = (10, 60, 200, 260)) -> list[Line]:
    return [line(text, x, 20 + 24 * n) for n, row in enumerate(rows) for x, text in zip(xs, row, strict=False) if text]


COUNTS = table(("12", "Open issues"), ("3", "Closed"), ("41", "Stale"))
STEPS = table(("1", "Build"), ("2", "Lint"), ("3", "Tests"))
NUMBERED = table(("1", "Build", "10"), ("2", "Lint", "7"), ("3", "Tests", "5"))
HEADED = table(("Number", "Name"), ("12", "Open issues"), ("3", "Closed"), ("41", "Stale"), xs=(10, 90))
BADGES = [line("12", 0, 0), line("Open", 20, 0), line("3", 120, 0), line("Closed", 132, 0)]
WIZARD = [line("1", 0, 0), line("Cart", 20, 0), line("2", 120, 0), line("Pay", 132, 0)]
ENTRIES = table(("1 Build", "", "10"), ("2 Lint", "", "7"), ("3 Tests", "", "5"))


@pytest.mark.parametrize(("lines", "condition", "answer"), [
    (COUNTS, "Closed = 3", "yes"), ([line("8", 0, 0), line("Issues", 20, 0)], "Issues = 8", "yes"),
    (BADGES, "Open = 12", "yes"), (BADGES, "Closed = 3", "yes"), (HEADED, "Closed = 3", "unknown"),
    (table(("Number", "Name"), ("4", "Open"), ("0", "Closed"), xs=(10, 90)), "Open = 4", "yes"),
    (STEPS, "Tests >= 3", "unknown"), (NUMBERED, "Lint = 7", "yes"), (ENTRIES, "Lint = 7", "yes"),
    (table(("1 Build",), ("2 Lint",)), "Lint >= 2", "unknown"),
    (table(("Tests",), ("3. Deploy",)), "Tests >= 3", "none"), (WIZARD, "Cart >= 2", "unknown"),
    (WIZARD, "Pay >= 2", "unknown"), (table(("300",), ("200", "Total"), ("100",)), "Total >= 200", "unknown"),
    (table(("2", "Coffee", "9.00"), ("5", "Tea", "4.00"), ("1", "Cake", "3.00")), "Coffee > 5", "unknown"),
    (table(("alpha", "12", "up"), ("beta", "3", "down")), "up >= 12", "unknown"),
    ([line("12 Open", 0, 0), line("Closed", 0, 20)], "Closed >= 12", "none"),
])  # fmt: skip
def test_a_number_left_of_its_label_counts_it_or_numbers_the_row(
    lines: list[Line], condition: str, answer: str
) -> None:
    found = number(lines, condition)
    assert (found.answer, found.code) == {
        "yes": (Answer.YES, ""), "unknown": (Answer.UNKNOWN, "ambiguous"), "none": (Answer.UNKNOWN, "unreadable"),
    }[answer], found.detail  # fmt: skip
    assert answer != "unknown" or "region:" in found.detail


def test_a_number_of_the_next_card_is_not_meant() -> None:
    """The gap between two cards is as wide as one within a card; their edges tell them apart."""
    lines = [line("Errors", 90, 40), line("30", 180, 40)]
    cards = (Rect(10, 20, 140, 60), Rect(160, 20, 140, 60))
    assert number(lines, "Errors >= 5").answer is Answer.YES
    assert number(lines, "Errors >= 5", cards).answer is Answer.UNKNOWN
    assert number(lines, "Errors >= 5", (Rect(174, 36, 80, 24),)).answer is Answer.YES, "an entry around it is its own"
    lines = [line("Failed", 110, 40), line("7", 110, 76)]
    head, cell, far = Rect(100, 31, 80, 34), Rect(100, 67, 80, 34), Rect(100, 71, 80, 34)
    assert number(lines, "Failed >= 5", (head, cell)).answer is Answer.YES, "cells of a table are 2 px apart"
    assert number(lines, "Failed >= 5", (head, far)).answer is Answer.UNKNOWN


def test_an_ambiguous_label_names_regions_that_settle_it() -> None:
    found = number([line("Errors: 3", 0, 0), line("Errors: 9", 0, 100)], "Errors > 5")
    assert (found.answer, found.code) == (Answer.UNKNOWN, "ambiguous")
    assert "region:100,50,72,16, region:100,150,72,16" in found.detail


BROWSER = WindowInfo(1, "Issues (30) - Browser", Rect(0, 20, 600, 400), frame=Rect(0, 0, 600, 420))


def test_title_and_address_bars_are_no_part_of_a_page() -> None:
    bars = [line("Issues 30", 20, 2), line("Issues 30", 20, 30), line("localhost:80/issues?t0=1795", 80, 60)]
    page = [line("Issues 8", 20, 100), line("example.org/42", 20, 300)]
    assert outside_bars([*bars, line("Bookmarks", 20, 62), *page], [BROWSER]) == page
    local = [line("Issues 30", 20, 30), line("/tmp/tmpx_1/page.html?t0=1795", 80, 60)]
    assert outside_bars([*local, *page], [BROWSER]) == page
    plain = [line("Issues 30", 20, 30), line("Errors 3", 20, 60)]
    assert outside_bars(plain, [BROWSER]) == plain
    assert outside_bars(bars, []) == bars
