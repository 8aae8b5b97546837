"""OpenRouter's dialect of chat completions (https://openrouter.ai/docs/api-reference/overview).

What it adds: `usage.cost`, in every answer, errors of a provider inside a 200, answers without content while a model
warms up (charged all the same), and two optional headers that name the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from acud.backends import OpenRouterSettings
from acud.evaluator.judges.faults import CallFailed, TokenUsage
from acud.evaluator.judges.http import AnyObject, HttpExchange
from acud.evaluator.judges.openai import ChatUsage, Error, OpenAiProvider
from acud.evaluator.judges.provider import ChatRequest, ProviderHealth, absent


class OpenRouterProvider(OpenAiProvider):
    """`/chat/completions` under a base URL that ends in `/api/v1`."""

    needs_key = True
    retry_empty = True
    thoughtless: Mapping[str, Any] = {"reasoning": {"effort": "none"}}

    def __init__(self, settings: OpenRouterSettings) -> None:
        self.path = "/chat/completions"
        named = {"http-referer": settings.referer, "x-title": settings.title}
        self._caller = {name: value for name, value in named.items() if value}

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the key, and who calls where the settings say so."""
        return super().headers(key, request) | self._caller

    def usage(self, told: ChatUsage | None) -> TokenUsage:
        """Return what the answer took. OpenRouter's own figure wins; with one's own provider key it is only its fee."""
        if told is None:
            return TokenUsage()
        cost = told.cost
        if cost is not None and told.is_byok:
            upstream = told.cost_details.upstream_inference_cost if told.cost_details is not None else None
            cost = cost + upstream if upstream is not None else None
        return TokenUsage(told.prompt_tokens, told.completion_tokens, cost)

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
