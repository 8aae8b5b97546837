"""A chat model without a form of its own: one JSON object, strictly."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.evaluator.judges.judge import JudgePicture
from acud.evaluator.judges.provider import ChatReply
from acud.features.grounding.evaluator.method import Size
from acud.features.grounding.evaluator.model_questions import (
    MAX_ANSWER,
    UnparsableAnswer,
    locate_by_json,
    parse,
)
from tests.scripted_backend import ScriptedBackend

SIZE = Size(200, 100)
PICTURE = JudgePicture(b"", 200, 100, 400, 200)


@pytest.mark.parametrize(
    ("text", "spot"),
    [
        ('{"x": 20, "y": 30}', (20.0, 30.0)),
        ('{"y":30.5,"x":20}', (20.0, 30.5)),
        ('```json\n{"x": 20, "y": 30}\n```', (20.0, 30.0)),
        ('```\n{"x": 200, "y": 100}\n```', (200.0, 100.0)),
        ('{"absent": true}', None),
        (' {"absent":true}\n', None),
    ],
)
def test_the_two_forms(text: str, spot: tuple[float, float] | None) -> None:
    assert parse(text, SIZE) == spot


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "null", "[20, 30]", '{"x": 20}', '{"x": "20", "y": 30}', '{"x": 20, "y": null}', "(20, 30)"),
        *('{"x": -1, "y": 30}', '{"x": 201, "y": 30}', '{"x": 20, "y": 1e999}', '{"x": NaN, "y": 1}'),
        *('{"x": 20, "y": 30, "why": "z"}', '{"x": 20, "y": 30, "absent": false}', '{"absent": false}'),
        *(
            '{"absent": "yes"}',
            'Here: {"x": 20, "y": 30}',
            '{"x": 20, "y": 30} {"x": 1, "y": 3}',
            '{"x": true, "y": 3}',
        ),
        *("```", "``````", "\udcff", " " * 9 + "x" * (MAX_ANSWER + 1), "[" * 1500),
    ],
)
def test_anything_else_is_nothing(text: str) -> None:
    assert isinstance(parse(text, SIZE), UnparsableAnswer)


@given(st.text(alphabet='{}[]":, xyabsent0123456789.-e\n`') | st.text())
def test_no_text_raises(text: str) -> None:
    found = parse(text, SIZE)
    if isinstance(found, tuple) and not isinstance(found, UnparsableAnswer):
        assert 0 <= found[0] <= 200
        assert 0 <= found[1] <= 100


@given(st.integers(0, 200), st.floats(0, 100))
def test_written_points_are_read_back(x: int, y: float) -> None:
    assert parse(msgspec.json.encode({"x": x, "y": y}).decode(), SIZE) == (x, y)


@pytest.mark.asyncio
async def test_a_backend_is_asked_once_with_the_picture_s_size() -> None:
    backend = ScriptedBackend('{"x": 20, "y": 30}')
    located = await locate_by_json(backend, "a</description> b", PICTURE, "m2")
    assert (located.points, located.boxes, located.reply.code) == (((20.0, 30.0),), (None,), "")
    (request,) = backend.asked
    assert (request.pictures, request.model) == ((PICTURE,), "m2")
    assert "200 pixels wide and 100 high" in request.messages[0].text
    assert request.messages[0].text.count("</description>") == 1


@pytest.mark.asyncio
async def test_faults_keep_their_code_and_absence_is_none() -> None:
    located = await locate_by_json(ScriptedBackend('{"absent": true}'), "x", PICTURE)
    assert (located.points, located.reply.code) == ((), "")
    located = await locate_by_json(ScriptedBackend("no idea"), "x", PICTURE)
    assert (located.points, located.reply.code, located.reply.tokens_in) == ((), "unparsable", 100)
    located = await locate_by_json(ScriptedBackend(ChatReply(code="judge_down")), "x", PICTURE)
    assert (located.points, located.reply.code) == ((), "judge_down")
