"""A fallback chain: the next judge is asked when one was not heard, never after an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from acud.evaluator.vision.faults import CONTINUES, FREE, Usage, added
from acud.evaluator.vision.judge import Judge, JudgeReply
from acud.types import Answer, Verdict, unknown

_NOT_HEARD = CONTINUES | {"redaction"}
"""A picture that may not leave can still be judged by whoever is local."""

MAX_REASON = 480
"""Of a whole chain, so that the reasons of all fit where one stands."""


async def first_answer(judges: Sequence[Judge], ask: Callable[[Judge], Awaitable[JudgeReply]]) -> JudgeReply:
    """Return the first judge's reply that is an answer, with the cost of those asked before.

    When none is heard: unknown, naming each with its reason. Yes, no and an answer that cannot be used (unparsable,
    refused, cut off) end the chain: they were paid for, and another judge would only be asked for a better liked one.
    """
    spent, faults, name = FREE, dict[str, Verdict](), ""
    later: list[float] = []
    for judge in judges:
        reply, name = await ask(judge), judge.name
        spent = added(spent, Usage(reply.tokens_in, reply.tokens_out, reply.cost_usd))
        if reply.verdict.answer is not Answer.UNKNOWN or reply.verdict.code not in _NOT_HEARD:
            return _told(reply.verdict, spent, name, 0.0)
        faults[name] = reply.verdict
        later.append(reply.retry_after_s)
    return _told(_nobody(faults), spent, name, min(later, default=0.0))


def _told(verdict: Verdict, spent: Usage, name: str, retry_after_s: float) -> JudgeReply:
    return JudgeReply(verdict, spent.tokens_in, spent.tokens_out, spent.cost_usd, name, retry_after_s)


def _nobody(faults: dict[str, Verdict]) -> Verdict:
    if len(faults) == 1:
        return next(iter(faults.values()))
    codes = {verdict.code for verdict in faults.values()}
    each = MAX_REASON // max(1, len(faults))
    reasons = "; ".join(_named(name, verdict.detail)[:each] for name, verdict in faults.items())
    return unknown(codes.pop() if len(codes) == 1 else "judge_down", reasons)


def _named(name: str, detail: str) -> str:
    return detail if detail.startswith(name) else f"{name}: {detail}"
