"""Which lines are read a second time, with which languages, and which of two readings stands."""

from collections.abc import Sequence

import numpy as np
import pytest

from acud.base.errors import Unavailable
from acud.evaluator.ocr.engine import Bgr, Reading
from acud.evaluator.ocr.scripts import packages, script_of
from acud.evaluator.ocr.second_reader import Doubt, SecondReader, ViewScripts, is_doubtful, stands, without_icons
from tests.fixtures.manual_clock import ManualClock

CYRILLIC, GREEK = script_of("Cyrillic"), script_of("Greek")
assert CYRILLIC is not None
assert GREEK is not None


def line(*glyphs: tuple[int, int], high: int = 18) -> Bgr:
    """Return a white line with black glyphs: columns from, to."""
    pixels = np.full((high, max((right for _, right in glyphs), default=30) + 4, 3), 255, np.uint8)
    for left, right in glyphs:
        pixels[4:-4, left:right] = 0
    return pixels


WORD = line(*[(4 + 8 * n, 10 + 8 * n) for n in range(7)])
BUTTONS = line((4, 17), (21, 34), (38, 51), high=22)
ICON = line((4, 24), high=22)
LONG = line(*[(4 + 8 * n, 10 + 8 * n) for n in range(12)])


@pytest.mark.parametrize(("text", "confidence", "crop", "doubtful"), [
    ("Download", 0.99, WORD, False), ("v7.6", 0.88, WORD, False),
    ("3apy3k", 0.74, WORD, True), ("", 0.0, WORD, True), ("Προβο", 0.99, WORD, True), ("10 μ", 0.99, WORD, False),
    ("b", 0.95, LONG, True), ("3", 0.2, line((4, 12)), False), ("00网", 0.48, BUTTONS, False),
])  # fmt: skip
def test_what_is_unsure_or_too_short_for_its_width_is_doubtful_and_no_icon_is(
    text: str, confidence: float, crop: Bgr, doubtful: bool
) -> None:
    assert is_doubtful(Reading(text, confidence), crop) is doubtful


@pytest.mark.parametrize(("text", "confidence", "crop", "after"), [
    ("00网", 0.48, BUTTONS, ("", 0.0)), ("口网", 0.57, BUTTONS, ("", 0.0)),
    ("5", 0.94, ICON, ("5", 0.47)), ("5", 0.99, ICON, ("5", 0.99)), ("7", 0.9, line((4, 11)), ("7", 0.9)),
    ("pocket", 0.94, WORD, ("pocket", 0.94)),
])  # fmt: skip
def test_icons_are_no_text(text: str, confidence: float, crop: Bgr, after: tuple[str, float]) -> None:
    assert without_icons(Reading(text, confidence), crop)[:2] == after


@pytest.mark.parametrize(("first", "second", "met", "wins"), [
    (("3apy3k", 0.74), ("Загрузка", 0.97), False, True), (("3apy3k", 0.74), ("Загрузка", 0.6), False, False),
    (("3apy3k", 0.74), ("Загрузка", 0.6), True, True), (("Page", 1.0), ("Раде", 0.95), True, False),
    (("pa3mep", 0.97), ("размер", 0.96), True, True), (("pa3mep", 0.97), ("размер", 0.96), False, False),
    (("", 0.0), ("Е", 0.94), True, False), (("0", 0.4), ("Ready", 0.95), False, True),
    (("often", 0.86), ("otten", 0.95), False, False), (("", 0.0), ("Er]", 0.48), False, False),
])  # fmt: skip
def test_the_surer_reading_stands_and_letters_of_the_dictionary_are_the_first_readers(
    first: tuple[str, float], second: tuple[str, float], met: bool, wins: bool
) -> None:
    assert CYRILLIC is not None
    assert stands(Reading(*first), Reading(*second), CYRILLIC, met=met) is wins


def test_a_long_greek_word_stands_however_unsure_once_greek_was_met() -> None:
    assert GREEK is not None
    first, second = Reading("αι", 0.68), Reading("γραμματοσειρά", 0.2)
    assert stands(first, second, GREEK, met=True)
    assert not stands(first, second, GREEK, met=False)


def test_letters_that_look_as_latin_ones_do_are_no_sign_of_their_script() -> None:
    assert GREEK is not None
    assert CYRILLIC is not None
    spaced, code = Reading("NOTABLE", 0.85), Reading("x == y", 0.8)
    assert not stands(spaced, Reading("ΝΟΤΑΒΙ Ε", 0.9), GREEK, met=False)
    assert not stands(code, Reading("х = у", 0.82), CYRILLIC, met=False)
    assert stands(Reading("APXH", 0.7), Reading("ΑΡΧΗ Λ", 0.9), GREEK, met=False)


