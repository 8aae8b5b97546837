"""Every documented form of UI-TARS' answers is one place; everything else is nothing, and says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.features.grounding.evaluator.uitars import MAX_ANSWER, ModelPlace, Unparsable, parse

POINT = (197.0, 525.0, 197.0, 525.0)
BOX = (100.0, 200.0, 300.0, 260.0)

FORMS = {
    "(197,525)": POINT, "( 197 , 525 )": POINT, "[197, 525]": POINT, "<point>197 525</point>": POINT,
    "<|box_start|>(197,525)<|box_end|>": POINT, "(100,200,300,260)": BOX, "[100, 200, 300, 260]": BOX,
    "<bbox>100 200 300 260</bbox>": BOX, "<|box_start|>[100,200,300,260]<|box_end|>": BOX,
    "click(start_box='(197,525)')": POINT, 'click(start_box="(197,525)")': POINT,
    "click(start_box='<|box_start|>(197,525)<|box_end|>')": POINT, "click(point='<point>197 525</point>')": POINT,
    "click(start_point='<point>197 525</point>')": POINT, "click(start_box='[100, 200, 300, 260]')": BOX,
    "click(start_box='<bbox>100 200 300 260</bbox>')": BOX, "left_double(start_box='(197,525)')": POINT,
    "left_double(point='<point>197 525</point>')": POINT,
    "right_single(start_box='<|box_start|>(197,525)<|box_end|>')": POINT, "left_single(start_box='(197,525)')": POINT,
    "hover(point='<point>197 525</point>')": POINT,
    "long_press(start_box='<|box_start|>(197,525)<|box_end|>', time='2')": POINT,
}  # fmt: skip
LEADS = (
    "", "Action: ", "Thought: The button is at the top.\nAction: ",
    "Thought: Two lines,\nwith (1,2) in them.\nAction: ", "Reflection: It opened.\nAction_Summary: Click it.\nAction: ",
    "Action_Summary: Click it.\nAction: ",
)  # fmt: skip


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("form", FORMS)
def test_documented_forms(lead: str, form: str) -> None:
    for text in (
        lead + form,
        f"  {lead}{form}\n",
        f"```\n{lead}{form}\n```",
        f"{lead}{form}[EOS]",
        lead + form + "<|im_end|>",
    ):
        found = parse(text)
        assert isinstance(found, ModelPlace), (text, found)
        assert found.corners == FORMS[form]
        assert found.is_box == (FORMS[form] == BOX)


def test_the_same_action_twice_is_one() -> None:
    assert parse("Action: click(start_box='(1,2)')\n\nclick(start_box='(1,2)')") == ModelPlace((1, 2, 1, 2))


REFUSED = {
    "": "empty", "   \n": "empty", "Thought: I see it.": "neither", "Thought: I see it.\nAction:": "empty",
    "I cannot help with that.": "neither", "I'm sorry, (12,34) is private": "neither",
    "The button is at (197,525).": "neither", "Sure! Action: click(start_box='(1,2)')": "neither",
    "Sure!\nAction: click(start_box='(1,2)')": "words before",
    "Action: click(start_box='(1,2)')\n\nclick(start_box='(3,4)')": "several",
    "Action: click(start_box='(1,2)')\nAction: click(start_box='(3,4)')": "several",
    "Action: click(start_box='(1,2)')\n\ntype(content='x')": "several",
    "click(start_box='(1,2)')click(start_box='(3,4)')": "arguments",
    "drag(start_box='(1,2)', end_box='(3,4)')": "no one place",
    "drag(start_point='<point>1 2</point>', end_point='<point>3 4</point>')": "no one place",
    "select(start_box='(1,2)', end_box='(3,4)')": "no one place",
    "click(start_box='(1,2)', end_box='(3,4)')": "second place",
    "click(start_box='(1,2)', point='<point>3 4</point>')": "not exactly one",
    "type(content='hello (12,34)')": "no one place", "type(content='it\\'s')": "no one place",
    "hotkey(key='ctrl c')": "no one place", "scroll(start_box='(1,2)', direction='down')": "no one place",
    "wait()": "no one place", "finished()": "no one place", "finished(content='(1,2)')": "no one place",
    "call_user()": "no one place", "delete(start_box='(1,2)')": "unknown action", "click()": "not exactly one",
    "click(start_box='')": "not exactly one", "click(start_box='(1)')": "not exactly one",
    "click(start_box='(1,2,3)')": "not exactly one", "click(start_box='(-1,2)')": "not exactly one",
    "click(start_box='(0.5,0.5)')": "not exactly one", "click(start_box='(1e3,2)')": "not exactly one",
    "click(start_box='(300,260,100,200)')": "not exactly one", "click(start_box='(1000000,2)')": "not exactly one",
    "click(start_box='(1,2')": "not exactly one", "click(start_box=(1,2))": "arguments",
    "click(start_box='(1,2)'": "neither", "click(start_box='(1,2)');import os": "neither",
    "click(start_box='<point>1 2</point>', x=__import__('os'))": "arguments", "<point>1 2": "neither",
    "<point>1,2</point>": "neither", "<|box_start|>(1,2)": "neither", "(1,2)(3,4)": "neither", "١٢": "neither",
    "x" * (MAX_ANSWER + 1): "characters",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_no_place(text: str) -> None:
    found = parse(text)
    assert isinstance(found, Unparsable), found
    assert REFUSED[text] in found.reason
    assert "\n" not in found.reason
    assert len(found.reason) < 250


@given(st.text() | st.text(alphabet="Action: click(start_box='<|point>0123456789,)[]</bx_end\n\\\""))
def test_no_text_raises(text: str) -> None:
    assert isinstance(parse(text), ModelPlace | Unparsable)


@given(st.integers(0, 99999), st.integers(0, 99999), st.sampled_from(["({},{})", "[{}, {}]", "<point>{} {}</point>"]))
def test_written_points_are_read_back(x: int, y: int, form: str) -> None:
    assert parse(f"Thought: a\nAction: click(point='{form.format(x, y)}')") == ModelPlace((x, y, x, y))
