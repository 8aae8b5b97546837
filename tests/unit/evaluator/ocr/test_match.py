"""Text is found across rows and columns, folded, with its place; absence must be plain; no pattern runs away."""

import re
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from acud.evaluator.expression_time_limit import TookTooLong, limit_cpu_time
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.match import look_for
from acud.evaluator.ocr.text_layout import blocks, rows
from acud.types import Answer, Rect, Text, Verdict
from acud.waits.anew import add_typed, find_typed

AT = Rect(100, 50, 640, 480)


def line(text: str, x: int, y: int, w: int = 0, confidence: float = 0.99) -> Line:
    return Line(text, confidence, Rect(x, y, w or 8 * len(text), 16))


TERMINAL = [line("$ make all", 0, 0), line("gcc -c main.c", 0, 16), line("Build  finished", 0, 32), line("$", 0, 48)]
TWO_WINDOWS = [
    line("The download", 0, 0, 100), line("Inbox (3)", 300, 2, 90),
    line("has finished.", 0, 18, 100), line("Meeting at noon", 300, 20, 120),
]  # fmt: skip


def verdict(lines: list[Line], text: str, **more: int) -> Verdict:
    return look_for(lines, Text(text, **more), 0.5, AT)


@pytest.mark.parametrize("text", ["Build finished", "build  FINISHED", "main.c build", "$ make all gcc", " finished "])
def test_text_is_found_folded_and_across_lines(text: str) -> None:
    assert verdict(TERMINAL, text).answer is Answer.YES


@pytest.mark.parametrize("text", ["The download has finished", "inbox (3) meeting", "has finished. Meeting"])
def test_text_is_found_in_a_block_and_along_a_row(text: str) -> None:
    assert verdict(TWO_WINDOWS, text).answer is Answer.YES


@pytest.mark.parametrize("text", ["下载完成", "下载 完成", "完成 打开文件", "完成打开"])
@pytest.mark.parametrize("read", [["下载 完成", "打开文件"], ["下载完成打开文件"], ["下载", "完成", "打开文件"]])
def test_spaces_between_chinese_letters_do_not_count(read: list[str], text: str) -> None:
    lines = [line(part, 80 * place, 0, 70) for place, part in enumerate(read)]
    assert verdict(lines, text).answer is Answer.YES


@pytest.mark.parametrize(("read", "text", "answer"), [
    ("Zūrich HB", "Zürich", Answer.UNKNOWN), ("žlutoučký", "žluťoučký", Answer.UNKNOWN),
    ("Zürich HB", "Zürich", Answer.YES), ("Resume", "Résumé", Answer.NO), ("Résumé", "Resume", Answer.NO),
    ("lod' v prístave", "loď v prístave", Answer.UNKNOWN), ("ľ’ahká", "ľahká", Answer.UNKNOWN),
    ("don't", "dont", Answer.NO), ("각", "가", Answer.NO), ("if (a ≠ b)", "a != b", Answer.UNKNOWN),
    ("if (a ≠ b)", "a !== b", Answer.UNKNOWN),
    ("if (a ≠ b)", "a ≠ b", Answer.YES), ("a≡b&&c≠d", "a == b", Answer.UNKNOWN), ("a ≠ b", "b", Answer.YES),
])  # fmt: skip
def test_other_accents_and_signs_of_no_settled_width_are_in_doubt(read: str, text: str, answer: Answer) -> None:
    assert verdict([line(read, 0, 0)], text).answer is answer


def test_case_counts_where_asked() -> None:
    assert verdict(TERMINAL, "build finished", match_case=True).answer is Answer.NO
    assert verdict(TERMINAL, "Build finished", match_case=True).answer is Answer.YES


@pytest.mark.parametrize(("read", "text"), [
    ("const f = x ⇒ x + 1;", "x => x"), ("if (n ≥ 10 ∥ m ≤ 3)", "n >= 10 || m <= 3"), ("p→next", "p->next"),
    ("p->next", "p→next"),
])  # fmt: skip
def test_ligatures_of_fonts_for_code_are_what_programs_spell(read: str, text: str) -> None:
    assert verdict([line(read, 0, 0)], text).answer is Answer.YES


@pytest.mark.parametrize(
    ("read", "text"), [("You can’t go", "can't"), ("“Save” it", '"save"'), ("Temp −5", "temp -5"), ("10–20", "10-20")]
)
def test_dashes_and_quotes_are_one_sign_in_every_spelling(read: str, text: str) -> None:
    assert verdict([line(read, 0, 0)], text).answer is Answer.YES
    assert verdict([line(read, 0, 0)], text.replace("-", "").replace("'", "").replace('"', "_")).answer is Answer.NO


def test_a_pattern_sees_both_spellings_of_a_sign() -> None:
    for pattern in (r"a\s*!=\s*b", "a ≠ b"):
        assert look_for([line("if (a ≠ b)", 0, 0)], Text(pattern, regex=True), 0.5, AT).answer is Answer.YES


