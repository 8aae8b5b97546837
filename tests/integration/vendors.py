"""What the tests of model backends share: each vendor's own types for requests and answers, and models at a URL.

Each vendor's library is imported when it is first needed: together they take seconds, in every worker that collects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from acud import config
from acud.config import VisionSettings
from acud.config.api_keys import ApiKey
from acud.config.backends import PREDEFINED, AnyBackend, GeminiSettings
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion
from acud.evaluator.judges.model import Model
from acud.evaluator.judges.registry import make_models
from acud.evaluator.judges.retry import CallClock
from tests.integration.model_server import Answer

KEY = "sk-test-0123456789abcdefghij"
PICTURE = JudgePicture(b"\xff\xd8jpeg\xff\xd9", 96, 54, 128, 72)
OTHER = JudgePicture(b"\xff\xd8other\xff\xd9", 96, 54, 128, 72)
QUESTION = JudgeQuestion("the build has finished", 12, 300)
PATIENT = VisionSettings(connect_timeout_s=60)
"""However slow the machine is, each is reached."""
GEMINI = "gemini-2.5-flash-lite"
BACKENDS: dict[str, AnyBackend] = {**PREDEFINED, "gemini": GeminiSettings(model=GEMINI)}
NAMES = tuple(BACKENDS)
MODELS = {name: settings.model for name, settings in BACKENDS.items()}


class Quick(CallClock):
    """The real clock, and pauses that are noted instead of waited."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def random_part(self) -> float:
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
    settings = msgspec.structs.replace(BACKENDS[name], url=url, **more)
    held = ApiKey(key, "a test" if key else "", headers=settings.headers)
    made = make_models({name: settings}, vision or PATIENT, {name: held}, config.PRICES, clock=clock)
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
    from openai.types.chat import ChatCompletion

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
    from anthropic.types import Message

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
    from ollama import ChatResponse

    tools = [{"function": {"name": n, "arguments": a}} for n, a in calls]
    said = {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {}), **more}
    built = ChatResponse.model_validate(
        {
            "model": "the-model", "created_at": "2026-11-22T00:00:00Z", "message": said, "done": True,
            "done_reason": done, "prompt_eval_count": 700, "eval_count": 9,
        }
    )  # fmt: skip
    return Answer(built.model_dump(mode="json"))


def content(
    text: str = "YES: the bar is full",
    finish: str = "STOP",
    calls: tuple[tuple[str, dict[str, Any], str], ...] = (),
    usage: Mapping[str, Any] | None = None,
    thinking: str = "",
    **more: Any,
) -> Answer:
    """Return Gemini's answer; `calls`: name, arguments and signature (base64) of each."""
    parts: list[dict[str, Any]] = [{"text": thinking, "thought": True}] if thinking else []
    parts += [{"text": text}] if text else []
    parts += [{"functionCall": {"name": n, "args": a}, **({"thoughtSignature": s} if s else {})} for n, a, s in calls]
    told = usage or {"promptTokenCount": 700, "candidatesTokenCount": 9, "totalTokenCount": 709}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    return generated({"candidates": [candidate], "usageMetadata": told, "modelVersion": "the-model", **more})


def generated(value: dict[str, Any]) -> Answer:
    """Return `value`, a whole answer of Gemini, once its published types take it as it is."""
    from google.genai import types as gemini

    built = gemini.GenerateContentResponse.model_validate_json(json.dumps(value))
    assert json.loads(built.model_dump_json(by_alias=True, exclude_none=True)) == _urlsafe(value)
    return Answer(value)


def said(name: str, text: str = "YES: the bar is full") -> Answer:
    """Return a good answer of the vendor behind `name`."""
    return {"ollama": chat, "claude": message, "gemini": content}.get(name, completion)(text)


def cut_off(name: str, text: str) -> Answer:
    """Return an answer of the vendor behind `name` that ran into its token limit."""
    if name == "ollama":
        return chat(text, "length")
    if name == "gemini":
        return content(text, "MAX_TOKENS")
    return message(text, "max_tokens") if name == "claude" else completion(text, "length")


# ---- requests, held against the vendors' own types -----------------------------------------------------------------


def check_request(name: str, body: dict[str, Any], *, beta: bool = False) -> None:
    """Fail unless `body` is what the vendor behind `name` publishes: every key known, every value of its type."""
    from pydantic import TypeAdapter

    if name == "ollama":
        from ollama._types import ChatRequest as OllamaRequest

        # Its client's model takes pictures as base64 text, and knows every key of the API's documentation.
        assert set(body) <= set(OllamaRequest.model_fields), set(body) - set(OllamaRequest.model_fields)
        OllamaRequest.model_validate(body)
        return
    if name == "gemini":
        check_gemini(body)
        return
    # What vLLM ("Reasoning Outputs") and OpenRouter ("Reasoning Tokens") add to OpenAI's form in their documentation.
    added = {
        "vllm": {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}},
        "openrouter": {"reasoning": {"effort": "none"}},
    }.get(name, {})
    assert all(body[key] == added[key] for key in added.keys() & body.keys())
    body = {key: value for key, value in body.items() if key not in added}
    kind: Any
    if name == "claude":
        from anthropic.types import message_create_params
        from anthropic.types.beta import message_create_params as beta_params

        kind = (beta_params if beta else message_create_params).MessageCreateParamsNonStreaming
    else:
        from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

        kind = CompletionCreateParamsNonStreaming
    assert set(body) <= set(kind.__annotations__) | _inherited(kind), set(body)
    TypeAdapter(kind).validate_python(body)


def gemini_types() -> dict[str, Any]:
    """Return the published type of each part of a request to Gemini."""
    from google.genai import types as gemini

    return {
        "contents": list[gemini.Content],
        "generationConfig": gemini.GenerateContentConfig,
        "systemInstruction": gemini.Content,
        "tools": list[gemini.Tool],
    }


def check_gemini(body: dict[str, Any]) -> None:
    """Fail unless each part of `body` is one of Gemini's types, which refuse fields that they do not know."""
    from pydantic import TypeAdapter

    for name, value in body.items():
        adapter = TypeAdapter(gemini_types()[name])
        taken = adapter.dump_json(adapter.validate_json(json.dumps(value)), by_alias=True, exclude_none=True)
        assert json.loads(taken) == _urlsafe(value)


def _urlsafe(value: Any) -> Any:
    """Return `value` with its bytes in the alphabet that those types write; they read both."""
    if isinstance(value, dict):
        bare = {name: one for name, one in value.items() if name in ("data", "thoughtSignature")}
        turned = {name: one.translate(str.maketrans("+/", "-_")) for name, one in bare.items()}
        return {name: _urlsafe(one) for name, one in value.items()} | turned
    return [_urlsafe(one) for one in value] if isinstance(value, list) else value


def _inherited(kind: Any) -> set[str]:
    return {name for base in getattr(kind, "__orig_bases__", ()) for name in getattr(base, "__annotations__", {})}


PATHS = {
    "ollama": "/api/chat",
    "vllm": "/v1/chat/completions",
    "openrouter": "/chat/completions",
    "claude": "/v1/messages",
    "gemini": f"/v1beta/models/{GEMINI}:generateContent",
}
