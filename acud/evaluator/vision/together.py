"""Several conditions in one call: who can take them, and how what the call cost is split between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from acud.evaluator.vision.judge import Judge, JudgeReply, Picture, Question
from acud.types import Verdict


@runtime_checkable
class Together(Judge, Protocol):
    """A judge that can be asked several conditions about one picture at once."""

    async def evaluate_together(self, questions: tuple[Question, ...], picture: Picture) -> tuple[JudgeReply, ...]:
        """Return a reply for each of `questions`, in their order, made from one answer; what it cost is split.

        A verdict that the answer does not hold in its strict form is `unknown(unparsable)`.
        """
        ...


def split(
    verdicts: Sequence[Verdict], tokens_in: int | None, tokens_out: int | None, cost_usd: float | None, judge: str = ""
) -> tuple[JudgeReply, ...]:
    """Return a reply for each verdict with an equal part of the cost; the parts of tokens add up to the call's."""
    count = len(verdicts)
    each = None if cost_usd is None else cost_usd / count
    parts = zip(verdicts, _parts(tokens_in, count), _parts(tokens_out, count), strict=True)
    return tuple(JudgeReply(verdict, given, said, each, judge) for verdict, given, said in parts)


def _parts(whole: int | None, count: int) -> list[int | None]:
    if whole is None:
        return [None] * count
    each, rest = divmod(whole, count)
    return [each + (place < rest) for place in range(count)]
