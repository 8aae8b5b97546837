"""The judges of this process: which there are, which one answers, and how each is doing."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from acud.config import VisionSettings
from acud.config.api_keys import ApiKey
from acud.config.backends import AnthropicSettings, AnyBackend, GeminiSettings, OllamaSettings, OpenAiSettings, Price
from acud.evaluator.judges.claude import ClaudeProvider
from acud.evaluator.judges.gemini import GeminiProvider
from acud.evaluator.judges.judge import Judge, PassthroughJudge
from acud.evaluator.judges.model import Model
from acud.evaluator.judges.ollama import OllamaProvider
from acud.evaluator.judges.openai import OpenAiProvider, OpenRouterProvider
from acud.evaluator.judges.provider import Provider
from acud.evaluator.judges.retry import CallClock
from acud.evaluator.judges.scripted import ScriptedJudge
from acud.protocol.evaluation import JudgeHealth, Judges
from acud.types import JudgeName

_AT_ONCE = frozenset({JudgeName.OLLAMA, JudgeName.SCRIPTED, JudgeName.PASSTHROUGH})
"""Judges that are asked how they are before anybody names them: `auto` may mean ollama, the others are in this process.
"""


_KEPT_S = 120.0  # A wait names its judge at least every `force_after_s` (30 s) or, while it is down, every 30 s


def make_judges(vision: VisionSettings, prices: Mapping[str, Price], backends: Mapping[str, Model]) -> dict[str, Judge]:
    """Return a judge under each name that a wait or `vision` can ask for; `scripted` only where a script is set."""
    found: dict[str, Judge] = {**backends}
    found["passthrough"] = PassthroughJudge()
    if vision.scripted or "scripted" in (vision.backend, *vision.backends):
        found["scripted"] = ScriptedJudge(vision.scripted, prices, vision.timeout_s)
    return found


def make_models(
    backends: Mapping[str, AnyBackend],
    vision: VisionSettings,
    keys: Mapping[str, ApiKey],
    prices: Mapping[str, Price],
    share: float = 1.0,
    clock: CallClock | None = None,
) -> dict[str, Model]:
    """Return the backends, each with its model behind an API; none connects before its first call. `share`: this
    process's part of each backend's calls a minute.
    """
    return {
        name: Model(
            name, _make_provider(settings), settings, vision, keys.get(name, ApiKey()), prices, share=share, clock=clock
        )
        for name, settings in backends.items()
    }


def _make_provider(settings: AnyBackend) -> Provider:
    match settings:
        case OllamaSettings():
            return OllamaProvider(settings.keep_alive)
        case OpenAiSettings():
            return OpenAiProvider(settings.url, lists_models=settings.lists_models)
        case AnthropicSettings():
            return ClaudeProvider()
        case GeminiSettings():
            return GeminiProvider()
        case _:
            return OpenRouterProvider(settings)


class HealthSource(Protocol):
    """Anything that reports its health as a judge."""

    async def check_health(self) -> JudgeHealth:
        """Return the health of the judge."""


class JudgeRegistry:
    """The vision judges by name, and the newest health of all judges, text reading included.

    `chain`: the judges that `auto` stands for, in order; () is ollama where it is ready, else ocr (architecture,
    section 5). A judge not in `_AT_ONCE` is sent nothing, not even a question about its health, before the chain or a
    wait names it, nor once no wait has named it for `_KEPT_S`: a key alone sends nothing.
    """

    def __init__(
        self,
        judges: Mapping[str, Judge],
        chain: Sequence[str] = (),
        text: HealthSource | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._judges = dict(judges)
        self._chain = tuple(chain)
        self._now = monotonic_s
        self._named_at: dict[str, float] = {}
        self._text = [text] if text is not None else []
        self._health: dict[str, JudgeHealth] = {}
        self._doubted = asyncio.Event()

    def choose(self, choice: str) -> str:
        """Return the name of the judge that answers where a wait asked for `choice`."""
        if choice != JudgeName.AUTO:
            return choice
        if self._chain:
            return self._chain[0]
        found = self._health.get(JudgeName.OLLAMA)
        return JudgeName.OLLAMA if found is not None and found.state == "ready" else JudgeName.OCR

    def judge(self, name: str) -> Judge | None:
        """Return the vision judge of that name, or None when this process has none; it is named from now on."""
        if not self._is_wanted(name):
            self._doubted.set()
        self._named_at[name] = self._now()
        return self._judges.get(name)

    def list_judges(self, judge_name: str) -> tuple[Judge, ...]:
        """Return the judges that `judge_name` stands for, in order; those known to be down come last, as health may be
        old."""
        names = self._chain if judge_name == JudgeName.AUTO and self._chain else (self.choose(judge_name),)
        found = [judge for name in names if (judge := self.judge(name)) is not None]
        return tuple(sorted(found, key=lambda judge: self._is_down(judge.name)))

    def _is_wanted(self, name: str) -> bool:
        is_named = self._now() < self._named_at.get(name, -math.inf) + _KEPT_S
        return is_named or name in _AT_ONCE or name in self._chain

    def _is_down(self, name: str) -> bool:
        found = self._health.get(name)
        return found is not None and found.state == "down"

    def _wanted_sources(self) -> list[HealthSource]:
        judges = self._judges.items()
        return [judge for name, judge in judges if self._is_wanted(name)] + self._text

    def _is_local(self, name: str) -> bool:
        judge = self._judges.get(name)
        return judge is None or judge.local  # None: the reader of text, which is here

    async def check_health(self) -> Judges | None:
        """Ask every judge for its health, all at once; return the news, or None when nothing changed."""
        found = await asyncio.gather(*(one.check_health() for one in self._wanted_sources()))
        health = {one.name: replace(one, local=self._is_local(one.name)) for one in found}
        if health == self._health:
            return None
        self._health = health
        return Judges(tuple(health.values()))

    def doubt_health(self, name: str, *, answered: bool = False) -> None:
        """Have the health asked for soon: `name` was thought ready and did not answer, or down and `answered`."""
        if name in self._health and self._is_down(name) is answered:
            self._doubted.set()

    async def wait_for_doubt(self, at_most_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                await self._doubted.wait()
        self._doubted.clear()

    async def close(self) -> None:
        for judge in self._judges.values():
            await judge.close()