def test_a_text_that_is_in_no_line_names_the_nearest_reading() -> None:
    read = [line("Updates  for you: OSMAmd 4.7 is reedy", 0, 0), *TERMINAL]
    assert verdict(read, "OSMAnd 4.7 is ready").detail.endswith(
        'lines of text; the nearest is "Updates  for you: OSMAmd 4.7 is reedy" at 100,50 (296x16)'
    )
    assert "nearest" not in verdict(TERMINAL, "OSMAnd 4.7 is ready").detail


def test_yes_quotes_the_line_and_its_place_in_the_source() -> None:
    assert verdict(TERMINAL, "finished").detail == 'reads "Build  finished" at 100,82 (120x16)'
    second = [replace(line("готово", 0, 0), reader="tesseract rus+eng")]
    assert verdict(second, "готово").detail == 'reads "готово" at 100,50 (48x16) by tesseract rus+eng'


@pytest.mark.parametrize(("read", "text", "answer"), [
    ("cc -02 -c main.c", "cc -O2 -c", Answer.YES), ("architecture,md", "architecture.md", Answer.YES),
    ("worker#3restarted", "worker #3 restarted", Answer.NO), ("Cance1 Open", "cancel", Answer.YES),
    ("Total 1.000 paid", "Total 1,000", Answer.NO), ("please re-sign", "resign", Answer.NO),
    ("loO %", "100", Answer.NO), ("step s", "step 5", Answer.NO),
])  # fmt: skip
def test_what_engines_misread_is_found_in_words_of_some_length(read: str, text: str, answer: Answer) -> None:
    assert verdict([line(read, 0, 0)], text).answer is answer
    assert verdict([line(read, 0, 0)], text, match_case=True).answer is Answer.NO


@pytest.mark.parametrize(("read", "answer"), [
    (["Save Document"], Answer.NO), (["Do not save", "Draft 7"], Answer.NO), (["Sav ed"], Answer.NO),
    (["file Sav", "ed"], Answer.YES), (["Save Document", "Saved"], Answer.YES), (["UnSaved"], Answer.YES),
])  # fmt: skip
def test_no_word_is_found_in_the_end_of_one_and_the_beginning_of_the_next(read: list[str], answer: Answer) -> None:
    lines = [line(text, 0, 18 * row) for row, text in enumerate(read)]
    assert verdict(lines, "Saved").answer is answer


@pytest.mark.parametrize(
    ("typed", "read", "answer"),
    [
        ("sleep 3; echo READY\n", "user@host:/some/path$ sleep 3; ec|ho READY", Answer.NO),
        ("sleep 3; echo READY\n", "user@host:/some/path$ sleep 3; ec|ho READY|READY", Answer.YES),
        ("sleep 3; echo READY\n", "p 3; echo READY|$ ", Answer.NO),  # its beginning has scrolled off
        ("ls READY\n", "user@host:~$ ls READY", Answer.NO),
        ("ls READY\n", "$ ls READY|no such tools|READY", Answer.YES),  # no row that is wrapped ends before it
        ("./fox READY\n", "user@host:~$ ./fox READY|a fox|READY", Answer.YES),
    ],
)
@pytest.mark.parametrize("beside", [[], [line("Notes of a long meeting", 500, 3), line("and more of them", 500, 20)]])
def test_the_echo_of_a_command_is_found_in_its_row_and_those_that_go_on(
    typed: str, read: str, answer: Answer, beside: list[Line]
) -> None:
    echoes = find_typed(Text("READY"), add_typed((), typed)).echoes
    shown = [line(text, 0, 18 * at) for at, text in enumerate(read.split("|"))]
    assert look_for([*shown, *beside], Text("READY"), 0.5, AT, echoes).answer is answer


def test_no_says_what_is_missing() -> None:
    assert verdict(TERMINAL, "failed") == Verdict(Answer.NO, '"failed" is in none of 4 lines of text')
    assert verdict(TERMINAL[:1], "failed").detail == '"failed" is not in the one line of text'
    assert verdict([], "failed").detail == '"failed" is not there, and no other text is'


def test_a_doubtful_reading_is_no_yes() -> None:
    doubtful = [line("Done", 0, 0, confidence=0.4)]
    assert verdict(doubtful, "Done").answer is Answer.NO
    assert verdict(doubtful, "Done", gone=True).answer is Answer.NO


@pytest.mark.parametrize("read", ["Saving...", "SAVING ...", "Sav1ng…", "Sa ving...", "Sāvïng..."])
def test_gone_needs_plain_absence(read: str) -> None:
    found = verdict([line(read, 0, 0)], "Saving...", gone=True)
    assert found.answer is Answer.NO
    assert "still reads" in found.detail


def test_gone_when_nothing_like_it_is_there() -> None:
    assert verdict(TERMINAL, "Saving...", gone=True).answer is Answer.YES
    assert verdict([], "Saving...", gone=True).answer is Answer.YES


@pytest.mark.parametrize(("pattern", "answer"), [
    (r"^build\s+finished$", Answer.YES), (r"main\.c$", Answer.YES), (r"all$\n^gcc", Answer.YES),
    (r"^finished", Answer.NO),
])  # fmt: skip
def test_patterns_see_rows_as_lines(pattern: str, answer: Answer) -> None:
    assert verdict(TERMINAL, pattern, regex=True).answer is answer


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "*"])
def test_a_malformed_pattern_is_unknown(pattern: str) -> None:
    for gone in (False, True):
        found = verdict(TERMINAL, pattern, regex=True, gone=gone)
        assert (found.answer, found.code) == (Answer.UNKNOWN, "engine")