class FakeProgram:
    """Reads every crop as `texts` says for the first of the languages; counts calls."""

    detects_scripts = True

    def __init__(self, texts: dict[str, str], languages: str = "eng osd rus ell", script: str = "") -> None:
        self.texts, self.script = texts, script
        self.languages = frozenset(languages.split())
        self.calls: list[tuple[int, str]] = []
        self.detections = 0
        self.fault = ""

    def read(self, crops: Sequence[Bgr], languages: Sequence[str]) -> list[Reading]:
        self.calls.append((len(crops), "+".join(languages)))
        if self.fault:
            raise Unavailable(self.fault)
        text = self.texts.get(languages[0], "")
        return [Reading(text, 0.95 if text else 0.0) for _ in crops]

    def script_name(self, crops: Sequence[Bgr]) -> str:
        self.detections += 1
        return self.script


def reread(reader: SecondReader, readings: Sequence[Reading], view: ViewScripts, y: int = 0) -> list[Reading]:
    doubts = [Doubt(WORD, one, (8, y + 20 * place)) for place, one in enumerate(readings)]
    steps = reader.reread(doubts, view)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: list[Reading] = end.value
            return found


def test_sure_lines_start_nothing() -> None:
    def make() -> FakeProgram:
        raise AssertionError("it was started")

    sure = [Reading("Download", 0.99), Reading("v7.6", 0.88)]
    assert reread(SecondReader(make), sure, ViewScripts()) == sure


def test_a_few_lines_tell_the_script_and_the_others_follow_in_it() -> None:
    program, view = FakeProgram({"ell": "ενημέρωση"}), ViewScripts()
    found = reread(SecondReader(lambda: program), [Reading("εvn", 0.7)] * 9, view)
    assert {(one.text, one.reader) for one in found} == {("ενημέρωση", "tesseract ell+eng")}
    assert program.calls == [(4, "rus+eng"), (4, "ell+eng"), (5, "ell+eng")]
    reread(SecondReader(lambda: program), [Reading("εvn", 0.7)], view)
    assert program.calls[3:] == [(1, "ell+eng")]  # the view's script first


def test_what_is_nearly_sure_is_read_again_once_the_view_has_shown_a_script() -> None:
    program, view = FakeProgram({"rus": "размер"}), ViewScripts()
    found = reread(
        SecondReader(lambda: program), [Reading("3", 0.5), Reading("pa3mep", 0.97), Reading("Page", 1.0)], view
    )
    assert [one.text for one in found] == ["размер", "размер", "Page"]


def test_a_script_without_a_reader_is_remembered_with_its_package_until_that_is_there() -> None:
    program, clock = FakeProgram({}, "eng osd", "Cyrillic"), ManualClock()
    reader = SecondReader(lambda: program, clock.monotonic_s)
    first = [Reading("3apy3k", 0.7)] * 4
    assert reread(reader, first, ViewScripts()) == first
    assert [(one.script, one.packages) for one in reader.missing] == [("Cyrillic", ("tesseract-ocr-rus",))]
    assert "apt install tesseract-ocr-rus" in reader.cannot_read("Загрузка")
    program.languages |= {"rus"}
    assert reader.missing == ()
    assert reader.cannot_read("Загрузка") == ""


def test_a_place_that_shows_nothing_readable_is_left_alone_after_three_tries() -> None:
    program, view = FakeProgram({}), ViewScripts()
    reader = SecondReader(lambda: program)
    for _ in range(5):
        reread(reader, [Reading("0", 0.3)], view)
    assert len(program.calls) == 3 * 2
    reread(reader, [Reading("0", 0.3)], view, y=200)
    assert len(program.calls) == 4 * 2


def test_a_program_that_fails_leaves_the_first_readings_says_why_and_is_tried_again_later() -> None:
    program, clock, view = FakeProgram({"rus": "Загрузка"}), ManualClock(), ViewScripts()
    reader = SecondReader(lambda: program, clock.monotonic_s)
    program.fault = "tesseract did not answer in 5 s"
    first = [Reading("3apy3k", 0.7)]
    assert reread(reader, first, view) == first
    assert view.failed
    assert reader.fault == "tesseract did not answer in 5 s"
    assert reader.cannot_read("Загрузка") == reader.fault
    assert reader.cannot_read("Download") == ""
    program.fault = ""
    assert reread(reader, first, view) == first
    assert len(program.calls) == 1
    clock.advance(61)
    assert reread(reader, first, view)[0].text == "Загрузка"
    assert reader.fault == ""


def test_without_the_program_text_that_nothing_reads_is_told_with_its_package() -> None:
    def make() -> FakeProgram:
        raise Unavailable("tesseract is not installed")

    reader = SecondReader(make)
    reread(reader, [Reading("3apy3k", 0.7)] * 4, ViewScripts())
    assert [(one.script, one.packages) for one in reader.missing] == [("unknown", ("tesseract-ocr",))]
    assert "apt install tesseract-ocr tesseract-ocr-rus" in reader.cannot_read("Загрузка")


def test_packages_are_debians() -> None:
    korean = script_of("Korean")
    assert korean is not None
    assert packages(korean, ["eng"]) == ("tesseract-ocr-kor",)
    assert script_of("Latin") is None
    assert script_of("Han") is None
