"""Google's Gemini API (https://ai.google.dev/api/generate-content): pictures, tools, thoughts apart from answers.

A model that reasons signs its calls of tools, and the next turn must bring each signature back as it came
(https://ai.google.dev/gemini-api/docs/thought-signatures).
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

_VERSION = "v1beta"
_DECLINED = frozenset(
    {
        *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "JAILBREAK"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
    }
)
"""Why the model, or what guards it, ends an answer before or in its middle."""


class _FunctionCall(Struct, frozen=True):
    name: str
    id: str = ""
    args: Raw = Raw(b"{}")


class _GeminiPart(Struct, frozen=True, rename="camel"):
    text: str = ""
    thought: bool = False
    thought_signature: str = ""
    function_call: _FunctionCall | None = None


class _Content(Struct, frozen=True):
    parts: list[_GeminiPart] = []


class _Candidate(Struct, frozen=True, rename="camel"):
    content: _Content = _Content()
    finish_reason: str = ""
    finish_message: str = ""


class _Feedback(Struct, frozen=True, rename="camel"):
    block_reason: str = ""
    block_reason_message: str = ""


class _GeminiUsage(Struct, frozen=True, rename="camel"):
    prompt_token_count: Tokens | None = None
    tool_use_prompt_token_count: Tokens = 0
    candidates_token_count: Tokens | None = None
    thoughts_token_count: Tokens = 0


class _GeminiAnswer(Struct, frozen=True, rename="camel"):
    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback = _Feedback()
    usage_metadata: _GeminiUsage = _GeminiUsage()
    model_version: str = ""


class GeminiProvider:
    """`:generateContent` of one model."""

    needs_key = True
    replaceable: Mapping[str, str] = {}
    thoughtless: Mapping[str, Any] = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}

    def path(self, model: str) -> str:
        return f"{_make_model_path(model)}:generateContent"

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the key, in a header: in an address it would stand in logs."""
        return {"x-goog-api-key": key} if key else {}

    def body(self, request: ChatRequest, model: str) -> dict[str, Any]:
        """Return a request's body; the model stands in the path."""
        if request.native_tools or request.betas:
            raise CallFailed("rejected", "only a backend of kind anthropic takes Anthropic's own tools")
        settings: dict[str, Any] = {"maxOutputTokens": request.max_tokens}
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        body: dict[str, Any] = {"contents": _format_messages(request), "generationConfig": settings}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_declare_tool(one) for one in request.tools]}]
        return body

    def read(self, wire: HttpExchange, text: bytes) -> ProviderAnswer:
        answer: _GeminiAnswer = wire.decode(text, _GeminiAnswer)
        usage, blocked = _read_usage(answer.usage_metadata), answer.prompt_feedback
        if blocked.block_reason:
            reason = f"{wire.who} refused: {blocked.block_reason_message or blocked.block_reason}"
            return ProviderAnswer("", (), "refusal", reason, answer.model_version, usage)
        if not answer.candidates:
            raise wire.no_answer(text, f"{wire.who} gave no candidate", usage)
        return _read_answer(wire.who, answer.candidates[0], answer, usage)

    async def check(self, wire: HttpExchange, key: str, model: str) -> ProviderHealth:
        """Ask for the model's entry, which asks about the key as well; it is free."""
        return ProviderHealth(_VERSION, await absent(wire, _make_model_path(model), self.headers(key), model))


def _make_model_path(model: str) -> str:
    return f"/{_VERSION}/models/{quote(model.removeprefix('models/'), safe='')}"


def _read_answer(who: str, candidate: _Candidate, answer: _GeminiAnswer, usage: TokenUsage) -> ProviderAnswer:
    parts, stop, model = candidate.content.parts, candidate.finish_reason, answer.model_version
    words = "".join(part.text for part in parts if not part.thought)
    asked = (part for part in parts if part.function_call is not None)
    calls = tuple(_read_call(number, part) for number, part in enumerate(asked))
    thought = answer.usage_metadata.thoughts_token_count > 0 or any(part.thought for part in parts)
    if stop in _DECLINED:
        reason = f"{who} refused: {candidate.finish_message or stop}"
        return ProviderAnswer(words, calls, "refusal", reason, model, usage)
    if stop == "MAX_TOKENS":
        return ProviderAnswer(
            words, calls, "truncated", f"{who}'s answer was cut off at maxOutputTokens", model, usage, thought
        )
    if not words.strip() and not calls:
        why = f" ({candidate.finish_message or stop})" if stop not in ("", "STOP") else ""
        raise CallFailed("unparsable", f"{who}'s answer is empty{why}", usage=usage)
    return ProviderAnswer(words, calls, model=model, usage=usage, thought=thought)


def _read_usage(usage: _GeminiUsage) -> TokenUsage:
    """Return the tokens that the reply reports; thoughts count as output, cached input (which is cheaper) as input."""
    if usage.prompt_token_count is None:
        return TokenUsage(None, usage.candidates_token_count)
    given = usage.prompt_token_count + usage.tool_use_prompt_token_count
    # An answer that is all thoughts has no count of its own.
    return TokenUsage(given, (usage.candidates_token_count or 0) + usage.thoughts_token_count)


def _format_messages(request: ChatRequest) -> list[dict[str, Any]]:
    """Return the conversation with roles in turn; answers of tools are the user's."""
    last = last_user(request.messages)
    pictures = [{"inlineData": {"mimeType": "image/jpeg", "data": one.base64}} for one in request.pictures]
    names = {call.call_id: call.name for message in request.messages for call in message.calls}
    told: list[dict[str, Any]] = []
    for index, message in enumerate(request.messages):
        role = "model" if message.role == "assistant" else "user"
        parts = _format_message(message, names, pictures if index == last else [])
        if told and told[-1]["role"] == role:
            told[-1]["parts"] += parts
        else:
            told.append({"role": role, "parts": parts})
    return told + ([{"role": "user", "parts": pictures}] if pictures and last < 0 else [])


def _format_message(
    message: ChatMessage, names: dict[str, str], pictures: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    if message.role == "tool":
        name = names.get(message.call_id, message.call_id)
        return [{"functionResponse": {"id": message.call_id, "name": name, "response": {"result": message.text}}}]
    text = [{"text": message.text}] if message.text else []
    return [*pictures, *text, *(_call_part(call) for call in message.calls)]


def _call_part(call: ChatCall) -> dict[str, Any]:
    try:
        given = decode_json(call.arguments or "{}", dict[str, Any])
    except msgspec.DecodeError:
        given = {"arguments": call.arguments}
    part: dict[str, Any] = {"functionCall": {"id": call.call_id, "name": call.name, "args": given}}
    return part | ({"thoughtSignature": call.signature} if call.signature else {})


def _read_call(number: int, part: _GeminiPart) -> ChatCall:
    call = part.function_call
    assert call is not None, "the caller chose parts that have one"
    return ChatCall(call.id or f"call_{number}", call.name, bytes(call.args).decode(), part.thought_signature)


def _declare_tool(tool: ChatTool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": decode_json(tool.schema)}
