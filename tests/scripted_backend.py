"""A `Backend` that answers from a list, keeps what it was asked, and can be late or down."""

from __future__ import annotations

from collections.abc import Sequence

from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply
from acud.evaluator.judges.provider import ChatReply, ChatRequest
from acud.protocol.evaluation import JudgeHealth
from acud.types import unknown
from acud.types.chat import ChatCall


def said(text: str) -> ChatReply:
    return ChatReply(text, model="m", tokens_in=100, tokens_out=10, cost_usd=0.5)


def called(arguments: str, name: str = "computer", *more: str) -> ChatReply:
    calls = tuple(ChatCall(f"c{at}", name, one) for at, one in enumerate((arguments, *more)))
    return ChatReply("", calls, model="m", tokens_in=100, tokens_out=10, cost_usd=0.5)


class ScriptedBackend:
    """Gives `replies` in turn, the last one for ever."""

    def __init__(self, *replies: ChatReply | str, name: str = "scripted", local: bool = True) -> None:
        self.name = name
        self.local = local
        self.asked: list[ChatRequest] = []
        self.closed = 0
        self._replies: Sequence[ChatReply] = [said(one) if isinstance(one, str) else one for one in replies]

    async def ask(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        return self._replies[min(len(self.asked), len(self._replies)) - 1]

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        return JudgeReply(unknown("judge_down", "it only finds things"))

    async def check_health(self) -> JudgeHealth:
        return JudgeHealth(self.name, "ready")

    async def close(self) -> None:
        self.closed += 1
