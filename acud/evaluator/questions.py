"""One wait's questions in a job: remembered answers first, then text, then judges, while an answer can still matter.

What the questions of one job have in common is made once (the JPEG, the text, the answer to the same question). With
`[vision] share_calls`, questions that come together to one judge about one picture share a call.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Coroutine, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from acud.config import VisionSettings
from acud.evaluator.context import Counters, Encoded, EvaluatorContext
from acud.evaluator.evidence import EncodedView, record_of
from acud.evaluator.judges.faults import CONTINUES, TokenUsage, sum_usage
from acud.evaluator.judges.judge import Judge, JudgePicture, JudgeQuestion, JudgeReply, Together, first_answer
from acud.evaluator.judges.prompt import question_key
from acud.evaluator.judges.rate_limit import Claim
from acud.evaluator.ports import RedactedPixels, Withheld
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.evaluation import Answered, LeafAnswer, SmallPicture
from acud.protocol.questions import Ask, display_of
from acud.types import (
    Answer,
    Criteria,
    Evidence,
    JudgeName,
    Leaf,
    PixelLeaf,
    ScreenImage,
    ScreenNumber,
    TextLeaf,
    Until,
    Verdict,
    WindowInfo,
    no,
    unknown,
)
from acud.waits import condition_tree
from acud.waits.budget import FREE, IMAGE_SEARCH
from acud.waits.sentences import NEEDS_VISION

T = TypeVar("T")
_BREATH_S = 0.005
"""All that one frame made due arrives in the same turn of the loop, once the picture they share is encoded."""
_SENT_S = 0.02  # A question to a model is on its way by then: making evidence no longer holds it up


class SharedValue(NamedTuple, Generic[T]):
    """A value, and whether it was computed for this caller."""

    value: T
    first: bool


class JobCache:
    """Values by key, made at the first request; later ones await the same value. Lives as long as its job."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._made: dict[Hashable, asyncio.Task[Any]] = {}

    async def once(self, key: Hashable, make: Coroutine[Any, Any, T]) -> SharedValue[T]:
        """Return what `make` gives for `key`; a later call with the same key leaves its own `make` unused."""
        first = key not in self
        return SharedValue(await self.begin_value(key, make), first)

    def begin_value(self, key: Hashable, make: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Return the task that makes the value of `key`; it is begun with `make` unless it runs already."""
        found = self._made.get(key)
        if found is not None:
            make.close()
            return found
        task = self._made[key] = self._group.create_task(make)
        return task

    def __contains__(self, key: Hashable) -> bool:
        return key in self._made

    def values_of(self, kind: type[T]) -> list[T]:
        values = (task.result() for task in self._made.values() if task.done() and not task.cancelled())
        return [value for value in values if isinstance(value, kind)]


class _BatchedCall(NamedTuple):
    """A call to be: its questions so far, and its replies, in the same order."""

    questions: list[JudgeQuestion]
    replies: asyncio.Task[tuple[JudgeReply, ...]]


class QuestionBatcher:
    """The calls about one shot. Lives as long as its job; the calls run in `group`.

    `sharing`: whether different conditions may share a call at all.
    """

    def __init__(self, group: asyncio.TaskGroup, vision: VisionSettings, counters: Counters) -> None:
        self._group, self._counters = group, counters
        self._max = vision.share_max
        self.sharing = vision.share_calls
        self._open: dict[tuple[str, str], _BatchedCall] = {}

    @property
    def most(self) -> int:
        """How many conditions one call takes."""
        return self._max if self.sharing else 1

    async def ask(self, judge: Judge, party: str, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        """Return the reply of `judge` to `question`, with its part of what the call cost. `party`: only questions of
        the same party share a call; the picture must be the same for all of a judge.
        """
        if not self.sharing or not isinstance(judge, Together):
            return await self._ask_alone(judge, question, picture)
        call = self._join_batch(judge, party, question, picture)
        place = len(call.questions) - 1
        reply = (await call.replies)[place]
        if len(call.questions) == 1 or not _is_open(reply):
            return reply
        self._counters.add("shared_again")
        return _add_cost(reply, await self._ask_alone(judge, question, picture))

    async def _ask_alone(self, judge: Judge, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        self._counters.add("judge_calls")
        return await judge.evaluate(question, picture)

    def _join_batch(self, judge: Together, party: str, question: JudgeQuestion, picture: JudgePicture) -> _BatchedCall:
        key = judge.name, party
        call = self._open.get(key)
        if call is None:
            questions: list[JudgeQuestion] = []
            made = self._group.create_task(self._ask_together(key, judge, questions, picture))
            call = self._open[key] = _BatchedCall(questions, made)
        call.questions.append(question)
        if len(call.questions) == self._max:
            del self._open[key]
        return call

    async def _ask_together(
        self, key: tuple[str, str], judge: Together, questions: list[JudgeQuestion], picture: JudgePicture
    ) -> tuple[JudgeReply, ...]:
        await asyncio.sleep(_BREATH_S)
        if key in self._open and self._open[key].questions is questions:
            del self._open[key]
        if len(questions) == 1:
            return (await self._ask_alone(judge, questions[0], picture),)
        self._counters.add("judge_calls")
        self._counters.add("shared_calls")
        self._counters.add("shared_questions", len(questions))
        return await judge.evaluate_together(tuple(questions), picture)


class WaitQuestions:
    """Answers one `Ask` over one shot. Criteria are asked one after the other, each only while it can still matter;
    where they may share a call, those that can matter now are asked together.
    """

    def __init__(
        self, ask: Ask, shot: ViewPixels, context: EvaluatorContext, cache: JobCache, batcher: QuestionBatcher
    ) -> None:
        self._ask, self._shot, self._context, self._cache = ask, shot, context, cache
        self._batcher = batcher
        self._leaves = condition_tree.leaves(ask.until)
        self._verdicts: dict[int, Verdict] = dict(ask.known)
        self._answers: list[LeafAnswer] = []

    async def answer_all(self) -> Answered:
        """Return the answers, the whole verdict and the evidence kept for it."""
        for leaf in () if self._ask.force else self._ask.asks:
            if self._shot.identity in leaf.memo:
                self._note(LeafAnswer(leaf.index, no("the same picture as before"), self._judge_of(leaf.index), "memo"))
        if self._find_open_leaves() and await self._shows_too_little_change():
            return Answered(self._ask.wait_id, tuple(self._answers), self._evaluate_whole(), gated=True)
        while wanted := self._find_open_leaves():
            first, *others = (self._answer_leaf(i, self._leaves[i]) for i in self._choose_next(wanted))
            # One alone needs no task: each is two more turns of the loop for an answer that is there.
            for answer in await asyncio.gather(first, *others) if others else (await first,):
                self._note(answer)
        later = await self._look_ahead()
        self._context.gates.note_judged(self._ask, self._shot, self._verdicts)
        if self._ask.asks and self._evaluate_whole().answer is Answer.NO:
            self._context.last_negative_views.held_not(self._ask.wait_id, await self._last_view())
        return await self._add_picture(replace(await self._make_result(later), later=later))

    async def _add_picture(self, answered: Answered) -> Answered:
        """Return the answer with a small picture of the shot, if one is wanted and no larger one is kept."""
        kept = answered.evidence is not None and answered.evidence.name
        if kept or not self._ask.wants_picture or all(answer.source == "memo" for answer in self._answers):
            return answered
        if not self._context.pictured.takes(self._ask.wait_id, self._shot):
            return answered
        made = (await self._cache.once(SmallPicture, self._context.small_picture(self._shot))).value
        height, width = self._shot.pixels.shape[:2]
        return replace(answered, picture=SmallPicture(made, width, height) if made else None)

    async def _look_ahead(self) -> dict[int, dict[int, Verdict]]:
        """Return the verdicts of later stages on this picture, by stage; none if only the memo answered."""
        if all(answer.source == "memo" for answer in self._answers):
            return {}
        return {one.stage: await self._verdicts_of(one.until) for one in self._ask.later}

    async def _verdicts_of(self, until: Until) -> dict[int, Verdict]:
        found: dict[int, Verdict] = {}
        for index, leaf in enumerate(condition_tree.leaves(until)):
            if isinstance(leaf, TextLeaf):
                found[index] = (await self._cache.once(self._reading_key(leaf), self._read_text(leaf))).value.verdict
        return found

    async def _shows_too_little_change(self) -> bool:
        gates = self._context.gates
        return gates.applies(self._ask) and await self._context.off_loop(
            lambda: gates.holds_back(self._ask, self._shot)
        )

    def _evaluate_whole(self) -> Verdict:
        return condition_tree.evaluate(self._ask.until, self._verdicts)

    async def _make_result(self, later: dict[int, dict[int, Verdict]]) -> Answered:
        whole = self._evaluate_whole()
        answered = Answered(self._ask.wait_id, tuple(self._answers), whole)
        if self._ask.keep_evidence and (whole.answer is Answer.YES or not self._ask.asks):
            return replace(answered, evidence=await self._keep_proof())
        kept = (one for one in self._ask.later if one.keep_evidence and one.stage in later)
        if any(condition_tree.evaluate(one.until, later[one.stage]).answer is Answer.YES for one in kept):
            shown = await self._keep_evidence(await self._begin_encoding(self._shot))
            return replace(answered, evidence=replace(shown, before_reason="it was seen while older pixels were read"))
        return answered

    async def _keep_proof(self) -> Evidence:
        """Keep the picture that proves the verdict, and the one before it; waits of one job share files."""
        if self._ask.is_last_look:
            return await self._keep_evidence(await self._begin_encoding(self._shot))
        before = self._context.last_negative_views.pop(self._ask.wait_id, self._shot.epoch, self._ask.changed_from)
        showing, earlier_view = self._begin_encoding(self._shot), before and self._begin_encoding(before)
        shown = await showing
        if not shown.png or earlier_view is None:
            kept = await self._keep_evidence(shown)
            return replace(kept, before_reason="nobody saw the view before it held" if kept.name else kept.reason)
        kept, earlier = await asyncio.gather(self._keep_evidence(shown), self._keep_evidence(await earlier_view))
        return replace(
            kept,
            before=earlier.name,
            before_frame=earlier.frame,
            before_identity=earlier.identity,
            before_reason=earlier.reason,
        )

    async def _keep_evidence(self, view: EncodedView) -> Evidence:
        return (await self._cache.once(("kept", view.record), self._context.keep_evidence(view))).value

    @contextmanager
    def _evidence_meanwhile(self) -> Iterator[None]:
        """Encode what may become evidence while a judge thinks, from when its question is on the way."""
        if not self._ask.keep_evidence or self._context.keeps_redacted:
            yield
            return
        later = asyncio.get_running_loop().call_later(_SENT_S, self._begin_encoding, self._shot)
        try:
            yield
        finally:
            later.cancel()

    def _begin_encoding(self, view: ViewPixels | EncodedView) -> asyncio.Task[EncodedView]:
        return self._cache.begin_value(_encoding_of(view), self._context.evidence_view(view))

    async def _last_view(self) -> ViewPixels | EncodedView:
        """Return the view to remember: encoded where that was done while a judge thought."""
        return await self._begin_encoding(self._shot) if _encoding_of(self._shot) in self._cache else self._shot

    def _find_open_leaves(self) -> frozenset[int]:
        return condition_tree.open_leaves(self._ask.until, self._verdicts) & {leaf.index for leaf in self._ask.asks}

    def _choose_next(self, open_questions: frozenset[int]) -> list[int]:
        """Return the next questions: one image, else one text, else as many criteria as fit in one call."""
        order = sorted(open_questions, key=lambda i: (_rank_leaf(self._leaves[i]), i))
        if isinstance(self._leaves[order[0]], PixelLeaf):
            return order[:1]
        return order[: self._batcher.most]

    def _note(self, answer: LeafAnswer) -> None:
        self._verdicts[answer.index] = answer.verdict
        self._answers.append(answer)

    def _judge_of(self, index: int) -> str:
        leaf = self._leaves[index]
        if isinstance(leaf, ScreenImage):
            return IMAGE_SEARCH
        return JudgeName.OCR if isinstance(leaf, TextLeaf) else self._context.judges.choose(self._ask.judge)

    async def _answer_leaf(self, index: int, leaf: Leaf) -> LeafAnswer:
        judge = self._judge_of(index)
        started = time.perf_counter()
        if isinstance(leaf, TextLeaf):
            shared = await self._cache.once(self._reading_key(leaf), self._read_text(leaf))
            sees = self._sees_instead(leaf, shared.value.verdict)
            if sees is not None:
                judge = self._context.judges.choose(self._ask.judge)
                shared = await self._judge_criteria(judge, sees)
        elif isinstance(leaf, ScreenImage):
            shared = await self._cache.once(leaf, self._find_image(leaf))
        elif isinstance(leaf, Criteria):
            shared = await self._judge_criteria(judge, leaf)
        else:
            return LeafAnswer(index, unknown("engine", "a condition that no evaluator answers"), "")
        reply = shared.value
        judge = reply.judge or judge
        if not shared.first:
            return LeafAnswer(index, reply.verdict, judge, "cache", cost_usd=0.0, retry_after_s=reply.retry_after_s)
        spent_ms = (time.perf_counter() - started) * 1000
        spent = (reply.tokens_in, reply.tokens_out, reply.cost_usd)
        return LeafAnswer(index, reply.verdict, judge, "judge", spent_ms, *spent, reply.retry_after_s)

    async def _judge_criteria(self, judge: str, leaf: Criteria) -> Any:
        ask = self._ask
        question = JudgeQuestion(
            leaf.criteria, ask.elapsed_s, ask.timeout_s, is_typed=ask.is_typed, claim=self._make_claim()
        )
        judges = () if judge == JudgeName.OCR else self._context.judges.list_judges(self._ask.judge)
        asked = self._ask_judges(judge, judges, question)
        return await self._cache.once((judge, *(one.name for one in judges), question_key(question)), asked)

    def _make_claim(self) -> Claim:
        ask = self._ask
        left_s = max(0.0, ask.timeout_s - ask.elapsed_s) if ask.timeout_s > 0 else math.inf
        # Pixels that were not judged yet go before a second opinion.
        priority = 3 if ask.force else 2
        return Claim(ask.wait_id, display_of(self._shot.source), priority, left_s)

    def _sees_instead(self, leaf: TextLeaf, verdict: Verdict) -> Criteria | None:
        """Return the sentence to ask a model if the number of `leaf` cannot be read for certain; None: ask none."""
        if not isinstance(leaf, ScreenNumber) or not leaf.sentence or verdict.answer is not Answer.UNKNOWN:
            return None
        return None if self._context.judges.choose(self._ask.judge) in FREE else Criteria(leaf.sentence)

    def _reading_key(self, leaf: TextLeaf) -> Hashable:
        return leaf, self._ask.windows, self._ask.origin, self._ask.echoes

    async def _read_text(self, leaf: TextLeaf) -> JudgeReply:
        return await self._context.read(self._shot, leaf, self._find_bars(leaf), self._ask.echoes)

    def _find_bars(self, leaf: TextLeaf) -> tuple[WindowInfo, ...]:
        """Return the windows whose bars a number is not read from, in the pixels of the shot."""
        x, y = self._ask.origin.x + self._shot.crop.x, self._ask.origin.y + self._shot.crop.y
        return tuple(one.shift(-x, -y) for one in self._ask.windows) if isinstance(leaf, ScreenNumber) else ()

    async def _find_image(self, leaf: ScreenImage) -> JudgeReply:
        png = self._ask.images.get(leaf.digest)
        return await self._context.find_image(self._shot, leaf, png, self._ask.origin)

    async def _ask_judges(self, judge: str, judges: tuple[Judge, ...], question: JudgeQuestion) -> JudgeReply:
        if judge == JudgeName.OCR:
            return JudgeReply(unknown("needs_vision", NEEDS_VISION), cost_usd=0.0)
        if not judges:
            return JudgeReply(unknown("engine", f"there is no judge {judge!r}: add [backends.{judge}] to acud.toml"))
        return await first_answer(judges, lambda one: self._ask_judge(one, question))

    async def _ask_judge(self, judge: Judge, question: JudgeQuestion) -> JudgeReply:
        encoded = await self._encode_picture(judge)
        if isinstance(encoded, Withheld):
            return JudgeReply(unknown("redaction", encoded.reason), cost_usd=0.0)
        with self._evidence_meanwhile():
            reply = await self._batcher.ask(judge, self._ask.party or self._ask.wait_id, question, encoded.picture)
        self._context.judges.doubt_health(judge.name, answered=reply.verdict.code not in CONTINUES)
        return reply

    async def _encode_picture(self, judge: Judge) -> Encoded | Withheld:
        form, shot = self._context.form(judge), self._shot
        if form.redacted:
            out = (await self._cache.once(RedactedPixels, self._context.redact_shot(self._shot))).value
            if isinstance(out, Withheld):
                return out
            shot = out.shot
        return (await self._cache.once(form, self._context.encode(shot, form))).value


def _rank_leaf(leaf: Leaf) -> int:
    return 0 if isinstance(leaf, ScreenImage) else 1 if isinstance(leaf, TextLeaf) else 2


def _encoding_of(view: ViewPixels | EncodedView) -> Hashable:
    return "encoded", view.record if isinstance(view, EncodedView) else record_of(view)


def _is_open(reply: JudgeReply) -> bool:
    """Return whether the judge answered, but not this condition: another condition of the call may be the cause."""
    return reply.verdict.answer is Answer.UNKNOWN and reply.verdict.code not in CONTINUES


def _add_cost(lost_reply: JudgeReply, reply: JudgeReply) -> JudgeReply:
    before = TokenUsage(lost_reply.tokens_in, lost_reply.tokens_out, lost_reply.cost_usd)
    spent = sum_usage(before, TokenUsage(reply.tokens_in, reply.tokens_out, reply.cost_usd))
    return JudgeReply(reply.verdict, spent.tokens_in, spent.tokens_out, spent.cost_usd, reply.judge)
