"""What a judge is: it answers a criterion from a picture. Also the chain of judges, which are asked in turn.

The chain asks the next judge when one gave no answer, never after an answer.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Protocol, runtime_checkable

from msgspec import Struct

from acud.evaluator.judges.faults import CONTINUES, FREE, TokenUsage, sum_usage
from acud.evaluator.judges.rate_limit import Claim
from acud.protocol.evaluation import JudgeHealth
from acud.types import Answer, Verdict, unknown

_NOT_HEARD = CONTINUES | {"redaction"}  # A local judge can still judge a picture that may not leave this machine
MAX_REASON = 480
"""For a whole chain, so that the reasons of all fit in the place of one."""


class JudgeQuestion(Struct, frozen=True):
    """A criterion in natural language, and how long its wait has lasted and may last (0: not known).

    `instructions`: the system message of a caller on another host; "" for the one set here. `is_typed`: acud typed
    there.
    """

    criteria: str
    elapsed_s: float = 0.0
    timeout_s: float = 0.0
    instructions: str = ""
    is_typed: bool = False
    claim: Claim = Claim()
    """The wait behind the question, which orders calls when the rate limit is reached."""


class JudgePicture(Struct, frozen=True, dict=True):
    """A view as a judge sees it: JPEG bytes and their size, and the size of the view before scaling, in pixels."""

    jpeg: bytes
    width: int
    height: int
    view_width: int
    view_height: int

    @cached_property
    def base64(self) -> str:
        """The JPEG as base64 text, made once for all questions about the picture."""
        return b64encode(self.jpeg).decode()


class JudgeReply(Struct, frozen=True):
    """A judge's verdict and what it cost. Token counts and cost are None where the judge does not report them.

    `judge`: the one of a chain that answered; "" for the only one asked. `retry_after_s`: when an unknown is worth
    asking again (0: not known).
    """

    verdict: Verdict
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    judge: str = ""
    retry_after_s: float = 0.0


class Judge(Protocol):
    """Answers criteria from pictures.

    Both methods may take long and may be cancelled. Neither raises for a judge that is down, slow or incoherent: that
    is `unknown(judge_down)` or `unknown(unparsable)`, or a health of `down`, each with its reason. `local`: what it is
    shown stays on this machine; all others get redacted pictures only.
    """

    name: str
    local: bool
    """Whether what is sent to it stays on this machine."""

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        """Return the verdict on `question` over `picture`."""

    async def check_health(self) -> JudgeHealth:
        """Ask whether the judge can answer now."""

    async def close(self) -> None:
        """Let go of connections; closing twice is harmless."""


@runtime_checkable
class Together(Judge, Protocol):
    """A judge that can be asked several conditions about one picture at once."""

    async def evaluate_together(
        self, questions: tuple[JudgeQuestion, ...], picture: JudgePicture
    ) -> tuple[JudgeReply, ...]:
        """Return a reply for each of `questions`, in their order, made from one answer; what it cost is split. A
        verdict that the answer does not hold in its strict form is `unknown(unparsable)`.
        """


@runtime_checkable
class Seated(Judge, Protocol):
    """A judge of which only so much can be asked at once."""

    def seat(self) -> AbstractAsyncContextManager[None]:
        """Return what to hold while a picture is taken and asked about."""


def split(
    verdicts: Sequence[Verdict], tokens_in: int | None, tokens_out: int | None, cost_usd: float | None, judge: str = ""
) -> tuple[JudgeReply, ...]:
    """Return a reply for each verdict with an equal part of the cost; the parts of tokens add up to the call's."""
    count = len(verdicts)
    each = None if cost_usd is None else cost_usd / count
    parts = zip(verdicts, _split_count(tokens_in, count), _split_count(tokens_out, count), strict=True)
    return tuple(JudgeReply(verdict, given, said, each, judge) for verdict, given, said in parts)


async def first_answer(judges: Sequence[Judge], ask: Callable[[Judge], Awaitable[JudgeReply]]) -> JudgeReply:
    """Return the first judge's reply that is an answer, with the cost of those asked before.

    When none answers: unknown, naming each with its reason. Yes, no and an unusable answer (unparsable, refused, cut
    off) end the chain: they were paid for, and asking on would only be fishing for another answer.
    """
    spent, faults, name = FREE, dict[str, Verdict](), ""
    later: list[float] = []
    for judge in judges:
        reply, name = await ask(judge), judge.name
        spent = sum_usage(spent, TokenUsage(reply.tokens_in, reply.tokens_out, reply.cost_usd))
        if reply.verdict.answer is not Answer.UNKNOWN or reply.verdict.code not in _NOT_HEARD:
            return _build_reply(reply.verdict, spent, name, 0.0)
        faults[name] = reply.verdict
        later.append(reply.retry_after_s)
    return _build_reply(_join_faults(faults), spent, name, min(later, default=0.0))


class PassthroughJudge:
    """Answers `unknown(needs_vision)` to everything, at once, for nothing."""

    name = "passthrough"
    local = True

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        """Return `unknown(needs_vision)`."""
        return JudgeReply(unknown("needs_vision", "judge `passthrough` leaves looking to the agent"), cost_usd=0.0)

    async def check_health(self) -> JudgeHealth:
        """Return ready: this judge calls no server."""
        return JudgeHealth(self.name, "ready")

    async def close(self) -> None:
        """Do nothing."""


def _split_count(whole: int | None, count: int) -> list[int | None]:
    if whole is None:
        return [None] * count
    each, rest = divmod(whole, count)
    return [each + (place < rest) for place in range(count)]


def _build_reply(verdict: Verdict, usage: TokenUsage, name: str, retry_after_s: float) -> JudgeReply:
    return JudgeReply(verdict, usage.tokens_in, usage.tokens_out, usage.cost_usd, name, retry_after_s)


def _join_faults(faults: dict[str, Verdict]) -> Verdict:
    if len(faults) == 1:
        return next(iter(faults.values()))
    codes = {verdict.code for verdict in faults.values()}
    each = MAX_REASON // max(1, len(faults))
    reasons = "; ".join(_with_name(name, verdict.detail)[:each] for name, verdict in faults.items())
    return unknown(codes.pop() if len(codes) == 1 else "judge_down", reasons)


def _with_name(name: str, detail: str) -> str:
    return detail if detail.startswith(name) else f"{name}: {detail}"
