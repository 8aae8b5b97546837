"""Settings of the models behind an API, by name (`[backends.NAME]`), and the prices of their tokens.

Without a price, or without token counts, a cost is unknown, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from msgspec import Meta, Struct
from msgspec.structs import fields, replace

from acud.config.http_listeners import is_loopback
from acud.types import JudgeName

_PER = 1_000_000
PerMillion = Annotated[float, Meta(ge=0)]
SECRET = "api_key"  # noqa: S105 - the name of a setting
SECRETS = frozenset({SECRET, "headers"})
"""Settings that are never shown."""
KEY_PLACE = "{api_key}"
"""The placeholder for the backend's key in a header."""
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = frozenset({"accept", "connection", "content-length", "content-type", "host", "transfer-encoding"})


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """USD per million tokens of a model, as read on the day `as_of` (YYYY-MM-DD)."""

    input: PerMillion
    output: PerMillion
    as_of: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", description="a date such as 2026-01-31")]


def cost_usd(model: str, tokens_in: float | None, tokens_out: int | None, prices: Mapping[str, Price]) -> float | None:
    """Return the cost of an answer of `model`, or None when its price or its tokens are unknown.

    `tokens_in` counts tokens of full price; a cache makes some of them parts. A model with price 0 costs nothing,
    however many tokens it took.
    """
    price = prices.get(model)
    if price is None:
        return None
    if price.input == 0 and price.output == 0:
        return 0.0
    if tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * price.input + tokens_out * price.output) / _PER


class BackendSettings(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """The settings of every backend. 0 in `max_side_px`, `jpeg_quality` and `timeout_s`: the value of `[vision]`.
    `price` None: the price in `[prices]` of the answering model. `headers` are sent with every request; they may hold
    secrets.
    """

    url: str = ""
    model: str = ""
    api_key: str = ""
    api_key_file: str = ""
    api_key_keyring: str = ""
    headers: dict[str, str] = {}
    local: bool = False
    ca_file: str = ""
    price: Price | None = None
    max_side_px: Annotated[int, Meta(ge=0, le=8192)] = 0
    jpeg_quality: Annotated[int, Meta(ge=0, le=100)] = 0
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] = 256
    requests_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    timeout_s: Annotated[float, Meta(ge=0)] = 0
    tries: Annotated[int, Meta(ge=1, le=10)] = 3
    thought_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 4000

    def __post_init__(self) -> None:
        """Refuse an invalid address, one with a secret where it would be shown, and headers that cannot be sent."""
        if not self.url:
            raise ValueError("url is missing: where does the server listen?")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url is not an http or https URL")
        if parts.username or parts.password or parts.fragment or not self._takes_query(parts.query):
            raise ValueError("url carries more than host and path; keys have settings of their own")
        for name, value in self.headers.items():
            if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
                raise ValueError(f"headers cannot hold {name[:60]!r}: it is no header's name, or one that acud sets")
            if not value or not value.isascii() or not value.isprintable():
                raise ValueError(f"headers has a value for {name[:60]!r} that cannot go into an HTTP header")

    def _takes_query(self, query: str) -> bool:
        return not query

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._public_fields())})"

    def __rich_repr__(self) -> Any:
        return self._public_fields()

    def _public_fields(self) -> list[tuple[str, Any]]:
        return [(one.name, getattr(self, one.name)) for one in fields(self) if one.name not in SECRETS]

    @property
    def is_local(self) -> bool:
        """Whether data sent there stays in one's own hands: by the setting `local`, as a loopback address may belong to
        a gateway that passes everything on.
        """
        return self.local

    @property
    def is_own(self) -> bool:
        """Whether the model runs on a machine of one's own, at the cost of electricity alone."""
        return False


class OllamaSettings(BackendSettings, frozen=True, forbid_unknown_fields=True, tag="ollama"):
    """Ollama's own API."""

    url: str = "http://localhost:11434"
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] = 8
    tries: Annotated[int, Meta(ge=1, le=10)] = 2
    keep_alive: str = "10m"

    @property
    def is_local(self) -> bool:
        """Whether `local` is set, or the model runs on this machine behind a loopback host.

        Ollama passes requests for its cloud models on (`qwen3-vl:235b-cloud`).
        """
        return self.local or (is_loopback(urlsplit(self.url).hostname or "") and not self.model.endswith("cloud"))

    @property
    def is_own(self) -> bool:
        """Always True: Ollama charges nothing."""
        return True


class OpenAiSettings(BackendSettings, frozen=True, forbid_unknown_fields=True, tag="openai"):
    """Any server with OpenAI's chat completions. `lists_models`: whether its list of models names `model`."""

    lists_models: bool = True

    def _takes_query(self, query: str) -> bool:
        """Return whether `query` is empty, or the version of Azure's API, which is no secret."""
        return not query or [name for name, _ in parse_qsl(query, keep_blank_values=True)] == ["api-version"]

    @property
    def is_own(self) -> bool:
        return self.local


class OpenRouterSettings(BackendSettings, frozen=True, forbid_unknown_fields=True, tag="openrouter"):
    """OpenRouter's variant of OpenAI's chat completions."""

    url: str = "https://openrouter.ai/api/v1"
    referer: str = ""
    title: str = ""


class AnthropicSettings(BackendSettings, frozen=True, forbid_unknown_fields=True, tag="anthropic"):
    """Anthropic's Messages API."""

    url: str = "https://api.anthropic.com"


class GeminiSettings(BackendSettings, frozen=True, forbid_unknown_fields=True, tag="gemini"):
    """Google's Gemini API."""

    url: str = "https://generativelanguage.googleapis.com"


AnyBackend: TypeAlias = OllamaSettings | OpenAiSettings | OpenRouterSettings | AnthropicSettings | GeminiSettings
NEEDING_KEY = (OpenRouterSettings, AnthropicSettings, GeminiSettings)
"""Backends that need a key."""
KINDS = ("openai", "anthropic", "ollama", "gemini", "openrouter")

PREDEFINED: Mapping[str, AnyBackend] = {
    JudgeName.OLLAMA.value: OllamaSettings(model="minicpm-v"),
    JudgeName.VLLM.value: OpenAiSettings(url="http://localhost:8000", model="ui-tars-1.5-7b", tries=2),
    JudgeName.OPENROUTER.value: OpenRouterSettings(model="google/gemini-2.0-flash-lite-001"),
    JudgeName.CLAUDE.value: AnthropicSettings(model="claude-sonnet-4-20250514"),
}
"""Backends that exist without a table of their own; each keeps its kind."""


def predefined_backends() -> dict[str, AnyBackend]:
    return dict(PREDEFINED)


def without_secrets(backends: Mapping[str, AnyBackend]) -> dict[str, AnyBackend]:
    """Return the same settings without keys and headers."""
    return {name: replace(one, api_key="", headers={}) for name, one in backends.items()}
