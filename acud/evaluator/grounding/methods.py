"""The methods that an evaluator has, as its settings say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from acud.errors import Unavailable
from acud.evaluator.grounding.cascade import Cascade
from acud.evaluator.grounding.method import Method
from acud.evaluator.grounding.models import make_methods
from acud.evaluator.grounding.ocr import OcrMethod
from acud.evaluator.grounding.widgets import AccessibilityMethod
from acud.evaluator.judges import registry
from acud.evaluator.judges.provider import Backend
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.reading import TextReading
from acud.evaluator.redactor import Redactor, Withheld
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.bootstrap import EvaluatorOptions


def make(
    options: EvaluatorOptions, text: TextReading | None, backends: Mapping[str, Backend], redactor: Redactor
) -> Cascade:
    """Return the cascade of this process. `text` is None where it owns no OCR engine; `backends`: its judges' own, so
    that breaker and limits are one; `redactor`: decides what of a picture may leave.
    """
    methods: list[Method] = [AccessibilityMethod(options.accessibility)]
    if text is not None:
        methods.append(OcrMethod(text, options.grounding.fuzzy_min, options.ocr.min_confidence))
    found = {method.name: method for method in methods}
    sending = _Sending(options, text, backends, redactor)
    return Cascade(
        found | make_methods(options.grounding, options.backends, sending.open, sending.prepare, sending.lines)
    )


class _Sending:
    """What the methods that ask a model share: backends, what may leave for them, and the text of a shot."""

    def __init__(
        self,
        options: EvaluatorOptions,
        text: TextReading | None,
        backends: Mapping[str, Backend],
        redactor: Redactor,
    ) -> None:
        self._options = options
        self._text = text
        self._backends = backends
        self._redactor = redactor

    def open(self, name: str, keep_alive: str = "") -> Backend:
        """Return the backend `name`; with `keep_alive` another ollama, which keeps its model that long."""
        if not keep_alive:
            return self._backends[name]
        options = self._options
        ollama = replace(options.backends.ollama, keep_alive=keep_alive)
        own = replace(options.backends, ollama=ollama)
        return registry.make_models(own, options.vision, options.keys, options.prices, options.call_share)[name]

    async def prepare(self, shot: ViewPixels, backend: Backend) -> ViewPixels:
        """Return the shot as `backend` may see it. Raises: Unavailable when nothing may leave."""
        if backend.local:
            return shot
        out = await self._redactor.outgoing(shot)
        if isinstance(out, Withheld):
            raise Unavailable(out.reason)
        return out.shot

    async def lines(self, shot: ViewPixels) -> Sequence[Line]:
        """Return the lines of text in `shot`. Raises: Unavailable when it cannot be read here."""
        if self._text is None:
            raise Unavailable("this evaluator owns no OCR engine")
        return await self._text.lines(shot)
