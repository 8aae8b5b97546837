"""What the tests of model backends share: each vendor's own types for requests and answers, and models at a URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from anthropic.types import Message
from anthropic.types.beta import message_create_params as beta_params
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from ollama import ChatResponse
from ollama._types import ChatRequest as OllamaRequest
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from acud import config
from acud.api_keys import ApiKey
from acud.backends import Backends
from acud.config import VisionSettings
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion
from acud.evaluator.judges.model import Model
from acud.evaluator.judges.registry import make_models
from acud.evaluator.judges.retry import CallClock
from tests.integration.model_server import Answer

KEY = "sk-test-0123456789abcdefghij"
PICTURE = JudgePicture(b"\xff\xd8jpeg\xff\xd9", 96, 54, 128, 72)
OTHER = JudgePicture(b"\xff\xd8other\xff\xd9", 96, 54, 128, 72)
QUESTION = JudgeQuestion("the build has finished", 12, 300)
NAMES = ("ollama", "vllm", "openrouter", "claude")
MODELS = {name: settings.model for name, settings in Backends().named().items()}


class Quick(CallClock):
    """The real clock, and pauses that are noted instead of waited."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def part(self) -> float:
        return 0.5


def model(
    name: str,
    url: str,
    *,
    key: str = KEY,
    vision: VisionSettings | None = None,
    clock: CallClock | None = None,
    **more: Any,
) -> Model:
    """Return the backend `name` at `url`."""
    section = msgspec.structs.replace(Backends().named()[name], url=url, **more)
    backends = msgspec.structs.replace(Backends(), **{name: section})
    keys = {name: ApiKey(key, "a test")} if key else {}
    made = make_models(backends, vision or VisionSettings(), keys, config.PRICES, clock=clock)
    return made[name]


# ---- answers, built from the vendors' own models -------------------------------------------------------------------


def completion(
    text: str | None = "YES: the bar is full",
    finish: str = "stop",
    calls: tuple[tuple[str, str, str], ...] = (),
    usage: Mapping[str, Any] | None = None,
    **message: Any,
) -> Answer:
    """Return OpenAI's answer; `usage` may hold what OpenRouter adds."""
    tools = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    said = {
        "role": "assistant",
        "content": text,
        "refusal": None,
        **({"tool_calls": tools} if tools else {}),
        **message,
    }
    built = ChatCompletion.model_validate(
        {
            "id": "gen-1",
            "object": "chat.completion",
            "created": 1,
            "model": "the-model",
            "choices": [{"index": 0, "message": said, "finish_reason": finish, "logprobs": None}],
            "usage": usage or {"prompt_tokens": 700, "completion_tokens": 9, "total_tokens": 709},
        }
    )
    return Answer(built.model_dump(mode="json"))


def message(
    text: str = "YES: the bar is full",
    stop: str = "end_turn",
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = (),
    usage: Mapping[str, Any] | None = None,
    thinking: str = "",
) -> Answer:
    """Return Anthropic's answer."""
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": thinking, "signature": "s"}] if thinking else []
    content += [{"type": "text", "text": text, "citations": None}] if text else []
    content += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
    built = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "the-model",
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage or {"input_tokens": 700, "output_tokens": 9},
        }
    )
    return Answer(built.model_dump(mode="json"))


def chat(
    text: str = "YES: the bar is full",
    done: str = "stop",
    calls: tuple[tuple[str, dict[str, Any]], ...] = (),
    **more: Any,
) -> Answer:
    """Return Ollama's answer."""
    tools = [{"function": {"name": n, "arguments": a}} for n, a in calls]
    said = {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {}), **more}
    built = ChatResponse.model_validate(
        {
            "model": "the-model",
            "created_at": "2026-11-22T00:00:00Z",
            "message": said,
            "done": True,
            "done_reason": done,
            "prompt_eval_count": 700,
            "eval_count": 9,
        }
    )
    return Answer(built.model_dump(mode="json"))


def said(name: str, text: str = "YES: the bar is full") -> Answer:
    """Return a good answer of the vendor behind `name`."""
    return {"ollama": chat, "claude": message}.get(name, completion)(text)


def cut_off(name: str, text: str) -> Answer:
    """Return an answer of the vendor behind `name` that ran into its token limit."""
    if name == "ollama":
        return chat(text, "length")
    return message(text, "max_tokens") if name == "claude" else completion(text, "length")


# ---- requests, held against the vendors' own types -----------------------------------------------------------------


def check_request(name: str, body: dict[str, Any], *, beta: bool = False) -> None:
    """Fail unless `body` is what the vendor behind `name` publishes: every key known, every value of its type."""
    if name == "ollama":
        # Its client's model takes pictures as base64 text, and knows every key of the API's documentation.
        assert set(body) <= set(OllamaRequest.model_fields), set(body) - set(OllamaRequest.model_fields)
        OllamaRequest.model_validate(body)
        return
    # What vLLM ("Reasoning Outputs") and OpenRouter ("Reasoning Tokens") add to OpenAI's form in their documentation.
    added = {
        "vllm": {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}},
        "openrouter": {"reasoning": {"effort": "none"}},
    }.get(name, {})
    assert all(body[key] == added[key] for key in added.keys() & body.keys())
    body = {key: value for key, value in body.items() if key not in added}
    kind: Any = CompletionCreateParamsNonStreaming
    if name == "claude":
        kind = beta_params.MessageCreateParamsNonStreaming if beta else MessageCreateParamsNonStreaming
    assert set(body) <= set(kind.__annotations__) | _inherited(kind), set(body)
    TypeAdapter(kind).validate_python(body)


def _inherited(kind: Any) -> set[str]:
    return {name for base in getattr(kind, "__orig_bases__", ()) for name in getattr(base, "__annotations__", {})}


PATHS = {
    "ollama": "/api/chat",
    "vllm": "/v1/chat/completions",
    "openrouter": "/chat/completions",
    "claude": "/v1/messages",
}
