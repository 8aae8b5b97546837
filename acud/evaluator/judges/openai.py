"""OpenAI's chat completions, as vLLM and many others speak them, and OpenRouter's dialect of it.

Sources: https://platform.openai.com/docs/api-reference/chat, https://openrouter.ai/docs/api-reference/overview.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

from acud.base.typed_values import decode_json
from acud.config.backends import OpenRouterSettings
from acud.evaluator.judges import http
from acud.evaluator.judges.faults import CallFailed, TokenUsage
from acud.evaluator.judges.http import AnyObject, HttpExchange
from acud.evaluator.judges.provider import ChatRequest, ProviderAnswer, ProviderHealth, Tokens, absent, last_user
from acud.types.chat import ChatCall, ChatMessage, ChatTool

_SAID = ("text", "output_text")  # parts of an answer that are the answer; Mistral's `thinking` is none


class _CostDetails(Struct, frozen=True):
    upstream_inference_cost: float | None = None


class ChatUsage(Struct, frozen=True):
    """Tokens, and OpenRouter's own fields: its charge, and whether the caller's key paid the provider."""

    prompt_tokens: Tokens | None = None
    completion_tokens: Tokens | None = None
    cost: float | None = None
    is_byok: bool | None = None
    cost_details: _CostDetails | None = None


class Error(Struct, frozen=True):
    """An error as it stands in a body, whatever its status."""

    message: str | None = ""
    code: int | str | None = None
    type: str | None = None
    metadata: dict[str, Any] | None = None


class _Function(Struct, frozen=True):
    name: str
    arguments: str = ""


class _OpenAiCall(Struct, frozen=True):
    function: _Function
    id: str | None = ""


class _OpenAiMessage(Struct, frozen=True):
    content: str | list[Any] | None = None
    refusal: str | None = None
    tool_calls: list[_OpenAiCall] | None = None
    reasoning: Any = None
    reasoning_content: Any = None


class _Choice(Struct, frozen=True):
    message: _OpenAiMessage = _OpenAiMessage()
    finish_reason: str | None = None
    error: Error | None = None


class _Completion(Struct, frozen=True):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: ChatUsage | None = None
    error: Error | None = None


class _Architecture(Struct, frozen=True):
    input_modalities: list[str] | None = None


class _Listed(Struct, frozen=True):
    """A model; llama.cpp also lists its inputs, `text` and perhaps `image`."""

    id: str
    architecture: _Architecture | None = None


class _Models(Struct, frozen=True):
    data: list[_Listed]


class OpenAiProvider:
    """The plain form: `chat/completions` under the base URL. `retry_empty`: an empty answer is worth a new try."""

    needs_key = False
    retry_empty = False
    # OpenAI's models that reason take no limit without their reasoning, and only the usual temperature.
    replaceable: Mapping[str, str] = {"max_tokens": "max_completion_tokens", "temperature": ""}
    # Read by vLLM, SGLang and llama.cpp: Qwen's templates know the first, those of DeepSeek and Granite the second.
    thoughtless: Mapping[str, Any] = {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}

    def __init__(self, url: str, *, lists_models: bool = True) -> None:
        """`url`: a host, to which /v1 is added, or with the path that its server has. `lists_models`: whether its list
        of models names those that can be asked (Azure's does not, Bedrock's runtime has none).
        """
        root = "" if urlsplit(url).path.strip("/") else "/v1"
        self._path = f"{root}/chat/completions"
        self._models = f"{root}/models"
        self._lists_models = lists_models

    def path(self, model: str) -> str:
        return self._path

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the bearer token, where there is a key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ChatRequest, model: str) -> dict[str, Any]:
        if request.native_tools or request.betas:
            raise CallFailed("rejected", "only a backend of kind anthropic takes Anthropic's own tools")
        body: dict[str, Any] = {"model": model, "messages": messages(request), "max_tokens": request.max_tokens}
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [format_tool(one) for one in request.tools]
        return body

    def read(self, wire: HttpExchange, text: bytes) -> ProviderAnswer:
        answer: _Completion = wire.decode(text, _Completion)
        usage = self.read_usage(answer.usage)
        choice = answer.choices[0] if answer.choices else None
        error = answer.error or (choice.error if choice is not None else None)
        if error is not None:
            raise self.fault(wire, error, usage)
        if choice is None:
            raise CallFailed("unparsable", f"{wire.who} gave no choice", retry=self.retry_empty, usage=usage)
        return self._read_choice(wire, choice, answer.model or "", usage)

    def _read_choice(self, wire: HttpExchange, choice: _Choice, model: str, usage: TokenUsage) -> ProviderAnswer:
        text, message = _read_text(choice.message.content), choice.message
        calls = tuple(_read_call(number, one) for number, one in enumerate(message.tool_calls or ()))
        if message.refusal or choice.finish_reason == "content_filter":
            reason = f"{wire.who} refused: {message.refusal or 'content filter'}"
            return ProviderAnswer(text, calls, "refusal", reason, model, usage)
        thought = bool(message.reasoning or message.reasoning_content)
        if choice.finish_reason == "length":
            reason = f"{wire.who}'s answer was cut off at max_tokens"
            return ProviderAnswer(text, calls, "truncated", reason, model, usage, thought)
        if not text.strip() and not calls:
            raise CallFailed("unparsable", f"{wire.who}'s answer is empty", retry=self.retry_empty, usage=usage)
        return ProviderAnswer(text, calls, model=model, usage=usage, thought=thought)

    def read_usage(self, usage: ChatUsage | None) -> TokenUsage:
        return TokenUsage(usage.prompt_tokens, usage.completion_tokens) if usage is not None else TokenUsage()

    def fault(self, wire: HttpExchange, error: Error, usage: TokenUsage) -> CallFailed:
        """Return what an error inside a 2xx means."""
        return wire.error({"code": error.code, "type": error.type, "message": error.message}, usage)

    async def check(self, wire: HttpExchange, key: str, model: str) -> ProviderHealth:
        """Look for the model in the list of models; without such a list, ask only whether the server takes the key."""
        if not self._lists_models:
            await absent(wire, self._models, self.headers(key), model)
            return ProviderHealth()
        listed: _Models = await wire.ask("GET", self._models, _Models, self.headers(key))
        found = next((one for one in listed.data if one.id == model), None)
        if found is None:
            there = ", ".join(one.id for one in listed.data[:5]) or "none"
            return ProviderHealth("", f"{wire.who} has no model {model}; it has {there}")
        takes = found.architecture.input_modalities if found.architecture is not None else None
        return ProviderHealth("", "" if takes is None or "image" in takes else f"{model} {http.TAKES_NO_PICTURES}")


def messages(request: ChatRequest) -> list[dict[str, Any]]:
    """Return the conversation in OpenAI's form, pictures first in the user message that they go with."""
    told: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    pictures = [
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{one.base64}"}} for one in request.pictures
    ]
    last = last_user(request.messages)
    told += [_format_message(one, pictures if index == last else []) for index, one in enumerate(request.messages)]
    return told + ([{"role": "user", "content": pictures}] if pictures and last < 0 else [])


