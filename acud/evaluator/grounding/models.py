"""The methods that ask a model, as the settings name them."""

from __future__ import annotations

from typing import Protocol

from acud.backends import Backends
from acud.config import GroundingSettings
from acud.desktop.found import GroundingMethod
from acud.evaluator.grounding.claude_cu import ClaudeMethod
from acud.evaluator.grounding.method import Looked, Method, Sight
from acud.evaluator.grounding.omniparser import OmniparserMethod, ReadLines
from acud.evaluator.grounding.sending import Prepare
from acud.evaluator.grounding.told import unavailable
from acud.evaluator.grounding.uitars import UitarsMethod
from acud.evaluator.judges.provider import Backend
from acud.protocol.asks import FindAsk


class OpenBackend(Protocol):
    """Gives out backends. A method closes what it was given; as that is harmless twice, others may use it too."""

    def __call__(self, name: str, keep_alive: str = "") -> Backend:
        """Return the backend `name` of the settings; with `keep_alive` another ollama, which keeps models that long."""
        ...


def make_methods(
    settings: GroundingSettings,
    backends: Backends,
    open_backend: OpenBackend,
    prepare: Prepare,
    read_lines: ReadLines,
) -> dict[GroundingMethod, Method]:
    """Return each method that asks a model. Nothing is sent, loaded or connected before one is asked to find."""
    methods: tuple[Method, ...] = (
        _uitars(settings, backends, open_backend, prepare),
        ClaudeMethod(open_backend("claude"), backends.claude.model, settings, prepare),
        _omniparser(settings, open_backend, prepare, read_lines),
    )
    return {method.name: method for method in methods}


def _uitars(settings: GroundingSettings, backends: Backends, open_backend: OpenBackend, prepare: Prepare) -> Method:
    via = settings.uitars_via or "ollama"
    model = {
        "ollama": settings.uitars_ollama_model,
        "vllm": backends.vllm.model,
        "openrouter": settings.uitars_openrouter_model,
    }[via]
    backend = open_backend(via, keep_alive=settings.uitars_keep_alive) if via == "ollama" else open_backend(via)
    return UitarsMethod(backend, model, settings, prepare)


def _omniparser(
    settings: GroundingSettings, open_backend: OpenBackend, prepare: Prepare, read_lines: ReadLines
) -> Method:
    if not settings.omniparser_picker:
        return Unset(GroundingMethod.OMNIPARSER, "nobody picks among its boxes: set grounding.omniparser_picker")
    return OmniparserMethod(open_backend(settings.omniparser_picker), settings, prepare, read_lines)


class Unset:
    """A method whose settings leave out what it needs."""

    def __init__(self, name: GroundingMethod, reason: str) -> None:
        self.name = name
        self._reason = reason

    async def find(self, ask: FindAsk, sight: Sight) -> Looked:
        """Return that it could not look, and which setting is missing."""
        return unavailable(self.name, self._reason)

    async def close(self) -> None:
        """Own nothing."""
