"""Sentences that mean a local condition for certain, and hostile neighbours of them."""

import subprocess
import sys
import time

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
    ScreenNumber,
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
from acud.waits.absence import asks_absence
from acud.waits.sentence_suggestions import suggest_call
from acud.waits.sentences import meaning_notes, read_sentence, with_meanings
from tests.sentences import FOLDER, readings

VISIBLE = [
    '"Done"', "“Done”", "‘Done’ is visible", "'Done' is visible", "„Done“ is visible", "‚Done‘ is visible",
    "»Done« is visible", "「Done」 is visible", '"Done" is visible', '"Done" is visible.',
    "the text 'Done' appears on the screen", 'the word "Done" is shown on the display',
    '  The   Text "Done"  is displayed ', 'wait until "Done" is visible', 'Wait for "Done"',
    'Wait for the text "Done" to appear', '"Done" is on screen', '"Done" can be seen', '"Done" is visible now',
    '"Done" is on the screen',
]  # fmt: skip
GONE = [
    'wait until "Done" is gone', '"Done" disappears', '"Done" is no longer visible', '"Done" is not visible',
    "the message “Done” has disappeared", '"Done" has vanished from the screen'.replace(" from the screen", ""),
    'wait for "Done" to disappear', '"Done" is no longer on the screen',
]  # fmt: skip
NUMBERS = [
    ('wait until "Progress" reaches 100 %', "Progress >= 100 %"),
    ('the number after "Errors" is 0', "Errors = 0"),
    ('"Free space" drops below 1.5 GB.', "Free space < 1.5 gb"),
    ('"Queue" exceeds 20', "Queue > 20"),
    ('the value of "Load" is at most 3', "Load <= 3"),
]
REQUESTS = [
    "pls ping me when {}, thx", "Would you kindly notify me when {}?",
    "Please watch the screen and let me know as soon as {}", "Hang on till {}",
    "Keep watching until {}, then let me know.", "Do not continue until {}.", "You can go on once {}.", "{} -> wake me",
]  # fmt: skip
"""Openings and closings: what they leave of a sentence is its condition."""


def _progress(value: str, *, percent: bool = False) -> Widget:
    return Widget("progress bar", value=value, compare=ValueComparison.AT_LEAST, percent=percent)


