"""Sentences that mean a local condition for certain, and hostile neighbours of them."""

from __future__ import annotations

import pytest

from acud.protocol.requests.waits import may_name_host
from acud.types import (
    AllOf,
    AnyOf,
    Change,
    Criteria,
    FileState,
    JudgeName,
    NotOf,
    ProcessExit,
    Stable,
    Text,
    Then,
    Until,
    ValueComparison,
    Widget,
    WidgetState,
    WindowTitle,
    number_condition,
)
from acud.waits.sentences import meaning, meaning_notes, with_meanings
from tests.sentences import readings

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
    '"Errors" is about 5',
    "the volume reaches 100 %",
    "the number of errors is 0",
    "the progress bar reaches 100 %",
    "the message Bob sent appears",
    "the text cursor appears",
    'the "Save" button stays enabled',
    'the "Save" button is enabled again',
    "the first button is enabled",
    "the red button is enabled",
    "the Sheet2 tab is active",
    "the Save button is red",
    "the field 'Name' is empty",
    "the Name field is Ada",
    '"Save" is enabled',
    "report.pdf appears",
    "~/Downloads/report.pdf is almost downloaded",
    "build/app.tar.gz exists",
    "the biggest file in ~/Downloads has finished downloading",
    "process 4711 uses less memory",
    "Progress is almost at 100 %",
    "the total is more than 500 and less than 600",
    'first "A" appears, then the lamp is green',
    'has "Done" appeared?',
    "the big window opens",
    "a window appears",
    "a new window titled Done opens",
    "the window titled Done opens in the top left corner",
    "the text on the button is visible",
    "nothing changes",
    "nothing but the clock changes for 5 seconds",
    "nothing changes for 5 seconds after the spinner stops",
    "the screen changes twice",
    '"Done" is gone and the lamp is green',
    '"Done" and "Failed" or "Skipped" is visible',
    "the <Done> text is visible",
    "the download has finished",
    '"Done" is not yet visible',
    '"Done" is never visible',
    'no "Done" is visible',
    'nothing but "Done" is visible',
    'not "Done"',
    '"Done" is hardly visible',
    '"Done" is visible twice',
    'two "Done" are visible',
    '"Done" is visible in the top left corner',
    '"Done" is visible below the title',
    'the heading "Done" appears',
    '"Done" is visible and the spinner has stopped',
    '"Done" is visible, but not red',
    '"Done" is visible for 5 seconds',
    '"Done" appears after the spinner stops',
    '"Done" is visible unless an error is shown',
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
    "<> is visible",
    "",
]


OTHERS: list[tuple[str, Until]] = [
    ("the progress reaches 100 %", number_condition("progress >= 100 %")),
    ("wait until the download progress hits 50 percent", number_condition("download progress >= 50 %")),
    ("Battery falls below 20 %", number_condition("Battery < 20 %")),
    ("a window titled Report opens", WindowTitle("Report")),
    ("the window 'Save As' is closed", WindowTitle("Save As", gone=True)),
    ("wait for the Save As window to open", WindowTitle("Save As")),
    ("tell me when the Export window has closed", WindowTitle("Export", gone=True)),
    ('no window titled "Export" is open', WindowTitle("Export", gone=True)),
    ("the word Saved appears", Text("Saved")),
    ('the page shows "Order confirmed"', Text("Order confirmed")),
    ('the message that says "Loading" goes away', Text("Loading", gone=True)),
    ('"Done" visible', Text("Done")),
    ('"Done" isn\'t visible any more', Text("Done", gone=True)),
    ('wait as long as "Loading" is shown', Text("Loading", gone=True)),
    ('could you tell me when "You\'ve got mail" turns up?', Text("You've got mail")),
    ('"Errors" is not 0 any more', number_condition("Errors != 0")),
    ('the button "Done" is visible', Widget("button", "Done")),
    ('there is no "Accept cookies" button any more', Widget("button", "Accept cookies", gone=True)),
    ("Save button enabled", Widget("button", "Save", states=(WidgetState.ENABLED,))),
    ('"Paste" menu item no longer greyed out', Widget("menu item", "Paste", states=(WidgetState.ENABLED,))),
    (
        'the checkbox "Keep me signed in" gets ticked',
        Widget("check box", "Keep me signed in", states=(WidgetState.CHECKED,)),
    ),
    ('the radio button "Express" is selected', Widget("radio button", "Express", states=(WidgetState.CHECKED,))),
    ("the Dark Mode switch is on", Widget("switch", "Dark Mode", states=(WidgetState.CHECKED,))),
    ("Opacity slider at 50 or more", Widget("slider", "Opacity", value="50", compare=ValueComparison.AT_LEAST)),
    ('the field "Name" contains exactly "Ada"', Widget("field", "Name", value="Ada")),
    ("tell me when invoice.pdf is downloaded", FileState("~/Downloads/invoice.pdf")),
    ("~/Downloads/movie.mkv.part no longer there", FileState("~/Downloads/movie.mkv.part", 1.0, gone=True)),
    ("/tmp/Thesis (final).odt exists", FileState("/tmp/Thesis (final).odt", 0.0)),
    ("PID 4711 exits", ProcessExit(4711)),
    ('first "Connecting" shows up, then it goes away again', Then((Text("Connecting"), Text("Connecting", gone=True)))),
    ("the Print window opens and after that closes", Then((WindowTitle("Print"), WindowTitle("Print", gone=True)))),
    ('it says "Upload complete" or "Upload failed"', AnyOf((Text("Upload complete"), Text("Upload failed")))),
    ("nothing changes for 5 seconds", Stable(5)),
    ("the screen stays unchanged for a minute", Stable(60)),
    ("the screen hasn't changed for 2.5 s", Stable(2.5)),
    ("anything changes on the screen", Change()),
    ('"Done" or "Failed" is visible', AnyOf((Text("Done"), Text("Failed")))),
    ('either "Done" or "Failed" appears', AnyOf((Text("Done"), Text("Failed")))),
    ('"Loading" and "Waiting" are gone', AllOf((Text("Loading", gone=True), Text("Waiting", gone=True)))),
    ('"Done" is visible and "Failed" is gone', AllOf((Text("Done"), Text("Failed", gone=True)))),
    ('the text "A" is visible and the window "B" is closed', AllOf((Text("A"), WindowTitle("B", gone=True)))),
]


