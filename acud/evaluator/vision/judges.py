"""The vision judges of this process, by name."""

from __future__ import annotations

from collections.abc import Mapping

from acud.api_keys import ApiKey
from acud.backends import Backends, BackendSettings, Price
from acud.config import VisionSettings
from acud.evaluator.vision.calls import Clock
from acud.evaluator.vision.claude import ClaudeDialect
from acud.evaluator.vision.dialect import Dialect
from acud.evaluator.vision.judge import Judge
from acud.evaluator.vision.model import Model
from acud.evaluator.vision.ollama import OllamaDialect
from acud.evaluator.vision.openai import OpenAiDialect
from acud.evaluator.vision.openrouter import OpenRouterDialect
from acud.evaluator.vision.passthrough import PassthroughJudge
from acud.evaluator.vision.scripted import ScriptedJudge


def make(vision: VisionSettings, prices: Mapping[str, Price], backends: Mapping[str, Model]) -> dict[str, Judge]:
    """Return a judge under each name that a wait or `vision` can ask for; `scripted` only where a script is set."""
    found: dict[str, Judge] = {**backends}
    found["passthrough"] = PassthroughJudge()
    if vision.scripted or "scripted" in (vision.backend, *vision.backends):
        found["scripted"] = ScriptedJudge(vision.scripted, prices, vision.timeout_s)
    return found


def models(
    backends: Backends,
    vision: VisionSettings,
    keys: Mapping[str, ApiKey],
    prices: Mapping[str, Price],
    share: float = 1.0,
    clock: Clock | None = None,
) -> dict[str, Model]:
    """Return the four backends that have a model behind an API; nothing is connected to before it is asked.

    `share`: this process's part of each backend's calls a minute.
    """
    dialects: dict[str, Dialect] = {
        "ollama": OllamaDialect(backends.ollama.keep_alive),
        "vllm": OpenAiDialect(backends.vllm.url),
        "openrouter": OpenRouterDialect(backends.openrouter),
        "claude": ClaudeDialect(),
    }
    settings = backends.named()
    return {
        name: Model(
            name,
            dialect,
            settings[name],
            vision,
            keys.get(name, ApiKey()),
            prices,
            free=_is_own(name, settings[name]),
            share=share,
            clock=clock,
        )
        for name, dialect in dialects.items()
    }


def _is_own(name: str, settings: BackendSettings) -> bool:
    """Tell whether the model runs on a machine of one's own, where only electricity is charged for."""
    return name == "ollama" or (name == "vllm" and settings.is_local)