OTHERS: list[tuple[str, Until]] = [
    ("the progress reaches 100 %", number_condition("progress >= 100 %")),
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
    ("PID 4711 exits", ProcessExit(4711)),
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
    # numbers
    ('the number after "Temperature" goes above 85 °C', number_condition("Temperature > 85 °c")),
    ('the reading next to "Pressure" climbs over 2.5 bar', number_condition("Pressure > 2.5 bar")),
    ("the number labelled Failed is greater than 0", number_condition("Failed > 0")),
    ('the counter "Visitors" is at least 1,500', number_condition("Visitors >= 1500")),
    ('"Visitors" reaches 1,500 or more', number_condition("Visitors >= 1500")),
    ('"Copied" reaches 100 %', number_condition("Copied >= 100 %")),
    ('"Coverage" shows 80 % or more', number_condition("Coverage >= 80 %")),
    ('"Errors" is zero', number_condition("Errors = 0")),
    ('"Load" is no longer above 5', number_condition("Load <= 5")),
    ('"Load" is not less than 5', number_condition("Load >= 5")),
    # controls
    ("the progress bar reaches 100 %", _progress("100", percent=True)),
    ("The progress bar is at 90 or more.", _progress("90")),
    ("the progress bar has gone away", Widget("progress bar", gone=True)),
    ("there is no progress bar any more", Widget("progress bar", gone=True)),
    ("the button Finish becomes enabled", Widget("button", "Finish", states=(WidgetState.ENABLED,))),
    ('I can click the "Next" button', Widget("button", "Next", states=(WidgetState.ENABLED,))),
    ('the spin button "Delay" is set to 3', Widget("spin button", "Delay", value="3")),
    ('wait for the "Accept" button', Widget("button", "Accept")),
    ('you see a window called "Alert"', WindowTitle("Alert")),
    ('a window opens with the title "Welcome"', WindowTitle("Welcome")),
    # texts
    ('you can no longer see the words "Please wait"', Text("Please wait", gone=True)),
    ("the words 'Acquiring' aren't on the screen any more", Text("Acquiring", gone=True)),
    ('the "Loading" message has left the screen', Text("Loading", gone=True)),
    ('it no longer says "Offline"', Text("Offline", gone=True)),
    ('a message pops up saying "Sent"', Text("Sent")),
    ('"/dev/sda1 mounted" appears', Text("/dev/sda1 mounted")),
    # files and processes
    ("the process with the pid 4711 is finished", ProcessExit(4711)),
    ("the job with pid 4711 is no longer running", ProcessExit(4711)),
    # the screen
    ("there's been no change on the screen for 5 secs", Stable(5)),
    ("the screen stays unchanged for a full minute", Stable(60)),
    # joints
    (
        'either process 12 ends, "Late" appears, or the window "Job" closes',
        AnyOf((ProcessExit(12), Text("Late"), WindowTitle("Job", gone=True))),
    ),
    ('"A" appears or the B window closes, whichever is first', AnyOf((Text("A"), WindowTitle("B", gone=True)))),
    ('"A", "B" and "C" are gone', AllOf(tuple(Text(one, gone=True) for one in "ABC"))),
    ('"A" or "B" window closes', AnyOf((WindowTitle("A", gone=True), WindowTitle("B", gone=True)))),
    ('wait for "A" to show up and then for "B" to show up', Then((Text("A"), Text("B")))),
    (
        "First the window X opens, and after that it closes; tell me then.",
        Then((WindowTitle("X"), WindowTitle("X", gone=True))),
    ),
    ("wait for the screen to change, then until it has stayed the same for 5 seconds", Then((Change(), Stable(5)))),
    # words
    ('"A" leaves the screen', Text("A", gone=True)),
    # other words for what was known
    ('the toggle button "Mute" is pressed', Widget("toggle button", "Mute", states=(WidgetState.PRESSED,))),
    ("Pressure: above 2.5 bar", number_condition("Pressure > 2.5 bar")),
    ('"Total" becomes 50', number_condition("Total = 50")),
    # controls
    ("the dialog Low Ink is no longer there", Widget("dialog", "Low Ink", gone=True)),
    # questions
    ('the button "OK" can no longer be pressed', Widget("button", "OK", states=(WidgetState.DISABLED,))),
]


@pytest.mark.parametrize("sentence", VISIBLE)
def test_plainly_visible(sentence: str) -> None:
    assert read_sentence(sentence) == Text("Done")


@pytest.mark.parametrize("request_for", REQUESTS)
def test_a_request_says_nothing_of_its_condition(request_for: str) -> None:
    assert read_sentence(request_for.format('"Done" is visible')) == Text("Done")
    assert read_sentence(request_for.format("the lamp is green")) is None
    assert read_sentence(request_for.format('"Done" is visible in the left pane')) is None


