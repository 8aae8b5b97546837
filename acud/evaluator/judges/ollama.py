"""Ollama's own HTTP API (https://github.com/ollama/ollama/blob/main/docs/api.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from acud.base.typed_values import decode_json
from acud.evaluator.judges.faults import CallFailed, TokenUsage
from acud.evaluator.judges.http import HttpExchange
from acud.evaluator.judges.openai import format_tool
from acud.evaluator.judges.provider import ChatRequest, ProviderAnswer, ProviderHealth, Tokens, last_user
from acud.types.chat import ChatCall, ChatMessage


class _OllamaFunction(Struct, frozen=True):
    name: str
    arguments: Raw = Raw(b"{}")


class _OllamaCall(Struct, frozen=True):
    function: _OllamaFunction
    id: str | None = None


class _OllamaMessage(Struct, frozen=True):
    content: str | None = ""
    tool_calls: list[_OllamaCall] | None = None
    thinking: Any = None


class _Chat(Struct, frozen=True):
    message: _OllamaMessage
    model: str = ""
    done_reason: str | None = None
    prompt_eval_count: Tokens | None = None
    eval_count: Tokens | None = None


class _Model(Struct, frozen=True):
    name: str


class _Tags(Struct, frozen=True):
    models: list[_Model] = []


class _Version(Struct, frozen=True):
    version: str = ""


class OllamaProvider:
    """`/api/chat`, the whole answer at once. `keep_alive`: how long the model stays loaded."""

    needs_key = False
    replaceable: Mapping[str, str] = {}
    thoughtless: Mapping[str, Any] = {"think": False}

    def __init__(self, keep_alive: str) -> None:
        self._keep_alive = keep_alive

    def path(self, model: str) -> str:
        return "/api/chat"

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the bearer token, where there is a key (a proxy before Ollama may ask for one)."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ChatRequest, model: str) -> dict[str, Any]:
        if request.native_tools or request.betas:
            raise CallFailed("rejected", "only a backend of kind anthropic takes Anthropic's own tools")
        options: dict[str, Any] = {"num_predict": request.max_tokens}
        if request.temperature is not None:
            options["temperature"] = request.temperature
        body = {
            "model": model,
            "stream": False,
            "keep_alive": _encode_duration(self._keep_alive),
            "options": options,
            "messages": _format_messages(request),
        }
        return body | ({"tools": [format_tool(one) for one in request.tools]} if request.tools else {})

    def read(self, wire: HttpExchange, text: bytes) -> ProviderAnswer:
        chat: _Chat = wire.decode(text, _Chat)
        usage = TokenUsage(chat.prompt_eval_count, chat.eval_count)
        words = chat.message.content or ""
        calls = tuple(_read_call(number, one) for number, one in enumerate(chat.message.tool_calls or ()))
        thought = bool(chat.message.thinking)
        if chat.done_reason == "length":
            reason = f"{wire.who}'s answer was cut off at num_predict"
            return ProviderAnswer(words, calls, "truncated", reason, chat.model, usage, thought)
        if not words.strip() and not calls:
            raise CallFailed("unparsable", f"{wire.who}'s answer is empty", usage=usage)
        return ProviderAnswer(words, calls, model=chat.model, usage=usage, thought=thought)

    async def check(self, wire: HttpExchange, key: str, model: str) -> ProviderHealth:
        """Look for the model among those pulled."""
        tags: _Tags = await wire.ask("GET", "/api/tags", _Tags, self.headers(key))
        version: _Version = await wire.ask("GET", "/api/version", _Version, self.headers(key))
        there = _add_tag(model) in {_add_tag(one.name) for one in tags.models}
        return ProviderHealth(version.version, "" if there else f"{wire.who} has no model {model}")


def _format_messages(request: ChatRequest) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    images = [one.base64 for one in request.pictures]
    last = last_user(request.messages)
    names = {call.call_id: call.name for message in request.messages for call in message.calls}
    for index, message in enumerate(request.messages):
        told.append(_format_message(message, names) | ({"images": images} if images and index == last else {}))
    return told + ([{"role": "user", "content": "", "images": images}] if images and last < 0 else [])


def _format_message(message: ChatMessage, names: dict[str, str]) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "content": message.text, "tool_name": names.get(message.call_id, message.call_id)}
    calls = [{"function": {"name": call.name, "arguments": _decode_arguments(call)}} for call in message.calls]
    return {"role": message.role, "content": message.text} | ({"tool_calls": calls} if calls else {})


def _decode_arguments(call: ChatCall) -> dict[str, Any]:
    try:
        return decode_json(call.arguments or "{}", dict[str, Any])
    except msgspec.DecodeError:
        return {"arguments": call.arguments}


def _read_call(number: int, call: _OllamaCall) -> ChatCall:
    return ChatCall(call.id or f"call_{number}", call.function.name, bytes(call.function.arguments).decode())


def _add_tag(model: str) -> str:
    """Return the model's name with its tag; Ollama means `:latest` where none is given (a registry may have a port)."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def _encode_duration(text: str) -> str | int:
    """Return `keep_alive` as Ollama takes it: a bare number is seconds and must be one in JSON, `10m` stays text."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text
