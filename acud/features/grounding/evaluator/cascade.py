"""The methods that an evaluator has by its settings, tried one after the other until one settles the search."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from acud.base.errors import Unavailable
from acud.config import GroundingSettings
from acud.config.backends import AnyBackend, OllamaSettings
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.judges import registry
from acud.evaluator.judges.provider import Backend
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import Redactor, Withheld
from acud.evaluator.view_pixels import ViewPixels
from acud.features.grounding import search_progress
from acud.features.grounding.evaluator.accessibility import AccessibilityMethod
from acud.features.grounding.evaluator.claude import ClaudeMethod
from acud.features.grounding.evaluator.method import GroundingMethodPort, MethodResult, Prepare, SearchView, unavailable
from acud.features.grounding.evaluator.ocr import OcrMethod
from acud.features.grounding.evaluator.omniparser import OmniparserMethod, ReadLines
from acud.features.grounding.evaluator.uitars import UitarsMethod
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.questions import FindAsk
from acud.types.grounding import Found, GroundingMethod, Tried


class Cascade:
    """Owns the grounding methods; `close` ends them."""

    def __init__(self, methods: Mapping[GroundingMethod, GroundingMethodPort]) -> None:
        self._methods = dict(methods)

    async def answer(self, ask: FindAsk, shot: ViewPixels, context: EvaluatorContext) -> Found:
        with context.counters.measure("find"):
            return await self.find(ask, shot)

    async def find(self, ask: FindAsk, shot: ViewPixels) -> Found:
        """Return `ask.before` with what the methods of `ask` found in `shot`."""
        sight = SearchView(shot, shot.crop.shift(ask.origin.x, ask.origin.y))
        found = ask.before
        while (name := search_progress.next_method(ask.methods, found)) is not None:
            looked = await self._try_method(name, replace(ask, before=found), sight)
            found = search_progress.add(found, looked.tried, looked.candidates)
        return found

    async def _try_method(self, name: GroundingMethod, ask: FindAsk, sight: SearchView) -> MethodResult:
        method = self._methods.get(name)
        if method is None:
            return MethodResult(Tried(name, "unavailable", f"this evaluator has no {name.value}"))
        started = time.perf_counter()
        looked = await method.find(ask, sight)
        spent_ms = round((time.perf_counter() - started) * 1000, 2)
        return looked._replace(tried=replace(looked.tried, ms=spent_ms))

    async def close(self) -> None:
        for method in self._methods.values():
            await method.close()


class OpenBackend(Protocol):
    """Opens backends. The method closes the backend it was given; closing twice is harmless, so others may share it."""

    def __call__(self, name: str, keep_alive: str = "") -> Backend:
        """Return the backend `name`; with `keep_alive` another Ollama client that keeps its model that long."""


def make_methods(
    settings: GroundingSettings,
    backends: Mapping[str, AnyBackend],
    open_backend: OpenBackend,
    prepare: Prepare,
    read_lines: ReadLines,
) -> dict[GroundingMethod, GroundingMethodPort]:
    """Return each method that asks a model. None sends, loads or connects before its first search."""
    methods: tuple[GroundingMethodPort, ...] = (
        _make_uitars(settings, backends, open_backend, prepare),
        ClaudeMethod(open_backend("claude"), backends["claude"].model, settings, prepare),
        _make_omniparser(settings, open_backend, prepare, read_lines),
    )
    return {method.name: method for method in methods}


def _make_uitars(
    settings: GroundingSettings, backends: Mapping[str, AnyBackend], open_backend: OpenBackend, prepare: Prepare
) -> GroundingMethodPort:
    via = settings.uitars_via or "ollama"
    stays = isinstance(backends[via], OllamaSettings)
    backend = open_backend(via, keep_alive=settings.uitars_keep_alive) if stays else open_backend(via)
    return UitarsMethod(backend, settings.uitars_model(backends), settings, prepare)


def _make_omniparser(
    settings: GroundingSettings, open_backend: OpenBackend, prepare: Prepare, read_lines: ReadLines
) -> GroundingMethodPort:
    if not settings.omniparser_picker:
        return UnconfiguredMethod(
            GroundingMethod.OMNIPARSER, "nobody picks among its boxes: set grounding.omniparser_picker"
        )
    return OmniparserMethod(open_backend(settings.omniparser_picker), settings, prepare, read_lines)


class UnconfiguredMethod:
    """A method that lacks a setting it needs."""

    def __init__(self, name: GroundingMethod, reason: str) -> None:
        self.name = name
        self._reason = reason

    async def find(self, ask: FindAsk, sight: SearchView) -> MethodResult:
        """Return `unavailable` with the missing setting."""
        return unavailable(self.name, self._reason)

    async def close(self) -> None:
        """Do nothing: it owns nothing."""


def make_cascade(
    options: EvaluatorOptions, text: TextReading | None, backends: Mapping[str, Backend], redactor: Redactor
) -> Cascade:
    """Return the cascade of this process. `text` is None without an OCR engine; `backends` are those of the judges, so
    that circuit breaker and limits are shared; `redactor` decides what of a picture may leave.
    """
    methods: list[GroundingMethodPort] = [AccessibilityMethod(options.accessibility)]
    if text is not None:
        methods.append(OcrMethod(text, options.grounding.fuzzy_min, options.ocr.min_confidence))
    found = {method.name: method for method in methods}
    sending = _ModelAccess(options, text, backends, redactor)
    return Cascade(
        found | make_methods(options.grounding, options.backends, sending.open, sending.prepare, sending.lines)
    )


class _ModelAccess:
    """What the methods that ask a model share: backends, redaction of outgoing pictures, and the text of a shot."""

    def __init__(
        self, options: EvaluatorOptions, text: TextReading | None, backends: Mapping[str, Backend], redactor: Redactor
    ) -> None:
        self._options = options
        self._text = text
        self._backends = backends
        self._redactor = redactor

    def open(self, name: str, keep_alive: str = "") -> Backend:
        """Return the backend `name`; with `keep_alive` another Ollama client that keeps its model that long."""
        if not keep_alive:
            return self._backends[name]
        options = self._options
        ollama = options.backends[name]
        assert isinstance(ollama, OllamaSettings), "nothing else keeps models"
        own = {name: replace(ollama, keep_alive=keep_alive)}
        return registry.make_models(own, options.vision, options.keys, options.prices, options.call_share)[name]

    async def prepare(self, shot: ViewPixels, backend: Backend) -> ViewPixels:
        """Return the shot as `backend` may see it. Raises: Unavailable when nothing may leave."""
        if backend.local:
            return shot
        out = await self._redactor.redact_shot(shot)
        if isinstance(out, Withheld):
            raise Unavailable(out.reason)
        return out.shot

    async def lines(self, shot: ViewPixels) -> Sequence[Line]:
        """Return the lines of text in `shot`. Raises: Unavailable when it cannot be read here."""
        if self._text is None:
            raise Unavailable("this evaluator owns no OCR engine")
        return await self._text.lines(shot)