@pytest.mark.parametrize("words", [
    *("please ", "tell me and ", '"A" and ', " - ", "the Save button ", "a ", "a.b ", ", thanks", "not "),
    *("because I can go ", "it says ", '"A", ', "my cat is fat, ", "first ", ": or more"),
])  # fmt: skip
def test_the_time_of_a_sentence_grows_no_faster_than_its_length(words: str) -> None:
    def spent_s(length: int) -> float:
        began_s = time.process_time()
        assert read_sentence("tell me when " + words * (length // len(words))) is None
        return time.process_time() - began_s

    read_sentence("the text")
    short_s, long_s = (min(spent_s(length) for _ in range(3)) for length in (4000, 40_000))
    assert long_s < 30 * short_s  # ten is linear, a hundred is quadratic


@pytest.mark.parametrize("sentence", GONE)
def test_plainly_gone(sentence: str) -> None:
    assert read_sentence(sentence) == Text("Done", gone=True)


@pytest.mark.parametrize(("sentence", "number"), NUMBERS)
def test_a_number_after_quoted_words_is_read(sentence: str, number: str) -> None:
    assert read_sentence(sentence) == number_condition(number)


@pytest.mark.parametrize(("sentence", "meant"), OTHERS)
def test_others(sentence: str, meant: Until) -> None:
    assert read_sentence(sentence) == meant


def test_anything_more_needs_a_judge_that_sees() -> None:
    hostile = (FOLDER / "hostile.txt").read_text(encoding="utf-8").splitlines()
    assert len(hostile) > 400
    assert {one: read_sentence(one) for one in ("", *hostile) if read_sentence(one) is not None} == {}


def test_the_words_are_kept_as_quoted() -> None:
    assert read_sentence('"Don\'t  PANIC" is visible') == Text("Don't PANIC")
    assert read_sentence('"no longer visible" is visible') == Text("no longer visible")


def test_a_judge_that_is_named_gets_the_sentence() -> None:
    plain, seen = Criteria('"Done" is visible'), Criteria("the lamp is green")
    until = AnyOf((NotOf(plain), seen))
    assert with_meanings(until) == with_meanings(until, JudgeName.OCR) == AnyOf((NotOf(Text("Done")), seen))
    assert with_meanings(until, JudgeName.CLAUDE) == until
    assert list(meaning_notes(until, JudgeName.AUTO)) == ['read as: the text "Done" is visible; no model is asked']
    assert not list(meaning_notes(until, JudgeName.CLAUDE))


def test_a_number_keeps_its_sentence_for_a_model_where_it_cannot_be_read() -> None:
    number = Criteria('the number after "Errors" is 0')
    meant = with_meanings(number)
    assert isinstance(meant, ScreenNumber)
    assert meant.sentence == number.criteria
    assert "while that number can be read" in next(meaning_notes(number, JudgeName.AUTO))


def test_the_half_to_work_with_is_read_as_its_author_means_it() -> None:
    read = readings("work")
    assert [one.sentence.words for one in read if one.is_wrong] == []
    assert sum(one.read is not None for one in read) >= 0.35 * len(read) > 400


def test_a_sequence_inside_another_condition_stays_a_sentence() -> None:
    stages = Criteria('first "A" appears, then it goes away')
    assert isinstance(with_meanings(stages), Then)
    until = AllOf((stages, Criteria('"B" is visible')))
    assert with_meanings(until) == AllOf((stages, Text("B")))
    assert list(meaning_notes(until, JudgeName.AUTO)) == ['read as: the text "B" is visible; no model is asked']


@pytest.mark.parametrize(("sentence", "meant"), [row for row in OTHERS if may_name_host(row[1])])
def test_a_sentence_about_the_host_is_seen_as_one_before_it_is_read(sentence: str, meant: Until) -> None:
    assert may_name_host(Criteria(sentence))
    assert not may_name_host(Criteria('"Done" is visible'))


def test_the_grammar_is_compiled_when_it_is_first_needed() -> None:
    """Its tenth of a second would go into every start of a daemon and of its evaluators."""
    program = (
        "import acud.supervisor.__main__, acud.evaluator.__main__\n"
        "from acud.waits.sentence_grammar import grammar\n"
        "assert not grammar.cache_info().currsize"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("sentence", "call"), [
    ("the usage is under 10 %? then wake me", "--number 'usage < 10 %'"),
    ('"Saved" shows in green', "--text Saved"),
    ("the red 'Offline' has left the list", "--gone Offline"),
    ("my Volume slider is above 70, ok", "--widget 'slider \"Volume\" > 70'"),
    ("the left Save button isn't enabled", "--widget 'button \"Save\" not enabled'"),
    ('the left "Save" button is no longer there', "--widget 'button \"Save\" gone'"),
    ('the "Save" button on the left is visible', "--widget 'button \"Save\"'"),
    ("the Close button is highlighted", "--widget 'button \"Close\" STATE'"),
    ('do not continue until "Done" has turned green', "--text Done"),
    ("tell me when Save button turns red", "--widget 'button \"Save\" STATE'"),
    ("Queue is below 5 in the Jobs pane", "--number 'Queue < 5'"),
    ("the left pane has had no change for 20 seconds", "--stable 20"),
    ("the clock stops changing", "--stable 5"),
    ("the left window 'Export' has closed", "--window-gone Export"),
    ("Anna's ~/b.txt or ~/c.txt is complete", "--file '~/b.txt'"),
    ("PID 77 and its children end", "--process 77"),
    ("the left pane is quiet for 20 seconds", "--stable 20"),
    ("the clock changes", "--change"),
    ("the lamp is green", "--text 'WORDS THAT THE SCREEN SHOWS THEN'"),
])  # fmt: skip
def test_what_is_not_read_is_answered_with_the_call_that_fits_best(sentence: str, call: str) -> None:
    assert read_sentence(sentence) is None
    assert suggest_call(sentence).startswith(f"acud wait {call}, or smart_wait ")


@pytest.mark.parametrize("sentence", [
    '"Done" is not visible yet', 'wait as long as "Loading" is shown', 'neither "A" nor "B" is visible',
    'nothing but "Done" is visible', 'unless "Error" appears, "Done" is visible',
    'do not continue if "Error" is visible', 'tell me before "Session expired" appears', '"Done" is not enabled',
    '"Time left" reaches 5 minutes', "THE WINDOW REPORT HAS NOT CLOSED", "the left panel shows a green tick",
    "the file /tmp/a.log is not empty", "PID 4711 uses less than 5 % CPU", "no changes in the left pane",
    "two minutes without any change in the left pane", "the left pane is no longer still",
])  # fmt: skip
def test_no_call_is_named_that_may_wait_for_the_opposite(sentence: str) -> None:
    assert read_sentence(sentence) is None
    assert suggest_call(sentence).startswith("acud wait --text 'WORDS THAT THE SCREEN SHOWS THEN', or ")


ABSENT = """wait for the spinner to go away; the loading label should go away; the panel is hidden; nothing is loading
wait for the dialog to leave the screen; the toast fades away; the toast has faded away; the toast drops off the screen
the dialog is out of sight; the message was wiped from the screen; it has stopped showing the spinner
the cat went away; there is no spinner; no spinner is visible; the spinner cannot be seen; neither lamp is lit
the lamp never blinks; the label has left the list; the message has now been removed; the big dialog closes
wait for the big dialog to close"""
PRESENT = """the left panel shows a green tick; two items are left; the Close button is highlighted; the lamp goes green
the bus stops list is shown; the removed files are listed; the deleted items folder is open"""


def test_a_sentence_that_something_is_gone_is_known_as_one() -> None:
    for words, asked in ((ABSENT, True), (PRESENT, False)):
        read = {one: asks_absence(Criteria(one)) for line in words.splitlines() for one in line.split("; ")}
        assert set(read.values()) == {asked}, read


def test_the_call_of_the_tool_is_one_that_it_takes() -> None:
    assert suggest_call("the clock changes").endswith("smart_wait change=true")
    assert suggest_call("PID 77 and its children end").endswith("smart_wait process=77")
    window = suggest_call("the left window 'Export' has closed").partition("smart_wait criteria=")[2]
    assert read_sentence(window.strip("'")) == WindowTitle("Export", gone=True)
    every = {suggest_call(one.sentence.words).partition("smart_wait ")[2].partition("=")[0] for one in readings("work")}
    assert every <= {"text", "gone", "number", "window", "widget", "change", "stable", "file", "process", "criteria"}
