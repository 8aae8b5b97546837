"""The methods that an evaluator has, as its settings say."""

from __future__ import annotations

from acud.evaluator.grounding.cascade import Cascade
from acud.evaluator.grounding.method import Method
from acud.evaluator.grounding.ocr import OcrMethod
from acud.evaluator.grounding.widgets import AccessibilityMethod
from acud.evaluator.ocr.reading import TextReading
from acud.protocol.bootstrap import EvaluatorOptions


def make(options: EvaluatorOptions, text: TextReading | None) -> Cascade:
    """Return the cascade of this process. `text` is None where it owns no OCR engine."""
    methods: list[Method] = [AccessibilityMethod(options.accessibility)]
    if text is not None:
        methods.append(OcrMethod(text, options.grounding.fuzzy_min, options.ocr.min_confidence))
    return Cascade({method.name: method for method in methods})
