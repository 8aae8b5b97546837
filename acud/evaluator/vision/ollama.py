"""The judge behind Ollama's HTTP API (https://github.com/ollama/ollama/blob/main/docs/api.md): /api/chat, /api/tags.

Whatever goes wrong on the way is `unknown`, never `no`: refused, reset, slow or trickling answers, a status that is not
2xx (`judge_down`); JSON or words that are not what was agreed (`unparsable`).
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
from collections.abc import Mapping
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from acud.config import VisionSettings
from acud.errors import AcudError
from acud.evaluator.vision.judge import JudgeReply, Picture, Question
from acud.evaluator.vision.parser import parse_verdict
from acud.evaluator.vision.prompt import system_prompt, user_prompt
from acud.prices import Price, cost_usd
from acud.protocol.children import JudgeHealth
from acud.types import Verdict, unknown

MAX_ANSWER_BYTES = 1 << 20
"""A verdict is a sentence; whoever sends more is not heard out."""

_FREE = Price(0, 0, "2026-11-21")
"""A model that runs on one's own machine, unless the settings give it a price."""

_MAX_TOKENS = 200
"""Tokens the model may answer with: enough for one sentence, an end for a model that rambles."""


class _Message(Struct, frozen=True):
    content: str = ""


class _Chat(Struct, frozen=True):
    message: _Message
    prompt_eval_count: int | None = None
    eval_count: int | None = None


class _Model(Struct, frozen=True):
    name: str


class _Tags(Struct, frozen=True):
    models: tuple[_Model, ...] = ()


class _Version(Struct, frozen=True):
    version: str = ""


class _Failed(AcudError):
    """A request that brought no answer; `verdict` says what that means."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.detail)
        self.verdict = verdict


class OllamaJudge:
    """Asks one model; at most `concurrency` questions are under way, the others wait within their own time limit."""

    name = "ollama"

    def __init__(self, settings: VisionSettings, prices: Mapping[str, Price] | None = None) -> None:
        self._settings = settings
        self.local = _is_loopback(httpx.URL(settings.ollama_url).host)
        self._prices = {settings.model: _FREE, **(prices or {})}
        self._slots = asyncio.Semaphore(settings.concurrency)
        # A proxy from the environment is for the outside world; asked for a loopback address it would answer 502.
        self._client = httpx.AsyncClient(
            base_url=settings.ollama_url,
            timeout=httpx.Timeout(settings.timeout_s, connect=settings.connect_timeout_s),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=settings.concurrency),
            trust_env=not self.local,
        )

    async def evaluate(self, question: Question, picture: Picture) -> JudgeReply:
        """Return the model's verdict; the whole call, waiting for a slot included, ends within `vision.timeout_s`."""
        limit_s = self._settings.timeout_s
        try:
            async with asyncio.timeout(limit_s), self._slots:
                return self._reply(await self._ask("POST", "/api/chat", _Chat, self._request(question, picture)))
        except TimeoutError:
            return self._no_reply(unknown("judge_down", f"ollama gave no answer within {limit_s:g} s"))
        except _Failed as fault:
            return self._no_reply(fault.verdict)

    def _reply(self, chat: _Chat) -> JudgeReply:
        tokens_in, tokens_out = chat.prompt_eval_count, chat.eval_count
        cost = cost_usd(self._settings.model, tokens_in, tokens_out, self._prices)
        return JudgeReply(parse_verdict(chat.message.content), tokens_in, tokens_out, cost)

    def _no_reply(self, verdict: Verdict) -> JudgeReply:
        return JudgeReply(verdict, cost_usd=cost_usd(self._settings.model, None, None, self._prices))

    async def check_health(self) -> JudgeHealth:
        """Return ready when Ollama answers and has the model; otherwise down, saying which of the two is amiss."""
        try:
            async with asyncio.timeout(2 * self._settings.connect_timeout_s):
                tags = await self._ask("GET", "/api/tags", _Tags)
                version = await self._ask("GET", "/api/version", _Version)
        except TimeoutError:
            return JudgeHealth(self.name, "down", f"no answer from {self._settings.ollama_url}")
        except _Failed as fault:
            return JudgeHealth(self.name, "down", fault.verdict.detail)
        if _tagged(self._settings.model) not in {_tagged(model.name) for model in tags.models}:
            return JudgeHealth(self.name, "down", f"ollama has no model {self._settings.model}", version.version)
        return JudgeHealth(self.name, "ready", version=version.version)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _request(self, question: Question, picture: Picture) -> dict[str, Any]:
        return {
            "model": self._settings.model,
            "stream": False,
            "keep_alive": _duration(self._settings.ollama_keep_alive),
            "options": {"temperature": 0, "num_predict": _MAX_TOKENS},
            "messages": [
                {"role": "system", "content": system_prompt(self._settings.system_instructions)},
                {
                    "role": "user",
                    "content": user_prompt(question),
                    "images": [base64.b64encode(picture.jpeg).decode()],
                },
            ],
        }

    async def _ask(self, method: str, path: str, kind: Any, body: dict[str, Any] | None = None) -> Any:
        try:
            async with self._client.stream(method, path, json=body) as response:
                text = await _body(response)
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise _Failed(unknown("judge_down", f"ollama: {type(fault).__name__}: {fault}".rstrip(": "))) from fault
        if not response.is_success:
            said = text[:200].decode(errors="replace")
            raise _Failed(unknown("judge_down", f"ollama answered {response.status_code}: {said}"))
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.DecodeError as fault:
            raise _Failed(unknown("unparsable", f"ollama's answer is not what its API says: {fault}")) from fault


async def _body(response: httpx.Response) -> bytes:
    text = bytearray()
    async for chunk in response.aiter_bytes():
        text += chunk
        if len(text) > MAX_ANSWER_BYTES:
            raise _Failed(unknown("unparsable", f"ollama's answer is longer than {MAX_ANSWER_BYTES} bytes"))
    return bytes(text)


def _tagged(model: str) -> str:
    """Return the model's name with its tag; Ollama means `:latest` where none is given (a registry may have a port)."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def _duration(text: str) -> str | int:
    """Return `keep_alive` as Ollama takes it: a bare number is seconds and must be one in JSON, `10m` stays text."""
    return int(text) if text.lstrip("-").isdigit() else text


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