@pytest.mark.parametrize("sentence", VISIBLE)
def test_plainly_visible(sentence: str) -> None:
    assert meaning(sentence) == Text("Done")


@pytest.mark.parametrize("sentence", GONE)
def test_plainly_gone(sentence: str) -> None:
    assert meaning(sentence) == Text("Done", gone=True)


@pytest.mark.parametrize(("sentence", "number"), NUMBERS)
def test_a_number_after_quoted_words_is_read(sentence: str, number: str) -> None:
    assert meaning(sentence) == number_condition(number)


@pytest.mark.parametrize(("sentence", "meant"), OTHERS)
def test_others(sentence: str, meant: Until) -> None:
    assert meaning(sentence) == meant


@pytest.mark.parametrize("sentence", NEEDS_EYES)
def test_anything_more_needs_a_judge_that_sees(sentence: str) -> None:
    assert meaning(sentence) is None


def test_the_words_are_kept_as_quoted() -> None:
    assert meaning('"Don\'t  PANIC" is visible') == Text("Don't PANIC")
    assert meaning('"no longer visible" is visible') == Text("no longer visible")


def test_a_judge_that_is_named_gets_the_sentence() -> None:
    plain, seen = Criteria('"Done" is visible'), Criteria("the lamp is green")
    until = AnyOf((NotOf(plain), seen))
    assert with_meanings(until) == with_meanings(until, JudgeName.OCR) == AnyOf((NotOf(Text("Done")), seen))
    assert with_meanings(until, JudgeName.CLAUDE) == until
    assert list(meaning_notes(until, JudgeName.AUTO)) == ['read as: the text "Done" is visible; no model is asked']
    assert not list(meaning_notes(until, JudgeName.CLAUDE))


def test_the_half_to_work_with_is_read_as_its_author_means_it() -> None:
    read = readings("work")
    assert [one.sentence.words for one in read if one.is_wrong] == []
    assert sum(one.read is not None for one in read) >= 0.6 * len(read)


def test_a_sequence_inside_another_condition_stays_a_sentence() -> None:
    stages = Criteria('first "A" appears, then it goes away')
    assert isinstance(with_meanings(stages), Then)
    until = AllOf((stages, Criteria('"B" is visible')))
    assert with_meanings(until) == AllOf((stages, Text("B")))
    assert list(meaning_notes(until, JudgeName.AUTO)) == ['read as: the text "B" is visible; no model is asked']
    assert meaning('wait while first "A" appears, then it goes away') is None


@pytest.mark.parametrize(("sentence", "meant"), [row for row in OTHERS if may_name_host(row[1])])
def test_a_sentence_about_the_host_is_seen_as_one_before_it_is_read(sentence: str, meant: Until) -> None:
    assert may_name_host(Criteria(sentence))
    assert not may_name_host(Criteria('"Done" is visible'))
