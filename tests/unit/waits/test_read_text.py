"""Numbers in texts: which, of what unit, and how they compare; what can be read two ways is never certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.base.errors import InvalidRequest
from acud.types import Answer, ScreenNumber, number_condition, numbers_in
from acud.waits.read_text import comparable, find_label_places, is_whole, judge_only_number, judge_places


@pytest.mark.parametrize(("text", "numbers"), [
    ("Progress: 90 %", [((90,), "%")]), ("1,234.5 MB of 2,000 MB", [((1234.5,), "MB"), ((2000,), "MB")]),
    ("12.345,6 and 1 234,5 €", [((12345.6,), "and"), ((1234.5,), "€")]), ("it took 1.234 s", [((1.234, 1234), "s")]),
    ("$ 1,200", [((1200,), "$")]), ("−5 °C, 0.125", [((-5,), "°C"), ((0.125,), "")]),
    ("57/90 files, 57 of 90", [((57,), ""), ((57,), "of"), ((90,), "")]),
    ("at 12:30 on 2026-11-25 (12/24/2026), the 3rd, v1.2.3, 192.168.1.10, h264", []),
    ("errors=3, warnings=4", [((3,), ""), ((4,), "")]), ("errors=3 warnings: 4", [((3,), ""), ((4,), "")]),
    ("$108,837 or 1'234.50 or 1 234,50 €", [((108837,), "$"), ((1234.5,), "or"), ((1234.5,), "€")]),
    ("-$1,234.00, US$ 2.5M, CHF 12.00", [((-1234,), "$"), ((2.5e6,), "US$"), ((12,), "CHF")]),
    ("1,08,837 ₹", [((108837,), "₹")]),
    ("1.2k stars, 3 Mio. €, 2bn", [((1200,), "stars"), ((3e6,), "€"), ((2e9,), "")]),
    ("Inbox (12), 99+, balance ($5.00)", [((12,), ""), ((99,), ""), ((5, -5), "$")]),
    ("Score - 5, –5, a-5, 5–9, Nr. —7", [((-5, 5), ""), ((-5,), ""), ((5, -5), ""), ((-7,), "")]),
    ("10 0 items, 5 of 12", [((10, 100, 0), "items"), ((5,), "of"), ((12,), "")]),
    ("1 000 000 or 1\u202f000\u00a0000 or 10 000 0", [((1e6,), "or"), ((1e6,), "or"), ((10, 100000, 0), "")]),
    ("5 12:30", [((5,), "")]), ("issues.html?t0=1795868505666 localhost:8080/x https://a.org/42", []),
])  # fmt: skip
def test_numbers_are_read_as_programs_write_them(text: str, numbers: list[tuple[tuple[float, ...], str]]) -> None:
    assert [(one.values, one.unit) for one in numbers_in(text)] == numbers


def test_what_no_pixel_shows_is_no_part_of_a_name() -> None:
    assert comparable("\u200eRe\u00adport\u200f\u00a0\u200b7\ufeff") == "report 7"


@given(st.text(max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    for one in numbers_in(text):
        assert one.values
        assert 0 <= one.start < one.end <= len(text)


def after(condition: str, line: str) -> str:
    leaf = number_condition(condition)
    verdict = judge_places(leaf, list(find_label_places(leaf, line)))
    return "none" if verdict.code == "unreadable" else verdict.answer.value


@pytest.mark.parametrize(("condition", "line", "answer"), [
    ("Progress >= 90 %", "Progress: 90 %", "yes"), ("Progress >= 90 %", "progress 89.9%", "no"),
    ("Progress > 90 %", "Progress: 90 %", "no"), ("Errors = 0", "Errors: 0, warnings: 3", "yes"),
    ("Errors != 0", "Errors: 0", "no"), ("warnings < 4", "Errors: 0, warnings: 3", "yes"),
    ("Downloaded >= 0.9 GB", "Downloaded so far: 950 MB of 1 GB", "yes"),
    ("Downloaded >= 1 GB", "Downloaded so far: 950 MB of 1 GB", "no"), ("left <= 2 min", "Time left: 90 s", "yes"),
    ("took = 5 ms", "took 5 m", "none"), ("Errors = 1 error", "Errors: 1 errors", "yes"),
    ("Price < 20 eur", "Price: € 19.99", "yes"), ("Price < 20 $", "Price: 25 USD", "no"),
    ("Price < 20 $", "Price: 19 EUR", "none"), ("Total = 5", "Subtotal: 5", "none"),
    ("Progress >= 90 %", "Progress of the first of many long parts: 95 %", "none"),
    ("took < 2 s", "took 1.234 s", "unknown"), ("took < 1 s", "took 1.234 s", "no"),
    ("Errors = 0", "Errors: 0; Errors: 2", "unknown"), ("Issues >= 8", "Issues Pull requests 30", "none"),
    ("errors = 5", "3 errors, 5 warnings", "no"), ("errors = 3", "errors in 3 files", "none"),
    ("errors = 31", "31 open errors", "none"), ("failed = 5", "12 passed, 3 failed in 5 s", "no"),
    ("passed = 12", "== 12 passed, 3 failed ==", "yes"), ("Open = 3", "12 Open 3 Closed", "no"),
    ("Warnings = 3", "Errors 3 Warnings 4", "no"), ("Open = 3", "Today 12 Open 3 Closed", "none"),
    ("Tests >= 2", "2. Tests", "none"), ("open errors = 31", "31 open errors", "yes"),
    ("Total = 5", "Total cost: 5", "yes"), ("Stars >= 1000", "Stars 1.2k", "yes"),
    ("Stars > 1.3k", "Stars 1.2k", "no"), ("Unread >= 9", "Unread 9+", "yes"),
    ("Unread >= 10", "Unread 9+", "unknown"), ("Unread = 12", "Unread 9+", "unknown"),
    ("Unread < 9", "Unread 9+", "no"), ("Memory < 600", "Memory 512 B", "unknown"),
    ("Memory < 600 B", "Memory 512 B", "yes"), ("Price > $480", "Price $108,837", "yes"),
    ("Found = 100", "Found: 10 0 items", "unknown"), ("Found > 200", "Found: 10 0 items", "no"),
    ("Balance < 0", "Balance-5", "unknown"),
])  # fmt: skip
def test_a_number_after_its_label_compares(condition: str, line: str, answer: str) -> None:
    assert after(condition, line) == answer


def test_without_a_label_there_must_be_one_number() -> None:
    leaf = number_condition("= 0 errors")
    assert judge_only_number(leaf, ["Build 4711", "0 errors"]).answer is Answer.YES
    two = judge_only_number(leaf, ["1 error", "0 errors"])
    assert (two.answer, two.code) == (Answer.UNKNOWN, "unreadable")
    assert "give the label" in two.detail
    assert judge_only_number(leaf, ["all fine"]).answer is Answer.UNKNOWN


@pytest.mark.parametrize(("text", "label", "value", "unit"), [
    ("Progress >= 90 %", "Progress", 90, "%"), ("'Items:' = 3", "Items", 3, ""),
    ("Total ≥ $100.5", "Total", 100.5, "$"), ("< -2 °C", "", -2, "°C"), ("Total > $2,000", "Total", 2000, "$"),
    ("Stars >= 1.2k", "Stars", 1200, ""), ("Used < 5 MB", "Used", 5, "MB"), ("Used < 512 B", "Used", 512, "B"),
    ("Files = 3 open files", "Files", 3, "open files"),
])  # fmt: skip
def test_a_comparison_is_written_as_people_do(text: str, label: str, value: float, unit: str) -> None:
    leaf = number_condition(text)
    assert (leaf.label, leaf.value, leaf.unit) == (label, value, unit)
    assert isinstance(leaf, ScreenNumber)


@pytest.mark.parametrize("text", ["Issues >= +5", "+5 >= x", "Issues > 9+"])
def test_a_comparison_has_no_plus(text: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        number_condition(text)
    assert "without it" in str(refused.value.hint) or text.startswith("+")


@pytest.mark.parametrize(("text", "whole"), [("Saved", True), ("Unsaved changes", False), ("is-saved!", True)])
def test_words_end_where_no_letter_follows(text: str, whole: bool) -> None:
    at = text.lower().find("saved")
    assert is_whole(text, at, at + 5) is whole


def test_scripts_without_spaces_have_no_ends_of_words() -> None:
    assert is_whole("下载完成", 0, 2)
