"""The shipped fake judge looks at the picture it gets, follows its script, and fails on request."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, PassthroughJudge
from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.evaluator.judges.scripted import ScriptedJudge
from acud.types import Answer, Verdict, unknown


def picture(*painted: tuple[int, int, int, int, tuple[int, int, int]]) -> JudgePicture:
    pixels = np.full((720, 1280, 4), 240, np.uint8)
    for x, y, w, h, rgb in painted:
        pixels[y : y + h, x : x + w, :3] = rgb[::-1]
    return encode_for_judge(pixels, 960, 72)


async def judge_with(script: dict | str, shown: JudgePicture, criteria: str = "x") -> Verdict:
    judge = ScriptedJudge(script if isinstance(script, str) else json.dumps(script))
    return (await judge.evaluate(JudgeQuestion(criteria), shown)).verdict


@pytest.mark.asyncio
async def test_a_pixel_is_looked_at_in_view_coordinates() -> None:
    script = {"rules": [{"pixel": [1200, 700, "#00c040"]}]}
    assert (await judge_with(script, picture((1190, 690, 24, 24, (0, 0xC0, 0x40))))).answer is Answer.YES
    assert (await judge_with(script, picture((900, 525, 24, 24, (0, 0xC0, 0x40))))).answer is Answer.NO


@pytest.mark.asyncio
async def test_an_area_is_searched_and_the_first_rule_that_fits_answers() -> None:
    script = {
        "rules": [
            {"area": [0, 0, 640, 720, "#ff0000"], "answer": "no", "detail": "an error shows"},
            {"area": [640, 0, 640, 720, "#00ff00"], "detail": "it is green"},
        ]
    }
    green, red = (700, 300, 16, 16, (0, 255, 0)), (10, 10, 16, 16, (255, 0, 0))
    assert await judge_with(script, picture(green)) == Verdict(Answer.YES, "it is green")
    assert await judge_with(script, picture(green, red)) == Verdict(Answer.NO, "an error shows")


@pytest.mark.asyncio
async def test_rules_can_be_for_one_question() -> None:
    script = {"rules": [{"criteria": "build"}]}
    assert (await judge_with(script, picture(), "the build is done")).answer is Answer.YES
    assert (await judge_with(script, picture(), "the page loaded")).answer is Answer.NO


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fault", "code"), [("error", "judge_down"), ("garbage", "unparsable"), ("empty", "unparsable")]
)
async def test_faults_are_unknown(fault: str, code: str) -> None:
    found = await judge_with({"fault": fault, "default": "yes"}, picture())
    assert (found.answer, found.code) == (Answer.UNKNOWN, code)


@pytest.mark.asyncio
async def test_a_hanging_judge_can_be_cancelled() -> None:
    asking = asyncio.create_task(judge_with({"fault": "hang"}, picture()))
    done, _ = await asyncio.wait([asking], timeout=0.05)
    assert not done
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.asyncio
@pytest.mark.parametrize("script", ["", "{", '{"rules": [{"pixel": [1, 2, "green"]}]}', "/nowhere/script.json"])
async def test_a_script_that_cannot_be_read_is_a_judge_that_is_down(script: str) -> None:
    found = await judge_with(script, picture())
    assert (found.answer, found.code) == (Answer.UNKNOWN, "judge_down")
    assert (await ScriptedJudge(script).check_health()).state == "down"


@pytest.mark.asyncio
async def test_a_script_in_a_file_is_read_anew_when_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('{"default": "yes"}')
    judge = ScriptedJudge(str(path))
    assert (await judge.evaluate(JudgeQuestion("x"), picture())).verdict.answer is Answer.YES
    path.write_text('{"default": "no", "rules": []}')
    assert (await judge.evaluate(JudgeQuestion("x"), picture())).verdict.answer is Answer.NO
    assert (await judge.check_health()).state == "ready"


@pytest.mark.asyncio
async def test_passthrough_never_says_yes_or_no() -> None:
    judge = PassthroughJudge()
    found = (await judge.evaluate(JudgeQuestion("x"), picture())).verdict
    assert (found.answer, found.code) == (Answer.UNKNOWN, "needs_vision")
    assert (await judge.check_health()).state == "ready"
    await judge.close()


@pytest.mark.asyncio
async def test_one_that_hangs_is_given_up_after_the_time_a_judge_has() -> None:
    judge = ScriptedJudge('{"fault": "hang"}', timeout_s=0.05)
    questions = JudgeQuestion("x"), JudgeQuestion("y")
    told = [await judge.evaluate(questions[0], picture()), *await judge.evaluate_together(questions, picture())]
    assert [reply.verdict for reply in told] == 3 * [unknown("judge_down", "scripted gave no answer within 0.05 s")]
