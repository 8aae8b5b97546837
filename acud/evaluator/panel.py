"""Questions that come together to one judge about one picture, put in one call where `[vision] share_calls` says so.

Nobody waits for a question that has not come: a call leaves a breath after its first one. A verdict that cannot be read
in the shared answer is asked for singly, so that one condition that confuses the judge costs the others a call and
never their answer.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from acud.config import VisionSettings
from acud.evaluator.counters import Counters
from acud.evaluator.vision.faults import CONTINUES, Usage, added
from acud.evaluator.vision.judge import Judge, JudgeReply, Picture, Question
from acud.evaluator.vision.together import Together
from acud.types import Answer

_BREATH_S = 0.005
"""All that one frame made due arrives in the same turn of the loop, once the picture they share is encoded."""


class _Call(NamedTuple):
    """A call to be: its questions so far, and its replies, in the same order."""

    questions: list[Question]
    replies: asyncio.Task[tuple[JudgeReply, ...]]


class Panel:
    """The calls about one shot. Lives as long as its job, whose `group` runs the calls.

    `sharing`: whether different conditions may share a call at all.
    """

    def __init__(self, group: asyncio.TaskGroup, vision: VisionSettings, counters: Counters) -> None:
        self._group = group
        self._counters = counters
        self._max = vision.share_max
        self.sharing = vision.share_calls
        self._open: dict[tuple[str, str], _Call] = {}

    @property
    def most(self) -> int:
        """How many conditions one call takes."""
        return self._max if self.sharing else 1

    async def ask(self, judge: Judge, party: str, question: Question, picture: Picture) -> JudgeReply:
        """Return the reply of `judge` to `question`, with its part of what the call cost.

        `party`: with whose questions it may share a call; the picture must be the same for all of a judge.
        """
        if not self.sharing or not isinstance(judge, Together):
            return await self._singly(judge, question, picture)
        call = self._join(judge, party, question, picture)
        place = len(call.questions) - 1
        reply = (await call.replies)[place]
        if len(call.questions) == 1 or not _is_open(reply):
            return reply
        self._counters.add("shared_again")
        return _with(reply, await self._singly(judge, question, picture))

    async def _singly(self, judge: Judge, question: Question, picture: Picture) -> JudgeReply:
        self._counters.add("judge_calls")
        return await judge.evaluate(question, picture)

    def _join(self, judge: Together, party: str, question: Question, picture: Picture) -> _Call:
        key = judge.name, party
        call = self._open.get(key)
        if call is None:
            questions: list[Question] = []
            made = self._group.create_task(self._made(key, judge, questions, picture))
            call = self._open[key] = _Call(questions, made)
        call.questions.append(question)
        if len(call.questions) == self._max:
            del self._open[key]
        return call

    async def _made(
        self, key: tuple[str, str], judge: Together, questions: list[Question], picture: Picture
    ) -> tuple[JudgeReply, ...]:
        await asyncio.sleep(_BREATH_S)
        if key in self._open and self._open[key].questions is questions:
            del self._open[key]
        if len(questions) == 1:
            return (await self._singly(judge, questions[0], picture),)
        self._counters.add("judge_calls")
        self._counters.add("shared_calls")
        self._counters.add("shared_questions", len(questions))
        return await judge.evaluate_together(tuple(questions), picture)


def _is_open(reply: JudgeReply) -> bool:
    """Tell whether the judge was heard and this verdict was not: somebody else's condition may be why."""
    return reply.verdict.answer is Answer.UNKNOWN and reply.verdict.code not in CONTINUES


def _with(lost: JudgeReply, reply: JudgeReply) -> JudgeReply:
    before = Usage(lost.tokens_in, lost.tokens_out, lost.cost_usd)
    spent = added(before, Usage(reply.tokens_in, reply.tokens_out, reply.cost_usd))
    return JudgeReply(reply.verdict, spent.tokens_in, spent.tokens_out, spent.cost_usd, reply.judge)
