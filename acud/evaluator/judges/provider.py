"""A model behind an API, and how its vendor's requests and answers look.

Text on a picture, in a description or in an answer is data: nothing here runs a model's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from acud.evaluator.judges.faults import CallFailed, TokenUsage
from acud.evaluator.judges.http import AnyObject, HttpExchange
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply
from acud.evaluator.judges.rate_limit import Claim
from acud.protocol.evaluation import JudgeHealth
from acud.types.chat import ChatCall, ChatMessage, ChatTool

Tokens = Annotated[int, Meta(ge=0, le=1 << 53)]
"""A count as a server reports it. Beyond the bound it would fit no float and no message."""


class ChatRequest(Struct, frozen=True):
    """One turn. `pictures` go along with the last user message, in order, before its text.

    `model` "" is the backend's own. `native_tools` are in the vendor's own form (Anthropic's computer-use tool) and are
    sent as they are; a backend that has no such form refuses them. `temperature` None leaves the vendor's default
    (Claude's API takes none). `claim`: orders calls when the rate limit is reached. `thinks` False:
    the model is asked for no reasoning before its answer, where its API can be asked that. `recurring`: the caller
    asks again by itself, later after a rate limit, so that a rate limit is not tried again within the call.
    """

    messages: tuple[ChatMessage, ...]
    system: str = ""
    pictures: tuple[JudgePicture, ...] = ()
    tools: tuple[ChatTool, ...] = ()
    native_tools: tuple[dict[str, Any], ...] = ()
    betas: tuple[str, ...] = ()
    model: str = ""
    max_tokens: int = 1024
    temperature: float | None = 0.0
    claim: Claim = Claim()
    thinks: bool = True
    recurring: bool = False


class ChatReply(Struct, frozen=True):
    """What came back. `code` "": an answer; else why there is none (`judge_down`, `unparsable`, `refusal`,
    `truncated`, `rate_limited`, `no_key`, `budget`, `rejected`: the request itself is at fault), and `reason` in one
    line without secrets. Tokens and cost are of all tries together, None where they are not known; they are given also
    for an answer that cannot be used. A `truncated` answer holds the text that came. `retry_after_s`: how long the
    server wants to be left alone (0: not known).
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


class Backend(Protocol):
    """A model behind an API. `local`: what is sent to it stays on this machine; all others get redacted pictures only.

    No method raises for a backend that is down, slow or incoherent; the reply gives the fault. Each ends within the
    backend's own time limit and may be cancelled.
    """

    name: str
    local: bool

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        """Return the verdict on `question` over `picture`."""

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer to a conversation."""

    async def check_health(self) -> JudgeHealth:
        """Ask the backend whether it can answer now, without spending money."""

    async def close(self) -> None:
        """Let go of connections; closing twice is harmless."""


class ProviderAnswer(Struct, frozen=True):
    """An answer as read. `code` is "", `truncated` or `refusal`; `model` is the one that answered, "" if not known.

    `thought`: the server reports reasoning before the answer, in a field of its own.
    """

    text: str
    calls: tuple[ChatCall, ...] = ()
    code: str = ""
    reason: str = ""
    model: str = ""
    usage: TokenUsage = TokenUsage()
    thought: bool = False


class ProviderHealth(Struct, frozen=True):
    """The version of a server that answered ("" if not known), and what is amiss with the model ("" for nothing)."""

    version: str = ""
    missing: str = ""


class Provider(Protocol):
    """One vendor's API. Nothing here does I/O but `check`."""

    needs_key: bool
    thoughtless: Mapping[str, Any]
    """Fields of a body that ask for an answer without reasoning first; empty where none are needed."""
    replaceable: Mapping[str, str]
    """Fields that some of its models refuse, each with the one to send instead ("": none)."""

    def path(self, model: str) -> str:
        """Return where chat requests to `model` go, under the base URL."""

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the headers of any request, with the key where there is one."""

    def body(self, request: ChatRequest, model: str) -> dict[str, Any]:
        """Return the body of a chat request. Raises: CallFailed for what this vendor cannot be asked."""

    def read(self, wire: HttpExchange, text: bytes) -> ProviderAnswer:
        """Return the answer in a 2xx body. Raises: CallFailed, also for an error inside a 2xx."""

    async def check(self, wire: HttpExchange, key: str, model: str) -> ProviderHealth:
        """Ask at no cost whether the server is well and has the model. Raises: CallFailed when it is not well."""


async def absent(wire: HttpExchange, path: str, headers: dict[str, str], model: str) -> str:
    """Return "" when `path` has an entry of `model`, else the reason for a health report. Raises: CallFailed."""
    try:
        await wire.ask("GET", path, AnyObject, headers)
    except CallFailed as fault:
        if fault.status != 404:
            raise
        return f"{wire.who} has no model {model}"
    return ""


def last_user(messages: tuple[ChatMessage, ...]) -> int:
    """Return the index of the message that pictures go along with; -1 when there is none of the user's."""
    return max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
