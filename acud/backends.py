"""Settings of the models behind an API (`[ollama]`, `[vllm]`, `[openrouter]`, `[claude]`), and what their tokens cost.

Without a price, or without token counts, a cost is not known: it is never 0 then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct
from msgspec.structs import fields, replace

from acud.http_listeners import is_loopback

_PER = 1_000_000
PerMillion = Annotated[float, Meta(ge=0)]
CHAINABLE = Literal["ollama", "vllm", "openrouter", "claude", "fleet", "scripted"]
"""What `[vision] backends` may name: judges that can fail, after which acud asks the next one."""
SECRET = "api_key"  # noqa: S105 - the name of a setting


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """USD per million tokens of a model, as read on the day `as_of` (YYYY-MM-DD)."""

    input: PerMillion
    output: PerMillion
    as_of: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", description="a date such as 2026-01-31")]


def cost_usd(model: str, tokens_in: float | None, tokens_out: int | None, prices: Mapping[str, Price]) -> float | None:
    """Return what an answer of `model` cost, or None when its price or its tokens are not known.

    `tokens_in` counts tokens of full price; a cache makes some of them parts. A model that is priced at nothing costs
    nothing, however many tokens it took.
    """
    price = prices.get(model)
    if price is None:
        return None
    if price.input == 0 and price.output == 0:
        return 0.0
    if tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * price.input + tokens_out * price.output) / _PER


class BackendSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What all of them have. 0 in `max_side_px`, `jpeg_quality` and `timeout_s`: what `[vision]` says."""

    url: str = ""
    model: str = ""
    api_key: str = ""
    api_key_file: str = ""
    api_key_keyring: str = ""
    local: bool = False
    ca_file: str = ""
    max_side_px: Annotated[int, Meta(ge=0, le=8192)] = 0
    jpeg_quality: Annotated[int, Meta(ge=0, le=100)] = 0
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] = 256
    requests_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    timeout_s: Annotated[float, Meta(ge=0)] = 0
    tries: Annotated[int, Meta(ge=1, le=10)] = 3
    thought_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 4000

    def __post_init__(self) -> None:
        """Refuse an address that could not be asked, or that carries a secret where it would be shown."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url is not an http or https URL")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("url carries more than host and path; keys have settings of their own")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._shown())})"

    def __rich_repr__(self) -> Any:
        return self._shown()

    def _shown(self) -> list[tuple[str, Any]]:
        return [(one.name, getattr(self, one.name)) for one in fields(self) if one.name != SECRET]

    @property
    def is_local(self) -> bool:
        """Whether what is sent there stays in one's own hands: `local` says so. What listens on a loopback address may
        be a gateway that passes everything on.
        """
        return self.local


class OllamaSettings(BackendSettings, frozen=True, forbid_unknown_fields=True):
    """`[ollama]`"""

    url: str = "http://localhost:11434"
    model: str = "minicpm-v"
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] = 8
    tries: Annotated[int, Meta(ge=1, le=10)] = 2
    keep_alive: str = "10m"

    @property
    def is_local(self) -> bool:
        """Whether `local` is set, or the model runs on this machine behind a loopback host.

        Ollama passes on what is for the models that it names so (`qwen3-vl:235b-cloud`).
        """
        return self.local or (is_loopback(urlsplit(self.url).hostname or "") and not self.model.endswith("cloud"))


class VllmSettings(BackendSettings, frozen=True, forbid_unknown_fields=True):
    """`[vllm]`: any server that speaks OpenAI's chat completions."""

    url: str = "http://localhost:8000"
    model: str = "ui-tars-1.5-7b"
    tries: Annotated[int, Meta(ge=1, le=10)] = 2


class OpenRouterSettings(BackendSettings, frozen=True, forbid_unknown_fields=True):
    """`[openrouter]`"""

    url: str = "https://openrouter.ai/api/v1"
    model: str = "google/gemini-2.0-flash-lite-001"
    referer: str = ""
    title: str = ""


class ClaudeSettings(BackendSettings, frozen=True, forbid_unknown_fields=True):
    """`[claude]`"""

    url: str = "https://api.anthropic.com"
    model: str = "claude-sonnet-4-20250514"


class Backends(Struct, frozen=True, forbid_unknown_fields=True):
    """The four together, as an evaluator gets them."""

    ollama: OllamaSettings = OllamaSettings()
    vllm: VllmSettings = VllmSettings()
    openrouter: OpenRouterSettings = OpenRouterSettings()
    claude: ClaudeSettings = ClaudeSettings()

    def without_keys(self) -> Backends:
        """Return the same settings without keys."""
        return Backends(**{name: replace(one, **{SECRET: ""}) for name, one in self.named().items()})  # type: ignore[arg-type]

    def named(self) -> dict[str, BackendSettings]:
        return {name: getattr(self, name) for name in self.__struct_fields__}