def _format_message(message: ChatMessage, pictures: list[dict[str, Any]]) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.role == "assistant" and message.calls:
        calls = [_format_tool_call(call) for call in message.calls]
        return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
    if pictures:
        return {"role": "user", "content": [*pictures, {"type": "text", "text": message.text}]}
    return {"role": message.role, "content": message.text}


def _format_tool_call(call: ChatCall) -> dict[str, Any]:
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def format_tool(tool: ChatTool) -> dict[str, Any]:
    """Return a tool in OpenAI's form, which Ollama shares."""
    function = {"name": tool.name, "description": tool.description, "parameters": decode_json(tool.schema)}
    return {"type": "function", "function": function}


def _read_call(number: int, call: _OpenAiCall) -> ChatCall:
    return ChatCall(call.id or f"call_{number}", call.function.name, call.function.arguments)


def _read_text(content: str | list[Any] | None) -> str:
    if isinstance(content, list):
        said = (part for part in content if isinstance(part, dict) and part.get("type", "text") in _SAID)
        return "".join(str(part.get("text") or "") for part in said)
    return content or ""


class OpenRouterProvider(OpenAiProvider):
    """`/chat/completions` under a base URL that ends in `/api/v1`."""

    needs_key = True
    retry_empty = True
    thoughtless: Mapping[str, Any] = {"reasoning": {"effort": "none"}}

    def __init__(self, settings: OpenRouterSettings) -> None:
        super().__init__(f"{settings.url.rstrip('/')}/v1")  # its path is whole as it is
        named = {"http-referer": settings.referer, "x-title": settings.title}
        self._caller = {name: value for name, value in named.items() if value}

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the key, and the caller's name and address where they are set."""
        return super().headers(key, request) | self._caller

    def read_usage(self, usage: ChatUsage | None) -> TokenUsage:
        """Return the tokens and the cost that the reply reports. With one's own provider key, OpenRouter's cost is
        only its fee: the provider's cost is added, and without it the cost is unknown.
        """
        if usage is None:
            return TokenUsage()
        cost = usage.cost
        if cost is not None and usage.is_byok:
            upstream = usage.cost_details.upstream_inference_cost if usage.cost_details is not None else None
            cost = cost + upstream if upstream is not None else None
        return TokenUsage(usage.prompt_tokens, usage.completion_tokens, cost)

    def fault(self, wire: HttpExchange, error: Error, usage: TokenUsage) -> CallFailed:
        """Return what an error inside a 2xx means; a flagged input is a refusal."""
        if error.metadata and "flagged_input" in error.metadata:
            return CallFailed("refusal", wire.words.line(f"{wire.who} refused: {error.message}"), usage=usage)
        return super().fault(wire, error, usage)

    async def check(self, wire: HttpExchange, key: str, model: str) -> ProviderHealth:
        """Ask about the key, then about the model; both are free."""
        await wire.ask("GET", "/key", AnyObject, self.headers(key))
        missing = await absent(wire, f"/models/{quote(model)}/endpoints", self.headers(key), model)
        return ProviderHealth("", missing)
