"""The vision judges of this process, by name."""

from __future__ import annotations

from collections.abc import Mapping

from acud.config import VisionSettings
from acud.evaluator.vision.judge import Judge
from acud.evaluator.vision.ollama import OllamaJudge
from acud.evaluator.vision.passthrough import PassthroughJudge
from acud.evaluator.vision.scripted import ScriptedJudge
from acud.prices import Price


def make(settings: VisionSettings, prices: Mapping[str, Price]) -> dict[str, Judge]:
    """Return a judge under each name that `settings` can reach; `scripted` only where a script is set."""
    judges: list[Judge] = [OllamaJudge(settings, prices), PassthroughJudge()]
    if settings.scripted or settings.backend == "scripted":
        judges.append(ScriptedJudge(settings.scripted, prices))
    return {judge.name: judge for judge in judges}
