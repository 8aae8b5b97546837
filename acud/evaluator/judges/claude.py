"""Anthropic's Messages API (https://docs.anthropic.com/en/api/messages): pictures, tools, prompt caching, computer use.

One cache mark stands at the end of what stays the same: tools and system prompt come first in a prompt, so the mark on
the system prompt covers both (docs: prompt caching). Writing a cache costs 1.25 times the input (2 times for an hour),
reading it 0.1 times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Raw, Struct

from acud.base.typed_values import decode_json
from acud.evaluator.judges.faults import CallFailed, TokenUsage
from acud.evaluator.judges.http import HttpExchange
from acud.evaluator.judges.provider import ChatRequest, ProviderAnswer, ProviderHealth, Tokens, absent, last_user
from acud.types.chat import ChatCall, ChatMessage, ChatTool

VERSION = "2023-06-01"
_CACHE = {"type": "ephemeral"}
_WRITE_5M, _WRITE_1H, _READ = 1.25, 2.0, 0.1
_CUT = {"max_tokens": "max_tokens", "model_context_window_exceeded": "the end of its context"}


class _Creation(Struct, frozen=True):
    ephemeral_5m_input_tokens: Tokens = 0
    ephemeral_1h_input_tokens: Tokens = 0


class _Usage(Struct, frozen=True):
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation: _Creation | None = None


class _Block(Struct, frozen=True):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"{}")


class _Details(Struct, frozen=True):
    explanation: str | None = None


class _Message(Struct, frozen=True):
    content: list[_Block]
    model: str = ""
    stop_reason: str | None = None
    stop_details: _Details | None = None
    usage: _Usage = _Usage()


class ClaudeProvider:
    """`/v1/messages`. A request's temperature is not sent: the published parameters have none any more."""

    needs_key = True
    replaceable: Mapping[str, str] = {}
    thoughtless: Mapping[str, Any] = {}

    def path(self, model: str) -> str:
        return "/v1/messages"

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the key, the API's version and the request's betas."""
        headers = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
        betas = request.betas if request is not None else ()
        return headers | ({"anthropic-beta": ",".join(betas)} if betas else {})

    def body(self, request: ChatRequest, model: str) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "max_tokens": request.max_tokens, "messages": _format_messages(request)}
        tools = [_format_tool(one) for one in request.tools] + [dict(one) for one in request.native_tools]
        if tools:
            body["tools"] = tools
        if request.system:
            body["system"] = [{"type": "text", "text": request.system, "cache_control": _CACHE}]
        elif tools:
            tools[-1] = {**tools[-1], "cache_control": _CACHE}
        return body

    def read(self, wire: HttpExchange, text: bytes) -> ProviderAnswer:
        """Return the text blocks together, and the calls of tools that are ours to run."""
        message: _Message = wire.decode(text, _Message)
        usage, stop = _read_usage(message.usage), message.stop_reason or ""
        thought = any(block.type in ("thinking", "redacted_thinking") for block in message.content)
        words = "".join(block.text for block in message.content if block.type == "text")
        # `tool_use` alone: what the server ran itself (`server_tool_use`) is not a call for us.
        ours = (one for one in message.content if one.type == "tool_use")
        calls = tuple(ChatCall(one.id, one.name, bytes(one.input).decode()) for one in ours)
        if stop == "refusal":
            said = message.stop_details.explanation if message.stop_details is not None else ""
            reason = f"{wire.who} refused: {said or 'no reason given'}"
            return ProviderAnswer(words, calls, "refusal", reason, message.model, usage)
        if stop in _CUT:
            reason = f"{wire.who}'s answer was cut off at {_CUT[stop]}"
            return ProviderAnswer(words, calls, "truncated", reason, message.model, usage, thought)
        if not words.strip() and not calls:
            raise CallFailed("unparsable", f"{wire.who}'s answer is empty", usage=usage)
        return ProviderAnswer(words, calls, model=message.model, usage=usage, thought=thought)

    async def check(self, wire: HttpExchange, key: str, model: str) -> ProviderHealth:
        """Ask for the model's entry, which asks about the key as well; it is free."""
        missing = await absent(wire, f"/v1/models/{quote(model)}", self.headers(key), model)
        return ProviderHealth(VERSION, missing)


def _format_messages(request: ChatRequest) -> list[dict[str, Any]]:
    """Return the conversation with alternating roles; answers of tools come first in the user's message."""
    last = last_user(request.messages)
    pictures = [_encode_image(one.base64) for one in request.pictures]
    told: list[dict[str, Any]] = []
    for index, message in enumerate(request.messages):
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _encode_blocks(message, pictures if index == last else [])
        if told and told[-1]["role"] == role:
            told[-1]["content"] += blocks
        else:
            told.append({"role": role, "content": blocks})
    return told + ([{"role": "user", "content": pictures}] if pictures and last < 0 else [])


def _encode_blocks(message: ChatMessage, pictures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}]
    text = [{"type": "text", "text": message.text}] if message.text else []
    return [*pictures, *text, *(_encode_tool_use(call) for call in message.calls)]


def _encode_tool_use(call: ChatCall) -> dict[str, Any]:
    try:
        given = decode_json(call.arguments or "{}", dict[str, Any])
    except msgspec.DecodeError:
        # Malformed arguments of an earlier answer, which was rejected for them, go back as plain text.
        given = {"arguments": call.arguments}
    return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": given}


def _encode_image(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": data}}


def _format_tool(tool: ChatTool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": decode_json(tool.schema)}


def _read_usage(usage: _Usage) -> TokenUsage:
    if usage.input_tokens is None:
        return TokenUsage(None, usage.output_tokens)
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    hour = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation is not None else 0
    billed = usage.input_tokens + read * _READ + hour * _WRITE_1H + (written - hour) * _WRITE_5M
    return TokenUsage(usage.input_tokens + read + written, usage.output_tokens, billed_in=billed)
