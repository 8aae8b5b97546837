"""A model behind an HTTP API: it judges pictures and answers conversations, and never raises for either."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from acud.config import VisionSettings, key_variable
from acud.config.api_keys import ApiKey
from acud.config.backends import BackendSettings, Price, cost_usd
from acud.evaluator.judges.faults import CallFailed, KeyFilter, TokenUsage, sum_usage
from acud.evaluator.judges.http import HttpExchange
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply, split
from acud.evaluator.judges.prompt import (
    begins_with_thought,
    parse_verdict,
    parse_verdicts,
    shared_prompt,
    system_prompt,
    user_prompt,
    without_thought,
)
from acud.evaluator.judges.provider import ChatReply, ChatRequest, Provider, ProviderAnswer
from acud.evaluator.judges.retry import CallClock, CallLimits, RetriedCalls
from acud.protocol.evaluation import JudgeHealth
from acud.types import Verdict, unknown
from acud.types.chat import ChatMessage

_MAX_TOKENS = 200  # tokens of a verdict: enough for one sentence, an end for a model that rambles
_UNSUPPORTED = ("unsupported", "not supported", "does not support")
_OF_THOUGHT = ("think", "reasoning", "chat_template_kwargs")
"""Words of a server that cannot switch reasoning off: it has no such field, or its model always reasons."""


class Model:
    """One backend: `name`, whether it is `local`, and its calls. `share`: this process's part of its calls a minute."""

    def __init__(
        self,
        name: str,
        dialect: Provider,
        settings: BackendSettings,
        vision: VisionSettings,
        key: ApiKey,
        prices: Mapping[str, Price],
        *,
        share: float = 1.0,
        clock: CallClock | None = None,
    ) -> None:
        self.name = name
        self.local = settings.is_local
        self._dialect, self._settings, self._vision, self._key = dialect, settings, vision, key
        self._prices = prices
        self._can_hush = bool(dialect.thoughtless)
        self._refused: set[tuple[str, str]] = set()
        self._for_thought = 0
        self._words = KeyFilter(key.secrets())
        self._calls = RetriedCalls(name, limits(settings, vision, share), clock)
        self._wire = HttpExchange(
            settings.url,
            name,
            self._words,
            connect_timeout_s=vision.connect_timeout_s,
            concurrency=settings.concurrency,
            ca_file=settings.ca_file,
            headers=key.sent_headers(),
        )

    def seat(self) -> AbstractAsyncContextManager[None]:
        """Return a seat to hold while taking a picture and asking about it: see `Concurrency.seat`."""
        return self._calls.seat()

    # ---- verdicts --------------------------------------------------------------------------------------------------

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        """Return the model's verdict, within the backend's time limit."""
        request = ChatRequest(
            messages=(ChatMessage("user", user_prompt(question)),),
            system=system_prompt(question.instructions or self._vision.system_instructions),
            pictures=(picture,),
            max_tokens=_MAX_TOKENS + self._for_thought,
            claim=question.claim,
            thinks=False,
        )
        reply = await self._ask_with_retries(request)
        spent = (reply.tokens_in, reply.tokens_out, reply.cost_usd)
        return JudgeReply(_read_verdict(reply), *spent, self.name, reply.retry_after_s)

    async def evaluate_together(
        self, questions: tuple[JudgeQuestion, ...], picture: JudgePicture
    ) -> tuple[JudgeReply, ...]:
        """Return the model's verdicts on several conditions from one call; what it cost is split."""
        request = ChatRequest(
            messages=(ChatMessage("user", shared_prompt(questions)),),
            system=system_prompt(self._vision.system_instructions),
            pictures=(picture,),
            max_tokens=_MAX_TOKENS * len(questions) + self._for_thought,
            claim=min((one.claim for one in questions), key=lambda one: (one.priority, one.left_s)),
            thinks=False,
        )
        reply = await self._ask_with_retries(request)
        verdicts = _read_verdicts(reply, len(questions))
        parts = split(verdicts, reply.tokens_in, reply.tokens_out, reply.cost_usd, self.name)
        return tuple(msgspec.structs.replace(part, retry_after_s=reply.retry_after_s) for part in parts)

    # ---- conversations ---------------------------------------------------------------------------------------------

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer, within the backend's time limit; tokens and cost are of all its tries. What it
        printed of its reasoning first is left out.
        """
        reply = await self._ask_with_retries(request)
        text = without_thought(reply.text)
        if reply.text and not text and not reply.calls and not reply.code:
            return msgspec.structs.replace(
                reply, text="", code="unparsable", reason=f"{self.name} thought and did not answer"
            )
        return msgspec.structs.replace(reply, text=text)

    async def _ask_with_retries(self, request: ChatRequest) -> ChatReply:
        model = request.model or self._settings.model
        try:
            self._check_key()
            body = self._dialect.body(request, model)
            done = await self._calls.run(
                lambda: self._send_once(request, model, body), request.claim, recurring=request.recurring
            )
        except CallFailed as fault:
            return self._no_reply(fault, model)
        read = self._note_thought(done.value)
        spent = sum_usage(done.lost, self._price_usage(read.usage, model))
        return ChatReply(
            text=self._words.without_keys(read.text),
            calls=read.calls,
            code=read.code,
            reason=self._words.line(read.reason),
            model=read.model or model,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            cost_usd=spent.cost_usd,
        )

    async def _send_once(self, request: ChatRequest, model: str, body: dict[str, Any]) -> ProviderAnswer:
        headers = self._dialect.headers(self._key.sent_alone(), request)
        path = self._dialect.path(model)
        try:
            text = await self._send_body(path, headers, body, model, thinks=request.thinks)
            return self._dialect.read(self._wire, text)
        except CallFailed as fault:
            fault.usage = self._price_usage(fault.usage, model)
            raise

    async def _send_body(
        self, path: str, headers: dict[str, str], body: dict[str, Any], model: str, *, thinks: bool
    ) -> bytes:
        """Return the answer's body. Fields that the server or model refuses by name are not sent to it again."""
        hushes, body = self._can_hush and not thinks, self._replace_refused(body, model)
        try:
            return await self._wire.send(
                "POST", path, headers, _merge_bodies(body, self._dialect.thoughtless) if hushes else body
            )
        except CallFailed as fault:
            said = fault.message.lower() if fault.status in (400, 422) else ""
            refused = self._refused_fields(said, body, model)
            if hushes and any(word in said for word in _OF_THOUGHT):
                self._can_hush = False
            elif not refused:
                raise
            self._refused |= refused
        return await self._send_body(path, headers, body, model, thinks=thinks)

    def _refused_fields(self, fault_text: str, body: dict[str, Any], model: str) -> set[tuple[str, str]]:
        if not any(word in fault_text for word in _UNSUPPORTED):
            return set()
        return {(model, field) for field in self._dialect.replaceable if field in body and f"'{field}'" in fault_text}

    def _replace_refused(self, body: dict[str, Any], model: str) -> dict[str, Any]:
        """Return `body` without what `model` refused before."""
        instead = {field: one for field, one in self._dialect.replaceable.items() if (model, field) in self._refused}
        named = {instead.get(field, field): value for field, value in body.items()}
        return {field: value for field, value in named.items() if field}

    def _note_thought(self, read: ProviderAnswer) -> ProviderAnswer:
        """Return `read`; if the model reasoned first, allow it tokens for that from its next verdict on."""
        if not read.thought and not begins_with_thought(read.text):
            return read
        more = (
            "" if self._for_thought else f"; it reasons first, and has {self._settings.thought_tokens} tokens more now"
        )
        self._for_thought = self._settings.thought_tokens
        return msgspec.structs.replace(read, reason=f"{read.reason}{more}") if read.code == "truncated" else read

    def _no_reply(self, fault: CallFailed, model: str) -> ChatReply:
        usage = self._price_usage(fault.usage, model)
        reason = self._words.line(fault.message)
        spent = (usage.tokens_in, usage.tokens_out, usage.cost_usd)
        return ChatReply("", (), fault.reply_code, reason, model, *spent, retry_after_s=fault.after_s or 0.0)

    def _price_usage(self, usage: TokenUsage, model: str) -> TokenUsage:
        if usage.cost_usd is not None:
            return usage
        own = self._settings.price
        prices = {model: own} if own is not None else self._prices
        if self._settings.is_own and model not in prices:
            return msgspec.structs.replace(usage, cost_usd=0.0)
        billed = usage.tokens_in if usage.billed_in is None else usage.billed_in
        return msgspec.structs.replace(usage, cost_usd=cost_usd(model, billed, usage.tokens_out, prices))

    def _check_key(self) -> None:
        if self._key.fault:
            raise CallFailed("no_key", f"{self.name}: no key: {self._key.fault}")
        if self._dialect.needs_key and not self._key.value and not self._key.headers:
            raise CallFailed("no_key", f"{self.name}: no key: set {key_variable(self.name)}")

    # ---- health ----------------------------------------------------------------------------------------------------

    async def check_health(self) -> JudgeHealth:
        """Return ready when the server answers and has the model, else down with what is amiss. Costs nothing."""
        refused = self._calls.closed_reason()
        if refused:
            return JudgeHealth(self.name, "down", self._words.line(refused))
        try:
            self._check_key()
            async with asyncio.timeout(2 * self._vision.connect_timeout_s):
                found = await self._dialect.check(self._wire, self._key.sent_alone(), self._settings.model)
        except TimeoutError:
            return JudgeHealth(self.name, "down", f"no answer from {self._settings.url}")
        except CallFailed as fault:
            return JudgeHealth(self.name, "down", self._words.line(fault.message).removeprefix(f"{self.name}: "))
        if found.missing:
            return JudgeHealth(self.name, "down", self._words.line(found.missing), found.version)
        return JudgeHealth(self.name, "ready", version=found.version)

    async def close(self) -> None:
        """Close the connections; closing twice is harmless."""
        await self._wire.close()


