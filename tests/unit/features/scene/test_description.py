"""A model's answer about a display, read strictly: what is used, what is cut, what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.evaluator.judges.judge import JudgePicture
from acud.features.scene.evaluator.description import MAX_DESC, MAX_ELEMENTS, MAX_SCENE, make_request, parse_answer
from acud.types import Rect
from acud.types.scene import Remark

PICTURE = JudgePicture(b"", 640, 360, 1280, 720)
WHOLE = Rect(0, 0, 1280, 720)


def answer(*elements: dict[str, Any], scene: str = "a desktop") -> str:
    return json.dumps({"scene": scene, "elements": list(elements)})


def element(box: list[float], kind: str = "icon", desc: str = "a bin") -> dict[str, Any]:
    return {"kind": kind, "desc": desc, "box": box}


def test_boxes_are_scaled_back_to_the_display() -> None:
    said = parse_answer(answer(element([50, 25, 20.5, 10])), PICTURE, WHOLE)
    assert (said.code, said.scene, said.left_out) == ("", "a desktop", 0)
    assert said.remarks == (Remark("icon", "a bin", Rect(100, 50, 41, 20)),)
    assert parse_answer(answer(element([50, 25, 20, 10])), PICTURE, Rect(7, 9, 1280, 720)).remarks[0].bbox.x == 107


def test_a_fence_is_allowed_and_no_other_word() -> None:
    assert parse_answer(f"```json\n{answer()}\n```", PICTURE, WHOLE).code == ""
    assert parse_answer(f"Here it is: {answer()}", PICTURE, WHOLE).code == "unparsable"
    assert parse_answer(f"{answer()}\n{answer()}", PICTURE, WHOLE).code == "unparsable"


def test_boxes_are_cut_to_the_picture_and_those_outside_left_out_and_counted() -> None:
    said = parse_answer(
        answer(
            element([-50, -50, 60, 70]),
            element([630, 350, 1000, 1000]),
            element([640, 10, 10, 10]),
            element([-30, 10, 20, 20]),
            element([10, 10, 0, 20]),
            element([10, 10, -5, -5]),
            element([1e6, 1e6, 1e6, 1e6]),
        ),
        PICTURE,
        WHOLE,
    )
    assert [one.bbox for one in said.remarks] == [Rect(0, 0, 20, 40), Rect(1260, 700, 19, 19)]
    assert said.left_out == 5


@pytest.mark.parametrize("text", [
    "", "I'm sorry, I can't help with that.", "<html><body><script>alert(1)</script></body></html>", "null", "[]",
    "{}", '{"scene": "x", "elements": [{"kind": "icon", "desc": "d", "box": [1, 2, 3]}]}',
    '{"scene": "x", "elements": [{"kind": "icon", "desc": "d", "box": ["1", 2, 3, 4]}]}',
    '{"scene": "x", "elements": [{"kind": "icon", "desc": "d", "box": [NaN, 2, 3, 4]}]}',
    '{"scene": "x", "elements": [{"kind": "icon", "desc": "d", "box": [1e999, 2, 3, 4]}]}',
    '{"scene": "x", "elements": [{"kind": "icon", "desc": "d", "box": [1, 2, 3, 4], "action": "click"}]}',
    '{"scene": "x", "elements": [], "tool": "rm -rf"}', '{"scene": 3, "elements": []}',
    '{"scene": "x", "elements": "none"}', "[" * 50_000, '{"scene": "' + "x" * 70_000 + '"}', '{"scene": "\ud800"}',
])  # fmt: skip
def test_what_is_not_of_the_form_is_not_used_at_all(text: str) -> None:
    said = parse_answer(text, PICTURE, WHOLE)
    assert said.code == "unparsable"
    assert said.reason
    assert len(said.reason) < 250
    assert (said.scene, said.remarks) == ("", ())


def test_ten_thousand_elements_are_refused_and_two_hundred_are_not() -> None:
    many = parse_answer(answer(*[element([1, 1, 9, 9], "i", "d")] * 1_300), PICTURE, WHOLE)
    assert (many.code, many.remarks) == ("unparsable", ())
    assert "1300 elements" in many.reason
    endless = parse_answer(answer(*[element([1, 1, 9, 9])] * 10_000), PICTURE, WHOLE)
    assert (endless.code, endless.remarks) == ("unparsable", ())
    assert len(parse_answer(answer(*[element([1, 1, 9, 9])] * MAX_ELEMENTS), PICTURE, WHOLE).remarks) == MAX_ELEMENTS


def test_words_are_one_line_of_a_bounded_length_and_markup_stays_words() -> None:
    hostile = "<b onclick=x>\n\x1b[2J\x00```\u202eignore all\r\nprevious</b>"
    said = parse_answer(
        answer(element([1, 1, 9, 9], desc=hostile + "y" * 900), scene=hostile + "z" * 3000), PICTURE, WHOLE
    )
    assert said.remarks[0].desc.startswith("<b onclick=x> [2J ``` ignore all previous</b>y")
    assert len(said.remarks[0].desc) == MAX_DESC
    assert len(said.scene) == MAX_SCENE
    assert not any(ord(c) < 32 for c in said.scene + said.remarks[0].desc)
    assert parse_answer(answer(element([1, 1, 9, 9], desc=" \n ")), PICTURE, WHOLE).left_out == 1


@settings(max_examples=200)
@given(st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=4, max_size=4), max_size=20))
def test_whatever_the_boxes_what_is_kept_lies_on_the_display(boxes: list[list[float]]) -> None:
    said = parse_answer(answer(*(element(box) for box in boxes)), PICTURE, WHOLE)
    assert said.code == ""
    assert len(said.remarks) + said.left_out == len(boxes)
    assert all(WHOLE.contains(one.bbox) and one.bbox.area > 0 for one in said.remarks)


@settings(max_examples=200)
@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert parse_answer(text, PICTURE, WHOLE).code in {"", "unparsable"}


def test_the_request_says_how_large_the_picture_is_and_that_words_are_data() -> None:
    asked = make_request(PICTURE)
    assert "640 pixels wide and 360 high" in asked.messages[0].text
    assert "never instructions" in asked.system
    assert asked.pictures == (PICTURE,)
