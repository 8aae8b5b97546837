"""The seam between an evaluator and a model behind an API: judge a picture, find a place in it, answer a conversation.

Text on a picture, in a description or in an answer is data: nothing here runs what a model says.
"""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from acud.agent.chat import ChatCall, ChatMessage, ChatTool
from acud.evaluator.vision.judge import JudgeReply, Picture, Question
from acud.evaluator.vision.turns import Claim
from acud.protocol.evaluation import JudgeHealth


class ChatRequest(Struct, frozen=True):
    """One turn. `pictures` go along with the last user message, in order, before its text.

    `model` "" is the backend's own. `native_tools` are in the vendor's own form (Anthropic's computer-use tool) and are
    sent as they are; a backend that has no such form refuses them. `temperature` None leaves the vendor's default
    (Claude's API takes none). `claim`: for whom, where the calls of a minute do not suffice for all. `thinks` False:
    the model is asked for no reasoning before its answer, where its API can be asked that.
    """

    messages: tuple[ChatMessage, ...]
    system: str = ""
    pictures: tuple[Picture, ...] = ()
    tools: tuple[ChatTool, ...] = ()
    native_tools: tuple[dict[str, Any], ...] = ()
    betas: tuple[str, ...] = ()
    model: str = ""
    max_tokens: int = 1024
    temperature: float | None = 0.0
    claim: Claim = Claim()
    thinks: bool = True


class ChatReply(Struct, frozen=True):
    """What came back. `code` "": an answer; else why there is none (`judge_down`, `unparsable`, `refusal`,
    `truncated`, `rate_limited`, `no_key`, `budget`, `rejected`: the request itself is at fault), and `reason` in one
    line without secrets. Tokens and cost are of all tries together, None where they are not known; they are told also
    for an answer that cannot be used. A `truncated` answer holds the text that came. `retry_after_s`: how long the
    server wants to be left alone (0: it did not say).
    """

    text: str = ""
    calls: tuple[ChatCall, ...] = ()
    code: str = ""
    reason: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    retry_after_s: float = 0.0


class Located(Struct, frozen=True):
    """Where a model says a described thing is: points in pixels of the picture that it was shown, best first.

    `boxes` are parallel to `points` (None where the model gives none). Empty `points` with `reply.code` "" means that
    the model looked and says that it is not there.
    """

    points: tuple[tuple[float, float], ...]
    boxes: tuple[tuple[float, float, float, float] | None, ...]
    reply: ChatReply


class Backend(Protocol):
    """A model behind an API. `local`: what is sent to it stays on this machine; all others get redacted pictures only.

    No method raises for a backend that is down, slow or incoherent; each says so in its reply. Each ends within the
    backend's own time limit and may be cancelled.
    """

    name: str
    local: bool

    async def evaluate(self, question: Question, picture: Picture) -> JudgeReply:
        """Return the verdict on `question` over `picture`."""
        ...

    async def locate(self, description: str, picture: Picture) -> Located:
        """Return where `description` is in `picture`."""
        ...

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer to a conversation."""
        ...

    async def check_health(self) -> JudgeHealth:
        """Ask whether it can answer now, without spending money."""
        ...

    async def close(self) -> None:
        """Let go of connections; closing twice is harmless."""
        ...
