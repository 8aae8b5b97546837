"""More screens to work with, of toolkits' programs and of desktop programs, by authors who had not seen a finder."""

from __future__ import annotations

from tests.grounding.half import Half

HALF = Half(__name__)
