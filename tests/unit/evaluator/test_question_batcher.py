"""Who shares a call with whom, what each pays, and that nobody's verdict depends on another's condition."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.config import VisionSettings
from acud.evaluator.context import Counters
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply, PassthroughJudge, Together, split
from acud.evaluator.questions import QuestionBatcher
from acud.protocol.evaluation import JudgeHealth
from acud.types import Verdict, no, unknown, yes

PICTURE = JudgePicture(b"jpeg", 10, 10, 10, 10)


class Eye:
    """Says yes to what begins with "y"; `lost` are conditions that no shared answer holds a verdict on."""

    name = "eye"
    local = True

    def __init__(self, *lost: str, code: str = "unparsable") -> None:
        self.lost, self.code = lost, code
        self.calls: list[list[str]] = []

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        self.calls.append([question.criteria])
        return JudgeReply(self._verdict(question), 10, 2, 1.0)

    async def evaluate_together(
        self, questions: tuple[JudgeQuestion, ...], picture: JudgePicture
    ) -> tuple[JudgeReply, ...]:
        self.calls.append([one.criteria for one in questions])
        found = [unknown(self.code, "?") if one.criteria in self.lost else self._verdict(one) for one in questions]
        return split(found, 11, 5, 1.0)

    async def check_health(self) -> JudgeHealth:
        return JudgeHealth(self.name, "ready")

    async def close(self) -> None:
        pass

    def _verdict(self, question: JudgeQuestion) -> Verdict:
        return yes("so") if question.criteria.startswith("y") else no("not so")


async def ask_at_once(eye: Any, *pairs: tuple[str, str], **vision: Any) -> tuple[list[JudgeReply], Counters]:
    """Return the replies to (party, criteria), all asked at once."""
    counters = Counters()
    async with asyncio.TaskGroup() as group:
        panel = QuestionBatcher(group, VisionSettings(**{"share_calls": True, **vision}), counters)
        asking = [group.create_task(panel.ask(eye, party, JudgeQuestion(words), PICTURE)) for party, words in pairs]
    return [one.result() for one in asking], counters


def answers(replies: list[JudgeReply]) -> list[str]:
    return [one.verdict.answer.value for one in replies]


@pytest.mark.asyncio
async def test_conditions_of_one_party_share_a_call_and_its_cost() -> None:
    eye = Eye()
    replies, counters = await ask_at_once(eye, ("a", "yes 1"), ("a", "no 2"), ("a", "yes 3"))
    assert eye.calls == [["yes 1", "no 2", "yes 3"]]
    assert answers(replies) == ["yes", "no", "yes"]
    assert sum(one.tokens_in or 0 for one in replies) == 11
    assert sum(one.tokens_out or 0 for one in replies) == 5
    assert sum(one.cost_usd or 0 for one in replies) == pytest.approx(1.0)
    assert counters.snapshot() == {"judge_calls": 1, "shared_calls": 1, "shared_questions": 3}


@pytest.mark.asyncio
async def test_parties_never_share_and_a_call_holds_no_more_than_allowed() -> None:
    eye = Eye()
    await ask_at_once(eye, ("a", "y1"), ("b", "y2"), ("a", "y3"), ("a", "y4"), share_max=2)
    assert sorted(eye.calls) == [["y1", "y3"], ["y2"], ["y4"]]


@pytest.mark.asyncio
async def test_nothing_is_shared_unless_set_nor_with_a_judge_that_cannot() -> None:
    eye = Eye()
    await ask_at_once(eye, ("a", "y1"), ("a", "y2"), share_calls=False)
    assert sorted(eye.calls) == [["y1"], ["y2"]]
    assert not isinstance(PassthroughJudge(), Together)
    replies, _ = await ask_at_once(PassthroughJudge(), ("a", "y1"), ("a", "y2"))
    assert {one.verdict.code for one in replies} == {"needs_vision"}


@pytest.mark.asyncio
@pytest.mark.parametrize("code", ["unparsable", "truncated", "refusal"])
async def test_a_verdict_that_is_missing_is_asked_for_singly_and_paid_for_twice(code: str) -> None:
    eye = Eye("y2", code=code)
    replies, counters = await ask_at_once(eye, ("a", "y1"), ("a", "y2"), ("a", "n3"))
    assert eye.calls == [["y1", "y2", "n3"], ["y2"]]
    assert answers(replies) == ["yes", "yes", "no"]
    assert sum(one.cost_usd or 0 for one in replies) == pytest.approx(2.0)
    assert sum(one.tokens_in or 0 for one in replies) == 21
    assert (counters.snapshot()["judge_calls"], counters.snapshot()["shared_again"]) == (2, 1)


@pytest.mark.asyncio
async def test_a_judge_that_was_not_heard_is_not_asked_again_for_each() -> None:
    eye = Eye("y1", "y2", code="judge_down")
    replies, _ = await ask_at_once(eye, ("a", "y1"), ("a", "y2"))
    assert len(eye.calls) == 1
    assert {one.verdict.code for one in replies} == {"judge_down"}


@given(st.integers(1, 16), st.none() | st.integers(0, 10**6), st.none() | st.floats(0, 100))
def test_parts_add_up_to_the_whole(count: int, tokens: int | None, cost: float | None) -> None:
    parts = split([no("x")] * count, tokens, tokens, cost)
    if tokens is None:
        assert {one.tokens_in for one in parts} == {None}
    else:
        assert sum(one.tokens_in or 0 for one in parts) == sum(one.tokens_out or 0 for one in parts) == tokens
    total = None if cost is None else sum(one.cost_usd or 0 for one in parts)
    assert total == (None if cost is None else pytest.approx(cost))
