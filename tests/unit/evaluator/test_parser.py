"""A verdict is read strictly: only YES or NO as the whole first word of the first line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.evaluator.vision.parser import MAX_DETAIL, parse_verdict
from acud.types import Answer, Verdict


@pytest.mark.parametrize(
    ("reply", "answer", "detail"),
    [
        ("YES: the bar is full", Answer.YES, "the bar is full"),
        ("NO: the bar is at 40 %", Answer.NO, "the bar is at 40 %"),
        ("\n\n  yes: done", Answer.YES, "done"),
        ("**YES**: done", Answer.YES, "done"),
        ("**YES:** done", Answer.YES, "done"),
        ('"NO: not yet"', Answer.NO, 'not yet"'),
        ("`NO`: not yet", Answer.NO, "not yet"),
        ("> YES : quoted", Answer.YES, "quoted"),
        ("YES：完成", Answer.YES, "完成"),
        ("YES", Answer.YES, ""),
        ("**No.**\nThe dialog is still open.", Answer.NO, "The dialog is still open."),
        ("NO: the list says so\nYes/No: no", Answer.NO, "the list says so"),
        ("NO: a\nYesterday: b", Answer.NO, "a"),
    ],
)
def test_plain_verdicts(reply: str, answer: Answer, detail: str) -> None:
    assert parse_verdict(reply) == Verdict(answer, detail)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n\t\n",
        "YESTERDAY's build finished",
        "Yesterday: done",
        "NOT yet",
        "NOTE: yes",
        "None: nothing",
        "Yes, the page loaded, but the download has not finished",
        "YES the bar is full",
        "No problem, it is finished",
        "YES/NO: yes",
        "Yes/No: no",
        "The answer is YES: done",
        "I think so.\nYES: done",
        "YES: <what shows it>\nNO: <what is missing>",
        "NO: not yet\nYES: now it is",
        "FINAL_JSON {}",
        "Y: done",
        "YES-NO: done",
        '{"answer": "YES"}',
    ],
)
def test_anything_else_is_unknown(reply: str) -> None:
    found = parse_verdict(reply)
    assert (found.answer, found.code) == (Answer.UNKNOWN, "unparsable")
    assert found.detail


def test_the_sentence_is_one_line_without_control_characters() -> None:
    found = parse_verdict("YES: a\x1b[31m  b\x07" + "c" * 2000)
    assert found.detail.startswith("a [31m b c")
    assert len(found.detail) == MAX_DETAIL


@given(st.text(max_size=200))
def test_no_reply_breaks_it(reply: str) -> None:
    found = parse_verdict(reply)
    assert (found.answer is Answer.UNKNOWN) == (found.code == "unparsable")


@given(st.sampled_from(["YES", "NO", "yes", "No"]), st.from_regex(r"['’]?[A-Za-z0-9,;/-][^\n\r]*", fullmatch=True))
def test_a_longer_first_word_never_counts(word: str, rest: str) -> None:
    assert parse_verdict(word + rest).answer is Answer.UNKNOWN


@given(st.text(max_size=80))
def test_no_only_ever_stays_no(rest: str) -> None:
    assert parse_verdict(f"NO: {rest}").answer is not Answer.YES
