"""Steps become letters once, where they stand; a doubtful capital follows the letters around it."""

import numpy as np
import pytest

from acud.evaluator.ocr.decoder import LetterDecoder

CHARACTERS = list("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.")
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
    assert DECODER.decode(chances(""), 4.0) == ("", 0.0, ())
    assert DECODER.decode(chances(" "), 4.0)[0::2] == ("", ())


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ("LoCKED", "LOCKED"), ("cURRENT_wORD", "CURRENT_WORD"), ("REC0RD", "RECORD"), ("0lder", "Older"),
        ("dream0ften", "dreamOften"), ("AFTERNo0N", "AFTERNOON"),
        ("V6.2", "v6.2"), ("VAT6", "VAT6"), ("v0.7", "v0.7"),
        ("XK40-0TQ5", "XK40-0TQ5"), ("MacBook", "MacBook"), ("color", "color"), ("Go", "Go"),
    ],
)  # fmt: skip
def test_a_letter_in_doubt_follows_its_word(seen: str, text: str) -> None:
    assert DECODER.decode(chances(seen, 0.1), 4.0).text == text
    assert DECODER.decode(chances(seen, 0.001), 4.0).text == seen
