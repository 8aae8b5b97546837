"""Sentences that plainly ask for quoted words, and hostile neighbours of them."""

from __future__ import annotations

import pytest

from acud.types import Text, number_condition
from acud.waits.ocr_criteria import text_criteria

VISIBLE = [
    '"Done"',
    "“Done”",
    "‘Done’ is visible",
    "'Done' is visible",
    "„Done“ is visible",
    '"Done" is visible',
    '"Done" is visible.',
    "the text 'Done' appears on the screen",
    'the word "Done" is shown on the display',
    '  The   Text "Done"  is displayed ',
    'wait until "Done" is visible',
    'Wait for "Done"',
    'Wait for the text "Done" to appear',
    '"Done" is on screen',
    '"Done" can be seen',
    '"Done" is visible now',
    '"Done" is on the screen',
]
GONE = [
    'wait until "Done" is gone',
    '"Done" disappears',
    '"Done" is no longer visible',
    '"Done" is not visible',
    "the message “Done” has disappeared",
    '"Done" has vanished from the screen'.replace(" from the screen", ""),
    'wait for "Done" to disappear',
    '"Done" is no longer on the screen',
]
NUMBERS = [
    ('wait until "Progress" reaches 100 %', "Progress >= 100 %"),
    ('the number after "Errors" is 0', "Errors = 0"),
    ('"Free space" drops below 1.5 GB.', "Free space < 1.5 gb"),
    ('"Queue" exceeds 20', "Queue > 20"),
    ('the value of "Load" is at most 3', "Load <= 3"),
]
NEEDS_EYES = [
    '"Progress" reaches the end',
    '"Progress" reaches 100 % twice',
    'the bar beside "Progress" reaches 100 %',
    '"Errors" is not 0',
    '"Errors" is about 5',
    "the progress reaches 100 %",
    "the download has finished",
    '"Done" is not yet visible',
    '"Done" is never visible',
    'no "Done" is visible',
    'nothing but "Done" is visible',
    'not "Done"',
    '"Done" isn\'t visible',
    '"Done" is hardly visible',
    '"Done" is visible twice',
    'two "Done" are visible',
    '"Done" is visible in the top left corner',
    '"Done" is visible below the title',
    'the button "Done" is visible',
    'the "Done" button is visible',
    'the window "Done" is visible',
    'the heading "Done" appears',
    '"Done" is visible and the spinner has stopped',
    '"Done" is visible, but not red',
    '"Done" is visible for 5 seconds',
    '"Done" appears after the spinner stops',
    '"Done" is visible unless an error is shown',
    '"Done" or "Failed" is visible',
    '"Done" is visible and "Failed" is gone',
    'a green "Done" is visible',
    '"Done" becomes green',
    '"Done" is visible?',
    'is "Done" visible',
    '"Done" is gone from the list',
    '"Done" is visible in the window "Editor"',
    'is visible "Done"',
    '"" is visible',
    '"  " is visible',
    '"Done is visible',
    "Done is visible",
    '"Done" visible',
    "<> is visible",
    "",
]


@pytest.mark.parametrize("sentence", VISIBLE)
def test_plainly_visible(sentence: str) -> None:
    assert text_criteria(sentence).leaf == Text("Done")


@pytest.mark.parametrize("sentence", GONE)
def test_plainly_gone(sentence: str) -> None:
    assert text_criteria(sentence).leaf == Text("Done", gone=True)


@pytest.mark.parametrize(("sentence", "number"), NUMBERS)
def test_a_number_after_quoted_words_is_read(sentence: str, number: str) -> None:
    assert text_criteria(sentence).leaf == number_condition(number)


@pytest.mark.parametrize("sentence", NEEDS_EYES)
def test_anything_more_needs_a_judge_that_sees(sentence: str) -> None:
    answer = text_criteria(sentence)
    assert answer.leaf is None
    assert "ACU_VISION_BACKEND" in answer.reason


def test_the_words_are_kept_as_quoted() -> None:
    assert text_criteria('"Don\'t  PANIC" is visible').leaf == Text("Don't PANIC")
    assert text_criteria('"no longer visible" is visible').leaf == Text("no longer visible")
