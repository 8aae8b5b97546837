"""One wait's share of a job: remembered answers first, then text, then judges, while an answer can still matter."""

from __future__ import annotations

import time
from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from acud.evaluator.redact import Redacted, Withheld
from acud.evaluator.room import Encoded, Room
from acud.evaluator.share import Share
from acud.evaluator.shot import Shot
from acud.evaluator.vision.chain import first_answer
from acud.evaluator.vision.faults import CONTINUES
from acud.evaluator.vision.judge import Judge, JudgeReply, Question
from acud.evaluator.vision.prompt import question_key
from acud.protocol.children import Answered, Ask, LeafAnswer
from acud.types import Answer, Criteria, Evidence, JudgeName, Leaf, Text, Verdict, no, unknown
from acud.waits import conditions, plain


class Asking:
    """Answers one `Ask` over one shot. Criteria are asked one after the other, each only while it can still matter."""

    def __init__(self, ask: Ask, shot: Shot, room: Room, share: Share) -> None:
        self._ask = ask
        self._shot = shot
        self._room = room
        self._share = share
        self._leaves = conditions.leaves(ask.until)
        self._verdicts: dict[int, Verdict] = dict(ask.known)
        self._answers: list[LeafAnswer] = []

    async def run(self) -> Answered:
        """Return the answers, the whole verdict and the evidence kept for it."""
        self._recall()
        if self._open() and await self._held_back():
            return Answered(self._ask.wait_id, tuple(self._answers), self._whole(), gated=True)
        while wanted := self._open():
            index = min(wanted, key=lambda i: (not isinstance(self._leaves[i], Text), i))
            self._note(await self._answer(index, self._leaves[index]))
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
            return LeafAnswer(index, shared.value.verdict, shared.value.judge or judge, "cache", cost_usd=0.0)
        reply = shared.value
        judge = reply.judge or judge
        spent_ms = (time.perf_counter() - started) * 1000
        return LeafAnswer(
            index, reply.verdict, judge, "judge", spent_ms, reply.tokens_in, reply.tokens_out, reply.cost_usd
        )

    async def _criteria(self, judge: str, leaf: Criteria) -> Any:
        question = Question(leaf.criteria, self._ask.elapsed_s, self._ask.timeout_s)
        line = () if judge == JudgeName.OCR else self._room.desk.line(self._ask.judge)
        asked: Coroutine[Any, Any, JudgeReply] = (
            self._read_plainly(leaf) if judge == JudgeName.OCR else self._look(judge, line, question)
        )
        return await self._share.once((judge, *(one.name for one in line), question_key(question)), asked)

    async def _read(self, leaf: Text) -> JudgeReply:
        return await self._room.read(self._shot, leaf)

    async def _read_plainly(self, leaf: Criteria) -> JudgeReply:
        found = plain.plain(leaf.criteria)
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
        self._room.counters.add("judge_calls")
        reply = await judge.evaluate(question, encoded.picture)
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