def limits(settings: BackendSettings, vision: VisionSettings, share: float) -> CallLimits:
    return CallLimits(
        timeout_s=settings.timeout_s or vision.timeout_s,
        tries=settings.tries,
        concurrency=settings.concurrency,
        per_minute=settings.requests_per_minute * share,
        breaker_failures=vision.breaker_failures,
        breaker_open_s=vision.breaker_open_s,
    )


def _merge_bodies(body: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    joined = {**body}
    for name, value in more.items():
        held = joined.get(name)
        joined[name] = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value
    return joined


def _read_verdict(reply: ChatReply) -> Verdict:
    if reply.code == "truncated":
        return _cut_verdict(reply)
    if reply.code:
        return unknown(reply.code, reply.reason)
    return parse_verdict(reply.text)


def _read_verdicts(reply: ChatReply, count: int) -> tuple[Verdict, ...]:
    """Return a verdict on each condition; of an answer that was cut off, its whole lines count."""
    if reply.code and (reply.code != "truncated" or begins_with_thought(reply.text)):
        return (unknown(reply.code, reply.reason),) * count
    text = reply.text.rpartition("\n")[0] if reply.code else reply.text
    return parse_verdicts(text, count)


def _cut_verdict(reply: ChatReply) -> Verdict:
    """Return the verdict of an answer that was cut off after its line, or right after its colon: the sentence is
    missing then. Within a sentence, nothing is certain yet.
    """
    if begins_with_thought(reply.text):  # which may have quoted its own end
        return unknown("truncated", reply.reason)
    complete, end, _ = reply.text.lstrip().rpartition("\n")
    is_bare = re.fullmatch(r"[\s*_`>]*(?:YES|NO)\s*[:：][\s*_`]*", reply.text, re.IGNORECASE) is not None
    verdict = parse_verdict(complete if end and not is_bare else reply.text if is_bare else "")
    return unknown("truncated", reply.reason) if verdict.code else verdict