def test_a_search_that_runs_away_ends_in_time_and_the_previous_handler_is_back() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with limit_cpu_time(0.05, "a search"):
        pass
    with pytest.raises(TookTooLong, match=r"a search took longer than 0\.05 s"), limit_cpu_time(0.05, "a search"):
        re.search("(a+)+$", "a" * 3000 + "b")
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) is before


@given(st.text(max_size=30), st.lists(st.text(max_size=20), max_size=6))
def test_no_text_breaks_it(text: str, texts: list[str]) -> None:
    lines = [line(one, 0, 16 * place) for place, one in enumerate(texts)]
    for gone in (False, True):
        for regex in (False, True):
            look_for(lines, Text(text, gone=gone, regex=regex), 0.5, AT)


def test_a_blank_text_is_unknown_and_an_empty_screen_reads_nothing() -> None:
    assert verdict(TERMINAL, " ").answer is Answer.UNKNOWN
    assert verdict([], "x*", regex=True).answer is Answer.NO


def test_rows_and_blocks_are_in_reading_order() -> None:
    shuffled = TWO_WINDOWS[::-1]
    assert [[one.text for one in row] for row in rows(shuffled)] == [
        ["The download", "Inbox (3)"], ["has finished.", "Meeting at noon"]
    ]  # fmt: skip
    assert [[one.text for one in block] for block in blocks(shuffled)] == [
        ["The download", "has finished."], ["Inbox (3)", "Meeting at noon"]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "answer"),
    [("Unsaved changes", Answer.NO), ("Saved", Answer.YES), ("Unsaved, then saved.", Answer.YES), ("Sav3d", Answer.NO)],
)
def test_whole_words_are_no_part_of_others(read: str, answer: Answer) -> None:
    lines = [line(read, 0, 0)]
    assert verdict(lines, "Saved", whole_words=True).answer is answer
    gone = verdict(lines, "Saved", whole_words=True, gone=True).answer
    assert gone is (Answer.NO if answer is Answer.YES else Answer.YES)


def test_whole_words_are_found_where_letters_were_misread() -> None:
    assert verdict([line("All fi1es cop1ed", 0, 0)], "files copied", whole_words=True).answer is Answer.YES


def test_a_text_is_counted_in_places_apart() -> None:
    lines = [line("done done", 0, 0), line("Done", 0, 40), line("undone", 300, 80)]
    found = verdict(lines, "done", count=4)
    assert found.detail == 'reads 4 times, first "done done" at 100,50 (72x16)'
    assert found.boxes == (Rect(0, 0, 72, 16), Rect(0, 40, 32, 16), Rect(300, 80, 48, 16))
    fewer = verdict(lines, "done", count=4, whole_words=True)
    assert (fewer.answer, fewer.detail) == (Answer.NO, '"done" is there 3 of 4 times')
    on = verdict([*lines, line("more", 300, 470)], "done", count=5)
    assert on.detail == '"done" is there 4 of 5 times; text goes on to the lower edge, so more may be out of view'
    rows, pixels = [line(f"job {n} done", 40, 100 + 24 * n) for n in range(3)], np.full((480, 640, 4), 255, np.uint8)
    pixels[172, 20:300] = 120  # the lower edge of a pane, with a button below
    below = [*rows, line("Close", 40, 174)]
    pane = look_for(below, Text("done", count=5), 0.5, AT, pixels=pixels)
    assert (
        pane.detail
        == '"done" is there 3 of 5 times; text goes on to the lower edge of its pane, so more may be out of view'
    )
    assert look_for(rows, Text("done", count=5), 0.5, AT, pixels=np.roll(pixels, 24, 0)).detail.endswith("5 times")
    assert verdict(lines, r"\bdone\b", regex=True, count=3).answer is Answer.YES
    assert verdict(lines, r"\bdone\b", regex=True, count=4).answer is Answer.NO


@pytest.mark.parametrize(("read", "wanted", "answer"), [
    ("10 0 items", "100 items", Answer.NO), ("100 items", "10 0 items", Answer.NO),
    ("the rapist", "therapist", Answer.NO), ("please login", "log in", Answer.NO),
    ("v1 .2 ready", "v1.2 ready", Answer.NO), ("Saving ...", "saving...", Answer.YES),
    ("Error:no file", "error: no file", Answer.YES), ("第 5步 完成", "第5步完成", Answer.YES),
])  # fmt: skip
def test_the_spaces_of_a_text_are_those_of_the_screen(read: str, wanted: str, answer: Answer) -> None:
    assert verdict([line(read, 0, 0)], wanted).answer is answer
    assert verdict([line("some", 0, 0), line("one", 60, 1)], "someone").answer is Answer.NO
    by_tesseract = [replace(line("the rapist", 0, 0), reader="tesseract eng")]
    assert verdict(by_tesseract, "therapist").answer is Answer.YES
