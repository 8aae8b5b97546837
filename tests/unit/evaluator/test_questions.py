"""One wait's share of a job: who is asked, in which order, and what the answers make of the whole."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from acud.base import extras
from acud.config import OcrSettings, VisionSettings
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.judges.registry import JudgeRegistry
from acud.evaluator.judges.scripted import ScriptedJudge
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.questions import JobCache, QuestionBatcher, WaitQuestions
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.evaluator import RedactionRules
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.evaluation import Answered
from acud.protocol.questions import Ask, LeafAsk
from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Criteria,
    NotOf,
    Rect,
    ScreenImage,
    Stable,
    Text,
    Until,
    WindowTitle,
    no,
    number_condition,
    unknown,
    yes,
)
from acud.waits import condition_tree
from tests.fixtures.ink_engine import InkEngine

YES, NO, OTHER = Criteria("this holds"), Criteria("that fails"), Criteria("another holds")
SCRIPT = '{"rules": [{"criteria": "holds"}], "cost_usd": 0.5}'


async def collect_answers(
    until: Until, tmp_path: Path, script: str = SCRIPT, judge: str = "scripted", **more: object
) -> Answered:
    """Return what one evaluator makes of `until` over a black view."""
    text = TextReading(OcrSettings(), InkEngine)
    judges = JudgeRegistry({"scripted": ScriptedJudge(script)}, ("scripted",), text)
    options = EvaluatorOptions(VisionSettings(), OcrSettings(), True, str(tmp_path), str(tmp_path), 8, 320)
    context = EvaluatorContext(options, judges, text, RedactionRules(options.redaction, text), {})
    pixels = np.zeros((40, 60, 4), np.uint8)
    shot = ViewPixels(":1", 1, 1, 0, Rect(0, 0, 60, 40), pixels, "abc")
    numbered = enumerate(condition_tree.leaves(until))
    asks = tuple(LeafAsk(index) for index, leaf in numbered if not condition_tree.is_local(leaf))
    try:
        async with asyncio.TaskGroup() as group:
            ask = Ask("w", until, asks, judge=judge, **more)  # type: ignore[arg-type]
            return await WaitQuestions(
                ask, shot, context, JobCache(group), QuestionBatcher(group, context.vision, context.counters)
            ).answer_all()
    finally:
        await context.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(("until", "known", "asked", "whole"), [
    (AllOf((WindowTitle("x"), YES)), {0: no("no window")}, [], Answer.NO),
    (AllOf((WindowTitle("x"), YES)), {0: yes("there")}, [1], Answer.YES),
    (AllOf((WindowTitle("x"), YES)), {0: unknown("display_down", "?")}, [1], Answer.UNKNOWN),
    (AnyOf((WindowTitle("x"), YES)), {0: yes("there")}, [], Answer.YES), (AnyOf((YES, OTHER)), {}, [0], Answer.YES),
    (AnyOf((NO, YES)), {}, [0, 1], Answer.YES), (AllOf((NO, YES)), {}, [0], Answer.NO),
    (NotOf(NO), {}, [0], Answer.YES), (AllOf((YES, NotOf(AnyOf((NO, OTHER))))), {}, [0, 1, 2], Answer.NO),
    (AllOf((YES, Text("words"))), {}, [1], Answer.NO), (AllOf((Text("words", gone=True), YES)), {}, [0, 1], Answer.YES),
    (AllOf((Stable(1), YES)), {}, [1], Answer.UNKNOWN),
])  # fmt: skip
async def test_only_leaves_that_can_matter_are_asked(
    tmp_path: Path, until: Until, known: dict, asked: list[int], whole: Answer
) -> None:
    found = await collect_answers(until, tmp_path, known=known)
    assert [answer.index for answer in found.answers] == asked
    assert found.whole.answer is whole


@pytest.mark.asyncio
async def test_the_judges_figures_come_through(tmp_path: Path) -> None:
    answer = (await collect_answers(YES, tmp_path)).answers[0]
    assert (answer.judge, answer.source, answer.cost_usd) == ("scripted", "judge", 0.5)
    assert answer.latency_ms > 0


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("judge", "criteria", "code"),
    [("ollama", "x", "engine"), ("ocr", "the lamp is green", "needs_vision"), ("auto", "x", "")],
)
async def test_criteria_go_to_the_judge_asked_for(tmp_path: Path, judge: str, criteria: str, code: str) -> None:
    found = await collect_answers(Criteria(criteria), tmp_path, judge=judge)
    assert found.whole.code == code
    assert found.answers[0].judge == ("scripted" if judge == "auto" else judge)


@pytest.mark.asyncio
async def test_a_local_leaf_sent_by_mistake_is_unknown(tmp_path: Path) -> None:
    ask = Ask("w", Stable(1), (LeafAsk(0),))
    text = TextReading(OcrSettings(), InkEngine)
    options = EvaluatorOptions(VisionSettings(), OcrSettings(), True, str(tmp_path), str(tmp_path), 8, 320)
    context = EvaluatorContext(options, JudgeRegistry({}, (), text), text, RedactionRules(options.redaction, text), {})
    shot = ViewPixels(":1", 1, 1, 0, Rect(0, 0, 2, 2), np.zeros((2, 2, 4), np.uint8), "abc")
    async with asyncio.TaskGroup() as group:
        found = await WaitQuestions(
            ask, shot, context, JobCache(group), QuestionBatcher(group, context.vision, context.counters)
        ).answer_all()
    await context.close()
    assert (found.whole.answer, found.whole.code) == (Answer.UNKNOWN, "engine")


@pytest.mark.asyncio
@pytest.mark.parametrize(("judge", "answer"), [("scripted", "yes"), ("ocr", "unknown")])
async def test_a_sentence_whose_number_cannot_be_read_is_for_a_model(tmp_path: Path, judge: str, answer: str) -> None:
    leaf = replace(number_condition("ORLX > $480"), sentence="ORLX holds above $480")
    found = await collect_answers(leaf, tmp_path, judge=judge)
    assert (found.whole.answer, found.answers[0].judge) == (answer, judge)


@pytest.mark.asyncio
async def test_a_number_that_is_not_there_is_no_fault_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubted: list[str] = []
    monkeypatch.setattr(JudgeRegistry, "doubt_health", lambda self, name, **_: doubted.append(name))
    found = await collect_answers(number_condition("Errors = 0"), tmp_path, judge="ocr")
    assert (found.whole.code, doubted) == ("unreadable", [])


@pytest.mark.asyncio
async def test_a_kept_wait_on_a_picture_without_the_extra_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda extra: False)
    found = await collect_answers(ScreenImage(b"png"), tmp_path)
    assert (found.whole.answer, found.whole.code) == (Answer.UNKNOWN, "engine")
    assert extras.install_command("actions") in found.whole.detail
