"""A verdict is read strictly: only YES or NO as the whole first word of one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.evaluator.judges.prompt import MAX_DETAIL, parse_verdict, parse_verdicts
from acud.types import Answer, Verdict


@pytest.mark.parametrize(("reply", "answer", "detail"), [
    ("YES: the bar is full", Answer.YES, "the bar is full"),
    ("NO: the bar is at 40 %", Answer.NO, "the bar is at 40 %"), ("\n\n  yes: done", Answer.YES, "done"),
    ("**YES**: done", Answer.YES, "done"), ("**YES:** done", Answer.YES, "done"),
    ('"NO: not yet"', Answer.NO, "not yet"), ("“YES: it says “Done””", Answer.YES, "it says “Done”"),
    ("```\nYES: done\n```", Answer.YES, "done"),
    ("The dialog is open.\n\nYES: it says Done", Answer.YES, "it says Done"), ("- YES: done", Answer.YES, "done"),
    ("1. **YES:** done", Answer.YES, "done"), ("## NO: not yet", Answer.NO, "not yet"),
    ("\ufeff\u200bYES: done", Answer.YES, "done"), ("Yes, the bar is full.", Answer.YES, "the bar is full."),
    ("No, it is at 40 % but moves", Answer.NO, "it is at 40 % but moves"),
    ('{"answer": "YES", "reason": "the bar is full"}', Answer.YES, "the bar is full"),
    ('```json\n{"holds": false}\n```', Answer.NO, ""), ("YES:", Answer.YES, ""),
    ("YES: the Loading text cannot be seen any more", Answer.YES, "the Loading text cannot be seen any more"),
    ('YES: it reads "cannot be seen"', Answer.YES, 'it reads "cannot be seen"'),
    ("`NO`: not yet", Answer.NO, "not yet"), ("> YES : quoted", Answer.YES, "quoted"),
    ("YES：完成", Answer.YES, "完成"), ("YES", Answer.YES, ""),
    ("**No.**\nThe dialog is still open.", Answer.NO, "The dialog is still open."),
    ("NO: the list says so\nYes/No: no", Answer.NO, "the list says so"), ("NO: a\nYesterday: b", Answer.NO, "a"),
    ("Verdict: YES: done", Answer.YES, "done"), ("**Final answer:** NO: not yet", Answer.NO, "not yet"),
    ("✅ YES: done", Answer.YES, "done"), ("<verdict>YES</verdict><evidence>done</evidence>", Answer.YES, "done"),
    ("| NO | not yet |", Answer.NO, "not yet"), (r"\boxed{YES}", Answer.YES, ""),
    ("ＹＥＳ: done", Answer.YES, "done"),
    ("YES: the buttons are YES and NO.", Answer.YES, "the buttons are YES and NO."),
    ("YES: the dialog is not visible", Answer.YES, "the dialog is not visible"),
    ('{"answer": "yes", "is_error": false, "reason": "done"}', Answer.YES, "done"),
])  # fmt: skip
def test_plain_verdicts(reply: str, answer: Answer, detail: str) -> None:
    assert parse_verdict(reply) == Verdict(answer, detail)


@pytest.mark.parametrize("reply", [
    "", " \n\t\n", "YESTERDAY's build finished", "Yesterday: done", "NOT yet", "NOTE: yes", "None: nothing",
    "Yes, the page loaded, but the download has not finished", "YES the bar is full", "No problem, it is finished",
    "YES/NO: yes", "Yes/No: no", "The answer is YES: done", "I think so.\nYES: done",
    "YES: <what shows it>\nNO: <what is missing>", "NO: not yet\nYES: now it is", "FINAL_JSON {}", "Y: done",
    "YES-NO: done", '{"answer": "YES", "verdict": "no"}', '{"cannot_be_seen": true}', '{"answer": "YES"',
    "YES: the bar cannot be seen, it is assumed to be full", "YES: I assume that the download is done",
    "YES: probably done", "The bar cannot be seen.\nYES: done",
    '{"answer": "yes", "reason": "it cannot be determined"}', "Yes, it is done.\nNO: it is not",
    "YES: although the bar is not visible in this screenshot",
    "YES: the bar is full. Correction: it is not, so NO.", "YES: vermutlich, der Balken ist nicht zu sehen",
    '{"answer": "yes", "final": "no"}', "The button says: YES", "YES?",
])  # fmt: skip
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


@given(st.sampled_from(["YES", "NO", "yes", "No"]), st.from_regex(r"['’]?[A-Za-z0-9/-][^\n\r]*", fullmatch=True))
def test_a_longer_first_word_never_counts(word: str, rest: str) -> None:
    assert parse_verdict(word + rest).answer is Answer.UNKNOWN


@given(st.text(max_size=80))
def test_no_only_ever_stays_no(rest: str) -> None:
    assert parse_verdict(f"NO: {rest}").answer is not Answer.YES


# ---- thoughts before the answer --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", [
    "<think>\nYES: it may be full. Wait, no.\n</think>\n\nNO: at 40 %", "<think></think>NO: at 40 %",
    "<think>The screen says <response>YES: x</response></think><response>NO: at 40 %</response>",
    "The bar\nis not full.\n</think>\n\nNO: at 40 %", "[THINK]YES: x[/THINK]NO: at 40 %",
    "<seed:think>YES: x</seed:think>NO: at 40 %", "◁think▷YES: x◁/think▷NO: at 40 %",
    "<|START_THINKING|>YES: x<|END_THINKING|><|START_RESPONSE|>NO: at 40 %<|END_RESPONSE|>",
    "<|channel>thought\nYES: x\n<channel|>NO: at 40 %",
    "<|channel|>analysis<|message|>YES: x<|end|><|start|>assistant<|channel|>final<|message|>NO: at 40 %<|return|>",
    "<|channel|>final<|message|>NO: at 40 %", "Here is my thought process: YES: x\nHere is my response:\nNO: at 40 %",
    "<think>" + "YES: x\n" * 10_000 + "</think>NO: at 40 %",
    "<think>x</think><|begin_of_box|>NO: at 40 %<|end_of_box|>", "<think>x</think>\n<answer>\nNO: at 40 %\n</answer>",
])  # fmt: skip
def test_what_a_model_thinks_first_is_left_out(reply: str) -> None:
    assert parse_verdict(reply) == Verdict(Answer.NO, "at 40 %")
    assert parse_verdicts(reply.replace("NO: at 40 %", "1 NO: at 40 %"), 1) == (Verdict(Answer.NO, "at 40 %"),)


@pytest.mark.parametrize("reply", [
    "<think>YES: it is done", "<think>\nYES: it is done\n", "<think>YES: x</think>",
    "<think>a</think><think>b</think>YES: x", "<think>x</think>It is done.\nYES: x",
    '<think>It reads "</think>\nYES: done" but</think>\nNO: x', "NO: it reads\n</think>\nYES: done",
    "It reads\n</think>\nYES: done\n</think>\nNO: x", '"</think> YES: done', "[THINK]x</think>YES: done",
    "Here is my thought process: it reads 'Here is my response: YES: x'. Here is my response: NO: y",
    "analysisIt is full.assistantfinalYES: x", "I think <think>x</think> YES: done",
    "<|channel|>analysis<|message|>YES: x",
])  # fmt: skip
def test_a_thought_is_never_a_verdict(reply: str) -> None:
    found = parse_verdict(reply)
    assert (found.answer, found.code) == (Answer.UNKNOWN, "unparsable")
    assert all(one.code == "unparsable" for one in parse_verdicts(reply.replace("YES:", "1 YES:"), 2))


MARKS = ["<think>", "</think>", "[THINK]", "[/THINK]", "<|end|>", "<|channel|>analysis<|message|>", "\n", "x", "YES: x"]


@given(st.lists(st.sampled_from(MARKS), max_size=8).map("".join))
def test_no_yes_of_a_thought_gets_out(text: str) -> None:
    """Whatever stands in a thought that its model ends itself, with an end that it says nowhere else."""
    assert parse_verdict(f"◁think▷{text}◁/think▷NO: y") == Verdict(Answer.NO, "y")


# ---- several in one answer -------------------------------------------------------------------------------------------

Y, N, U = Answer.YES, Answer.NO, Answer.UNKNOWN


@pytest.mark.parametrize(("reply", "answers"), [
    ("1 YES: a\n2 NO: b\n3 YES: c", [Y, N, Y]), ("3. NO: c\n\n1) YES: a\n**2** NO: b", [Y, N, N]),
    ("Condition 1: YES: a\n2: NO: b\n  which goes on here\n3 NO", [Y, N, N]), ("1 YES: a\n3 NO: c", [Y, U, N]),
    ("1 YES: a\n2 perhaps\n3 NO: c", [Y, U, N]), ("1 YES: a\n2 NO: b\n2 YES: b\n3 NO: c", [Y, U, N]),
    ("1 YES: a\n2 NO: b\n3 NO: c\n4 YES: d", [U, U, U]), ("0 YES: a\n1 NO: b\n2 NO: c", [U, U, U]),
    ("YES: all of them\n1 NO: a\n2 NO: b\n3 NO: c", [U, U, U]), ("1 NO: a\nYES: b\n2 NO: b\n3 NO: c", [U, U, U]),
    ("Here is what I see.\n1 NO: a\n2 NO: b\n3 NO: c", [U, U, U]), ("١ YES: a", [U, U, U]),
    ("1 YES: although a is not visible\n2 YES: probably b\n3 NO: c", [U, U, N]), ("", [U, U, U]),
])  # fmt: skip
def test_each_of_several_verdicts_is_read_alone_or_not_at_all(reply: str, answers: list[Answer]) -> None:
    found = parse_verdicts(reply, 3)
    assert [one.answer for one in found] == answers
    assert all(one.code == "unparsable" for one in found if one.answer is U)


@given(st.lists(st.sampled_from([Y, N]), min_size=1, max_size=16), st.text("abc YESNO:12"))
def test_a_well_formed_answer_is_read_whatever_its_sentences_say(answers: list[Answer], said: str) -> None:
    reply = "\n".join(f"{number} {one.value.upper()}: x{said}" for number, one in enumerate(answers, 1))
    assert [one.answer for one in parse_verdicts(reply, len(answers))] == answers
