"""One wait's share of a job: remembered answers first, then text, then judges, while an answer can still matter."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from acud.evaluator.panel import Panel
from acud.evaluator.redactor import Redacted, Withheld
from acud.evaluator.room import Encoded, Room
from acud.evaluator.share import Share
from acud.evaluator.shot import Shot
from acud.evaluator.vision.chain import first_answer
from acud.evaluator.vision.faults import CONTINUES
from acud.evaluator.vision.judge import Judge, JudgeReply, Question
from acud.evaluator.vision.prompt import question_key
from acud.evaluator.vision.turns import Claim
from acud.protocol.asks import Ask, display_of
from acud.protocol.evaluation import Answered, LeafAnswer
from acud.types import Answer, Criteria, Evidence, JudgeName, Leaf, Text, Verdict, no, unknown
from acud.waits import conditions, ocr_criteria


class Asking:
    """Answers one `Ask` over one shot. Criteria are asked one after the other, each only while it can still matter;
    where they may share a call, those that can matter now are asked together.
    """

    def __init__(self, ask: Ask, shot: Shot, room: Room, share: Share, panel: Panel) -> None:
        self._ask = ask
        self._shot = shot
        self._room = room
        self._share = share
        self._panel = panel
        self._leaves = conditions.leaves(ask.until)
        self._verdicts: dict[int, Verdict] = dict(ask.known)
        self._answers: list[LeafAnswer] = []

    async def run(self) -> Answered:
        """Return the answers, the whole verdict and the evidence kept for it."""
        self._recall()
        if self._open() and await self._held_back():
            return Answered(self._ask.wait_id, tuple(self._answers), self._whole(), gated=True)
        while wanted := self._open():
            for answer in await asyncio.gather(*(self._answer(i, self._leaves[i]) for i in self._next(wanted))):
                self._note(answer)
        self._room.gates.judged(self._ask, self._shot, self._verdicts)
        if self._ask.asks and self._whole().answer is Answer.NO:
            self._room.befores.held_not(self._ask.wait_id, self._shot)
        return await self._result()

    async def _held_back(self) -> bool:
        gates = self._room.gates
        return gates.applies(self._ask) and await self._room.off_loop(lambda: gates.holds_back(self._ask, self._shot))

    def _whole(self) -> Verdict:
        return conditions.evaluate(self._ask.until, self._verdicts)

    async def _result(self) -> Answered:
        whole = self._whole()
        answered = Answered(self._ask.wait_id, tuple(self._answers), whole)
        if self._ask.keep_evidence and (whole.answer is Answer.YES or not self._ask.asks):
            kept = await self._share.once("evidence", self._room.keep_evidence(self._shot))
            return replace(answered, evidence=await self._with_before(kept.value))
        return answered

    async def _with_before(self, evidence: Evidence) -> Evidence:
        before = self._room.befores.take(self._ask.wait_id)
        if not evidence.name or before is None:
            reason = "nobody saw the view before it held" if evidence.name else evidence.reason
            return replace(evidence, before_reason=reason)
        kept = await self._room.keep_evidence(before)
        return replace(
            evidence,
            before=kept.name,
            before_frame=before.frame,
            before_identity=before.identity,
            before_reason=kept.reason,
        )

    def _open(self) -> frozenset[int]:
        return conditions.open_leaves(self._ask.until, self._verdicts) & {leaf.index for leaf in self._ask.asks}

    def _next(self, wanted: frozenset[int]) -> list[int]:
        """Return what is asked now: one text, else as many criteria as fit in one call."""
        order = sorted(wanted, key=lambda i: (not isinstance(self._leaves[i], Text), i))
        if isinstance(self._leaves[order[0]], Text):
            return order[:1]
        return order[: self._panel.most]

    def _note(self, answer: LeafAnswer) -> None:
        self._verdicts[answer.index] = answer.verdict
        self._answers.append(answer)

    def _recall(self) -> None:
        for leaf in () if self._ask.force else self._ask.asks:
            if self._shot.identity in leaf.memo:
                self._note(LeafAnswer(leaf.index, no("the same picture as before"), self._judge_of(leaf.index), "memo"))

    def _judge_of(self, index: int) -> str:
        text = isinstance(self._leaves[index], Text)
        return JudgeName.OCR if text else self._room.desk.choose(self._ask.judge)

    async def _answer(self, index: int, leaf: Leaf) -> LeafAnswer:
        judge = self._judge_of(index)
        started = time.perf_counter()
        if isinstance(leaf, Text):
            shared = await self._share.once(leaf, self._read(leaf))
        elif isinstance(leaf, Criteria):
            shared = await self._criteria(judge, leaf)
        else:
            return LeafAnswer(index, unknown("engine", "a condition that no evaluator answers"), "")
        if not shared.first:
            told = shared.value
            later_s = told.retry_after_s
            return LeafAnswer(index, told.verdict, told.judge or judge, "cache", cost_usd=0.0, retry_after_s=later_s)
        reply = shared.value
        judge = reply.judge or judge
        spent_ms = (time.perf_counter() - started) * 1000
        spent = (reply.tokens_in, reply.tokens_out, reply.cost_usd)
        return LeafAnswer(index, reply.verdict, judge, "judge", spent_ms, *spent, reply.retry_after_s)

    async def _criteria(self, judge: str, leaf: Criteria) -> Any:
        question = Question(leaf.criteria, self._ask.elapsed_s, self._ask.timeout_s, claim=self._claim())
        line = () if judge == JudgeName.OCR else self._room.desk.line(self._ask.judge)
        asked: Coroutine[Any, Any, JudgeReply] = (
            self._read_plainly(leaf) if judge == JudgeName.OCR else self._look(judge, line, question)
        )
        return await self._share.once((judge, *(one.name for one in line), question_key(question)), asked)

    def _claim(self) -> Claim:
        ask = self._ask
        left_s = max(0.0, ask.timeout_s - ask.elapsed_s) if ask.timeout_s > 0 else math.inf
        # A second opinion on what was judged before gives way to pixels that nobody judged.
        priority = 3 if ask.force else 2
        return Claim(ask.wait_id, display_of(self._shot.source), priority, left_s)

    async def _read(self, leaf: Text) -> JudgeReply:
        return await self._room.read(self._shot, leaf)

    async def _read_plainly(self, leaf: Criteria) -> JudgeReply:
        found = ocr_criteria.text_criteria(leaf.criteria)
        if found.leaf is not None:
            return await self._read(found.leaf)
        return JudgeReply(unknown("needs_vision", found.reason), cost_usd=0.0)

    async def _look(self, judge: str, line: tuple[Judge, ...], question: Question) -> JudgeReply:
        if not line:
            return JudgeReply(unknown("engine", f"this evaluator has no judge {judge!r}"))
        return await first_answer(line, lambda one: self._see(one, question))

    async def _see(self, judge: Judge, question: Question) -> JudgeReply:
        encoded = await self._picture(judge)
        if isinstance(encoded, Withheld):
            return JudgeReply(unknown("redaction", encoded.reason), cost_usd=0.0)
        reply = await self._panel.ask(judge, self._ask.party or self._ask.wait_id, question, encoded.picture)
        if reply.verdict.code in CONTINUES:
            self._room.desk.doubt(judge.name)
        return reply

    async def _picture(self, judge: Judge) -> Encoded | Withheld:
        form, shot = self._room.form(judge), self._shot
        if form.redacted:
            out = (await self._share.once(Redacted, self._room.outgoing(self._shot))).value
            if isinstance(out, Withheld):
                return out
            shot = out.shot
        return (await self._share.once(form, self._room.encode(shot, form))).value
