"""Which languages tesseract has here, so that tests without them are left out by name."""

from __future__ import annotations

import pytest

from acud.base.errors import Unavailable
from acud.evaluator.ocr.tesseract import Tesseract


def needs_tesseract(*languages: str) -> pytest.MarkDecorator:
    """Return what leaves a test out where tesseract or one of its languages is not installed."""
    try:
        missing = sorted(set(languages) - Tesseract().languages)
    except Unavailable as fault:
        return pytest.mark.skipif(True, reason=fault.message)
    return pytest.mark.skipif(bool(missing), reason=f"tesseract has no {' '.join(missing)}")
