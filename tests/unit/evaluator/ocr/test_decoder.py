"""Steps become letters once, where they stand; a doubtful capital follows the letters around it."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.ocr.decoder import LetterDecoder, with_gaps
from acud.evaluator.ocr.engine import Reading

CHARACTERS = list("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.ïö")
DECODER = LetterDecoder(CHARACTERS)
INDEX = {character: place + 1 for place, character in enumerate(CHARACTERS)} | {" ": len(CHARACTERS) + 1}


def chances(text: str, second: float = 0.0) -> np.ndarray:
    """Return two steps for each letter and a blank one after; what looks alike has the chance `second`."""
    steps = np.zeros((3 * len(text), len(CHARACTERS) + 2), np.float32)
    steps[2::3, 0] = 1
    for place, letter in enumerate(text):
        steps[3 * place : 3 * place + 2, INDEX[letter]] = 1 - second
        if (other := {"0": "O"}.get(letter, letter.swapcase())) != letter:
            steps[3 * place : 3 * place + 2, INDEX[other]] = second
    return steps


def test_repeated_steps_are_one_letter_and_spaces_at_the_ends_none() -> None:
    read = DECODER.decode(chances(" all "), 4.0)
    assert (read.text, read.confidence) == ("all", 1.0)
    assert read.middles == pytest.approx([14.0, 26.0, 38.0])


def test_nothing_is_an_empty_text() -> None:
    assert DECODER.decode(chances(""), 4.0) == Reading("", 0.0)
    assert DECODER.decode(chances(" "), 4.0)[0::2] == ("", ())


@pytest.mark.parametrize(("seen", "text"), [
    ("LoCKED", "LOCKED"), ("cURRENT_wORD", "CURRENT_WORD"), ("REC0RD", "RECORD"), ("0lder", "Older"),
    ("dream0ften", "dreamOften"), ("AFTERNo0N", "AFTERNOON"), ("V6.2", "v6.2"), ("VAT6", "VAT6"), ("v0.7", "v0.7"),
    ("XK40-0TQ5", "XK40-0TQ5"), ("MacBook", "MacBook"), ("color", "color"), ("Go", "Go"),
])  # fmt: skip
def test_a_letter_in_doubt_follows_its_word(seen: str, text: str) -> None:
    assert DECODER.decode(chances(seen, 0.1), 4.0).text == text
    assert DECODER.decode(chances(seen, 0.001), 4.0).text == seen


@pytest.mark.parametrize(("second", "text"), [(0.02, "is_I1"), (0.002, "is_Il")])
def test_an_l_that_may_be_a_one_is_a_one(second: float, text: str) -> None:
    steps = chances("is_Il")
    steps[12:14, INDEX["1"]] = second
    assert DECODER.decode(steps, 4.0).text == text


@pytest.mark.parametrize(
    ("second", "third", "text"), [(0.06, 0.0, "naïve"), (0.02, 0.0, "naive"), (0.2, 0.06, "naive")]
)
def test_an_accent_that_may_be_there_on_a_sure_letter_is_there(second: float, third: float, text: str) -> None:
    steps = chances("naive")
    steps[6:8, INDEX["i"]] = 1 - second - third
    steps[6:8, INDEX["ï"]], steps[3:5, INDEX["ö"]] = second, second
    assert DECODER.decode(steps, 4.0).text == text


def chinese(gap: int, letters: int = 4) -> np.ndarray:
    """Return a line of Chinese letters as blocks of 14 px, two by two, with `gap` columns between the pairs."""
    pixels = np.full((20, 80, 3), 255, np.uint8)
    for place in range(letters):
        left = 2 + 15 * place + (gap - 1) * (place // 2)
        pixels[3:17, left : left + 14] = 0
    return pixels


@pytest.mark.parametrize(("gap", "text"), [(2, "下载完成"), (5, "下载 完成")])
def test_chinese_words_that_stand_apart_have_a_space(gap: int, text: str) -> None:
    middles = tuple(9.0 + 15 * place + (gap - 1) * (place // 2) for place in range(4))
    found = with_gaps(Reading("下载完成", 0.99, middles), chinese(gap))
    assert found.text == text
    assert len(found.middles) == len(text)
    latin = Reading("disk", 0.99, middles)
    assert with_gaps(latin, chinese(gap)) == latin


@pytest.mark.parametrize("font", ["DejaVuSans.ttf", "DejaVuSansMono.ttf", "DejaVuSerif-Bold.ttf"])
@pytest.mark.parametrize(("px", "tracking", "shown", "read"), [
    (12, 0, "Id70 0", "Id700"), (32, 0, "Id70 0", "Id700"), (22, 6, "Id70 0", "Id700"),
    (15, 0, "400 items", "400 items"), (15, 0, "Step 11", "Step 11"), (22, 6, "Step 11", "Step 11"),
    (22, 6, "notable", "no table"),
])  # fmt: skip
def test_the_blanks_of_a_reading_are_those_that_its_pixels_show(
    font: str, px: int, tracking: int, shown: str, read: str
) -> None:
    face, starts, x = ImageFont.truetype(font, px), [], 20.0
    image = Image.new("RGB", (30 * px, 2 * px), "white")
    for letter in shown:
        ImageDraw.Draw(image).text((x, px // 3), letter, "black", face)
        starts += [x] * (letter != " ")
        x += face.getlength(letter) + tracking
    middles = iter(start + px / 4 for start in starts)
    where = tuple(next(middles) if letter != " " else 0.0 for letter in read)
    assert with_gaps(Reading(read, 0.99, where), np.asarray(image)).text == shown
