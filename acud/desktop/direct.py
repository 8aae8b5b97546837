"""Coordinates in a description: "847, 523", "(847,523)", "at 10 20", "x=10 y=20"."""

from __future__ import annotations

import re

_NUMBER = r"[+-]?\d{1,6}(?:\.\d{1,3})?"
_FORMS = (
    re.compile(rf"(?:at\s+)?[\[(]?\s*(?P<x>{_NUMBER})\s*[,;\s]\s*(?P<y>{_NUMBER})\s*[\])]?"),
    re.compile(rf"(?:at\s+)?\(?\s*x\s*[=:]?\s*(?P<x>{_NUMBER})\s*[,;\s]\s*y\s*[=:]?\s*(?P<y>{_NUMBER})\s*\)?"),
    re.compile(
        rf"(?:the\s+)?(?:point|position|pixel|coordinates?)\s+(?:at\s+)?\(?\s*(?P<x>{_NUMBER})\s*[,\s]\s*(?P<y>{_NUMBER})\s*\)?"
    ),
)


def coordinates(description: str) -> tuple[float, float] | None:
    """Return the coordinates that `description` is, or None when it is anything else."""
    text = description.strip().lower().removesuffix(".")
    for form in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return float(found["x"]), float(found["y"])
    return None
